//! An operator decides to go on with a record whose last checkpoint cannot be authenticated.
//!
//! The checkpoint that is made then says who decided it. So the record can grow again, and verifying it shows
//! from where on the server vouches for it.

use countersign_domain::checkpoint::{
    Checkpoint, CheckpointClaims, RecordKey, SignedCheckpoint, merkle_root,
};
use countersign_ports::{CheckpointAt, SealEvents, Sealed, SignerError, StoreError, TokenSigner};

use countersign_usecases::Management;
use countersign_usecases::events::authenticate::is_authentic;
use countersign_usecases::events::seal_events::FIRST;

/// The checkpoints that are read at a time.
const PAGE: u32 = 1_000;

/// Why nothing was accepted.
#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    /// The last checkpoint is the server's.
    #[error("there is nothing to accept: the last checkpoint is authentic, or there is none")]
    Authentic,
    /// A server sealed events in the meantime.
    #[error("another checkpoint was made in the meantime; try it again")]
    Stale,
    /// The checkpoint could not be signed.
    #[error("checkpoint could not be signed")]
    Signer(#[from] SignerError),
    /// The checkpoints could not be read or stored.
    #[error("checkpoints could not be read or stored")]
    Store(#[from] StoreError),
}

/// Makes a checkpoint without events after the last one. Events are kept from where the last authentic checkpoint says.
pub async fn accept_record(
    management: Management<'_>,
    signer: &dyn TokenSigner,
    key: &RecordKey,
) -> Result<SignedCheckpoint, AcceptError> {
    let Some(last) = management.storage.last_checkpoint().await? else { return Err(AcceptError::Authentic) };
    if is_authentic(signer, key, &last) {
        return Err(AcceptError::Authentic);
    }
    let mut kept_from = FIRST;
    let mut after = 0;
    loop {
        let page = management.storage.checkpoints(after, PAGE).await?;
        let Some(end) = page.last() else { break };
        after = end.number();
        for at in &page {
            if let CheckpointAt::Checkpoint(signed) = at
                && is_authentic(signer, key, signed)
            {
                kept_from = signed.checkpoint.kept_from;
            }
        }
    }
    let checkpoint = Checkpoint {
        number: last.checkpoint.number.saturating_add(1),
        sealed_at: management.clock.now().truncate_to_second(),
        first: last.checkpoint.next(),
        events: 0,
        root: merkle_root(&[]),
        previous: last.hash(),
        kept_from,
    };
    let accepted_by = Some(management.cause.actor.to_string());
    let claims = CheckpointClaims { accepted_by, ..CheckpointClaims::of(checkpoint.clone()) };
    let jws = signer.sign_checkpoint(&claims, Some(&last), key).await?;
    let signed = SignedCheckpoint { checkpoint, jws };
    let command = SealEvents { checkpoint: signed.clone(), events: Vec::new(), counts: Vec::new() };
    match management.storage.seal_events(command).await? {
        Sealed::Sealed => Ok(signed),
        Sealed::Stale => Err(AcceptError::Stale),
    }
}
