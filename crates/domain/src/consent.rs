//! What people agreed to.

use time::OffsetDateTime;

use crate::id::ClientId;
use crate::scope::ScopeSet;

/// What a user signed for at one client, all signatures together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consent {
    /// To whom.
    pub client: ClientId,
    /// Which scopes.
    pub scope: ScopeSet,
    /// When the user first signed for this client.
    pub granted_at: OffsetDateTime,
    /// When they last signed in there.
    pub last_used_at: OffsetDateTime,
}
