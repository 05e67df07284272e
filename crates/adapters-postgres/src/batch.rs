//! Operations that are wanted often share statements.
//!
//! - Each kind of operation has a line. A caller puts a command into it and waits for the answer, without a
//!   thread.
//! - A thread takes everything that is waiting in a line, carries it out as one statement over arrays, in one
//!   commit, and then answers each caller. There is no timer: a command that comes alone is carried out at
//!   once, and those that come in the meantime share the next statement. Lines take turns.
//! - No two commands of running batches are about the same thing ([`Batched::keys`](crate::batched::Batched::keys)). The later one waits for
//!   a later batch.
//! - A batch never waits for a row that another session has locked: it leaves the commands alone that need
//!   the row. Those commands, and those that a guard refuses, are carried out one by one by the single
//!   operation, which waits, checks the guard again, and says why it refuses. The same goes for all commands
//!   of a batch that failed. That is safe because a repeated command is recognized.
//! - A batch that needs a table which another session has locked waits a moment, and comes again after the
//!   batches of other lines. So a locked table does not keep the threads from what does not need it.
//! - Dropping the future of a command does not stop it. The caller of a command that waited too long has got
//!   the error that storage is unavailable, and the command is no longer started.

mod line;
mod threads;

use std::io;
use std::sync::Arc;

use crate::connect::pool::Pool;
use crate::options::{PgOptions, SINGLES};
use crate::together::read::{FindAccess, FindClient, FindGrant, FindRefresh, LivesOn};
use crate::together::standing::{AnythingBlocked, FindGroups, FindStanding};
use countersign_ports::{
    CompleteLogin, RedeemCode, RegisterClient, RevokeGrant, RevokeToken, RotateRefresh, SpendProof,
};

use line::Line;
use threads::Threads;

/// The most commands that share a statement.
const BATCH: usize = 128;

/// How many commands of a kind wait for each of its running batches before another batch starts beside them.
const CROWD: usize = 24;

/// A line for each kind of operation.
pub(crate) struct Batches {
    pub(crate) register_client: Line<RegisterClient>,
    pub(crate) complete_login: Line<CompleteLogin>,
    pub(crate) redeem_code: Line<RedeemCode>,
    pub(crate) rotate_refresh: Line<RotateRefresh>,
    pub(crate) revoke_token: Line<RevokeToken>,
    pub(crate) revoke_grant: Line<RevokeGrant>,
    pub(crate) spend_proof: Line<SpendProof>,
    pub(crate) find_client: Line<FindClient>,
    pub(crate) find_grant: Line<FindGrant>,
    pub(crate) find_refresh: Line<FindRefresh>,
    pub(crate) find_access: Line<FindAccess>,
    pub(crate) lives_on: Line<LivesOn>,
    pub(crate) standing_of: Line<FindStanding>,
    pub(crate) groups_of: Line<FindGroups>,
    pub(crate) anything_blocked: Line<AnythingBlocked>,
}

impl Batches {
    /// Starts the threads.
    pub(crate) fn start(pool: &Pool, options: PgOptions) -> io::Result<Self> {
        let limit = options.queue.max(1);
        let writers = Arc::new(Threads::start("pg-writer", options.writers)?);
        let readers = Arc::new(Threads::start("pg-reader", options.readers)?);
        let singles = Arc::new(Threads::start("pg-single", SINGLES)?);
        Ok(Self {
            register_client: Line::new(pool, limit, &writers, &singles),
            complete_login: Line::new(pool, limit, &writers, &singles),
            redeem_code: Line::new(pool, limit, &writers, &singles),
            rotate_refresh: Line::new(pool, limit, &writers, &singles),
            revoke_token: Line::new(pool, limit, &writers, &singles),
            revoke_grant: Line::new(pool, limit, &writers, &singles),
            spend_proof: Line::new(pool, limit, &writers, &singles),
            find_client: Line::new(pool, limit, &readers, &singles),
            find_grant: Line::new(pool, limit, &readers, &singles),
            find_refresh: Line::new(pool, limit, &readers, &singles),
            find_access: Line::new(pool, limit, &readers, &singles),
            lives_on: Line::new(pool, limit, &readers, &singles),
            standing_of: Line::new(pool, limit, &readers, &singles),
            groups_of: Line::new(pool, limit, &readers, &singles),
            anything_blocked: Line::new(pool, limit, &readers, &singles),
        })
    }
}

#[cfg(test)]
mod tests;
