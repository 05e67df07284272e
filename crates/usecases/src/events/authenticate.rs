//! The server continues only checkpoints that it can authenticate with its secret, even if others can write
//! to the database.
//!
//! What the columns of a checkpoint say counts only after it was found equal to what is signed. A checkpoint of a build
//! before there were MACs is authentic if a key that is published signed it, or if an authentic one comes after it, whose
//! hashes lead back to it.

use std::collections::BTreeMap;

use countersign_domain::checkpoint::{Digest256, RecordKey, SignedCheckpoint};
use countersign_ports::{CheckpointAt, CheckpointProof, TokenSigner};

use super::seal_error::{SealError, Unauthentic};
use crate::Context;

/// How many checkpoints are read at a time on the way to an authentic one.
const PAGE: u32 = 500;

/// Is this one the server's, by itself? Its columns say what is signed then.
pub fn is_authentic(signer: &dyn TokenSigner, key: &RecordKey, signed: &SignedCheckpoint) -> bool {
    signer.read_checkpoint(&signed.jws, key).is_some_and(|read| {
        let is_ours = match read.proof {
            CheckpointProof::Secret | CheckpointProof::PublishedKey => true,
            CheckpointProof::RecordedKey | CheckpointProof::WithdrawnKey | CheckpointProof::Nothing => false,
        };
        is_ours && read.says.checkpoint == signed.checkpoint
    })
}

/// Reads the last checkpoint, which is authentic, and not before or beside one that this server saw.
pub async fn authentic_last(context: &Context) -> Result<Option<SignedCheckpoint>, SealError> {
    let last = context.storage.last_checkpoint().await?;
    if let Some((number, hash)) = context.record.last() {
        let present = match &last {
            Some(last) if last.checkpoint.number == number => Some(last.hash()),
            Some(_) | None => match context.storage.checkpoints(number.saturating_sub(1), 1).await?.first() {
                Some(CheckpointAt::Checkpoint(signed)) if signed.checkpoint.number == number => {
                    Some(signed.hash())
                }
                Some(_) | None => None,
            },
        };
        match present {
            Some(present) if present == hash => {}
            Some(_) => return Err(Unauthentic::Replaced { number }.into()),
            None => return Err(Unauthentic::Gone { number }.into()),
        }
    }
    let Some(last) = last else { return Ok(None) };
    if !is_authentic(&*context.signer, &context.keys.record, &last) {
        return Err(Unauthentic::Forged { number: last.checkpoint.number }.into());
    }
    context.record.remember(&last);
    Ok(Some(last))
}

/// The checkpoints at the beginning of a page, up to the first that is unreadable or not authentic. Their columns say what is
/// signed.
pub(super) async fn authentic_run(
    context: &Context,
    page: Vec<CheckpointAt>,
) -> Result<Vec<SignedCheckpoint>, SealError> {
    let readable = page.into_iter().map_while(|at| match at {
        CheckpointAt::Checkpoint(signed) => Some(*signed),
        CheckpointAt::Unreadable { .. } => None,
    });
    let mut run: Vec<_> = readable.collect();
    let by_themselves =
        run.iter().take_while(|signed| is_authentic(&*context.signer, &context.keys.record, signed)).count();
    if by_themselves < run.len() && !is_led_to(context, &run).await? {
        run.truncate(by_themselves);
    }
    Ok(run)
}

/// Do the hashes of an authentic checkpoint lead back through all of these? What was found on the way is remembered, so
/// that the next run is only a page away from it.
async fn is_led_to(context: &Context, run: &[SignedCheckpoint]) -> Result<bool, SealError> {
    let mut anchors = BTreeMap::new();
    let mut previous: Option<(u64, Digest256)> = None;
    let mut page = run.to_vec();
    loop {
        for signed in &page {
            let checkpoint = &signed.checkpoint;
            let Some(read) = context.signer.read_checkpoint(&signed.jws, &context.keys.record) else {
                return Ok(false);
            };
            let follows = previous.is_none_or(|(number, hash)| {
                read.says.checkpoint.number == number.saturating_add(1)
                    && read.says.checkpoint.previous == hash
            });
            if !follows || read.says.checkpoint != *checkpoint {
                return Ok(false);
            }
            let hash = signed.hash();
            previous = Some((checkpoint.number, hash));
            let is_of_run = run.last().is_some_and(|last| checkpoint.number <= last.checkpoint.number);
            let known = context.record.anchor(checkpoint.number);
            let is_last_of_run = run.last().is_some_and(|last| checkpoint.number == last.checkpoint.number);
            let is_end = is_authentic(&*context.signer, &context.keys.record, signed) || known == Some(hash);
            if is_end && (!is_of_run || is_last_of_run) {
                context.record.add_anchors(anchors);
                return Ok(true);
            }
        }
        let Some((number, hash)) = previous else { return Ok(false) };
        anchors.insert(number, hash);
        let next = context.storage.checkpoints(number, PAGE).await?;
        page = next
            .into_iter()
            .map_while(|at| match at {
                CheckpointAt::Checkpoint(signed) => Some(*signed),
                CheckpointAt::Unreadable { .. } => None,
            })
            .collect();
        if page.is_empty() {
            return Ok(false);
        }
    }
}
