//! What the running server knows besides what it counts.

use std::sync::Arc;
use std::time::Duration;

use countersign_adapters_crypto::JosekitSigner;
use countersign_metrics::{Source, WriterFigures};
use countersign_ports::Clock;

use crate::wiring::ReadWriter;

/// The keys and the storage, for whoever reads the metrics.
pub(super) struct Known {
    pub(super) signer: Arc<JosekitSigner>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) writer: Option<ReadWriter>,
}

impl Source for Known {
    fn signing_key_ages(&self) -> Vec<(&'static str, Duration)> {
        let now = self.clock.now();
        let since = self.signer.active_since().into_iter();
        // A clock that was set back makes no key of the future.
        let age = |active_from| Duration::try_from(now - active_from).unwrap_or_default();
        since.map(|(algorithm, active_from)| (algorithm.name(), age(active_from))).collect()
    }

    fn writer(&self) -> Option<WriterFigures> {
        self.writer.as_ref().and_then(|read| read())
    }
}
