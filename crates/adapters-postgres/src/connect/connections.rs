//! The connections. Each is opened by the thread that needs it, is lent to one operation after another, and is
//! closed before the process ends.
//!
//! No thread opens connections ahead of the operations: a process that ends while another thread is at work in
//! libpq can crash, and short commands did (F-29). So every connection that exists or is being opened is counted,
//! and [`Connections::close`] waits until there are none.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_ports::StoreError;
use countersign_ports::error::Source;
use diesel::PgConnection;

use super::connection::ConnectionUrl;
use crate::error::{ConnectError, OpError, OpResult};

/// How long to wait for a connection: less than an operation can take, so that the reason can be reported.
const CHECKOUT: Duration = Duration::from_millis(1500);
/// How long to wait after the first attempt to open a connection failed. Each later wait is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// How many unused connections stay open.
const IDLE: usize = 2;
/// How long the others stay open.
const IDLE_FOR: Duration = Duration::from_secs(600);
/// After this time a connection is replaced: a process of the server grows with what it remembers.
const LIFETIME: Duration = Duration::from_secs(1800);

/// The connections, for threads that may block. Clones share them.
#[derive(Clone)]
pub(crate) struct Connections {
    shared: Arc<Shared>,
}

struct Shared {
    url: ConnectionUrl,
    lock_patience: Duration,
    size: usize,
    /// Did the last attempt to open one fail?
    is_away: AtomicBool,
    state: Mutex<State>,
    /// A connection came back or went, or all of this is over.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Those that are not in use. The last one was used last, and is used next.
    idle: Vec<Idle>,
    /// How many exist or are being opened.
    open: usize,
    /// Connections of an earlier epoch are no longer any good.
    epoch: u64,
    is_closed: bool,
}

struct Idle {
    link: Link,
    since: Instant,
}

/// A connection, and the epoch in which it was opened.
struct Link {
    connection: PgConnection,
    epoch: u64,
    opened_at: Instant,
}

/// There is no connection for an operation.
#[derive(Debug, thiserror::Error)]
enum NoConnection {
    #[error("no connection became free in time")]
    AllInUse,
    #[error("storage is closed")]
    Closed,
}

impl Connections {
    pub(crate) fn new(url: ConnectionUrl, size: usize, lock_patience: Duration) -> Self {
        let state = Mutex::new(State::default());
        let is_away = AtomicBool::new(false);
        let shared = Shared { url, lock_patience, size, is_away, state, changed: Condvar::new() };
        Self { shared: Arc::new(shared) }
    }

    /// Adds a connection that was opened for something else.
    pub(crate) fn add(&self, mut connection: PgConnection) -> Result<(), ConnectError> {
        self.shared.url.settle_for_pool(&mut connection, self.shared.lock_patience)?;
        let mut state = self.shared.lock();
        let link = Link { connection, epoch: state.epoch, opened_at: Instant::now() };
        state.open += 1;
        state.idle.push(Idle { link, since: Instant::now() });
        Ok(())
    }

    /// Carries out an operation, and once more if only the connection failed.
    pub(crate) fn attempt_twice<T>(
        &self,
        operation: impl Fn(&mut PgConnection) -> OpResult<T>,
    ) -> Result<OpResult<T>, StoreError> {
        match self.attempt(&operation)? {
            Err(error) if error.is_about_the_connection() => self.attempt(&operation),
            answer => Ok(answer),
        }
    }

    fn attempt<T>(
        &self,
        operation: impl Fn(&mut PgConnection) -> OpResult<T>,
    ) -> Result<OpResult<T>, StoreError> {
        // If the operation panics, the connection is closed before its place is free.
        let (place, mut link) = self.shared.check_out()?;
        let answer = operation(&mut link.connection);
        if answer.as_ref().is_err_and(OpError::is_about_the_connection) {
            self.shared.condemn(link.epoch);
        }
        place.give_back(link);
        Ok(answer)
    }

    /// Lends no more connections, and closes all. Waits for those that are in use or being opened, and returns
    /// whether all were closed in time.
    pub(crate) fn close(&self, patience: Duration) -> bool {
        let mut state = self.shared.lock();
        state.is_closed = true;
        let idle = mem::take(&mut state.idle);
        drop(state);
        self.shared.close_all(idle);
        let waited =
            self.shared.changed.wait_timeout_while(self.shared.lock(), patience, |state| state.open > 0);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.open == 0
    }
}

impl Shared {
    /// Lends a connection of this epoch. If none is free and there may be more, this thread opens one, and tries
    /// again for as long as there is time.
    fn check_out(&self) -> Result<(Place<'_>, Link), StoreError> {
        let deadline = Instant::now() + CHECKOUT;
        let (mut next_attempt, mut pause) = (Instant::now(), FIRST_PAUSE);
        let mut refused = None;
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return Err(StoreError::Unavailable(NoConnection::Closed.into()));
            }
            if let Some(idle) = state.idle.pop() {
                return Ok((Place(self), idle.link));
            }
            let now = Instant::now();
            if now >= deadline {
                return Err(StoreError::Unavailable(match refused {
                    Some(error) => Source::from(error),
                    None => NoConnection::AllInUse.into(),
                }));
            }
            let has_room = state.open < self.size;
            if has_room && now >= next_attempt {
                state.open += 1;
                let epoch = state.epoch;
                drop(state);
                let place = Place(self);
                match self.open() {
                    Ok(connection) => {
                        let link = Link { connection, epoch, opened_at: now };
                        if Instant::now() < deadline {
                            return Ok((place, link));
                        }
                        // The caller was answered by now. Others can use it.
                        place.give_back(link);
                    }
                    Err(error) => {
                        // Its place needs the lock to be free.
                        drop(place);
                        refused = Some(error);
                        next_attempt = Instant::now() + pause;
                        pause *= 2;
                    }
                }
                state = self.lock();
            } else {
                let until = if has_room { next_attempt.min(deadline) } else { deadline };
                let waited = self.changed.wait_timeout(state, until.saturating_duration_since(now));
                (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Opens a connection. The log says when the server goes away and when it comes back, and not every attempt.
    fn open(&self) -> Result<PgConnection, ConnectError> {
        let opened = self.url.open_for_pool(self.lock_patience);
        match &opened {
            Ok(_) if self.is_away.swap(false, Ordering::AcqRel) => {
                tracing::info!("database is reachable again");
            }
            Err(error) if !self.is_away.swap(true, Ordering::AcqRel) => {
                tracing::warn!(%error, "database is not reachable");
            }
            Ok(_) | Err(_) => {}
        }
        opened
    }

    /// Ends an epoch, and closes its unused connections. Only the first connection that breaks does so: those
    /// that were opened since are good.
    fn condemn(&self, epoch: u64) {
        let mut state = self.lock();
        if state.epoch != epoch {
            return;
        }
        state.epoch += 1;
        let idle = mem::take(&mut state.idle);
        drop(state);
        self.close_all(idle);
    }

    /// Takes a connection back. Returns one to be closed: this one if it is no longer any good, or the one
    /// that was unused for longest.
    fn take_back(&self, link: Link) -> Option<Link> {
        let now = Instant::now();
        let mut state = self.lock();
        let is_good = link.epoch == state.epoch && now.duration_since(link.opened_at) < LIFETIME;
        if state.is_closed || !is_good {
            return Some(link);
        }
        state.idle.push(Idle { link, since: now });
        let is_unneeded = |idle: &Idle| now.duration_since(idle.since) >= IDLE_FOR;
        let has_unneeded = state.idle.len() > IDLE && state.idle.first().is_some_and(is_unneeded);
        let unneeded = has_unneeded.then(|| state.idle.remove(0).link);
        drop(state);
        self.changed.notify_all();
        unneeded
    }

    fn close_all(&self, idle: Vec<Idle>) {
        let places: Vec<_> = idle.iter().map(|_| Place(self)).collect();
        drop(idle);
        drop(places);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic happens under this lock, so even a poisoned state is consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of the connections that exist or are being opened. It counts until this is dropped.
struct Place<'a>(&'a Shared);

impl Place<'_> {
    /// Gives the connection in this place to others, or closes one and with it a place.
    fn give_back(self, link: Link) {
        match self.0.take_back(link) {
            Some(link) => drop(link),
            None => mem::forget(self),
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.lock().open -= 1;
        self.0.changed.notify_all();
    }
}
