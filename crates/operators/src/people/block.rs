//! An operator keeps a user or a wallet out. The access that was given before ends.

use countersign_domain::admission::Block;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::grant::RevocationReason;
use countersign_domain::subject::Subject;
use countersign_ports::{BlockPut, PutBlock};
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::context::blocks::IfBlocked;

use super::Ended;

/// What blocking did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedNow {
    /// What became of the block.
    pub put: BlockPut,
    /// The access that ended.
    pub ended: Ended,
}

/// Blocks a user or a wallet for a reason that was judged ([`Block::judge_reason`]). From the answer on,
/// nothing that was given before works on any replica, and no one signs in. If there is a block already, with nothing to
/// add, this ends what another command did not get to; at the desk it does nothing, because nothing would have this
/// operator's signature.
pub async fn block(
    management: Management<'_>,
    who: Subject,
    reason: Option<String>,
    if_blocked: IfBlocked,
) -> Result<BlockedNow, ActRefused> {
    let now = management.clock.now();
    let kind = match &who {
        Subject::User(_) => EventKind::UserBlocked,
        Subject::Wallet(_) => EventKind::WalletBlocked,
    };
    let event = management.event(now, kind, |event| who.tell(event));
    // What the block ends is the server's doing, in a commit of its own.
    let by_server = management.cause.by_server();
    let ending = Management { cause: &by_server, ..management };
    let ended = ending.event(now, EventKind::GrantRevoked, |event| {
        who.tell(event);
        event.details = Details::default().text("reason", RevocationReason::Blocked.name());
    });
    let command = PutBlock { who: who.clone(), block: Block { at: now, reason }, event };
    let done = management.blocks.block(command, if_blocked, ended).await?;
    match (done.put, who) {
        (BlockPut::UserUnknown, Subject::User(user)) => Err(ActRefused::UserUnknown(user)),
        (put, Subject::User(_) | Subject::Wallet(_)) => Ok(BlockedNow { put, ended: done.ended.into() }),
    }
}
