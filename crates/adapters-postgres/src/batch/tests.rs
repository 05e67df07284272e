//! What the lines promise, each shown with commands that do what the test says.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use countersign_ports::StoreError;
use countersign_test_postgres::Cluster;
use diesel::PgConnection;
use tokio::task::JoinSet;

use super::line::Line;
use super::threads::Threads;
use super::{BATCH, CROWD};
use crate::batched::Batched;
use crate::connect::connection::ConnectionUrl;
use crate::connect::pool::Pool;
use crate::error::{OpError, OpResult};
use crate::options::PgOptions;

/// A command about the thing with this number.
struct Command {
    about: u128,
    does: Does,
    test: Arc<Test>,
}

#[derive(Clone, Copy)]
enum Does {
    Work,
    /// Cannot be decided in a batch.
    Stay,
    /// Makes its batch fail.
    Fail,
    Panic,
    /// Meets a server that gives up.
    TimeOut,
    /// Meets a lock that somebody else holds; the second time it is free.
    MeetALock,
}

/// What the test observes and controls.
struct Test {
    batches: Mutex<Vec<Vec<u128>>>,
    alone: Mutex<Vec<u128>>,
    begun: Sender<()>,
    /// Every batch waits for a permit, so that the test decides which commands wait together.
    permits: Mutex<Receiver<()>>,
}

impl Batched for Command {
    type Outcome = &'static str;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        [self.about]
    }

    fn together(_: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<&'static str>>> {
        let test = &batch[0].test;
        test.batches.lock().unwrap().push(batch.iter().map(|command| command.about).collect());
        test.begun.send(()).unwrap();
        test.permits.lock().unwrap().recv().unwrap();
        let is_first = |command: &Self| {
            let batches = test.batches.lock().unwrap();
            batches.iter().filter(|batch| batch.contains(&command.about)).count() == 1
        };
        let outcomes = batch.iter().map(|command| match command.does {
            Does::MeetALock if is_first(command) => Err(locked_out()),
            Does::MeetALock => Ok(Some("together")),
            Does::Work => Ok(Some("together")),
            Does::Stay => Ok(None),
            Does::Fail => Err(OpError::from(diesel::result::Error::NotFound)),
            Does::Panic => panic!("as the test says"),
            Does::TimeOut => Err(timeout()),
        });
        outcomes.collect()
    }

    fn alone(&self, _: &mut PgConnection) -> OpResult<&'static str> {
        self.test.alone.lock().unwrap().push(self.about);
        match self.does {
            Does::Work | Does::Stay | Does::MeetALock => Ok("alone"),
            Does::Fail => Err(diesel::result::Error::NotFound.into()),
            Does::Panic => panic!("as the test says"),
            Does::TimeOut => Err(timeout()),
        }
    }
}

fn timeout() -> OpError {
    let kind = diesel::result::DatabaseErrorKind::Unknown;
    let words = "canceling statement due to statement timeout".to_owned();
    diesel::result::Error::DatabaseError(kind, Box::new(words)).into()
}

fn locked_out() -> OpError {
    let kind = diesel::result::DatabaseErrorKind::Unknown;
    let words = "canceling statement due to lock timeout".to_owned();
    diesel::result::Error::DatabaseError(kind, Box::new(words)).into()
}

struct Bench {
    line: Arc<Line<Command>>,
    test: Arc<Test>,
    begun: Receiver<()>,
    permits: Sender<()>,
    running: JoinSet<(u128, Result<&'static str, StoreError>)>,
}

impl Bench {
    fn with(threads: usize, options: PgOptions) -> Self {
        let url = ConnectionUrl::parse(&Cluster::shared().create_database()).unwrap();
        let pool = Pool::new(url, options);
        let threads = Arc::new(Threads::start("test", threads).unwrap());
        let singles = Arc::new(Threads::start("test-single", 1).unwrap());
        let (begun_in_test, begun) = channel();
        let (permits, permits_in_test) = channel();
        let test = Test {
            batches: Mutex::default(),
            alone: Mutex::default(),
            begun: begun_in_test,
            permits: Mutex::new(permits_in_test),
        };
        Self {
            line: Arc::new(Line::new(&pool, options.queue, &threads, &singles)),
            test: Arc::new(test),
            begun,
            permits,
            running: JoinSet::new(),
        }
    }

    fn start() -> Self {
        Self::with(1, PgOptions::default())
    }

    /// Puts a command into the line.
    async fn put(&mut self, about: u128, does: Does) {
        let (line, command) = (Arc::clone(&self.line), Command { about, does, test: Arc::clone(&self.test) });
        let mut future = Box::pin(async move { (about, line.carry_out(command).await) });
        // The first poll puts it in.
        let first = std::future::poll_fn(|context| std::task::Poll::Ready(future.as_mut().poll(context)));
        match first.await {
            std::task::Poll::Ready(answer) => self.running.spawn(std::future::ready(answer)),
            std::task::Poll::Pending => self.running.spawn(future),
        };
    }

    /// Keeps a thread busy, so that whatever comes next waits until the permit is given.
    async fn occupy(&mut self) {
        self.put(0, Does::Work).await;
        self.begun.recv().unwrap();
    }

    /// Permits this many batches and returns all answers, by what they are about.
    async fn answers(self, batches: usize) -> (Vec<(u128, Result<&'static str, StoreError>)>, Arc<Test>) {
        (0..batches).for_each(|_| self.permits.send(()).unwrap());
        let mut answers = self.running.join_all().await;
        answers.sort_by_key(|(about, _)| *about);
        (answers, self.test)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_shares_a_batch_in_its_order() {
    let mut bench = Bench::start();
    bench.occupy().await;
    for about in [3, 1, 2] {
        bench.put(about, Does::Work).await;
    }
    let (answers, test) = bench.answers(2).await;
    assert!(answers.iter().all(|(_, answer)| matches!(answer, Ok("together"))), "{answers:?}");
    assert_eq!(*test.batches.lock().unwrap(), [vec![0], vec![3, 1, 2]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_about_one_thing_never_shares_a_batch_and_keeps_its_order() {
    let mut bench = Bench::start();
    bench.occupy().await;
    for about in [1, 1, 2, 1, 2] {
        bench.put(about, Does::Work).await;
    }
    let (answers, test) = bench.answers(4).await;
    assert!(answers.iter().all(|(_, answer)| matches!(answer, Ok("together"))), "{answers:?}");
    assert_eq!(*test.batches.lock().unwrap(), [vec![0], vec![1, 2], vec![1, 2], vec![1]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_about_one_thing_waits_for_the_batch_of_another_thread() {
    let mut bench = Bench::with(2, PgOptions::default());
    bench.occupy().await;
    bench.put(0, Does::Work).await;
    let others: Vec<_> = (1..=u128::try_from(CROWD).unwrap()).collect();
    for about in &others {
        bench.put(*about, Does::Work).await;
    }
    bench.begun.recv().unwrap();
    assert_eq!(*bench.test.batches.lock().unwrap(), [vec![0], others]);
    let (answers, test) = bench.answers(3).await;
    assert_eq!(answers.len(), CROWD + 2);
    assert_eq!(test.batches.lock().unwrap()[2], [0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_few_wait_for_the_batch_under_way_although_another_thread_is_free() {
    let mut bench = Bench::with(2, PgOptions::default());
    bench.occupy().await;
    let few: Vec<_> = (1..=u128::try_from(CROWD).unwrap()).collect();
    for about in &few {
        bench.put(*about, Does::Work).await;
    }
    let (_, test) = bench.answers(2).await;
    assert_eq!(*test.batches.lock().unwrap(), [vec![0], few]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_never_larger_than_its_limit() {
    let mut bench = Bench::start();
    bench.occupy().await;
    for about in 1..=u128::try_from(BATCH).unwrap() + 1 {
        bench.put(about, Does::Work).await;
    }
    let (_, test) = bench.answers(3).await;
    let sizes: Vec<_> = test.batches.lock().unwrap().iter().map(Vec::len).collect();
    assert_eq!(sizes, [1, BATCH, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_batch_leaves_alone_is_carried_out_by_itself() {
    let mut bench = Bench::start();
    bench.occupy().await;
    bench.put(1, Does::Stay).await;
    bench.put(2, Does::Work).await;
    let (answers, test) = bench.answers(2).await;
    let said: Vec<_> = answers.iter().map(|(_, answer)| *answer.as_ref().unwrap()).collect();
    assert_eq!(said, ["together", "alone", "together"]);
    assert_eq!(*test.alone.lock().unwrap(), [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_fails_or_panics_spoils_nothing_for_the_others() {
    for spoils in [Does::Fail, Does::Panic] {
        let mut bench = Bench::start();
        bench.occupy().await;
        bench.put(1, Does::Work).await;
        bench.put(2, spoils).await;
        bench.put(3, Does::Work).await;
        let (answers, _) = bench.answers(2).await;
        let [_, (_, first), (_, spoiled), (_, last)] = &answers[..] else { panic!("{answers:?}") };
        assert!(matches!((first, last), (Ok("alone"), Ok("alone"))), "{answers:?}");
        assert!(matches!(spoiled, Err(StoreError::Failed(_))), "{answers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_gives_up_is_not_asked_again_for_each_command() {
    let mut bench = Bench::start();
    bench.occupy().await;
    bench.put(1, Does::Work).await;
    bench.put(2, Does::TimeOut).await;
    let (answers, test) = bench.answers(2).await;
    assert!(answers[1..].iter().all(|(_, answer)| matches!(answer, Err(StoreError::Unavailable(_)))));
    assert!(test.alone.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_meets_a_lock_comes_again_in_its_order_before_what_came_later() {
    let mut bench = Bench::start();
    bench.occupy().await;
    for (about, does) in [(3, Does::Work), (1, Does::MeetALock), (2, Does::Work), (3, Does::Work)] {
        bench.put(about, does).await;
    }
    let (answers, test) = bench.answers(4).await;
    assert!(answers.iter().all(|(_, answer)| matches!(answer, Ok("together"))), "{answers:?}");
    assert_eq!(*test.batches.lock().unwrap(), [vec![0], vec![3, 1, 2], vec![3, 1, 2], vec![3]]);
    assert!(test.alone.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_whose_future_is_dropped_is_carried_out() {
    let mut bench = Bench::start();
    bench.occupy().await;
    bench.put(1, Does::Stay).await;
    bench.put(2, Does::Work).await;
    bench.running.abort_all();
    while bench.running.join_next().await.is_some() {}
    bench.put(3, Does::Work).await;
    bench.put(4, Does::Stay).await;
    let (answers, test) = bench.answers(2).await;
    assert_eq!(answers.len(), 2);
    assert_eq!(test.batches.lock().unwrap()[1], [1, 2, 3, 4]);
    assert_eq!(*test.alone.lock().unwrap(), [1, 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_line_refuses_at_once() {
    let mut bench = Bench::with(1, PgOptions { queue: 3, ..PgOptions::default() });
    bench.occupy().await;
    for about in 1..=3 {
        bench.put(about, Does::Work).await;
    }
    let (answers, _) = bench.answers(2).await;
    let refused: Vec<_> =
        answers.iter().filter(|(_, answer)| matches!(answer, Err(StoreError::Overloaded))).collect();
    assert_eq!(refused.len(), 1, "{answers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_begins_what_was_answered_for_lack_of_patience() {
    let patience = std::time::Duration::from_millis(50);
    let mut bench = Bench::with(1, PgOptions { patience, ..PgOptions::default() });
    bench.occupy().await;
    bench.put(1, Does::Work).await;
    while let Some(answer) = bench.running.join_next().await {
        assert!(matches!(answer.unwrap().1, Err(StoreError::Unavailable(_))));
    }
    bench.put(2, Does::Work).await;
    let (answers, test) = bench.answers(2).await;
    assert!(matches!(answers[..], [(2, Ok("together"))]), "{answers:?}");
    assert_eq!(*test.batches.lock().unwrap(), [[0], [2]]);
}
