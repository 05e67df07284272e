// In settings.js, after `npm install passport-openidconnect` in Node-RED's folder.
module.exports = {
  adminAuth: {
    type: "strategy",
    strategy: {
      name: "openidconnect",
      label: "Sign in with your wallet",
      icon: "fa-key",
      strategy: require("passport-openidconnect").Strategy,
      options: {
        issuer: "$ISSUER",
        authorizationURL: "$ISSUER/oauth/authorize",
        tokenURL: "$ISSUER/oauth/token",
        userInfoURL: "$ISSUER/oauth/userinfo",
        clientID: "$CLIENT_ID",
        clientSecret: "$CLIENT_SECRET",
        callbackURL: "$APP/auth/strategy/callback",
        scope: ["profile", "groups"],
        verify: (issuer, profile, done) => done(null, profile),
      },
    },
    // Everyone who can sign in to the client may do everything.
    users: async (username) => ({ username, permissions: "*" }),
  },
};
