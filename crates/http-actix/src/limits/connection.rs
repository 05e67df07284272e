//! Limits what connections can hold of the server: for how long, how much memory, and how many there can be
//! (B-079).
//!
//! actix ends a connection whose first head is late, and one that is idle between two requests. But it waits
//! forever in three cases: a head trickles in after a first request, a client does not read a response, or a
//! client keeps sending requests without reading the responses. Such connections end here. What a connection
//! does is written to cells, and a task on the same worker looks at them once a second, so that no request
//! pays for a timer.

mod admission;
mod ending;
mod pieces;
mod stream;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use actix_web::HttpRequest;

pub use admission::ConnectionLimits;
pub(crate) use admission::{Admission, Admitted};
pub(crate) use ending::Ending;
pub(crate) use pieces::{PIECE, in_pieces};
pub(crate) use stream::GuardedStream;

/// How many bytes are read from a connection before actix has parsed them, and how many beyond the request
/// that is being answered.
const BURST: usize = 2 * 1024;
/// How much of a response a client must take in [`ending::STALLED`] seconds.
const PROGRESS: usize = 16 * 1024;

/// Seconds since the worker started.
type Seconds = u32;

/// What a connection is doing. Shared by its stream, the handlers, and the task that ends connections, all on
/// one thread.
pub(crate) struct Connection {
    doing: Cell<Doing>,
    /// Since when it has been doing that. While a response stalls: when the client last took enough of it.
    since: Cell<Seconds>,
    /// The worker's time.
    now: Rc<Cell<Seconds>>,
    /// Bytes that were given to actix and that it may not have parsed yet.
    handed_out: Cell<usize>,
    /// How much of the response was taken since [`Connection::since`].
    taken: Cell<usize>,
    /// The task that reads the connection, to wake it up.
    reader: RefCell<Option<Waker>>,
    is_held_back: Cell<bool>,
    is_overdue: Cell<bool>,
    /// Since when the rest of a request is no longer wanted.
    given_up: Cell<Option<Seconds>>,
    _admitted: Admitted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// Nothing has arrived since the last response.
    Resting,
    /// A head is arriving, or the part of a body that no handler wants.
    Sending,
    /// A handler is working.
    Answering,
    /// A handler is reading the body.
    Reading,
    /// The client is not taking the response.
    Stalling,
}

impl Connection {
    pub(crate) fn new(admitted: Admitted, now: Rc<Cell<Seconds>>) -> Self {
        Self {
            doing: Cell::new(Doing::Resting),
            since: Cell::new(now.get()),
            now,
            handed_out: Cell::new(0),
            taken: Cell::new(0),
            reader: RefCell::new(None),
            is_held_back: Cell::new(false),
            is_overdue: Cell::new(false),
            given_up: Cell::new(None),
            _admitted: admitted,
        }
    }

    fn does(&self, doing: Doing) {
        self.doing.set(doing);
        self.since.set(self.now.get());
        match doing {
            Doing::Resting | Doing::Sending | Doing::Reading if self.is_held_back.get() => self.wake(),
            Doing::Resting | Doing::Sending | Doing::Reading | Doing::Answering | Doing::Stalling => {}
        }
    }

    /// Would further requests only have to wait?
    fn is_busy(&self) -> bool {
        match self.doing.get() {
            Doing::Answering | Doing::Stalling => true,
            Doing::Resting | Doing::Sending | Doing::Reading => false,
        }
    }

    fn end(&self) {
        self.is_overdue.set(true);
        self.wake();
    }

    fn wake(&self) {
        self.is_held_back.set(false);
        if let Some(reader) = self.reader.borrow().as_ref() {
            reader.wake_by_ref();
        }
    }

    /// A handler works on a request of this connection until the returned value is dropped.
    pub(crate) fn answering(request: &HttpRequest) -> Option<Busy> {
        Self::of(request).map(|connection| Busy::begin(connection, Doing::Answering))
    }

    /// A handler reads the body of a request until the returned value is dropped.
    pub(crate) fn reading(request: &HttpRequest) -> Option<Busy> {
        Self::of(request).map(|connection| Busy::begin(connection, Doing::Reading))
    }

    /// `None` in tests without a connection.
    fn of(request: &HttpRequest) -> Option<&Rc<Self>> {
        request.conn_data::<Rc<Self>>()
    }
}

/// What a connection does until this is dropped.
pub(crate) struct Busy {
    connection: Rc<Connection>,
    before: Doing,
}

impl Busy {
    /// The connection ends as soon as the client had a moment to read the answer: actix would go on reading what is
    /// left of the request.
    pub(crate) fn gives_up(&self) {
        self.connection.given_up.set(Some(self.connection.now.get()));
    }

    fn begin(connection: &Rc<Connection>, doing: Doing) -> Self {
        let before = match connection.doing.get() {
            Doing::Resting | Doing::Sending => Doing::Resting,
            before @ (Doing::Answering | Doing::Reading | Doing::Stalling) => before,
        };
        connection.does(doing);
        Self { connection: Rc::clone(connection), before }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.connection.does(self.before);
    }
}

#[cfg(test)]
mod tests;
