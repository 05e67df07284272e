c.GenericOAuthenticator.scope = ["openid", "profile", "offline_access", "groups"]
c.GenericOAuthenticator.allow_all = False
c.GenericOAuthenticator.manage_groups = True
c.GenericOAuthenticator.auth_state_groups_key = "oauth_user.groups"
c.GenericOAuthenticator.allowed_groups = {"staff"}
c.GenericOAuthenticator.admin_groups = {"admins"}
