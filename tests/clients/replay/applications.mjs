// Applications that cannot run here, as the requests that they send. Each entry names the source and commit
// that it was derived from; it contains none of that source. `given` is what such an application knows at a
// step: its client, the values that it generated for this sign-in, and what it has received so far.
// Parameters are in the order in which they are sent.

import { createHash } from "node:crypto";

const FORM = "application/x-www-form-urlencoded";
const base64 = (text) => Buffer.from(text).toString("base64");
const challengeOf = (verifier) => createHash("sha256").update(verifier).digest("base64url");
/** `application/x-www-form-urlencoded` as Go's QueryEscape, Java's URLEncoder and Ruby write it. */
const escaped = (text) => new URLSearchParams([["", text]]).toString().slice(1);
const sorted = (parameters) => Object.fromEntries(Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1)));
const pkce = ({ verifier }) => ({ code_challenge: challengeOf(verifier), code_challenge_method: "S256" });
const bearer = ({ tokens }) => ({ authorization: `Bearer ${tokens.access_token}` });

// --- golang.org/x/oauth2 (Grafana, Gitea, oauth2-proxy): sorted parameters, authentication by trial -----

const go = (parameters) => ({ headers: { "content-type": FORM, "user-agent": "Go-http-client/1.1", accept: "*/*" }, body: sorted(parameters) });

const inHeader = ({ client }, parameters) => {
  const { headers, body } = go(parameters);
  return { headers: { ...headers, authorization: `Basic ${base64(`${escaped(client.client_id)}:${escaped(client.client_secret)}`)}` }, body };
};
const inBody = ({ client: { client_id, client_secret } }, parameters) => go({ ...parameters, client_id, client_secret });
/**
 * The first attempt, behind a proxy that removes the header: it fails, and the second must still be able to
 * use the code.
 */
const withoutHeader = (_, parameters) => go(parameters);

const goCode = ({ code, redirect_uri, verifier }, withVerifier) => ({ grant_type: "authorization_code", code, redirect_uri, ...(withVerifier && { code_verifier: verifier }) });
const goRefresh = ({ tokens }) => ({ grant_type: "refresh_token", refresh_token: tokens.refresh_token });
const goAsks = ({ client, redirect_uri, state }, scope, more) => sorted({ response_type: "code", client_id: client.client_id, redirect_uri, scope, state, ...more });
const goUserinfo = (given) => ({ ...bearer(given), "user-agent": "Go-http-client/1.1", accept: "*/*" });

const SOURCES = {
  go: "golang/oauth2@89ff2e1 oauth2.go, internal/token.go",
  grafana: "grafana/grafana@0109f93 pkg/services/authn/clients/oauth.go, pkg/login/social/connectors/generic_oauth.go",
  gitea: "markbates/goth@0c89e86 providers/openidConnect/openidConnect.go",
  oidc: "coreos/go-oidc@051db33 oidc/oidc.go, oidc/verify.go",
  proxy: "oauth2-proxy/oauth2-proxy@14af295 providers/oidc.go, providers/provider_data.go, providers/util.go",
  gitlab: "omniauth/omniauth_openid_connect@f9779f0 lib/omniauth/strategies/openid_connect.rb; nov/rack-oauth2@fb608c2 lib/rack/oauth2/client.rb; nov/openid_connect@7705c2e lib/openid_connect/discovery/provider/config/response.rb",
  nextcloud: "nextcloud/user_oidc@46ae8fd lib/Controller/LoginController.php, lib/Service/DiscoveryService.php",
  spring:
    "spring-projects/spring-security@07b6c45 oauth2/oauth2-client/src/main/java/org/springframework/security/oauth2/client/web/DefaultOAuth2AuthorizationRequestResolver.java, endpoint/DefaultOAuth2TokenRequestHeadersConverter.java, oidc/authentication/OidcIdTokenValidator.java",
};

// --- nov/rack-oauth2, which GitLab uses --------------------------------------------------------------------

const ruby = { "content-type": FORM, "user-agent": "Rack::OAuth2 (2.3.0)", accept: "*/*" };
const rubyCode = ({ code, redirect_uri, verifier }) => ({ grant_type: "authorization_code", code, redirect_uri, code_verifier: verifier });
const gitlabLogout = ({ post_logout_redirect_uri }) => ({ post_logout_redirect_uri });

export const applications = [
  {
    name: "Grafana, generic_oauth",
    source: [SOURCES.grafana, SOURCES.go],
    auth: "client_secret_basic",
    pkce: "S256",
    snippet: 'auth_style = AutoDetect\nuse_pkce = true\nscopes = openid profile email offline_access\nlogin_attribute_path = preferred_username\nemail_attribute_path = preferred_username\nuse_refresh_token = true',
    authorize: (given) => goAsks(given, "openid profile email offline_access", pkce(given)),
    token: [(given) => inHeader(given, goCode(given, true))],
    refresh: (given) => inHeader(given, goRefresh(given)),
    userinfo: goUserinfo,
    logout: ({ tokens, post_logout_redirect_uri }) => ({ id_token_hint: tokens.id_token, post_logout_redirect_uri }),
    needs: { userinfo: ["sub", "preferred_username"], id_token: ["sub", "preferred_username"] },
  },
  {
    name: "Grafana, behind a proxy that removes the Authorization header",
    source: [SOURCES.grafana, SOURCES.go],
    auth: "client_secret_basic, then client_secret_post",
    pkce: "none",
    authorize: (given) => goAsks(given, "openid profile email offline_access"),
    token: [(given) => withoutHeader(given, goCode(given)), (given) => inBody(given, goCode(given))],
    refresh: (given) => inBody(given, goRefresh(given)),
    userinfo: goUserinfo,
    needs: { userinfo: ["sub", "preferred_username"] },
  },
  {
    name: "Gitea",
    source: [SOURCES.gitea, SOURCES.go],
    auth: "client_secret_basic",
    pkce: "none",
    authorize: (given) => goAsks(given, "profile email openid"),
    token: [(given) => inHeader(given, goCode(given))],
    refresh: (given) => inBody(given, goRefresh(given)),
    userinfo: goUserinfo,
    needs: { metadata: ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "end_session_endpoint", "issuer"], id_token: ["sub", "preferred_username"], noObjects: ["address"] },
  },
  {
    name: "oauth2-proxy",
    source: [SOURCES.proxy, SOURCES.oidc, SOURCES.go],
    auth: "client_secret_basic",
    pkce: "S256",
    snippet: 'provider = "oidc"\noidc_issuer_url = "$ISSUER"\ncode_challenge_method = "S256"\noidc_email_claim = "preferred_username"\nemail_domains = ["*"]',
    authorize: (given) => goAsks(given, "openid email profile", { ...pkce(given), nonce: given.nonce }),
    token: [(given) => inHeader(given, goCode(given, true))],
    refresh: (given) => inHeader(given, goRefresh(given)),
    userinfo: (given) => ({ ...goUserinfo(given), accept: "application/json" }),
    atHash: true,
    needs: { metadata: ["issuer", "jwks_uri", "userinfo_endpoint", "code_challenge_methods_supported", "id_token_signing_alg_values_supported"], id_token: ["sub", "preferred_username", "nonce"] },
  },
  {
    name: "GitLab, client_auth_method query",
    source: [SOURCES.gitlab],
    auth: "client_secret_post",
    pkce: "S256",
    snippet: 'name: openid_connect\nargs:\n  discovery: true\n  pkce: true\n  client_auth_method: query\n  uid_field: sub\n  send_scope_to_token_endpoint: false',
    authorize: (given) => ({ response_type: "code", scope: "openid profile email", nonce: given.nonce, state: given.state, ...pkce(given), redirect_uri: given.redirect_uri, client_id: given.client.client_id }),
    token: [({ client: { client_id, client_secret }, ...given }) => ({ headers: ruby, body: { client_id, client_secret, ...rubyCode(given) } })],
    userinfo: (given) => ({ ...bearer(given), "user-agent": ruby["user-agent"] }),
    logout: gitlabLogout,
    needs: {
      metadata: ["issuer", "authorization_endpoint", "jwks_uri", "response_types_supported", "subject_types_supported", "id_token_signing_alg_values_supported"],
      id_token: ["iss", "sub", "aud", "exp", "iat", "nonce"],
      userinfo: ["sub", "preferred_username"],
    },
  },
  {
    name: "GitLab, client_auth_method basic",
    source: [SOURCES.gitlab],
    auth: "client_secret_basic",
    pkce: "S256",
    authorize: (given) => ({ response_type: "code", scope: "openid profile email", nonce: given.nonce, state: given.state, ...pkce(given), redirect_uri: given.redirect_uri, client_id: given.client.client_id }),
    token: [
      (given) => ({
        headers: { ...ruby, authorization: `Basic ${base64(`${escaped(given.client.client_id)}:${escaped(given.client.client_secret)}`)}` },
        body: { scope: "openid profile email", ...rubyCode(given) },
      }),
    ],
    userinfo: (given) => ({ ...bearer(given), "user-agent": ruby["user-agent"] }),
    needs: { id_token: ["iss", "sub", "aud", "exp", "iat", "nonce"] },
  },
  {
    name: "Nextcloud, user_oidc",
    source: [SOURCES.nextcloud],
    auth: "client_secret_post",
    pkce: "S256",
    authorize: (given) => nextcloud(given),
    token: [({ client: { client_id, client_secret }, ...given }) => ({ headers: { "content-type": FORM, accept: "*/*" }, body: { ...nextcloudCode(given), client_id, client_secret } })],
    userinfo: bearer,
    // It appends the URL as it is, without escaping.
    logout: ({ client, post_logout_redirect_uri }) => `post_logout_redirect_uri=${post_logout_redirect_uri}&client_id=${client.client_id}`,
    strongKeys: true,
    needs: { metadata: ["token_endpoint_auth_methods_supported", "code_challenge_methods_supported", "end_session_endpoint"], id_token: ["sub", "nonce"] },
  },
  {
    name: "Nextcloud, user_oidc, raw Basic",
    source: [SOURCES.nextcloud],
    auth: "client_secret_basic",
    pkce: "S256",
    authorize: (given) => nextcloud(given),
    token: [
      ({ client, ...given }) => ({
        headers: { "content-type": FORM, accept: "*/*", authorization: `Basic ${base64(`${client.client_id}:${client.client_secret}`)}` },
        body: nextcloudCode(given),
      }),
    ],
    userinfo: bearer,
    needs: { id_token: ["sub", "nonce"] },
  },
  {
    name: "Spring Security",
    source: [SOURCES.spring],
    auth: "client_secret_basic",
    pkce: "S256",
    snippet: "spring.security.oauth2.client.provider.countersign.issuer-uri=$ISSUER\nspring.security.oauth2.client.provider.countersign.user-name-attribute=sub\nspring.security.oauth2.client.registration.countersign.scope=openid,profile",
    // Its state is base64url with padding.
    made: { state: `${"A".repeat(43)}=` },
    authorize: (given) => ({ response_type: "code", client_id: given.client.client_id, scope: "openid profile", state: given.state, redirect_uri: given.redirect_uri, nonce: challengeOf(given.nonce), ...pkce(given) }),
    nonce: ({ nonce }) => challengeOf(nonce),
    token: [
      ({ client, code, redirect_uri, verifier }) => ({
        headers: { accept: "application/json", "content-type": `${FORM};charset=UTF-8`, authorization: `Basic ${base64(`${escaped(client.client_id)}:${escaped(client.client_secret)}`)}` },
        body: { grant_type: "authorization_code", code, redirect_uri, code_verifier: verifier },
      }),
    ],
    refresh: ({ client, tokens }) => ({
      headers: { accept: "application/json", "content-type": `${FORM};charset=UTF-8`, authorization: `Basic ${base64(`${escaped(client.client_id)}:${escaped(client.client_secret)}`)}` },
      body: { grant_type: "refresh_token", refresh_token: tokens.refresh_token },
    }),
    userinfo: (given) => ({ ...bearer(given), accept: "application/json" }),
    logout: ({ tokens, post_logout_redirect_uri }) => ({ id_token_hint: tokens.id_token, post_logout_redirect_uri }),
    needs: { metadata: ["issuer", "jwks_uri", "subject_types_supported", "userinfo_endpoint", "end_session_endpoint"], id_token: ["iss", "sub", "aud", "exp", "iat", "nonce"] },
  },
];

/** Its claims parameter contains empty objects with the names that it maps, in both places. */
function nextcloud(given) {
  const wanted = { email: null, name: null, quota: null, groups: null };
  return {
    client_id: given.client.client_id, response_type: "code", scope: "openid email profile", redirect_uri: given.redirect_uri,
    claims: JSON.stringify({ id_token: wanted, userinfo: wanted }), state: given.state, nonce: given.nonce, ...pkce(given),
  };
}

function nextcloudCode({ code, redirect_uri, verifier }) {
  return { code, redirect_uri, grant_type: "authorization_code", code_verifier: verifier };
}
