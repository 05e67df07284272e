//! Operators who are suspended.

use std::collections::BTreeSet;

use async_trait::async_trait;
use countersign_domain::desk::operators::Suspension;
use countersign_domain::desk::proposal::ProposalState;
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    OperatorSuspended, RestoreOperator, StoreError, SuspendOperator, SuspendedWallet, SuspensionStore,
};
use uuid::Uuid;

use super::wallets::{WalletKey, account_of, key_of};
use super::{MemoryStorage, Tables, count, count_of};

/// A wallet that is suspended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SuspendedRow {
    chain: String,
    id: Uuid,
    suspension: Suspension,
}

#[async_trait]
impl SuspensionStore for MemoryStorage {
    async fn suspend_operator(&self, command: SuspendOperator) -> Result<OperatorSuspended, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let SuspendOperator { who, others, id, suspension, event } = command;
        if let Subject::User(user) = who
            && !tables.users.contains_key(&user)
        {
            return Ok(OperatorSuspended::UserUnknown);
        }
        let mut wallets = tables.wallets_with(&who);
        wallets.extend(others);
        wallets.retain(|wallet| !tables.suspended_wallets.contains_key(&key_of(wallet)));
        if wallets.is_empty() {
            return Ok(OperatorSuspended::AlreadySo);
        }
        tables.record(event.clone())?;
        let owners: BTreeSet<UserId> = wallets.iter().filter_map(|wallet| tables.owner_of(wallet)).collect();
        for wallet in wallets {
            let row = SuspendedRow { chain: wallet.chain.clone(), id, suspension: suspension.clone() };
            tables.suspended_wallets.entry(key_of(&wallet)).or_insert(row);
        }
        let mut ended = Vec::new();
        for proposal in tables.proposals.values_mut().filter(|proposal| owners.contains(&proposal.user)) {
            if matches!(proposal.state, ProposalState::Waiting | ProposalState::Taken) {
                proposal.state = ProposalState::Suspended;
                ended.push(proposal.id);
            }
        }
        for proposal in &ended {
            tables.record(event.as_ref().map(|event| Box::new(event.of_proposal_ended(*proposal))))?;
        }
        Ok(OperatorSuspended::Suspended { proposals: count_of(ended.len()) })
    }

    async fn restore_operator(&self, command: RestoreOperator) -> Result<bool, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let wallets = tables.wallets_with(&command.who);
        let found = wallets.iter().filter_map(|wallet| tables.suspended_wallets.get(&key_of(wallet)));
        let ended: BTreeSet<Uuid> = found.map(|row| row.id).collect();
        if ended.is_empty() {
            return Ok(false);
        }
        tables.record(command.event)?;
        tables.suspended_wallets.retain(|_, row| !ended.contains(&row.id));
        Ok(true)
    }

    async fn suspensions_of(&self, who: Vec<Subject>) -> Result<Vec<Option<Suspension>>, StoreError> {
        let tables = self.tables();
        Ok(who.iter().map(|who| tables.suspension_of(who).map(|row| row.suspension.clone())).collect())
    }

    async fn suspended_wallets(
        &self,
        after: Option<&WalletAccount>,
        limit: u32,
    ) -> Result<Vec<SuspendedWallet>, StoreError> {
        let tables = self.tables();
        let after = after.map(key_of);
        let later =
            tables.suspended_wallets.iter().filter(|(key, _)| after.as_ref().is_none_or(|a| *key > a));
        let read = |(key, row): (&WalletKey, &SuspendedRow)| {
            let account = account_of(key, &row.chain);
            let user = tables.owner_of(&account);
            SuspendedWallet { account, suspension: row.suspension.clone(), user }
        };
        Ok(later.take(count(limit)).map(read).collect())
    }
}

impl Tables {
    /// All wallets of a user or of the owner of a wallet, or the wallet alone.
    fn wallets_with(&self, who: &Subject) -> Vec<WalletAccount> {
        let (user, alone) = match who {
            Subject::User(user) => (Some(*user), None),
            Subject::Wallet(wallet) => (self.owner_of(wallet), Some(wallet.clone())),
        };
        match user {
            Some(user) => self.wallets_of(user).into_iter().map(|linked| linked.account).collect(),
            None => alone.into_iter().collect(),
        }
    }

    /// The earliest of the suspensions of a user or a wallet.
    fn suspension_of(&self, who: &Subject) -> Option<&SuspendedRow> {
        let wallets = self.wallets_with(who);
        let found = wallets.iter().filter_map(|wallet| self.suspended_wallets.get(&key_of(wallet)));
        found.min_by_key(|row| (row.suspension.at, row.id))
    }

    pub(super) fn is_suspended(&self, who: &Subject) -> bool {
        self.suspension_of(who).is_some()
    }

    /// A wallet was linked to a user, whose other wallets may be suspended, or it may be. Then all of them are from now on.
    pub(super) fn spread_suspension(&mut self, user: UserId) {
        let user = Subject::User(user);
        let Some(found) = self.suspension_of(&user).cloned() else { return };
        for wallet in self.wallets_with(&user) {
            let row = SuspendedRow { chain: wallet.chain.clone(), ..found.clone() };
            self.suspended_wallets.entry(key_of(&wallet)).or_insert(row);
        }
    }
}
