//! What signing and continuing share: the grant that a pending request asks for, and the code that redeems it.

use countersign_domain::device::DeviceRequest;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::id_token::SignedText;
use countersign_domain::particulars::Particulars;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::scope::Scope;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{CompleteLogin, EntropyExt};
use time::OffsetDateTime;

use crate::Context;
use crate::steps::answer;
use crate::steps::answer::ClientAnswer;

/// A grant that is about to be stored.
pub(crate) struct NewGrant {
    pub(crate) login: CompleteLogin,
    /// The answer with its code.
    pub(crate) to: ClientAnswer,
}

/// Who gets a grant, and under which id.
pub(crate) struct Grantee {
    pub(crate) id: GrantId,
    pub(crate) account: WalletAccount,
    pub(crate) new_user: UserId,
    /// What the wallet signed for this grant.
    pub(crate) signed: Option<SignedText>,
    /// The device that waits for it, if it is no browser.
    pub(crate) device: Option<DeviceRequest>,
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
    let Grantee { id, account, new_user, signed, device } = grantee;
    let particulars = Particulars {
        resources: pending.resources.clone(),
        key: pending.key,
        wallet_proof: signed.filter(|_| pending.scope.contains(Scope::WalletProof)),
    };
    let (code_hash, code_expires_at, to) = match device {
        // It has its code already, and no browser gets to see it.
        Some(device) => {
            (device.code_hash, device.expires_at, ClientAnswer::page(pending.redirect_uri.clone()))
        }
        None => {
            let code = Secret::with_id(id.as_uuid(), context.entropy.bytes());
            let to = answer::with_code(&context.policy, pending, code.expose());
            (SecretHash::of(&code), now + context.policy.lifetimes.code, to)
        }
    };
    let login = CompleteLogin {
        id,
        client: pending.client,
        account,
        new_user,
        redirect_uri: pending.redirect_uri.clone(),
        scope: pending.scope,
        terms: pending.terms(),
        nonce: pending.nonce.clone(),
        code_challenge: pending.code_challenge,
        particulars,
        code_hash,
        now,
        code_expires_at,
        forget_after: code_expires_at.max(good_until),
        session: None,
    };
    NewGrant { login, to }
}
