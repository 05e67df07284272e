//! Invitations into groups.

use countersign_domain::event::Event;
use countersign_domain::id::InvitationId;
use countersign_domain::invitation::{AcceptedInvitation, Invitation, InvitationState, InvitationUse};
use countersign_domain::wallet::WalletAccount;
use time::OffsetDateTime;

/// Stores an invitation.
#[derive(Clone, Debug)]
pub struct CreateInvitation {
    /// The invitation, with its id and its hash.
    pub invitation: Invitation,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`CreateInvitation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationCreated {
    /// The invitation is stored. A repeat of the same command (same id) gives this too.
    Stored,
    /// There is no such group. Nothing changed.
    GroupUnknown,
}

/// Revokes an invitation.
#[derive(Clone, Debug)]
pub struct RevokeInvitation {
    /// Which one.
    pub id: InvitationId,
    /// When.
    pub now: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Puts a wallet into a group by an invitation.
#[derive(Clone, Debug)]
pub struct AcceptInvitation {
    /// The invitation, and the group that the wallet signed for.
    pub invitation: AcceptedInvitation,
    /// The wallet.
    pub wallet: WalletAccount,
    /// When.
    pub now: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`AcceptInvitation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationAccepted {
    /// The wallet is in the group now, and one use is spent.
    Joined,
    /// The wallet or its user was in the group already. Nothing changed. A repeat of the same command gives this.
    AlreadyMember,
    /// The wallet or its user is blocked. Nothing changed.
    Blocked,
    /// The invitation is good for nothing any more. Nothing changed.
    Ended(InvitationState),
    /// There is no such invitation into this group. Nothing changed.
    Unknown,
}

/// An invitation that a user came in by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CameBy {
    /// Which one, by which wallet, and when.
    pub used: InvitationUse,
    /// The invitation.
    pub invitation: Invitation,
}
