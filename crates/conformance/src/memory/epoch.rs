//! Epochs.

use async_trait::async_trait;
use countersign_domain::desk::proposal::ProposalState;
use countersign_domain::epoch::{Epoch, Lineage};
use countersign_ports::{EpochStore, RaiseEpoch, StoreError};

use super::MemoryStorage;

#[async_trait]
impl EpochStore for MemoryStorage {
    async fn epoch(&self) -> Result<Option<Epoch>, StoreError> {
        Ok(self.tables().epochs.last().copied())
    }

    /// Nothing fills what is in memory.
    async fn lineage(&self) -> Result<Lineage, StoreError> {
        let epoch = self.tables().epochs.last().map(|epoch| epoch.id);
        Ok(Lineage { epoch, filling: None, is_unfinished: false })
    }

    async fn raise_epoch(&self, command: RaiseEpoch) -> Result<Epoch, StoreError> {
        let RaiseEpoch { id, now, event } = command;
        let mut tables = self.tables();
        if let Some(known) = tables.epochs.iter().find(|epoch| epoch.id == id) {
            return Ok(*known);
        }
        let number = tables.epochs.last().map_or(0, |last| last.number) + 1;
        let epoch = Epoch { id, number, raised_at: now };
        tables.epochs.push(epoch);
        tables.grants.clear();
        tables.tokens.clear();
        tables.sessions.clear();
        tables.pushed_requests.clear();
        tables.device_requests.clear();
        tables.leases.clear();
        tables.replicas.clear();
        tables.untold.clear();
        for email in tables.emails.values_mut() {
            email.confirmation = None;
        }
        for proposal in tables.proposals.values_mut() {
            if matches!(proposal.state, ProposalState::Waiting | ProposalState::Taken) {
                proposal.expires_at = proposal.expires_at.min(now);
            }
        }
        for invitation in tables.invitations.values_mut() {
            invitation.revoked_at.get_or_insert(now);
        }
        tables.record(event)?;
        Ok(epoch)
    }
}
