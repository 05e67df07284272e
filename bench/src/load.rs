//! The closed loop: a number of connections with one request in flight on each, for a limited time.
//!
//! Everything runs on the calling thread, so that the driver's share of the machine is small and the same for
//! every server.

use std::cell::{Cell as Shared, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::Barrier;
use tokio::task::LocalSet;
use tokio::time::sleep;

use crate::cell::percentile;
use crate::flow::{Client, StepError, Wallet};
use crate::http::{Connection, HttpError};
use crate::machine::{processor_time, resident_kib};
use crate::step::{Ready, Step, perform, prepare};

/// How often the coordinator checks the time and the memory.
const LOOK: Duration = Duration::from_millis(20);
/// How many users sign in, again and again.
const PEOPLE: u64 = 1_000;

/// A task for the loop.
#[derive(Clone, Debug)]
pub struct Task {
    /// The step.
    pub step: Step,
    /// The number of connections.
    pub connections: usize,
    /// The server's address.
    pub address: SocketAddr,
    /// A registered client.
    pub client: Client,
    /// The server's process, and the database's.
    pub processes: (u32, Option<u32>),
    /// The time before counting starts.
    pub warm_up: Duration,
    /// The time that is counted.
    pub measured: Duration,
    /// The time for making things that can be used only once.
    pub preparation: Duration,
}

/// The result of a task.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The number of answers in the counted time.
    pub answers: usize,
    /// The counted time. It is shorter if what can be used once ran out.
    pub time: Duration,
    /// The median latency in nanoseconds.
    pub p50: u32,
    /// The p99 latency.
    pub p99: u32,
    /// Processor time of the server.
    pub server_cpu: Duration,
    /// Processor time of the database.
    pub database_cpu: Duration,
    /// The highest resident memory seen, in KiB.
    pub memory: u64,
    /// The first error.
    pub error: Option<String>,
}

/// The state that the connections share.
struct Scene {
    task: Task,
    wallets: Vec<Wallet>,
    next_wallet: Shared<usize>,
    ready: Barrier,
    is_counted: Shared<bool>,
    is_over: Shared<bool>,
    latencies: RefCell<Vec<u32>>,
    error: RefCell<Option<String>>,
}

/// The users who sign in. Making them takes a moment, so it is done once.
pub fn people() -> Vec<Wallet> {
    (1..=PEOPLE).map(Wallet::from_seed).collect()
}

/// Makes what each connection of a task needs, so that a run does nothing else.
pub async fn prepared(task: &Task, people: &[Wallet]) -> Result<Vec<Ready>, String> {
    let scene = Rc::new(Scene::new(task.clone(), people));
    let local = LocalSet::new();
    let opened: Vec<_> = (0..task.connections)
        .map(|_| {
            let scene = Rc::clone(&scene);
            local.spawn_local(async move { open(&scene, None).await.map(|(_, ready)| ready) })
        })
        .collect();
    local.await;
    let mut ready = Vec::with_capacity(opened.len());
    for one in opened {
        ready.push(one.await.map_err(|error| error.to_string())??);
    }
    Ok(ready)
}

/// Runs a task. Connections may come with what they need (`ready`); otherwise it is made first.
pub async fn run(task: Task, people: &[Wallet], ready: Vec<Ready>) -> Outcome {
    let connections = task.connections;
    let scene = Rc::new(Scene::new(task, people));
    let mut ready = ready.into_iter();
    let local = LocalSet::new();
    for _ in 0..connections {
        let (scene, ready) = (Rc::clone(&scene), ready.next());
        local.spawn_local(async move { connection(&scene, ready).await });
    }
    let outcome = local.run_until(coordinate(&scene)).await;
    // Answers that are no longer counted are still read.
    local.await;
    outcome
}

async fn coordinate(scene: &Scene) -> Outcome {
    scene.ready.wait().await;
    sleep(scene.task.warm_up).await;
    let (server, database) = scene.task.processes;
    let times = || (processor_time(server), database.map(processor_time).unwrap_or_default());
    let before = times();
    let started = Instant::now();
    scene.is_counted.set(true);
    let mut memory = 0;
    while started.elapsed() < scene.task.measured && !scene.is_over.get() {
        memory = memory.max(resident_kib(server));
        sleep(LOOK).await;
    }
    scene.is_over.set(true);
    scene.is_counted.set(false);
    let time = started.elapsed();
    let after = times();
    let mut latencies = scene.latencies.take();
    latencies.sort_unstable();
    Outcome {
        answers: latencies.len(),
        time,
        p50: percentile(&latencies, 0.5).unwrap_or_default(),
        p99: percentile(&latencies, 0.99).unwrap_or_default(),
        server_cpu: after.0.saturating_sub(before.0),
        database_cpu: after.1.saturating_sub(before.1),
        memory,
        error: scene.error.take(),
    }
}

async fn connection(scene: &Scene, ready: Option<Ready>) {
    let prepared = open(scene, ready).await;
    scene.ready.wait().await;
    let done = match prepared {
        Ok((connection, ready)) => repeat(scene, connection, ready).await,
        Err(error) => Err(error),
    };
    if let Err(error) = done {
        scene.error.borrow_mut().get_or_insert(error);
    }
    scene.is_over.set(true);
}

async fn open(scene: &Scene, ready: Option<Ready>) -> Result<(Connection, Ready), String> {
    let task = &scene.task;
    let opened = Connection::open(task.address).await;
    let mut connection = opened.map_err(|error: HttpError| format!("no connection: {error:?}"))?;
    if let Some(ready) = ready {
        return Ok((connection, ready));
    }
    let until = Instant::now() + task.preparation;
    // No server answers more than this many per second.
    let most = (task.warm_up + task.measured).as_millis() as usize * 150 / task.connections + 1;
    let made = prepare(task.step, &mut connection, &task.client, &mut scene.people(), until, most).await;
    Ok((connection, made.map_err(told)?))
}

async fn repeat(scene: &Scene, mut connection: Connection, mut ready: Ready) -> Result<(), String> {
    let (task, mut people) = (&scene.task, scene.people());
    while !scene.is_over.get() {
        let counts = scene.is_counted.get();
        connection.start_clock();
        if !perform(task.step, &mut connection, &task.client, &mut ready, &mut people).await.map_err(told)? {
            break;
        }
        if counts && scene.is_counted.get() {
            let latency = u32::try_from(connection.elapsed().as_nanos()).unwrap_or(u32::MAX);
            scene.latencies.borrow_mut().push(latency);
        }
    }
    Ok(())
}

impl Scene {
    fn new(task: Task, people: &[Wallet]) -> Self {
        Self {
            wallets: people.to_vec(),
            next_wallet: Shared::new(0),
            ready: Barrier::new(task.connections + 1),
            is_counted: Shared::new(false),
            is_over: Shared::new(false),
            latencies: RefCell::new(Vec::with_capacity(1 << 20)),
            error: RefCell::new(None),
            task,
        }
    }

    /// One wallet after another, shared by all connections.
    fn people(&self) -> impl Iterator<Item = Wallet> + '_ {
        std::iter::from_fn(|| {
            let next = self.next_wallet.get();
            self.next_wallet.set(next + 1);
            Some(self.wallets[next % self.wallets.len()].clone())
        })
    }
}

fn told(error: StepError) -> String {
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}
