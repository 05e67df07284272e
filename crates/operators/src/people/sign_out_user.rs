//! An operator signs a user out everywhere.

use countersign_domain::act::OfflineAccess;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::grant::RevocationReason;
use countersign_domain::id::UserId;
use countersign_domain::scope::Scope;
use countersign_domain::subject::Subject;
use countersign_ports::EndAccess;
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;

use super::{Ended, exists};

/// Ends all sessions of a user and every grant, whether it was made in a session or not. Those to which the user agreed
/// for when they are away (`offline_access`) end as well, unless an operator keeps them.
pub async fn sign_out_user(
    management: Management<'_>,
    user: UserId,
    offline: OfflineAccess,
) -> Result<Ended, ActRefused> {
    if !exists(management, user).await? {
        return Err(ActRefused::UserUnknown(user));
    }
    let now = management.clock.now();
    let event = management.event(now, EventKind::UserSignedOut, |event| {
        Subject::User(user).tell(event);
        event.details = Details::default().text("offline_access", offline.name());
    });
    let command = EndAccess {
        who: Subject::User(user),
        reason: RevocationReason::Operator,
        keeps: match offline {
            OfflineAccess::Ended => None,
            OfflineAccess::Kept => Some(Scope::OfflineAccess),
        },
        now,
        event,
    };
    Ok(management.blocks.end_access(command).await?.into())
}
