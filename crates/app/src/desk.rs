//! What the pages of the desk need from the program: the applications that it knows, as `client create --for` does.

use std::sync::Arc;

use countersign_domain::desk::operators::DeskPolicy;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::registration::RequestedMetadata;
use countersign_http_actix::{ApplicationSettings, Applications};
use countersign_ports::{DirectStorage, Entropy, EntropyExt, StoreError};

use crate::applications::{self, Values};
use crate::client_command::fields;

/// The warning about a group of operators in which nobody is. The settings alone do not show it.
pub(crate) async fn doubt(
    policy: &DeskPolicy,
    storage: &dyn DirectStorage,
) -> Result<Option<String>, StoreError> {
    let Some(group) = &policy.group else { return Ok(None) };
    let found = storage.find_group(group).await?;
    let members = storage.list_members(group, None, 1).await?;
    if !members.is_empty() {
        return Ok(None);
    }
    let state = if found.is_some() { "nobody is in the group" } else { "there is no group" };
    let consequence = if policy.admins.is_empty() {
        "nobody can use the desk"
    } else {
        "only the wallets in admins can use the desk"
    };
    let create =
        if found.is_some() { String::new() } else { format!("`countersign group create {group}` and ") };
    Ok(Some(format!(
        "admin_group: {state} {group}, so {consequence}; run {create}`countersign group add {group} WHO`, or leave \
         admin_group out"
    )))
}

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
        fields::requested(applications::find(name)?.registration(at)).ok()
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
