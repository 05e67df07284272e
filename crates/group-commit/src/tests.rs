//! The guarantees of the crate, each shown with an executor that records its commands.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use super::*;

/// Commits batches to a list that the test can read.
struct Recorder {
    committed: Arc<Mutex<Vec<Vec<Command>>>>,
    /// Every batch waits for a permit, so that a test controls which commands wait together.
    permits: Receiver<()>,
    /// Tells the test that a batch was taken.
    started: Sender<()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Add(u32),
    Fail,
    Outage,
    Panic,
    Vanish,
}

#[derive(Debug, thiserror::Error)]
#[error("{0:?}")]
struct Refusal(Command);

impl Executor for Recorder {
    type Command = Command;
    type Outcome = u32;
    type Error = Refusal;

    fn execute(&mut self, batch: &[Command]) -> Result<Vec<u32>, Refusal> {
        // An error means that the test stopped looking, or dropped its permits. Then everything passes.
        let _ = self.started.send(());
        let _ = self.permits.recv();
        let mut outcomes = Vec::new();
        for command in batch {
            match command {
                Command::Add(number) => outcomes.push(*number),
                Command::Fail | Command::Outage => return Err(Refusal(*command)),
                Command::Panic => panic!("as the test asked"),
                Command::Vanish => {}
            }
        }
        if outcomes.len() == batch.len() {
            self.committed.lock().unwrap().push(batch.to_vec());
        }
        Ok(outcomes)
    }

    fn is_outage(error: &Refusal) -> bool {
        error.0 == Command::Outage
    }
}

struct Bench {
    queue: GroupCommit<Recorder>,
    committed: Arc<Mutex<Vec<Vec<Command>>>>,
    permits: Sender<()>,
    started: Receiver<()>,
}

fn bench(limits: Limits) -> Bench {
    let (permits, of_executor) = channel();
    let (of_bench, started) = channel();
    let committed = Arc::default();
    let executor = Recorder { committed: Arc::clone(&committed), permits: of_executor, started: of_bench };
    Bench { queue: GroupCommit::start("test-writer", limits, executor).unwrap(), committed, permits, started }
}

const WIDE: Limits = Limits { queue: 100, batch: 100 };

impl Bench {
    /// Keeps the writer busy, so that all following commands wait together until the permit is given.
    fn occupy(&self) -> impl Future<Output = Result<u32, SubmitError<Refusal>>> + use<> {
        let first = self.queue.submit(Command::Add(0));
        self.started.recv().unwrap();
        first
    }

    fn release(&self, batches: usize) {
        for _ in 0..batches {
            self.permits.send(()).unwrap();
        }
    }
}

#[tokio::test]
async fn commands_that_wait_share_a_commit_in_their_order() {
    let bench = bench(WIDE);
    let first = bench.occupy();
    let others: Vec<_> = (1..=5).map(|number| bench.queue.submit(Command::Add(number))).collect();
    assert_eq!(bench.queue.waiting(), 5);
    bench.release(2);
    assert_eq!(first.await.unwrap(), 0);
    for (number, other) in (1..).zip(others) {
        assert_eq!(other.await.unwrap(), number);
    }
    let expected = [vec![Command::Add(0)], (1..=5).map(Command::Add).collect()];
    assert_eq!(*bench.committed.lock().unwrap(), expected);
    assert_eq!(bench.queue.stats(), Stats { commits: 2, commands: 6, largest_batch: 5, failures: 0 });
}

#[tokio::test]
async fn a_batch_is_never_larger_than_its_limit() {
    let bench = bench(Limits { queue: 100, batch: 2 });
    let first = bench.occupy();
    let others: Vec<_> = (1..=5).map(|number| bench.queue.submit(Command::Add(number))).collect();
    bench.release(4);
    first.await.unwrap();
    for other in others {
        other.await.unwrap();
    }
    let sizes: Vec<_> = bench.committed.lock().unwrap().iter().map(Vec::len).collect();
    assert_eq!(sizes, [1, 2, 2, 1]);
}

#[tokio::test]
async fn a_full_queue_refuses_at_once_and_the_writer_goes_on() {
    let bench = bench(Limits { queue: 2, batch: 100 });
    let first = bench.occupy();
    let second = bench.queue.submit(Command::Add(1));
    let third = bench.queue.submit(Command::Add(2));
    let refused = bench.queue.submit(Command::Add(3)).await;
    assert!(matches!(refused, Err(SubmitError::Overloaded)));
    bench.release(2);
    assert_eq!((first.await.unwrap(), second.await.unwrap(), third.await.unwrap()), (0, 1, 2));
    bench.release(1);
    assert_eq!(bench.queue.submit(Command::Add(4)).await.unwrap(), 4);
}

#[tokio::test]
async fn of_a_failed_batch_each_command_gets_its_own_result() {
    let bench = bench(WIDE);
    let first = bench.occupy();
    let good = bench.queue.submit(Command::Add(1));
    let bad = bench.queue.submit(Command::Fail);
    let also_good = bench.queue.submit(Command::Add(2));
    bench.release(5);
    first.await.unwrap();
    assert_eq!(good.await.unwrap(), 1);
    assert!(matches!(bad.await, Err(SubmitError::Failed(error)) if error.0 == Command::Fail));
    assert_eq!(also_good.await.unwrap(), 2);
    let expected = [vec![Command::Add(0)], vec![Command::Add(1)], vec![Command::Add(2)]];
    assert_eq!(
        *bench.committed.lock().unwrap(),
        expected,
        "nothing of the failed batch was committed with it"
    );
}

#[tokio::test]
async fn in_an_outage_all_of_a_batch_hear_of_it_after_one_attempt() {
    let bench = bench(WIDE);
    let first = bench.occupy();
    let one = bench.queue.submit(Command::Outage);
    let two = bench.queue.submit(Command::Add(1));
    bench.release(2);
    first.await.unwrap();
    assert!(matches!(one.await, Err(SubmitError::Failed(_))));
    assert!(matches!(two.await, Err(SubmitError::Failed(_))));
    assert_eq!(bench.queue.stats().failures, 1);
}

#[tokio::test]
async fn a_dropped_future_does_not_cancel_its_command() {
    let bench = bench(WIDE);
    drop(bench.queue.submit(Command::Add(7)));
    bench.release(2);
    bench.queue.submit(Command::Add(8)).await.unwrap();
    assert!(bench.committed.lock().unwrap().concat().contains(&Command::Add(7)));
}

#[tokio::test]
async fn a_panic_reaches_its_own_caller_only_and_the_writer_goes_on() {
    let bench = bench(WIDE);
    let first = bench.occupy();
    let poison = bench.queue.submit(Command::Panic);
    let innocent = bench.queue.submit(Command::Add(1));
    bench.release(5);
    first.await.unwrap();
    assert!(matches!(poison.await, Err(SubmitError::Broken)));
    assert_eq!(innocent.await.unwrap(), 1);
    assert_eq!(bench.queue.submit(Command::Add(2)).await.unwrap(), 2);
}

#[tokio::test]
async fn an_executor_that_loses_an_outcome_is_not_believed() {
    let bench = bench(WIDE);
    bench.release(1);
    assert!(matches!(bench.queue.submit(Command::Vanish).await, Err(SubmitError::Broken)));
}

#[tokio::test]
async fn shutdown_carries_out_what_waits_and_refuses_what_comes_later() {
    let Bench { queue, committed, permits, .. } = bench(Limits { queue: 100, batch: 2 });
    let waiting: Vec<_> = (0..10).map(|number| queue.submit(Command::Add(number))).collect();
    drop(permits);
    queue.shutdown();
    assert_eq!(committed.lock().unwrap().concat().len(), 10);
    for answer in waiting {
        answer.await.unwrap();
    }
    assert!(matches!(queue.submit(Command::Add(10)).await, Err(SubmitError::Stopped)));
    queue.shutdown();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_callers_are_all_answered_with_their_own_outcome() {
    let Bench { queue, permits, .. } = bench(Limits { queue: 10_000, batch: 64 });
    drop(permits);
    let queue = Arc::new(queue);
    let callers: Vec<_> = (0..5_000)
        .map(|number| {
            let queue = Arc::clone(&queue);
            tokio::spawn(async move { (number, queue.submit(Command::Add(number)).await.unwrap()) })
        })
        .collect();
    for caller in callers {
        let (asked, answered) = caller.await.unwrap();
        assert_eq!(asked, answered);
    }
    assert_eq!(queue.stats().commands, 5_000);
}
