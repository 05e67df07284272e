//! An operator suspends another, at once, and lets a suspended one act again.
//!
//! A suspension is about a person: it holds for the account, for every wallet that the account has, and for everything
//! that ever hung together with it (`one_person`). So an account that was prepared for the day does not
//! help. It takes the desk away, and no sign-in to an application: a block does that.

use countersign_domain::desk::operators::Suspension;
use countersign_domain::event::EventKind;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    DirectStorage, EntropyExt, OperatorSuspended, RestoreOperator, StoreError, SuspendOperator,
};
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;
use uuid::Uuid;

use super::one_person::Circle;

/// Suspends an operator for a reason that was judged
/// ([`Block::judge_reason`](countersign_domain::admission::Block::judge_reason)). Their proposals end. From the answer on,
/// nothing that they sign counts, on whatever replica.
pub async fn suspend(
    management: Management<'_>,
    who: Subject,
    reason: Option<String>,
) -> Result<OperatorSuspended, ActRefused> {
    if !is_operator(management, &who).await? {
        return Err(ActRefused::NotOperator(who));
    }
    let others = person_of(management.storage, &who).await?.into_wallets();
    let now = management.clock.now();
    let event = management.event(now, EventKind::OperatorSuspended, |event| who.tell(event));
    let command = SuspendOperator {
        who: who.clone(),
        others,
        id: Uuid::from_bytes(management.entropy.bytes()),
        suspension: Suspension { at: now, reason },
        event,
    };
    let suspended = management.storage.suspend_operator(command).await?;
    match (suspended, who) {
        (OperatorSuspended::UserUnknown, Subject::User(user)) => Err(ActRefused::UserUnknown(user)),
        (suspended, Subject::User(_) | Subject::Wallet(_)) => Ok(suspended),
    }
}

/// Ends the suspension of an operator, with everything that it suspended. Returns whether there was one.
pub async fn restore(management: Management<'_>, who: Subject) -> Result<bool, ActRefused> {
    let now = management.clock.now();
    let event = management.event(now, EventKind::OperatorRestored, |event| who.tell(event));
    Ok(management.storage.restore_operator(RestoreOperator { who, event }).await?)
}

/// The suspension of a user or a wallet.
pub async fn suspension_of(
    storage: &dyn DirectStorage,
    who: Subject,
) -> Result<Option<Suspension>, StoreError> {
    Ok(storage.suspensions_of(vec![who]).await?.into_iter().next().flatten())
}

/// Everything that is known to belong to the person who has this account or this wallet.
pub(crate) async fn person_of(storage: &dyn DirectStorage, who: &Subject) -> Result<Circle, StoreError> {
    match who {
        Subject::User(user) => Circle::around(storage, vec![*user], Vec::new()).await,
        Subject::Wallet(wallet) => Circle::around(storage, Vec::new(), vec![wallet.clone()]).await,
    }
}

/// Do the settings make an operator of this user or of the owner of this wallet, blocked or suspended or not?
pub(crate) async fn is_operator(management: Management<'_>, who: &Subject) -> Result<bool, StoreError> {
    let Some(policy) = &management.policy.desk else { return Ok(false) };
    let (user, wallets): (_, Vec<WalletAccount>) = match who {
        Subject::User(user) => (Some(*user), Vec::new()),
        Subject::Wallet(wallet) => {
            (management.storage.find_owner(wallet.clone()).await?, vec![wallet.clone()])
        }
    };
    let Some(user) = user else {
        let mut groups = Vec::new();
        for wallet in &wallets {
            groups.extend(management.storage.standing_of(wallet).await?.groups);
        }
        return Ok(wallets.iter().any(|wallet| policy.names(wallet, &groups)));
    };
    let groups: Vec<_> = management.storage.memberships_of(user).await?;
    let groups: Vec<_> = groups.into_iter().map(|membership| membership.group).collect();
    let linked = management.storage.wallets_of(user).await?;
    Ok(linked.iter().any(|linked| policy.names(&linked.account, &groups)))
}
