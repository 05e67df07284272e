//! The operator gives a client a new secret. The old one stops working at once, unless the operator lets it work
//! on for a while.

use countersign_domain::client::ClientAuthentication;
use countersign_domain::client_secrets::{KeepOld, OldSecret};
use countersign_domain::event::{Details, EventKind};
use countersign_domain::id::ClientId;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{EntropyExt, RotateSecret, SecretRecord, StoreError};
use time::OffsetDateTime;

use crate::Management;
use crate::act_refused::ActRefused;

/// A client's new secret, and what became of those that it had.
#[derive(Clone, Debug)]
pub struct RotatedSecret {
    /// The new secret. It is shown only this once.
    pub secret: Secret,
    /// Until when the replaced secret works; `None` if it ended at once.
    pub old_expires_at: Option<OffsetDateTime>,
    /// When the secret before that one would have ended; `None` if there was none. It ended at once.
    pub cut_short: Option<OffsetDateTime>,
}

/// Gives a client a new secret and returns it, once. If another operator does the same at the same time,
/// their secret is the one that is replaced: neither of the two is lost unnoticed. From the answer on, every
/// replica knows the new secret.
pub async fn rotate_client_secret(
    management: Management<'_>,
    id: ClientId,
    keep_old: KeepOld,
) -> Result<RotatedSecret, ActRefused> {
    let secret = Secret::from_random(management.entropy.bytes());
    replace_client_secret(management, id, secret, keep_old).await
}

/// The same with a secret that the operator chose. If the client has it already, nothing changes.
pub async fn replace_client_secret(
    management: Management<'_>,
    id: ClientId,
    secret: Secret,
    keep_old: KeepOld,
) -> Result<RotatedSecret, ActRefused> {
    loop {
        let client = management.clients.find_fresh(id).await?.ok_or(ActRefused::ClientUnknown(id))?;
        let ClientAuthentication::Secret { secrets, .. } = client.authentication else {
            return Err(ActRefused::NoSecret);
        };
        let now = management.clock.now();
        if secrets.current.admits(&secret) {
            let old_expires_at = secrets.living_old(now).map(|OldSecret { expires_at, .. }| expires_at);
            return Ok(RotatedSecret { secret, old_expires_at, cut_short: None });
        }
        let old_expires_at = keep_old.until(now);
        let event = management.event(now, EventKind::SecretRotated, |event| {
            event.client = Some(id);
            event.details = Details::default().flag("old_kept", old_expires_at.is_some());
        });
        let command = RotateSecret {
            client: id,
            replaced: secrets.current,
            hash: SecretHash::of(&secret),
            now: now.replace_nanosecond(0).unwrap_or(now),
            keep_old_until: old_expires_at,
            event,
        };
        if management.clients.rotate_secret(command).await? {
            let cut_short = secrets.living_old(now).map(|OldSecret { expires_at, .. }| expires_at);
            return Ok(RotatedSecret { secret, old_expires_at, cut_short });
        }
        if management.clients.are_guarded() {
            return Err(ActRefused::ClientUnknown(id));
        }
        // Another rotation was faster, so that each turn means one that succeeded; or the client is gone.
    }
}

/// Reads what is known about the secrets of a client that work now, the newest first. Empty for a client
/// without secrets.
pub async fn read_secrets(management: Management<'_>, id: ClientId) -> Result<Vec<SecretRecord>, StoreError> {
    let now = management.clock.now();
    let mut secrets = management.clients.secrets_of(id).await?;
    secrets.retain(|secret| secret.expires_at.is_none_or(|expires_at| now < expires_at));
    Ok(secrets)
}
