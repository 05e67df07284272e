//! A line: commands of one kind that are waiting for a batch.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_ports::StoreError;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::threads::Threads;
use super::{BATCH, CROWD};
use crate::batched::Batched;
use crate::connect::connections::Connections;
use crate::connect::pool::Pool;
use crate::error::{OutOfPatience, Shared};

/// Commands of one kind that are waiting, and the threads that carry them out.
pub(crate) struct Line<C: Batched> {
    shared: Arc<Waiting<C>>,
    pool: Pool,
}

struct Waiting<C: Batched> {
    state: Mutex<State<C>>,
    connections: Connections,
    threads: Arc<Threads>,
    singles: Arc<Threads>,
    /// How many commands can wait.
    limit: usize,
    patience: Duration,
}

struct State<C: Batched> {
    submissions: VecDeque<Submission<C>>,
    /// Batches that are running, or will run as soon as a thread is free.
    under_way: usize,
    /// The keys of the commands in those batches.
    keys: HashSet<u128>,
}

/// The commands that are carried out together.
struct Batch<C: Batched> {
    submissions: Vec<Submission<C>>,
    keys: Vec<u128>,
}

/// A command that is waiting, and the caller who waits for it.
struct Submission<C: Batched> {
    command: C,
    caller: Caller<C::Outcome>,
}

struct Caller<T> {
    reply: oneshot::Sender<Result<T, StoreError>>,
    /// After this the caller gets the error that storage is unavailable.
    until: Instant,
}

impl<C: Batched> Line<C> {
    pub(super) fn new(pool: &Pool, limit: usize, threads: &Arc<Threads>, singles: &Arc<Threads>) -> Self {
        let shared = Waiting {
            state: Mutex::new(State { submissions: VecDeque::new(), under_way: 0, keys: HashSet::new() }),
            connections: pool.connections().clone(),
            threads: Arc::clone(threads),
            singles: Arc::clone(singles),
            limit,
            patience: pool.patience(),
        };
        Self { shared: Arc::new(shared), pool: pool.clone() }
    }

    /// Carries out a command, together with others if any are waiting.
    pub(crate) async fn carry_out(&self, command: C) -> Result<C::Outcome, StoreError> {
        let _place = self.pool.admit()?;
        let answer = self.shared.submit(command)?;
        match timeout(self.shared.patience, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(panicked)) => Err(StoreError::Failed(panicked.into())),
            Err(_) => Err(StoreError::Unavailable(OutOfPatience.into())),
        }
    }
}

type Answer<T> = oneshot::Receiver<Result<T, StoreError>>;

impl<C: Batched> Waiting<C> {
    /// Puts a command into the line at once.
    fn submit(self: &Arc<Self>, command: C) -> Result<Answer<C::Outcome>, StoreError> {
        let (reply, answer) = oneshot::channel();
        let now = Instant::now();
        let caller = Caller { reply, until: now + self.patience };
        let mut state = self.lock();
        if state.submissions.len() >= self.limit {
            state.drop_expired(now);
            if state.submissions.len() >= self.limit {
                return Err(StoreError::Overloaded);
            }
        }
        state.submissions.push_back(Submission { command, caller });
        let begin = state.under_way < self.threads.count() && state.is_worth_a_batch();
        state.under_way += usize::from(begin);
        drop(state);
        if begin {
            self.give();
        }
        Ok(answer)
    }

    fn give(self: &Arc<Self>) {
        let line = Arc::clone(self);
        self.threads.give(move || line.work());
    }

    /// Carries out one batch. If more commands are waiting then, the line waits for its next turn.
    fn work(self: Arc<Self>) {
        let mut state = self.lock();
        let Batch { submissions, keys } = state.take();
        if submissions.is_empty() {
            // The commands that are waiting need a batch that is running. They are looked at when it is done.
            state.under_way -= 1;
            return;
        }
        drop(state);
        let locked_out = self.execute(submissions);
        let mut state = self.lock();
        keys.iter().for_each(|key| {
            state.keys.remove(key);
        });
        state.put_back(locked_out);
        let goes_on = !state.submissions.is_empty();
        state.under_way -= usize::from(!goes_on);
        drop(state);
        if goes_on {
            self.give();
        }
    }

    /// Carries out a batch. Returns its commands if another session holds a lock that it needs.
    fn execute(&self, batch: Vec<Submission<C>>) -> Vec<Submission<C>> {
        let (commands, callers): (Vec<C>, Vec<_>) =
            batch.into_iter().map(|submission| (submission.command, submission.caller)).unzip();
        let attempt = || self.connections.attempt_twice(|connection| C::together(connection, &commands));
        let outcomes = match catch_unwind(AssertUnwindSafe(attempt)) {
            Ok(Ok(Ok(outcomes))) => outcomes,
            Ok(Ok(Err(error))) if error.is_locked_out() => {
                let submissions = commands.into_iter().zip(callers);
                return submissions.map(|(command, caller)| Submission { command, caller }).collect();
            }
            Ok(Ok(Err(error))) if error.is_outage() => {
                refuse_all(callers, error.into());
                return Vec::new();
            }
            Ok(Err(error)) => {
                refuse_all(callers, error);
                return Vec::new();
            }
            Ok(Ok(Err(error))) => {
                tracing::warn!(commands = commands.len(), %error, "batch failed, retrying its commands one by one");
                none_for(&commands)
            }
            Err(_) => {
                tracing::error!(
                    commands = commands.len(),
                    "batch panicked, retrying its commands one by one"
                );
                none_for(&commands)
            }
        };
        for ((command, caller), outcome) in commands.into_iter().zip(callers).zip(outcomes) {
            match outcome {
                Some(outcome) => caller.answer(Ok(outcome)),
                None => alone(&self.singles, self.connections.clone(), Submission { command, caller }),
            }
        }
        Vec::new()
    }

    fn lock(&self) -> MutexGuard<'_, State<C>> {
        // Nothing that can panic happens under this lock, so even a poisoned state is consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Batched> State<C> {
    /// Takes a batch: the commands that came first, except those that share a key with an earlier one or a
    /// running batch.
    fn take(&mut self) -> Batch<C> {
        self.drop_expired(Instant::now());
        let mut batch =
            Batch { submissions: Vec::with_capacity(self.submissions.len().min(BATCH)), keys: Vec::new() };
        let (mut later, mut keys_of_later) = (VecDeque::new(), HashSet::new());
        while batch.submissions.len() < BATCH
            && let Some(submission) = self.submissions.pop_front()
        {
            let keys = submission.command.keys();
            if keys.clone().into_iter().any(|key| self.keys.contains(&key) || keys_of_later.contains(&key)) {
                // No later command may overtake it.
                keys_of_later.extend(keys);
                later.push_back(submission);
            } else {
                self.keys.extend(keys.clone());
                batch.keys.extend(keys);
                batch.submissions.push(submission);
            }
        }
        later.append(&mut self.submissions);
        self.submissions = later;
        batch
    }

    /// Puts commands back in front of those that came later.
    fn put_back(&mut self, commands: Vec<Submission<C>>) {
        for submission in commands.into_iter().rev() {
            self.submissions.push_front(submission);
        }
    }

    /// Is it better to start another batch now than to wait for a running one? A larger batch later costs
    /// less than a small one now, until so many commands are waiting that they would keep a thread busy.
    fn is_worth_a_batch(&self) -> bool {
        self.submissions.len() > CROWD * self.under_way
    }

    /// Answers the callers who have waited too long. They are at the front of the line.
    fn drop_expired(&mut self, now: Instant) {
        while let Some(expired) = self.submissions.pop_front_if(|submission| submission.caller.until <= now) {
            expired.caller.answer(Err(StoreError::Unavailable(OutOfPatience.into())));
        }
    }
}

impl<T> Caller<T> {
    fn answer(self, answer: Result<T, StoreError>) {
        // A caller who is gone does not need the answer.
        let _ = self.reply.send(answer);
    }
}

/// Carries out a command by itself, on a thread of its own. If another session holds a lock that it needs, it
/// comes again after those that wait for the thread.
fn alone<C: Batched>(singles: &Arc<Threads>, connections: Connections, submission: Submission<C>) {
    let again = Arc::clone(singles);
    singles.give(move || {
        let Submission { command, caller } = submission;
        if caller.until <= Instant::now() {
            return caller.answer(Err(StoreError::Unavailable(OutOfPatience.into())));
        }
        match connections.attempt_twice(|connection| command.alone(connection)) {
            Ok(Err(error)) if error.is_locked_out() => {
                alone(&again, connections, Submission { command, caller });
            }
            Ok(answer) => caller.answer(answer.map_err(StoreError::from)),
            Err(error) => caller.answer(Err(error)),
        }
    });
}

fn none_for<C: Batched>(batch: &[C]) -> Vec<Option<C::Outcome>> {
    batch.iter().map(|_| None).collect()
}

fn refuse_all<T>(callers: Vec<Caller<T>>, error: StoreError) {
    let error = Shared::from(error);
    callers.into_iter().for_each(|caller| caller.answer(Err(error.copy())));
}
