//! A line: commands of one kind that wait for their batch.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_ports::StoreError;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::threads::Threads;
use super::{BATCH, Batched, CROWD};
use crate::error::{OutOfPatience, Shared};
use crate::pool::{Connections, Pool};

/// Commands of one kind that wait, and those who carry them out.
pub(crate) struct Line<C: Batched> {
    shared: Arc<Waiting<C>>,
    pool: Pool,
}

struct Waiting<C: Batched> {
    state: Mutex<State<C>>,
    connections: Connections,
    threads: Arc<Threads>,
    singles: Arc<Threads>,
    /// How many may wait.
    limit: usize,
    patience: Duration,
}

struct State<C: Batched> {
    submissions: VecDeque<Submission<C>>,
    /// Batches that are carried out, or will be as soon as a thread is free.
    under_way: usize,
    /// What those are about.
    keys: HashSet<u128>,
}

/// What is carried out together.
struct Batch<C: Batched> {
    submissions: Vec<Submission<C>>,
    keys: Vec<u128>,
}

/// A command that waits, and who waits for it.
struct Submission<C: Batched> {
    command: C,
    caller: Caller<C::Outcome>,
}

struct Caller<T> {
    reply: oneshot::Sender<Result<T, StoreError>>,
    /// From then on the caller has heard that storage is unavailable.
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

    /// Has a command carried out, with others if others wait.
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
    /// Puts a command into the line, now.
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

    /// Carries out one batch. If more waits then, the line has to wait for its next turn.
    fn work(self: Arc<Self>) {
        let mut state = self.lock();
        let Batch { submissions, keys } = state.take();
        if submissions.is_empty() {
            // Whoever waits does so for a batch that is under way, and is looked at when that is done.
            state.under_way -= 1;
            return;
        }
        drop(state);
        self.execute(submissions);
        let mut state = self.lock();
        keys.iter().for_each(|key| {
            state.keys.remove(key);
        });
        let goes_on = !state.submissions.is_empty();
        state.under_way -= usize::from(!goes_on);
        drop(state);
        if goes_on {
            self.give();
        }
    }

    fn execute(&self, batch: Vec<Submission<C>>) {
        let (commands, callers): (Vec<C>, Vec<_>) =
            batch.into_iter().map(|submission| (submission.command, submission.caller)).unzip();
        let attempt = || self.connections.attempt_twice(|connection| C::together(connection, &commands));
        let outcomes = match catch_unwind(AssertUnwindSafe(attempt)) {
            Ok(Ok(Ok(outcomes))) => outcomes,
            Ok(Ok(Err(error))) if error.is_outage() => return refuse_all(callers, error.into()),
            Ok(Err(error)) => return refuse_all(callers, error),
            Ok(Ok(Err(error))) => {
                tracing::warn!(commands = commands.len(), %error, "batch failed, its commands are tried singly");
                none_for(&commands)
            }
            Err(_) => {
                tracing::error!(commands = commands.len(), "batch panicked, its commands are tried singly");
                none_for(&commands)
            }
        };
        for ((command, caller), outcome) in commands.into_iter().zip(callers).zip(outcomes) {
            match outcome {
                Some(outcome) => caller.answer(Ok(outcome)),
                None => self.alone(command, caller),
            }
        }
    }

    /// Has a command carried out by itself. It may have to wait for others, and nobody shall wait for it.
    fn alone(&self, command: C, caller: Caller<C::Outcome>) {
        let connections = self.connections.clone();
        self.singles.give(move || {
            let answer = if Instant::now() < caller.until {
                connections.run(|connection| command.alone(connection))
            } else {
                Err(StoreError::Unavailable(OutOfPatience.into()))
            };
            caller.answer(answer);
        });
    }

    fn lock(&self) -> MutexGuard<'_, State<C>> {
        // Nothing that can panic happens under this lock, so a poisoned state is still a whole one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Batched> State<C> {
    /// Takes a batch: those that came first, without those that share a key with one before them or under way.
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
                // Nobody overtakes it.
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

    /// Is it better to carry out what waits beside the batches that are under way than after one of them? A larger batch later costs
    /// less than a small one now, until so many wait that they would fill the time of a thread.
    fn is_worth_a_batch(&self) -> bool {
        self.submissions.len() > CROWD * self.under_way
    }

    /// Gives up on those whose callers have no patience left: they came first.
    fn drop_expired(&mut self, now: Instant) {
        while let Some(expired) = self.submissions.pop_front_if(|submission| submission.caller.until <= now) {
            expired.caller.answer(Err(StoreError::Unavailable(OutOfPatience.into())));
        }
    }
}

impl<T> Caller<T> {
    fn answer(self, answer: Result<T, StoreError>) {
        // Whoever went away does not want it.
        let _ = self.reply.send(answer);
    }
}

fn none_for<C: Batched>(batch: &[C]) -> Vec<Option<C::Outcome>> {
    batch.iter().map(|_| None).collect()
}

fn refuse_all<T>(callers: Vec<Caller<T>>, error: StoreError) {
    let error = Shared::from(error);
    callers.into_iter().for_each(|caller| caller.answer(Err(error.copy())));
}
