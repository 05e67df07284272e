//! Figures that the running server looks up when metrics are read, besides those it counts.

use std::sync::Arc;
use std::time::Duration;

use countersign_adapters_crypto::JosekitSigner;
use countersign_metrics::{PushFigures, SealFigures, SecretFigures, Source, WriterFigures};
use countersign_ports::Clock;
use countersign_usecases::context::uses::{UseCounts, Uses};
use countersign_usecases::events::waiting_events::SealWatch;

use crate::upkeep::event_pusher::PushCounts;
use crate::wiring::ReadWriter;

/// The keys, the uses and the storage, as the metrics report them.
pub(super) struct KnownFigures {
    pub(super) signer: Arc<JosekitSigner>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) uses: Uses,
    pub(super) pushed: Arc<PushCounts>,
    pub(super) seals: Arc<SealWatch>,
    pub(super) writer: Option<ReadWriter>,
}

impl Source for KnownFigures {
    fn signing_key_ages(&self) -> Vec<(&'static str, Duration)> {
        let now = self.clock.now();
        let since = self.signer.active_since().into_iter();
        // If the clock was set back, a key could seem to start in the future; its age is then 0.
        let age = |active_from| Duration::try_from(now - active_from).unwrap_or_default();
        since.map(|(algorithm, active_from)| (algorithm.name(), age(active_from))).collect()
    }

    fn secret_uses(&self) -> SecretFigures {
        let UseCounts { current, old } = self.uses.counts();
        SecretFigures { current, old }
    }

    fn pushes(&self) -> PushFigures {
        self.pushed.figures()
    }

    fn seals(&self) -> SealFigures {
        let unsealed = self.seals.last();
        let unsealable = u64::try_from(unsealed.unsealable.len()).unwrap_or(u64::MAX);
        SealFigures { waited: unsealed.waited, unsealable }
    }

    fn writer(&self) -> Option<WriterFigures> {
        self.writer.as_ref().and_then(|read| read())
    }
}
