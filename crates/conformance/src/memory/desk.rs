//! What the desk keeps: proposals, what happened on which day and in which hour, and replicas.

use std::collections::BTreeSet;
use std::sync::MutexGuard;

use async_trait::async_trait;
use countersign_domain::desk::proposal::{Proposal, ProposalState};
use countersign_domain::event::{Event, SecondSignature, Signed};
use countersign_domain::forgetting::Past;
use countersign_domain::hour::Hour;
use countersign_domain::id::{ClientId, EventId, GrantId, UserId};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    AccessCount, AddHourCounts, DayCount, DeskStore, EndProposal, HourCount, ProposalAt, ProposalPage,
    PutProposal, Replica, StoreError, TakeProposal,
};
use time::{Date, OffsetDateTime};

use super::{MemoryStorage, ReplicaRow, Tables, count, count_of};

#[async_trait]
impl DeskStore for MemoryStorage {
    async fn put_proposal(&self, command: PutProposal) -> Result<bool, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let PutProposal { proposal, event } = command;
        if let Some(present) = tables.proposals.get(&proposal.id) {
            return Ok(present.user == proposal.user && present.first == proposal.first);
        }
        tables.proposals.insert(proposal.id, proposal);
        tables.record(event)?;
        Ok(true)
    }

    async fn find_proposal(&self, id: GrantId) -> Result<Option<Proposal>, StoreError> {
        Ok(self.tables().proposals.get(&id).cloned())
    }

    async fn list_proposals(&self, page: ProposalPage) -> Result<Vec<ProposalAt>, StoreError> {
        let tables = self.tables();
        let newest_first = tables.proposals.values().rev();
        let later = newest_first.filter(|proposal| page.after.is_none_or(|after| proposal.id < after));
        Ok(later.take(count(page.limit)).cloned().map(Box::new).map(ProposalAt::Proposal).collect())
    }

    async fn take_proposal(&self, command: TakeProposal) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let TakeProposal { id, now, user, signed } = command;
        if tables.is_any_suspended(std::slice::from_ref(&signed.account)) {
            return Err(StoreError::SignerSuspended);
        }
        let Some(proposal) = tables.proposals.get_mut(&id) else { return Ok(false) };
        let second = Some((user, signed));
        if proposal.waits(now) && proposal.user != user {
            (proposal.state, proposal.second, proposal.taken_at) = (ProposalState::Taken, second, Some(now));
            return Ok(true);
        }
        Ok(proposal.state == ProposalState::Taken && proposal.second == second)
    }

    async fn end_proposal(&self, command: EndProposal) -> Result<bool, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let EndProposal { id, now, from, to, signed, event } = command;
        let Some(proposal) = tables.proposals.get_mut(&id) else { return Ok(false) };
        let second = proposal.second.as_ref().map(|(_, second)| &second.signature);
        let is_its = signed.is_none_or(|signed| second == Some(&signed.signature));
        if proposal.state_at(now) != from || !is_its {
            let is_so = proposal.state == to;
            return Ok(is_so && tables.is_recorded(event.as_deref()).unwrap_or(true));
        }
        proposal.state = to;
        tables.record(event)?;
        Ok(true)
    }

    async fn forget_proposals(&self, before: Past, limit: u32) -> Result<u64, StoreError> {
        let mut tables = self.tables();
        let mut old: Vec<_> =
            tables.proposals.values().map(|proposal| (proposal.expires_at, proposal.id)).collect();
        old.retain(|(expires_at, _)| *expires_at < before.time());
        old.sort_unstable();
        old.truncate(count(limit));
        for (_, id) in &old {
            tables.proposals.remove(id);
        }
        Ok(count_of(old.len()))
    }

    async fn events_of_request(
        &self,
        request: &str,
        after: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let tables = self.tables();
        let named = tables.all_events().filter(|event| event.request.as_deref() == Some(request));
        let named = named.filter(|event| after.is_none_or(|after| event.id > after));
        let mut events: Vec<_> = named.cloned().collect();
        events.sort_by_key(|event| event.id);
        events.truncate(count(limit));
        Ok(events)
    }

    async fn day_counts(&self, since: Date) -> Result<Vec<DayCount>, StoreError> {
        let tables = self.tables();
        Ok(tables.day_counts.values().filter(|counted| counted.day >= since).cloned().collect())
    }

    async fn count_sessions(&self, now: OffsetDateTime, at_most: u32) -> Result<u32, StoreError> {
        let tables = self.tables();
        let valid = tables.sessions.values().filter(|session| now < session.expires_at).count();
        Ok(u32::try_from(valid).unwrap_or(u32::MAX).min(at_most))
    }

    async fn count_access(
        &self,
        client: ClientId,
        now: OffsetDateTime,
        at_most: u32,
    ) -> Result<AccessCount, StoreError> {
        let tables = self.tables();
        let theirs = tables.consents.keys().filter(|(_, at, _)| *at == client);
        let people: BTreeSet<UserId> = theirs.map(|(user, ..)| *user).collect();
        let rows = tables.grants.values().filter(|row| row.grant.client == client).take(count(at_most));
        let valid = rows.filter(|row| !row.grant.revoked && now < row.forget_after).count();
        let as_number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).min(at_most);
        Ok(AccessCount { people: as_number(people.len()), grants: as_number(valid) })
    }

    async fn note_replica(&self, replica: Replica, forget_before: Past) -> Result<(), StoreError> {
        let mut tables = self.tables();
        let known = tables.replicas.get(&replica.id);
        if known.is_none_or(|known| known.replica.seen_at <= replica.seen_at) {
            let last_batch = known.map_or(0, |known| known.last_batch);
            tables.replicas.insert(replica.id, ReplicaRow { replica, last_batch });
        }
        tables.replicas.retain(|_, row| row.replica.seen_at >= forget_before.time());
        Ok(())
    }

    async fn forget_replica(&self, id: [u8; 16]) -> Result<(), StoreError> {
        self.tables().replicas.remove(&id);
        Ok(())
    }

    async fn add_hour_counts(&self, command: AddHourCounts) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let AddHourCounts { replica, batch, counts } = command;
        let Some(row) = tables.replicas.get_mut(&replica) else { return Ok(false) };
        if row.last_batch < batch {
            row.last_batch = batch;
            for counted in counts {
                let key = (counted.hour, counted.figure.name(), counted.label.clone());
                match tables.hour_counts.get_mut(&key) {
                    Some(known) => known.count += counted.count,
                    None => {
                        tables.hour_counts.insert(key, counted);
                    }
                }
            }
        }
        Ok(true)
    }

    async fn forget_hour_counts(&self, before: Past) -> Result<u64, StoreError> {
        let mut tables = self.tables();
        let oldest = tables.hour_counts.values().next().map(|counted| counted.hour);
        let Some(oldest) = oldest.filter(|oldest| *oldest < Hour::of(before.time())) else { return Ok(0) };
        let counts = tables.hour_counts.len();
        tables.hour_counts.retain(|_, counted| counted.hour != oldest);
        Ok(count_of(counts - tables.hour_counts.len()))
    }

    async fn hour_counts(&self, since: Hour) -> Result<Vec<HourCount>, StoreError> {
        let tables = self.tables();
        Ok(tables.hour_counts.values().filter(|counted| counted.hour >= since).cloned().collect())
    }

    async fn replicas(&self, since: OffsetDateTime) -> Result<Vec<Replica>, StoreError> {
        let tables = self.tables();
        let mut seen: Vec<_> = tables
            .replicas
            .values()
            .map(|row| &row.replica)
            .filter(|replica| replica.seen_at >= since)
            .cloned()
            .collect();
        seen.sort_by_key(|replica| (replica.started_at, replica.id));
        Ok(seen)
    }
}

impl MemoryStorage {
    /// The tables, for an act with this event. Fails if a suspended operator signed it, or if two did and the proposal is not
    /// the second's any more.
    pub(super) fn tables_for(&self, event: Option<&Event>) -> Result<MutexGuard<'_, Tables>, StoreError> {
        self.tables_for_all(event.into_iter())
    }

    /// The same for an act with all of these events.
    pub(super) fn tables_for_all<'a>(
        &self,
        events: impl Iterator<Item = &'a Event>,
    ) -> Result<MutexGuard<'_, Tables>, StoreError> {
        let tables = self.tables();
        let signed: Vec<&Signed> = events.filter_map(|event| event.signed.as_ref()).collect();
        if signed.iter().any(|signed| tables.is_any_suspended(signed.signers())) {
            return Err(StoreError::SignerSuspended);
        }
        let mut seconds = signed.into_iter().filter_map(Signed::second);
        if seconds.any(|second| !tables.is_of(second)) {
            return Err(StoreError::Failed("proposal is no longer this signature's".into()));
        }
        Ok(tables)
    }
}

impl Tables {
    /// Is a proposal being carried out by this signature, or was it?
    fn is_of(&self, SecondSignature { proposal, signature }: &SecondSignature) -> bool {
        self.proposals.get(proposal).is_some_and(|proposal| {
            matches!(proposal.state, ProposalState::Taken | ProposalState::Done)
                && proposal.second.as_ref().is_some_and(|(_, second)| second.signature == *signature)
        })
    }

    /// Is one of these wallets a suspended operator's?
    fn is_any_suspended(&self, signers: &[WalletAccount]) -> bool {
        signers.iter().any(|signer| self.is_suspended(&Subject::Wallet(signer.clone())))
    }

    /// Says that the proposal of an act is carried out.
    pub(super) fn fulfil(&mut self, signed: Option<&Signed>) {
        let Some(second) = signed.and_then(Signed::second) else { return };
        if let Some(proposal) = self.proposals.get_mut(&second.proposal) {
            proposal.state = ProposalState::Done;
        }
    }

    /// Adds to what is counted already.
    pub(super) fn add_day_counts(&mut self, counts: Vec<DayCount>) {
        for counted in counts {
            let key = (counted.day, counted.kind.name(), counted.family.clone());
            match self.day_counts.get_mut(&key) {
                Some(known) => known.count += counted.count,
                None => {
                    self.day_counts.insert(key, counted);
                }
            }
        }
    }

    /// Forgets the proposals that a user signed, first or second.
    pub(super) fn forget_proposals_of(&mut self, user: UserId) {
        self.proposals.retain(|_, proposal| {
            proposal.user != user && proposal.second.as_ref().is_none_or(|(second, _)| *second != user)
        });
    }
}
