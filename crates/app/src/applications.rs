//! Applications whose registration and settings are known: those of docs/clients.md that have addresses and settings of their own. Both are
//! read from the files that they were tested with, so that what is printed is what logged in.

use std::collections::BTreeMap;

use countersign_domain::client::DisplayMetadata;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::registration::RequestedMetadata;
use serde::Deserialize;

const REGISTRATIONS: &str = include_str!("../../../tests/clients/registrations.json");

/// The files that the registrations name.
const CONFIGURATIONS: [(&str, &str); 8] = [
    ("apps/apache/openid.conf", include_str!("../../../tests/clients/apps/apache/openid.conf")),
    ("apps/jupyterhub/openid.py", include_str!("../../../tests/clients/apps/jupyterhub/openid.py")),
    ("apps/streamlit/secrets.toml", include_str!("../../../tests/clients/apps/streamlit/secrets.toml")),
    ("apps/synapse/openid.yaml", include_str!("../../../tests/clients/apps/synapse/openid.yaml")),
    ("authjs.env", include_str!("../../../tests/clients/authjs.env")),
    ("express-openid-connect.env", include_str!("../../../tests/clients/express-openid-connect.env")),
    ("mozilla-django-oidc.env", include_str!("../../../tests/clients/mozilla-django-oidc.env")),
    ("next-auth.env", include_str!("../../../tests/clients/next-auth.env")),
];

/// How lines end that nobody pastes whose issuer has an https address.
const ONLY_WITH_HTTP: &str = "# Only because this issuer has an http address.";

/// An application that is known.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Application {
    /// What it is called in docs/clients.md.
    title: String,
    configuration: String,
    client: Registration,
}

/// How it is registered, with `$APP` for its address.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Registration {
    redirect_uris: Vec<String>,
    token_endpoint_auth_method: String,
    scope: String,
    id_token_signed_response_alg: Option<String>,
    #[serde(default)]
    post_logout_redirect_uris: Vec<String>,
    backchannel_logout_uri: Option<String>,
}

/// What its settings are to be filled with.
pub(crate) struct Values<'a> {
    pub(crate) issuer: &'a PublicUrl,
    pub(crate) app: &'a PublicUrl,
    pub(crate) client_id: &'a str,
    pub(crate) client_secret: &'a str,
    /// What the application seals its own cookies with.
    pub(crate) passphrase: &'a str,
}

/// The settings of an application.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Configuration {
    /// What docs/clients.md calls the application.
    pub(crate) title: String,
    /// What such a file is called.
    pub(crate) file: &'static str,
    pub(crate) text: String,
}

/// The names that one may ask for.
pub(crate) fn names() -> impl Iterator<Item = String> {
    all().into_keys()
}

/// The application of this name.
pub(crate) fn find(name: &str) -> Option<Application> {
    all().remove(name)
}

fn all() -> BTreeMap<String, Application> {
    // The text is part of the program; a test reads it.
    serde_json::from_str(REGISTRATIONS).unwrap_or_default()
}

impl Application {
    /// What it registers as, when it is at this address.
    pub(crate) fn requested(&self, name: String, app: &PublicUrl) -> RequestedMetadata {
        let client = &self.client;
        let at = |text: &String| text.replace("$APP", app.as_str());
        RequestedMetadata {
            client_name: Some(name),
            redirect_uris: Some(client.redirect_uris.iter().map(at).collect()),
            scope: Some(client.scope.clone()),
            token_endpoint_auth_method: Some(client.token_endpoint_auth_method.clone()),
            backchannel_logout_uri: client.backchannel_logout_uri.as_ref().map(at),
            display: DisplayMetadata {
                id_token_signed_response_alg: client.id_token_signed_response_alg.clone(),
                post_logout_redirect_uris: client.post_logout_redirect_uris.iter().map(at).collect(),
                ..DisplayMetadata::default()
            },
            ..RequestedMetadata::default()
        }
    }

    /// Its settings, filled in.
    pub(crate) fn configuration(&self, values: &Values<'_>) -> Option<Configuration> {
        let (path, text) = CONFIGURATIONS.into_iter().find(|(path, _)| *path == self.configuration)?;
        let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
        let lines = text.lines().filter(|line| !(values.issuer.is_https() && line.ends_with(ONLY_WITH_HTTP)));
        let lines: Vec<String> = lines.map(|line| values.fill(line)).collect();
        Some(Configuration { title: self.title.clone(), file, text: lines.join("\n") + "\n" })
    }
}

impl Values<'_> {
    /// Replaces each `$NAME` once: what stands in a value is left as it is.
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
