//! Ends connections that take too long. One task for each worker checks them once a second.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use super::{Admission, Connection, Doing, Seconds};

/// actix ends a connection that has been idle for 15 s. This limit is for those that it misses.
const RESTING: Seconds = 20;
/// How long a head may take: about as long as actix allows for the first one of a connection.
const SENDING: Seconds = 11;
/// How long a response may stall.
pub(super) const STALLED: Seconds = 28;
/// How long a response may stall while most connections are in use.
const STALLED_IN_A_CROWD: Seconds = 10;
/// How long a client may read the answer to a request that was not sent in time.
const GIVEN_UP: Seconds = 1;
/// How long a connection may be idle or send a head while most connections are in use.
const CROWDED: Seconds = 3;

/// The connections of one worker.
pub(crate) struct Ending {
    now: Rc<Cell<Seconds>>,
    connections: RefCell<Vec<Weak<Connection>>>,
    admission: Arc<Admission>,
}

impl Ending {
    /// Starts the task, on this thread.
    pub(crate) fn start(admission: Arc<Admission>) -> Rc<Self> {
        let ending = Rc::new(Self { now: Rc::default(), connections: RefCell::default(), admission });
        let looked_after = Rc::downgrade(&ending);
        actix_web::rt::spawn(async move {
            let mut seconds = tokio::time::interval(Duration::from_secs(1));
            seconds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                seconds.tick().await;
                let Some(ending) = looked_after.upgrade() else { break };
                ending.look();
            }
        });
        ending
    }

    /// Adds a connection.
    pub(crate) fn add(&self, connection: Connection) -> Rc<Connection> {
        let connection = Rc::new(connection);
        self.connections.borrow_mut().push(Rc::downgrade(&connection));
        connection
    }

    /// The worker's time.
    pub(crate) fn clock(&self) -> Rc<Cell<Seconds>> {
        Rc::clone(&self.now)
    }

    /// Advances the worker's time by a second, and ends connections that have become overdue.
    pub(super) fn look(&self) {
        let now = self.now.get().saturating_add(1);
        self.now.set(now);
        let is_crowded = self.admission.is_crowded();
        let mut connections = self.connections.borrow_mut();
        connections.retain(|connection| {
            let Some(connection) = connection.upgrade() else { return false };
            let limit = match connection.doing.get() {
                // Handlers have their own limits.
                Doing::Answering | Doing::Reading => Seconds::MAX,
                Doing::Stalling if is_crowded => STALLED_IN_A_CROWD,
                Doing::Stalling => STALLED,
                Doing::Resting | Doing::Sending if is_crowded => CROWDED,
                Doing::Resting => RESTING,
                Doing::Sending => SENDING,
            };
            let is_over = |since: Seconds, limit| now.saturating_sub(since) > limit;
            let is_overdue = is_over(connection.since.get(), limit)
                || connection.given_up.get().is_some_and(|since| is_over(since, GIVEN_UP));
            if is_overdue {
                connection.end();
            }
            !is_overdue
        });
        if connections.capacity() / 4 > connections.len() {
            connections.shrink_to_fit();
        }
    }
}
