AUTHENTICATION_SOURCES = ["oauth2", "internal"]
OAUTH2_AUTO_CREATE_USER = True
OAUTH2_CONFIG = [
    {
        "OAUTH2_NAME": "countersign",
        "OAUTH2_DISPLAY_NAME": "your wallet",
        "OAUTH2_CLIENT_ID": "$CLIENT_ID",
        "OAUTH2_CLIENT_SECRET": "$CLIENT_SECRET",
        "OAUTH2_SERVER_METADATA_URL": "$ISSUER/.well-known/openid-configuration",
        "OAUTH2_AUTHORIZATION_URL": "$ISSUER/oauth/authorize",
        "OAUTH2_TOKEN_URL": "$ISSUER/oauth/token",
        "OAUTH2_API_BASE_URL": "$ISSUER/oauth/",
        "OAUTH2_USERINFO_ENDPOINT": "userinfo",
        "OAUTH2_SCOPE": "openid profile email groups",
        "OAUTH2_CHALLENGE_METHOD": "S256",
        "OAUTH2_RESPONSE_TYPE": "code",
        "OAUTH2_USERNAME_CLAIM": "preferred_username",
        "OAUTH2_ICON": "fa-wallet",
        "OAUTH2_BUTTON_COLOR": "#333333",
    }
]
