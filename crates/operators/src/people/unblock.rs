//! An operator lets a user or a wallet in again. What the block ended stays ended.

use countersign_domain::event::EventKind;
use countersign_domain::subject::Subject;
use countersign_ports::RemoveBlock;

use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;

/// What unblocking did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unblocked {
    /// Was there a block?
    pub was_blocked: bool,
    /// What still keeps this user or this wallet out: blocks of the user's wallets, or of the wallet's user.
    pub still: Vec<Subject>,
}

/// Removes the block of a user or of a wallet.
pub async fn unblock(management: Management<'_>, who: Subject) -> Result<Unblocked, ActRefused> {
    let kind = match &who {
        Subject::User(_) => EventKind::UserUnblocked,
        Subject::Wallet(_) => EventKind::WalletUnblocked,
    };
    let event = management.event(management.clock.now(), kind, |event| who.tell(event));
    let was_blocked = management.blocks.unblock(RemoveBlock { who: who.clone(), event }).await?;
    let still = match who {
        Subject::User(user) => {
            let person = management.storage.find_person(user, management.clock.now()).await?;
            let blocked = person.ok_or(ActRefused::UserUnknown(user))?.blocked_wallets.into_iter();
            blocked.map(|blocked| Subject::Wallet(blocked.account)).collect()
        }
        Subject::Wallet(account) => {
            // Its own block is gone, so what is left is that of its user.
            let standing = management.storage.standing_of(&account).await?;
            standing.block.and(standing.user).map(Subject::User).into_iter().collect()
        }
    };
    Ok(Unblocked { was_blocked, still })
}
