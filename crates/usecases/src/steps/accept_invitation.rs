//! Shared step: a wallet that signed comes into a group by an invitation, in a commit of its own before the sign-in's.
//! If the server is killed in between, the person is a member, and signs in like any other.

use countersign_domain::event::{Details, EventKind};
use countersign_domain::invitation::{AcceptedInvitation, InvitationState};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{AcceptInvitation, InvitationAccepted, StoreError};
use time::OffsetDateTime;

use crate::Context;
use crate::context::cause::Cause;

/// Why no one comes in by an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvitationRefused {
    /// It was deleted, or leads elsewhere.
    #[error("there is no such invitation")]
    Unknown,
    /// It ended.
    #[error("the invitation is {}", .0.name())]
    Ended(InvitationState),
    /// The wallet or its user is blocked.
    #[error("the wallet is blocked")]
    Blocked,
}

/// Puts the wallet into the group. A member spends nothing.
pub(crate) async fn accept_invitation(
    context: &Context,
    cause: &Cause,
    now: OffsetDateTime,
    invitation: &AcceptedInvitation,
    wallet: &WalletAccount,
) -> Result<Result<(), InvitationRefused>, StoreError> {
    let AcceptedInvitation { id, group } = invitation;
    let event = context.event(now, cause, EventKind::InvitationUsed, |event| {
        event.wallet = Some(wallet.clone());
        event.details = Details::default().text("invitation", id).text("group", group);
    });
    let command = AcceptInvitation { invitation: invitation.clone(), wallet: wallet.clone(), now, event };
    Ok(match context.storage.accept_invitation(command).await? {
        InvitationAccepted::Joined => {
            let (wallet, address) = (wallet.shortened(), cause.logged_address.map(tracing::field::display));
            tracing::info!(invitation.id = %id, group = %group, wallet, address, "invitation used");
            Ok(())
        }
        InvitationAccepted::AlreadyMember => Ok(()),
        InvitationAccepted::Blocked => Err(InvitationRefused::Blocked),
        InvitationAccepted::Ended(state) => Err(InvitationRefused::Ended(state)),
        InvitationAccepted::Unknown => Err(InvitationRefused::Unknown),
    })
}
