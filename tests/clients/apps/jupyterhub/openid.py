c.JupyterHub.authenticator_class = "generic-oauth"

c.GenericOAuthenticator.client_id = "$CLIENT_ID"
c.GenericOAuthenticator.client_secret = "$CLIENT_SECRET"
c.GenericOAuthenticator.authorize_url = "$ISSUER/oauth/authorize"
c.GenericOAuthenticator.token_url = "$ISSUER/oauth/token"
c.GenericOAuthenticator.userdata_url = "$ISSUER/oauth/userinfo"
c.GenericOAuthenticator.oauth_callback_url = "$APP/hub/oauth_callback"
c.GenericOAuthenticator.logout_redirect_url = "$ISSUER/oauth/logout?client_id=$CLIENT_ID&post_logout_redirect_uri=$APP/hub/login"
c.GenericOAuthenticator.scope = ["openid", "profile", "offline_access"]
c.GenericOAuthenticator.username_claim = "preferred_username"
c.GenericOAuthenticator.login_service = "your wallet"
c.GenericOAuthenticator.allow_all = True
c.GenericOAuthenticator.enable_auth_state = True
