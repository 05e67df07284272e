//! A few threads that may block, and the work that is waiting for them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{io, thread};

type Work = Box<dyn FnOnce() + Send>;

/// Threads that carry out work in the order in which it comes. When this is dropped, they finish what is
/// waiting, and end.
pub(crate) struct Threads {
    shared: Arc<Shared>,
    count: usize,
}

impl Threads {
    /// Starts this many threads with this name, at least one.
    pub(crate) fn start(name: &str, count: usize) -> io::Result<Self> {
        let state = State { waiting: VecDeque::new(), asleep: 0, is_over: false };
        let shared = Shared { state: Mutex::new(state), wake: Condvar::new() };
        let threads = Self { shared: Arc::new(shared), count: count.max(1) };
        for _ in 0..threads.count {
            let shared = Arc::clone(&threads.shared);
            thread::Builder::new().name(name.to_owned()).spawn(move || shared.work())?;
        }
        Ok(threads)
    }

    /// How many threads there are.
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// Gives the threads something to do. If it panics, the thread continues.
    pub(crate) fn give(&self, work: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.lock();
        state.waiting.push_back(Box::new(work));
        let wake = state.asleep > 0;
        drop(state);
        if wake {
            self.shared.wake.notify_one();
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.wake.notify_all();
    }
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    waiting: VecDeque<Work>,
    asleep: usize,
    is_over: bool,
}

impl Shared {
    fn work(&self) {
        while let Some(work) = self.next() {
            if catch_unwind(AssertUnwindSafe(work)).is_err() {
                tracing::error!("storage operation panicked");
            }
        }
    }

    /// Waits for work. Returns `None` at the end, when nothing is left.
    fn next(&self) -> Option<Work> {
        let mut state = self.lock();
        loop {
            if let Some(work) = state.waiting.pop_front() {
                return Some(work);
            }
            if state.is_over {
                return None;
            }
            state.asleep += 1;
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep -= 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic happens under this lock, so even a poisoned state is consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
