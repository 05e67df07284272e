//! Users with several wallets.

use async_trait::async_trait;
use countersign_domain::event::{EventKind, EventPerson};
use countersign_domain::grant::RevocationReason;
use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_domain::wallet_name::WalletName;
use countersign_ports::{
    FindHoldings, Holding, LinkWallet, LinkedWallet, NameWallet, StoreError, UnlinkWallet, WalletLinked,
    WalletStore, WalletUnlinked,
};
use time::OffsetDateTime;

use super::{MemoryStorage, Revocation, Tables, count};

/// Family and address, which together identify a wallet.
pub(super) type WalletKey = (String, String);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct WalletRow {
    pub(super) user: UserId,
    pub(super) chain: String,
    pub(super) linked_at: OffsetDateTime,
    pub(super) name: Option<WalletName>,
}

pub(super) fn key_of(account: &WalletAccount) -> WalletKey {
    (account.family.clone(), account.address.clone())
}

/// The wallet with this key, on this chain.
pub(super) fn account_of((family, address): &WalletKey, chain: &str) -> WalletAccount {
    WalletAccount { family: family.clone(), chain: chain.to_owned(), address: address.clone() }
}

impl Tables {
    /// The user of a wallet.
    pub(super) fn owner_of(&self, account: &WalletAccount) -> Option<UserId> {
        self.wallets.get(&key_of(account)).map(|wallet| wallet.user)
    }

    /// The user that the signer belonged to when the text was issued.
    fn owner_since(&self, signer: &WalletAccount, begun_at: OffsetDateTime) -> Option<UserId> {
        let wallet = self.wallets.get(&key_of(signer))?;
        (wallet.linked_at <= begun_at).then_some(wallet.user)
    }

    /// The wallets of a user, earliest link first.
    pub(super) fn wallets_of(&self, user: UserId) -> Vec<LinkedWallet> {
        let theirs = self.wallets.iter().filter(|(_, wallet)| wallet.user == user);
        let mut wallets: Vec<_> = theirs
            .map(|(key, wallet)| LinkedWallet {
                account: account_of(key, &wallet.chain),
                linked_at: wallet.linked_at,
                name: wallet.name.clone(),
            })
            .collect();
        // The sort is stable, so wallets linked at the same time stay in the order of family and address.
        wallets.sort_by_key(|wallet| wallet.linked_at);
        wallets
    }
}

#[async_trait]
impl WalletStore for MemoryStorage {
    async fn link_wallet(&self, command: LinkWallet) -> Result<WalletLinked, StoreError> {
        let mut tables = self.tables();
        if tables.spent_challenges.contains_key(&command.id) {
            return Ok(WalletLinked::ChallengeSpent);
        }
        tables.spent_challenges.insert(command.id, command.forget_after);
        let Some(user) = tables.owner_since(&command.signer, command.begun_at) else {
            return Ok(WalletLinked::SignerUnknown);
        };
        if tables.is_asker_blocked(user, &command.signer) || tables.is_wallet_blocked(&command.wallet) {
            return Ok(WalletLinked::Blocked);
        }
        match tables.owner_of(&command.wallet) {
            Some(owner) if owner == user => return Ok(WalletLinked::AlreadyTheirs { user }),
            Some(_) => return Ok(WalletLinked::BelongsToAnother),
            None => {}
        }
        if tables.wallets_of(user).len() >= count(command.most) {
            return Ok(WalletLinked::TooMany);
        }
        let key = key_of(&command.wallet);
        let (chain, linked_at) = (command.wallet.chain, command.now);
        tables.wallets.insert(key, WalletRow { user, chain, linked_at, name: None });
        tables.spread_suspension(user);
        tables.record_about(command.event, user)?;
        Ok(WalletLinked::Linked { user })
    }

    async fn unlink_wallet(&self, command: UnlinkWallet) -> Result<WalletUnlinked, StoreError> {
        let mut tables = self.tables();
        if tables.spent_challenges.contains_key(&command.id) {
            return Ok(WalletUnlinked::ChallengeSpent);
        }
        tables.spent_challenges.insert(command.id, command.forget_after);
        let Some(user) = tables.owner_since(&command.signer, command.begun_at) else {
            return Ok(WalletUnlinked::SignerUnknown);
        };
        if tables.is_asker_blocked(user, &command.signer) {
            return Ok(WalletUnlinked::Blocked);
        }
        if tables.owner_of(&command.wallet) != Some(user) {
            return Ok(WalletUnlinked::NotTheirs);
        }
        if tables.is_wallet_blocked(&command.wallet) {
            return Ok(WalletUnlinked::Blocked);
        }
        if tables.wallets.values().filter(|wallet| wallet.user == user).count() == 1 {
            return Ok(WalletUnlinked::LastWallet);
        }
        let key = key_of(&command.wallet);
        tables.record_about(command.event, user)?;
        tables.wallets.remove(&key);
        tables.untold.remove(&user);
        tables.sessions.retain(|_, session| session.user != user || key_of(&session.account) != key);
        let revocation = Revocation { at: command.now, reason: RevocationReason::WalletUnlinked };
        for row in tables.grants.values_mut() {
            let is_theirs = row.grant.holder.user() == Some(user);
            if is_theirs && row.grant.holder.account().map(key_of).as_ref() == Some(&key) {
                row.revoke(revocation);
            }
        }
        Ok(WalletUnlinked::Unlinked { user })
    }

    async fn find_owner(&self, wallet: WalletAccount) -> Result<Option<UserId>, StoreError> {
        Ok(self.tables().owner_of(&wallet))
    }

    async fn name_wallet(&self, command: NameWallet) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let wallet = tables.wallets.get_mut(&key_of(&command.wallet));
        let Some(wallet) = wallet.filter(|wallet| wallet.user == command.user) else { return Ok(false) };
        wallet.name = command.name;
        Ok(true)
    }

    async fn wallets_of(&self, user: UserId) -> Result<Vec<LinkedWallet>, StoreError> {
        Ok(self.tables().wallets_of(user))
    }

    async fn find_holdings(&self, question: FindHoldings) -> Result<Vec<Holding>, StoreError> {
        let tables = self.tables();
        let wallets: Vec<WalletKey> = question.wallets.iter().map(key_of).collect();
        let mut holdings: Vec<Holding> = Vec::new();
        let mut find = |user: UserId, wallet: WalletAccount, is_now: bool| {
            let is_asked = question.users.contains(&user) || wallets.contains(&key_of(&wallet));
            let is_same = |known: &Holding| {
                (known.user, key_of(&known.wallet), known.is_now) == (user, key_of(&wallet), is_now)
            };
            if is_asked && !holdings.iter().any(is_same) {
                holdings.push(Holding { user, wallet, is_now });
            }
        };
        for (key, row) in &tables.wallets {
            find(row.user, account_of(key, &row.chain), true);
        }
        for event in tables.all_events() {
            let is_link = matches!(event.kind, EventKind::WalletLinked | EventKind::WalletUnlinked);
            if let (true, Some(EventPerson::User(user)), Some(wallet)) =
                (is_link, event.person, &event.wallet)
            {
                find(user, wallet.clone(), false);
            }
        }
        holdings.truncate(count(question.limit));
        Ok(holdings)
    }
}
