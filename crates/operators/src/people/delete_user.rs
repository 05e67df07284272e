//! An operator deletes a user, as users can do themselves.

use countersign_domain::checkpoint::RecordKey;
use countersign_domain::event::EventKind;
use countersign_domain::id::UserId;
use countersign_ports::{DeleteAccount, ForgetEventsOf};

use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::steps::hide_person::{hide_person, hide_the_rest};
use countersign_usecases::steps::notify_logout::{LogoutNotice, notices};

/// Deletes a user with everything that is theirs. The answer says which clients to tell. If the user is
/// blocked, each of their wallets is blocked from then on. `key` is that of the record.
pub async fn delete_user(
    management: Management<'_>,
    key: &RecordKey,
    user: UserId,
) -> Result<Vec<LogoutNotice>, ActRefused> {
    let to_notify = notices(management.storage, user, None).await?;
    let now = management.clock.now();
    let event = management.event(now, EventKind::AccountDeleted, |_| {});
    let (pseudonym, hiding, event) = hide_person(management.entropy, key, event);
    let rest = ForgetEventsOf { user, pseudonym, hiding: hiding.clone() };
    let command = DeleteAccount { user, now, pseudonym, hiding, event };
    if !management.storage.delete_account(command).await? {
        return Err(ActRefused::UserUnknown(user));
    }
    hide_the_rest(management.storage, rest).await;
    Ok(to_notify)
}
