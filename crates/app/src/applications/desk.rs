//! What the pages of the desk need from the program: the applications that it knows, as `client create --for` does.

use std::sync::Arc;

use countersign_domain::public_url::PublicUrl;
use countersign_domain::registration::RequestedMetadata;
use countersign_http_operators::{ApplicationSettings, Applications};
use countersign_ports::{Entropy, EntropyExt};
use countersign_usecases::clients::registration::requested;

use crate::applications::{self, Values};

/// The known applications, for clients of this issuer.
pub(crate) struct KnownApplications {
    pub(crate) issuer: PublicUrl,
    pub(crate) entropy: Arc<dyn Entropy>,
}

impl Applications for KnownApplications {
    fn list(&self) -> Vec<(String, String)> {
        let titled = |name: String| {
            let title = applications::find(&name)?.title().to_owned();
            Some((name, title))
        };
        applications::names().filter_map(titled).collect()
    }

    fn registration(&self, name: &str, at: &PublicUrl) -> Option<RequestedMetadata> {
        requested(&applications::find(name)?.registration(at)).ok()
    }

    fn settings(
        &self,
        name: &str,
        at: &PublicUrl,
        client_id: &str,
        client_secret: &str,
    ) -> Option<ApplicationSettings> {
        let passphrase: [u8; 32] = self.entropy.bytes();
        let values = Values {
            issuer: &self.issuer,
            app: at,
            client_id,
            client_secret,
            passphrase: &hex::encode(passphrase),
        };
        let filled = applications::find(name)?.configuration(&values)?;
        Some(ApplicationSettings { file: filled.file.to_owned(), text: filled.text })
    }
}
