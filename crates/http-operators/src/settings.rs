//! What the desk needs besides what the server has.

use std::fmt;
use std::sync::Arc;

use countersign_domain::public_url::PublicUrl;
use countersign_domain::registration::RequestedMetadata;
use countersign_ports::KeyRing;
use countersign_usecases::upkeep::hour_counts::HourCounter;
use time::Duration;

/// What the desk's pages need besides what the server has.
#[derive(Clone)]
pub struct DeskSettings {
    /// The signing keys.
    pub keys: Arc<dyn KeyRing>,
    /// How old an active key gets; `None` if keys are only replaced by hand.
    pub key_rotation: Option<Duration>,
    /// What is doubtful about the settings, in sentences for operators.
    pub warnings: Vec<String>,
    /// The applications whose registration and settings are known.
    pub applications: Arc<dyn Applications>,
    /// Knows which counts of this server are not in the database yet.
    pub counter: Arc<HourCounter>,
}

/// Applications whose registration and settings are known.
pub trait Applications: Send + Sync {
    /// Their names, each with its title.
    fn list(&self) -> Vec<(String, String)>;

    /// The registration of an application at an address; `None` if none has this name.
    fn registration(&self, name: &str, at: &PublicUrl) -> Option<RequestedMetadata>;

    /// The settings of an application at an address, with the credentials of its client.
    fn settings(
        &self,
        name: &str,
        at: &PublicUrl,
        client_id: &str,
        client_secret: &str,
    ) -> Option<ApplicationSettings>;
}

/// The settings of an application.
#[derive(Clone, PartialEq, Eq)]
pub struct ApplicationSettings {
    /// The usual name of the file.
    pub file: String,
    /// What it contains.
    pub text: String,
}

/// The text has a secret.
impl fmt::Debug for ApplicationSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApplicationSettings").field("file", &self.file).finish_non_exhaustive()
    }
}

impl fmt::Debug for DeskSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeskSettings").finish_non_exhaustive()
    }
}
