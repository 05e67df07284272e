//! Users and wallets that are kept out.

use std::collections::BTreeSet;
use std::collections::btree_map::Entry;

use async_trait::async_trait;
use countersign_domain::admission::Block;
use countersign_domain::id::{SessionId, UserId};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    AccessEnded, BlockPut, BlockStore, BlockedWallet, EndAccess, PutBlock, RemoveBlock, SessionClient,
    StoreError,
};

use super::wallets::{WalletKey, account_of, key_of};
use super::{MemoryStorage, Revocation, Tables, count, count_of};

/// A wallet that is blocked.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BlockedRow {
    chain: String,
    pub(super) block: Block,
}

#[async_trait]
impl BlockStore for MemoryStorage {
    async fn put_block(&self, command: PutBlock) -> Result<BlockPut, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let PutBlock { who, block, event } = command;
        let present = match &who {
            Subject::User(user) if !tables.users.contains_key(user) => return Ok(BlockPut::UserUnknown),
            Subject::User(user) => tables.blocked_users.get_mut(user),
            Subject::Wallet(wallet) => {
                tables.blocked_wallets.get_mut(&key_of(wallet)).map(|row| &mut row.block)
            }
        };
        if let Some(present) = present {
            if block.reason.is_none() || block.reason == present.reason {
                return Ok(BlockPut::AlreadyThere);
            }
            present.reason = block.reason;
            tables.record(event.map(|event| Box::new(event.of_replaced_reason())))?;
            return Ok(BlockPut::ReasonReplaced);
        }
        tables.record(event)?;
        match who {
            Subject::User(user) => {
                tables.blocked_users.insert(user, block);
            }
            Subject::Wallet(wallet) => {
                let key = key_of(&wallet);
                tables.blocked_wallets.insert(key, BlockedRow { chain: wallet.chain, block });
            }
        }
        Ok(BlockPut::Stored)
    }

    async fn remove_block(&self, command: RemoveBlock) -> Result<bool, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let is_removed = match &command.who {
            Subject::User(user) => tables.blocked_users.remove(user).is_some(),
            Subject::Wallet(wallet) => tables.blocked_wallets.remove(&key_of(wallet)).is_some(),
        };
        if is_removed {
            tables.record(command.event)?;
        }
        Ok(is_removed)
    }

    async fn end_access(&self, command: EndAccess) -> Result<AccessEnded, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let Tables { grants, sessions, .. } = &mut *tables;
        let is_theirs = |user: UserId, account: &WalletAccount| match &command.who {
            Subject::User(blocked) => *blocked == user,
            Subject::Wallet(blocked) => key_of(blocked) == key_of(account),
        };
        let before = sessions.len();
        let mut ended: BTreeSet<SessionId> = BTreeSet::new();
        sessions.retain(|id, session| {
            let goes = is_theirs(session.user, &session.account);
            !(goes && ended.insert(*id))
        });
        let mut clients = BTreeSet::new();
        let mut revoked = 0;
        for row in grants.values_mut() {
            let holder = &row.grant.holder;
            let Some((user, account)) = holder.user().zip(holder.account()) else { continue };
            if row.grant.revoked || !is_theirs(user, account) {
                continue;
            }
            if let Some(session) = row.grant.session.filter(|session| ended.contains(session)) {
                clients.insert((user, SessionClient { session, client: row.grant.client }));
            }
            if command.keeps.is_none_or(|scope| !row.grant.scope.contains(scope)) {
                row.revoke(Revocation { at: command.now, reason: command.reason });
                revoked += 1;
            }
        }
        let ended = AccessEnded {
            clients: clients.into_iter().collect(),
            sessions: count_of(before - sessions.len()),
            grants: revoked,
        };
        if ended.sessions > 0 || ended.grants > 0 {
            tables.record(command.event)?;
        }
        Ok(ended)
    }

    async fn anything_blocked(&self) -> Result<bool, StoreError> {
        let tables = self.tables();
        Ok(!tables.blocked_users.is_empty() || !tables.blocked_wallets.is_empty())
    }

    async fn block_of_user(&self, user: UserId) -> Result<Option<Block>, StoreError> {
        Ok(self.tables().blocked_users.get(&user).cloned())
    }

    async fn blocked_wallets(
        &self,
        after: Option<&WalletAccount>,
        limit: u32,
    ) -> Result<Vec<BlockedWallet>, StoreError> {
        let tables = self.tables();
        let after = after.map(key_of);
        let later = tables.blocked_wallets.iter().filter(|(key, _)| after.as_ref().is_none_or(|a| *key > a));
        Ok(later.take(count(limit)).map(|(key, row)| tables.blocked_wallet(key, row)).collect())
    }
}

impl Tables {
    /// Is the user blocked who asks for a change, or the wallet that signed for it?
    pub(super) fn is_asker_blocked(&self, user: UserId, signer: &WalletAccount) -> bool {
        self.blocked_users.contains_key(&user) || self.is_wallet_blocked(signer)
    }

    pub(super) fn is_wallet_blocked(&self, wallet: &WalletAccount) -> bool {
        self.blocked_wallets.contains_key(&key_of(wallet))
    }

    /// Moves the block of a user to the wallets, because the user is deleted.
    pub(super) fn block_wallets_instead(&mut self, user: UserId) -> Vec<WalletAccount> {
        let Some(block) = self.blocked_users.remove(&user) else { return Vec::new() };
        let mut kept_out = Vec::new();
        for wallet in self.wallets_of(user) {
            let row = BlockedRow { chain: wallet.account.chain.clone(), block: block.clone() };
            let key = key_of(&wallet.account);
            if let Entry::Vacant(free) = self.blocked_wallets.entry(key) {
                free.insert(row);
                kept_out.push(wallet.account);
            }
        }
        kept_out
    }

    /// The blocks of single wallets of a user.
    pub(super) fn blocked_wallets_of(&self, user: UserId) -> Vec<BlockedWallet> {
        let blocked = self.blocked_wallets.iter().map(|(key, row)| self.blocked_wallet(key, row));
        blocked.filter(|wallet| wallet.user == Some(user)).collect()
    }

    fn blocked_wallet(&self, key: &WalletKey, row: &BlockedRow) -> BlockedWallet {
        let account = account_of(key, &row.chain);
        let user = self.owner_of(&account);
        BlockedWallet { account, block: row.block.clone(), user }
    }
}
