//! What signing and continuing share: the grant that a pending request asks for, and the code that redeems it.

use countersign_domain::id::{GrantId, UserId};
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{CompleteLogin, EntropyExt};
use time::OffsetDateTime;

use crate::{Context, answer};

/// A grant that is about to be stored.
pub(crate) struct NewGrant {
    pub(crate) login: CompleteLogin,
    /// The redirect with its code.
    pub(crate) to: String,
}

/// Who gets a grant, and under which id.
pub(crate) struct Grantee {
    pub(crate) id: GrantId,
    pub(crate) account: WalletAccount,
    pub(crate) new_user: UserId,
}

/// Makes the grant of a request and its code. The row must stay while what led to it, a challenge or a request, is good:
/// forgotten before `good_until`, it could be led to once more.
pub(crate) fn new_grant(
    context: &Context,
    now: OffsetDateTime,
    pending: &PendingAuthorization,
    grantee: Grantee,
    good_until: OffsetDateTime,
) -> NewGrant {
    let Grantee { id, account, new_user } = grantee;
    let code = Secret::with_id(id.as_uuid(), context.entropy.bytes());
    let code_expires_at = now + context.policy.lifetimes.code;
    let login = CompleteLogin {
        id,
        client: pending.client,
        account,
        new_user,
        redirect_uri: pending.redirect_uri.clone(),
        scope: pending.scope,
        nonce: pending.nonce.clone(),
        code_challenge: pending.code_challenge,
        code_hash: SecretHash::of(&code),
        now,
        code_expires_at,
        forget_after: code_expires_at.max(good_until),
        session: None,
    };
    let state = pending.state.as_deref();
    NewGrant { login, to: answer::with_code(&context.policy, &pending.redirect_uri, state, code.expose()) }
}
