//! Applications whose registration and settings are known: those in docs/clients that have an address and
//! settings of their own. Both come from the files used in the tests, so what is printed here is what logged
//! in there.

pub(crate) mod desk;

use std::collections::BTreeMap;

use countersign_domain::public_url::PublicUrl;
use countersign_usecases::clients::registration::Fields;
use serde::Deserialize;
use serde_json::Value;

const REGISTRATIONS: &str = include_str!("../../../tests/clients/registrations.json");

/// The settings files that the registrations name.
const CONFIGURATIONS: [(&str, &str); 15] = [
    ("apps/apache/openid.conf", include_str!("../../../tests/clients/apps/apache/openid.conf")),
    ("apps/directus/directus.env", include_str!("../../../tests/clients/apps/directus/directus.env")),
    ("apps/gitea/add-oauth.sh", include_str!("../../../tests/clients/apps/gitea/add-oauth.sh")),
    ("apps/grafana/grafana.ini", include_str!("../../../tests/clients/apps/grafana/grafana.ini")),
    ("apps/jupyterhub/openid.py", include_str!("../../../tests/clients/apps/jupyterhub/openid.py")),
    ("apps/nextcloud/provider.sh", include_str!("../../../tests/clients/apps/nextcloud/provider.sh")),
    ("apps/nodered/settings.js", include_str!("../../../tests/clients/apps/nodered/settings.js")),
    ("apps/pgadmin/config_local.py", include_str!("../../../tests/clients/apps/pgadmin/config_local.py")),
    ("apps/streamlit/secrets.toml", include_str!("../../../tests/clients/apps/streamlit/secrets.toml")),
    (
        "apps/superset/superset_config.py",
        include_str!("../../../tests/clients/apps/superset/superset_config.py"),
    ),
    ("apps/synapse/openid.yaml", include_str!("../../../tests/clients/apps/synapse/openid.yaml")),
    ("authjs.env", include_str!("../../../tests/clients/authjs.env")),
    ("express-openid-connect.env", include_str!("../../../tests/clients/express-openid-connect.env")),
    ("mozilla-django-oidc.env", include_str!("../../../tests/clients/mozilla-django-oidc.env")),
    ("next-auth.env", include_str!("../../../tests/clients/next-auth.env")),
];

/// The end of a line that is only wanted when the issuer has an http URL. For an https issuer these lines
/// are left out.
const ONLY_WITH_HTTP: &str = "# Only because this issuer has an http URL.";

/// An application with a known registration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Application {
    /// Its name in docs/clients.
    title: String,
    configuration: String,
    /// Its registration, with `$APP` in place of its address.
    client: Fields,
}

/// The values to fill into its settings.
pub(crate) struct Values<'a> {
    pub(crate) issuer: &'a PublicUrl,
    pub(crate) app: &'a PublicUrl,
    pub(crate) client_id: &'a str,
    pub(crate) client_secret: &'a str,
    /// The passphrase with which the application seals its own cookies.
    pub(crate) passphrase: &'a str,
}

/// The filled-in settings of an application.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Configuration {
    /// The application's name in docs/clients.
    pub(crate) title: String,
    /// The usual name of its settings file.
    pub(crate) file: &'static str,
    pub(crate) text: String,
}

impl Configuration {
    /// Does the application read its settings from environment variables?
    pub(crate) fn is_environment(&self) -> bool {
        self.file.ends_with(".env")
    }
}

/// The names that `--for` accepts.
pub(crate) fn names() -> impl Iterator<Item = String> {
    all().into_keys()
}

/// Finds the application with this name.
pub(crate) fn find(name: &str) -> Option<Application> {
    all().remove(name)
}

fn all() -> BTreeMap<String, Application> {
    // The text is compiled into the program, and a test reads it.
    serde_json::from_str(REGISTRATIONS).unwrap_or_default()
}

impl Application {
    /// Its name in docs/clients.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// The registration of the application when it runs at this address.
    pub(crate) fn registration(&self, app: &PublicUrl) -> Fields {
        self.client.iter().map(|(name, value)| (name.clone(), at(app, value))).collect()
    }

    /// The application's settings, with the values filled in.
    pub(crate) fn configuration(&self, values: &Values<'_>) -> Option<Configuration> {
        let (path, text) = CONFIGURATIONS.into_iter().find(|(path, _)| *path == self.configuration)?;
        let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
        let lines = text.lines().filter(|line| !(values.issuer.is_https() && line.ends_with(ONLY_WITH_HTTP)));
        let lines: Vec<String> = lines.map(|line| values.fill(line)).collect();
        Some(Configuration { title: self.title.clone(), file, text: lines.join("\n") + "\n" })
    }
}

/// A value with the application's address filled in.
fn at(app: &PublicUrl, value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("$APP", app.as_str())),
        Value::Array(entries) => Value::Array(entries.iter().map(|entry| at(app, entry)).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.clone(),
    }
}

impl Values<'_> {
    /// Replaces each `$NAME` once. Text that a value brings in is not searched again.
    fn fill(&self, text: &str) -> String {
        let known = [
            ("ISSUER", self.issuer.as_str()),
            ("CLIENT_ID", self.client_id),
            ("CLIENT_SECRET", self.client_secret),
            ("APP", self.app.as_str()),
            ("PASSPHRASE", self.passphrase),
        ];
        let mut parts = text.split('$');
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let found = known.iter().find_map(|(name, value)| Some((value, part.strip_prefix(name)?)));
            match found {
                Some((value, rest)) => filled.extend([value, rest]),
                None => filled.extend(["$", part]),
            }
        }
        filled
    }
}

#[cfg(test)]
mod tests;
