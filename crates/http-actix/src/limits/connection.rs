//! What one connection may hold of the server: how long, how much memory, and how many beside it (B-079).
//!
//! The library ends a connection whose first head is late and one that is quiet between two requests. Three things it lets go
//! on for ever: a head that trickles behind a first request, an answer that nobody reads, and requests that are sent ahead
//! without reading the answers. They end here. What a connection has done is written into cells, and a task on the same
//! worker looks at them once a second, so that no request pays for a timer.

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

/// How much is taken from a connection before what was taken is understood, and how much beyond the request that is being
/// answered.
const BURST: usize = 2 * 1024;
/// So much of an answer must be taken in [`ending::STALLED`] seconds.
const PROGRESS: usize = 16 * 1024;

/// Seconds since the worker began.
type Seconds = u32;

/// What a connection is doing, for the stream that carries it, for the handlers and for who ends it. All three are on one
/// thread.
pub(crate) struct Connection {
    doing: Cell<Doing>,
    /// Since when it does that, or, of an answer that is not taken, when enough of it was taken last.
    since: Cell<Seconds>,
    /// The worker's time.
    now: Rc<Cell<Seconds>>,
    /// Bytes that were given to the library and may not have been understood yet.
    handed_out: Cell<usize>,
    /// How much of the answer was taken since [`Connection::since`].
    taken: Cell<usize>,
    /// What reads the connection, to be woken.
    reader: RefCell<Option<Waker>>,
    is_held_back: Cell<bool>,
    is_overdue: Cell<bool>,
    _admitted: Admitted,
}

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// Nothing has arrived since the last answer.
    Resting,
    /// A head arrives, or what nobody wants of a body.
    Sending,
    /// A handler works.
    Answering,
    /// A handler reads the body.
    Reading,
    /// The answer is not being taken.
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

    /// Would more requests only wait behind others?
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

    /// A handler begins to work on a request of this connection.
    pub(crate) fn answering(request: &HttpRequest) -> Option<Busy> {
        Self::of(request).map(|connection| Busy::begin(connection, Doing::Answering))
    }

    /// A handler begins to read the body of a request.
    pub(crate) fn reading(request: &HttpRequest) -> Option<Busy> {
        Self::of(request).map(|connection| Busy::begin(connection, Doing::Reading))
    }

    /// None in tests that have no connection.
    fn of(request: &HttpRequest) -> Option<&Rc<Self>> {
        request.conn_data::<Rc<Self>>()
    }
}

/// Something that is done for a connection, until it is dropped.
pub(crate) struct Busy {
    connection: Rc<Connection>,
    before: Doing,
}

impl Busy {
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
