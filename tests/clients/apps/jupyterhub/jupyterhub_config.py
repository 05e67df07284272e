# A hub in its own folder. The configuration of the sign-in is in openid.py.
c = get_config()  # noqa: F821
load_subconfig("$FOLDER/openid.py")  # noqa: F821
for more in "$MORE".split():
    load_subconfig(f"$FOLDER/{more}")  # noqa: F821

c.JupyterHub.bind_url = "$APP"
c.JupyterHub.hub_port = int("$HUB_PORT")
c.JupyterHub.db_url = "sqlite:///$FOLDER/hub.sqlite"
c.JupyterHub.cookie_secret_file = "$FOLDER/cookie_secret"
c.ConfigurableHTTPProxy.should_start = False
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:$PROXY_PORT"
c.ConfigurableHTTPProxy.auth_token = "$PROXY_TOKEN"
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.default_url = "/hub/home"
c.CryptKeeper.keys = ["$PASSPHRASE"]

# Checks the tokens on every visit that is more than a second after the last one, so that the judge need not
# wait.
c.Authenticator.auth_refresh_age = 1

# The judge asks, as an administrator, what the hub knows about the user.
c.JupyterHub.services = [{"name": "judge", "api_token": "$API_TOKEN"}]
c.JupyterHub.load_roles = [{"name": "judge", "services": ["judge"], "scopes": ["admin:users", "admin:auth_state", "read:users:groups"]}]
