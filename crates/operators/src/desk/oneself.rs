//! A change that takes the desk away from the operator who asks for it: they type a word first, so that it is not a slip.

use countersign_domain::act::Act;
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_ports::StoreError;
use countersign_usecases::Context;

use crate::people::suspend::person_of;

/// What the operator types. It is the same in every language, and the page shows it.
pub const WORD: &str = "myself";

/// Does the change block or suspend this user, or take them out of the operators' group?
pub async fn is_about_oneself(context: &Context, user: UserId, change: &Act) -> Result<bool, StoreError> {
    let is_operators =
        |group| context.policy.desk.as_ref().is_some_and(|policy| policy.group.as_ref() == Some(group));
    let who = if let Act::Block { who, .. } | Act::Suspend { who, .. } = change {
        std::slice::from_ref(who)
    } else if let Act::RemoveMembers { group, members } = change
        && is_operators(group)
    {
        members
    } else {
        return Ok(false);
    };
    for who in who.iter().cloned().map(<Subject>::from) {
        let owner = match &who {
            Subject::User(user) => Some(*user),
            Subject::Wallet(wallet) => context.storage.find_owner(wallet.clone()).await?,
        };
        // A suspension is about the person, whatever account is named.
        let is_suspension = matches!(change, Act::Suspend { .. });
        if owner == Some(user) || (is_suspension && person_of(&*context.storage, &who).await?.has(user)) {
            return Ok(true);
        }
    }
    Ok(false)
}
