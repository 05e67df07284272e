//! An operator lists wallets: those that people signed in with, or those that are blocked.

use countersign_domain::admission::Block;
use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{LinkedWallet, PeopleFilter, StoreError};

use countersign_usecases::Management;

/// A wallet in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletListed {
    /// The wallet.
    pub account: WalletAccount,
    /// The user it belongs to.
    pub user: Option<UserId>,
    /// The block that keeps it out: its user's, or else its own. In a list of blocked wallets, its own.
    pub block: Option<Block>,
}

/// Some wallets, and whether there are more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletPage {
    /// The wallets.
    pub wallets: Vec<WalletListed>,
    /// Do more wallets follow the last one?
    pub more: bool,
}

/// Why no wallets are listed.
#[derive(Debug, thiserror::Error)]
pub enum ListWalletsError {
    /// The wallet after which the list should begin belongs to no one.
    #[error("no one has signed in with the wallet after which the list should begin")]
    AfterUnknown,
    /// The wallets could not be read.
    #[error("wallets could not be read")]
    Store(#[from] StoreError),
}

/// Lists up to `limit` blocked wallets after `after`, by family and address, whether anybody signed in with
/// them or not.
pub async fn list_blocked_wallets(
    management: Management<'_>,
    after: Option<&WalletAccount>,
    limit: u32,
) -> Result<WalletPage, StoreError> {
    let blocked = management.blocks.wallets(after, limit.saturating_add(1)).await?.into_iter();
    let listed = blocked.map(|blocked| WalletListed {
        account: blocked.account,
        user: blocked.user,
        block: Some(blocked.block),
    });
    Ok(page(listed.collect(), limit))
}

/// Lists up to `limit` wallets that people signed in with after `after`, by user.
pub async fn list_wallets(
    management: Management<'_>,
    after: Option<&WalletAccount>,
    limit: u32,
) -> Result<WalletPage, ListWalletsError> {
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1);
    let mut found: Vec<(UserId, LinkedWallet)> = Vec::new();
    let mut last = None;
    if let Some(after) = after {
        let owner = management.storage.find_owner(after.clone()).await?;
        let owner = owner.ok_or(ListWalletsError::AfterUnknown)?;
        let is_before = |wallet: &LinkedWallet| {
            (&wallet.account.family, &wallet.account.address) != (&after.family, &after.address)
        };
        let wallets = management.storage.wallets_of(owner).await?.into_iter();
        found.extend(wallets.skip_while(is_before).skip(1).map(|wallet| (owner, wallet)));
        last = Some(owner);
    }
    while found.len() < wanted {
        let left = u32::try_from(wanted - found.len()).unwrap_or(u32::MAX);
        let people = management.storage.list_people(&PeopleFilter::default(), last, left).await?;
        let Some(last_read) = people.last() else { break };
        last = Some(last_read.id);
        for person in people {
            found.extend(person.wallets.into_iter().map(|wallet| (person.id, wallet)));
        }
    }
    found.truncate(wanted);
    let mut listed = Vec::with_capacity(found.len());
    for (user, LinkedWallet { account, .. }) in found {
        let block = management.storage.standing_of(&account).await?.block;
        listed.push(WalletListed { account, user: Some(user), block });
    }
    Ok(page(listed, limit))
}

fn page(mut wallets: Vec<WalletListed>, limit: u32) -> WalletPage {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = wallets.len() > most;
    wallets.truncate(most);
    WalletPage { wallets, more }
}
