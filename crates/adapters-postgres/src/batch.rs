//! Operations that many want at once share statements.
//!
//! - Each kind of operation has a line. Whoever wants it puts a command there and waits for the answer without a thread.
//! - A thread takes whatever waits in a line, carries it out as one statement over arrays, in one commit, and answers
//!   each caller afterwards. There is no timer: a command that comes alone is carried out at once, and those that come
//!   meanwhile share the next statement. Lines take turns.
//! - No two commands in batches that are under way are about the same thing ([`Batched::keys`]): the later one waits for a
//!   later batch.
//! - A batch waits for no row that somebody else has locked: it leaves the commands that need it alone. Those, and those
//!   that a guard refuses, are carried out one by one by the operation of old, which waits, judges again and tells why
//!   not. So are all commands of a batch that failed: commands are recognized when they are repeated.
//! - Dropping the future of a command does not stop it. One that waited longer than its caller's patience has been
//!   answered as unavailable; nobody begins it any more.

mod line;
mod threads;

use std::io;
use std::sync::Arc;

use countersign_ports::{
    CompleteLogin, RedeemCode, RegisterClient, RevokeGrant, RevokeToken, RotateRefresh, SpendProof,
};
use diesel::PgConnection;

use crate::PgOptions;
use crate::error::OpResult;
use crate::pool::Pool;
use crate::together::read::{FindAccess, FindClient, FindGrant, FindRefresh, LivesOn};

use line::Line;
use threads::Threads;

/// The most commands that share a statement.
const BATCH: usize = 128;

/// How many commands wait for each batch of their kind that is under way before another one begins beside it.
const CROWD: usize = 24;

/// How many threads carry out commands that are left alone. They may have to wait for others' locks.
pub(crate) const SINGLES: usize = 2;

/// A kind of operation that is carried out for many at once.
pub(crate) trait Batched: Send + Sync + Sized + 'static {
    /// What it comes to.
    type Outcome: Send + 'static;

    /// What no two commands of one batch may have in common.
    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone;

    /// Carries out all of them as one statement. There is an outcome for each, in their order; none for those that the
    /// statement left alone.
    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<Self::Outcome>>>;

    /// Carries out this one.
    fn alone(&self, connection: &mut PgConnection) -> OpResult<Self::Outcome>;
}

/// The lines.
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
        })
    }
}

#[cfg(test)]
mod tests;
