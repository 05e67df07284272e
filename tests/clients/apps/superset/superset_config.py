from flask_appbuilder.security.manager import AUTH_OAUTH
from superset.security import SupersetSecurityManager

AUTH_TYPE = AUTH_OAUTH
AUTH_USER_REGISTRATION = True
AUTH_ROLES_SYNC_AT_LOGIN = True
AUTH_ROLES_MAPPING = {"admins": ["Admin"], "staff": ["Gamma"]}
OAUTH_PROVIDERS = [
    {
        "name": "countersign",
        "icon": "fa-key",
        "token_key": "access_token",
        "remote_app": {
            "client_id": "$CLIENT_ID",
            "client_secret": "$CLIENT_SECRET",
            "server_metadata_url": "$ISSUER/.well-known/openid-configuration",
            "client_kwargs": {"scope": "openid profile email groups", "code_challenge_method": "S256"},
        },
    }
]


class Wallets(SupersetSecurityManager):
    def oauth_user_info(self, provider, response=None):
        person = response["userinfo"]
        name = person["preferred_username"]
        return {"username": person["sub"], "first_name": name, "email": f"{name}@users.invalid", "role_keys": person["groups"]}


CUSTOM_SECURITY_MANAGER = Wallets
