//! A run: server and floor in turn, cell by cell, so that both meet the same noise.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::sleep;

use crate::cell::{Cell, Database, Footprint, Record, Run, Target};
use crate::flow::{self, Client, StepError, Wallet};
use crate::growth;
use crate::http::{Body, Connection, HttpError, Request};
use crate::load::{self, Outcome, Task, people};
use crate::machine;
use crate::progress::Progress;
use crate::servers::{Launch, Place, Server, StartError};
use crate::step::{self, Step};

/// How long a server is left alone before its idle memory is read.
const SETTLING: Duration = Duration::from_secs(2);

/// What is measured, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The server's program.
    pub server: PathBuf,
    /// The databases.
    pub databases: Vec<Database>,
    /// The steps.
    pub steps: Vec<Step>,
    /// The numbers of connections.
    pub connections: Vec<usize>,
    /// How often each cell is measured; the tables show medians.
    pub rounds: usize,
    /// The time before counting starts.
    pub warm_up: Duration,
    /// The time that is counted.
    pub measured: Duration,
    /// The time for making things that can be used only once.
    pub preparation: Duration,
    /// How often the time to the first answer is taken.
    pub starts: usize,
    /// How many tokens are in the largest database for measuring growth; `None` to skip it.
    pub growth: Option<u64>,
    /// The file for the results.
    pub results: PathBuf,
}

impl Plan {
    /// The plan for a measurement that chooses its cells itself.
    pub(crate) fn of_one_cell(server: &Path, measured: Duration) -> Self {
        Self {
            server: server.to_owned(),
            databases: Vec::new(),
            steps: Vec::new(),
            connections: Vec::new(),
            rounds: 1,
            warm_up: Duration::from_millis(200),
            measured,
            preparation: measured * 4,
            starts: 0,
            growth: None,
            results: PathBuf::new(),
        }
    }
}

/// The run cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A server or a database does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A step before the measurement fails.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A connection fails.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// A database cannot be filled.
    #[error("database cannot be filled: {0}")]
    Fill(String),
    /// A file cannot be written.
    #[error("{path} cannot be written")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

/// The results file, and the lines written so far.
pub(crate) struct Results {
    path: PathBuf,
    file: File,
    pub(crate) records: Vec<Record>,
}

/// A server that is ready to be measured.
pub(crate) struct Ready {
    pub(crate) target: Target,
    pub(crate) launch: Launch,
    pub(crate) server: Server,
    pub(crate) client: Client,
}

/// Runs the plan and returns the results.
pub async fn run(plan: &Plan) -> Result<Vec<Record>, RunError> {
    let mut results = Results::create(&plan.results)?;
    results.put(Record::Run(Run {
        date: today(),
        machine: machine::description(),
        cell: format!("{:.1} s in {} rounds", plan.measured.as_secs_f64(), plan.rounds),
    }))?;
    let people = people();
    let cells = plan.databases.len() * plan.steps.len() * plan.connections.len() * plan.rounds * 2;
    let mut progress = Progress::new(cells);
    for &database in &plan.databases {
        progress.begin(&format!("{}: starting", database.title()));
        let place = Place::make(database)?;
        let database_process = place.database_process();
        let mut targets = start_both(&place, &plan.server, &people).await?;
        for &step in &plan.steps {
            for &connections in &plan.connections {
                for _ in 0..plan.rounds {
                    for ready in &targets {
                        let what = name_of_cell(database, step, connections, ready.target);
                        progress.begin(&what);
                        let task = task(plan, ready, database_process, step, connections);
                        let outcome = load::run(task, &people, Vec::new()).await;
                        results.put(Record::Cell(cell(
                            database,
                            ready.target,
                            step,
                            connections,
                            outcome,
                        )))?;
                        progress.end();
                    }
                    // The one that goes first goes last the next time.
                    targets.reverse();
                }
            }
        }
        for ready in targets {
            progress.begin(&format!("{}: starts and idle memory", database.title()));
            results.put(Record::Footprint(footprint(database, ready, plan.starts).await?))?;
        }
    }
    progress.finish();
    if let Some(largest) = plan.growth {
        growth::run(plan, &growth::sizes(Some(largest)), &mut results).await?;
    }
    Ok(results.records)
}

/// Starts the server, copies its answers that never change, and starts the floor.
pub(crate) async fn start_both(
    place: &Place,
    program: &Path,
    people: &[Wallet],
) -> Result<Vec<Ready>, RunError> {
    let server = begin(place, Target::Server, program).await?;
    copy_bodies(&server, &people[0]).await?;
    let this =
        std::env::current_exe().map_err(|source| RunError::File { path: "this program".into(), source })?;
    let floor = begin(place, Target::Floor, &this).await?;
    Ok(vec![server, floor])
}

pub(crate) async fn begin(place: &Place, target: Target, program: &Path) -> Result<Ready, RunError> {
    begin_at(place.launch(target, program)).await
}

/// Starts a server, and registers a client there.
pub(crate) async fn begin_at(launch: Launch) -> Result<Ready, RunError> {
    let target = launch.target();
    let server = launch.start().await?;
    let client = flow::register(&mut Connection::open(server.address).await?).await?;
    Ok(Ready { target, launch, server, client })
}

async fn copy_bodies(server: &Ready, wallet: &Wallet) -> Result<(), RunError> {
    let folder = server.launch.bodies();
    let failed = |source| RunError::File { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    let mut connection = Connection::open(server.server.address).await?;
    flow::sign_in(&mut connection, &server.client, wallet).await?;
    flow::authorize(&mut connection, &server.client).await?;
    let page = Request { target: "/auth", authorization: "", body: Body::Page };
    let discovery = Request::get("/.well-known/openid-configuration");
    let keys = Request::get("/oauth/jwks");
    for (name, request) in [("page.html", page), ("discovery.json", discovery), ("keys.json", keys)] {
        let answer = connection.send(&request).await?;
        fs::write(folder.join(name), answer.body).map_err(failed)?;
    }
    Ok(())
}

/// Answers per second of a cell, which must run without an error.
#[expect(clippy::cast_precision_loss, reason = "counts of a few millions are exact in a float")]
pub(crate) async fn rate(task: Task, people: &[Wallet], ready: Vec<step::Ready>) -> Result<f64, RunError> {
    let outcome = load::run(task, people, ready).await;
    match outcome.error {
        Some(error) => Err(RunError::Fill(error)),
        None => Ok(outcome.answers as f64 / outcome.time.as_secs_f64().max(f64::EPSILON)),
    }
}

pub(crate) fn task(
    plan: &Plan,
    ready: &Ready,
    database: Option<u32>,
    step: Step,
    connections: usize,
) -> Task {
    Task {
        step,
        connections,
        address: ready.server.address,
        client: ready.client.clone(),
        processes: (ready.server.process(), database),
        warm_up: plan.warm_up,
        measured: plan.measured,
        preparation: plan.preparation,
    }
}

/// Starts the server several times on its existing database.
async fn footprint(database: Database, ready: Ready, starts: usize) -> Result<Footprint, RunError> {
    let Ready { target, launch, server, .. } = ready;
    drop(server);
    let (mut first_answers, mut idle_memory) = (Vec::new(), 0);
    for start in 0..starts {
        let server = launch.start().await?;
        first_answers.push(server.first_answer.as_secs_f64() * 1_000.0);
        if start == 0 {
            sleep(SETTLING).await;
            idle_memory = machine::resident_kib(server.process());
        }
    }
    let first_answer = crate::cell::median(first_answers);
    Ok(Footprint { database, target, first_answer, idle_memory, program: launch.program_size() })
}

#[expect(clippy::cast_precision_loss, reason = "counts of a few millions are exact in a float")]
pub(crate) fn cell(
    database: Database,
    target: Target,
    step: Step,
    connections: usize,
    outcome: Outcome,
) -> Cell {
    let answers = outcome.answers.max(1) as f64;
    let each = |time: Duration| time.as_secs_f64() * 1_000_000.0 / answers;
    Cell {
        database,
        target,
        step,
        connections,
        tokens: None,
        per_second: outcome.answers as f64 / outcome.time.as_secs_f64().max(f64::EPSILON),
        answers: outcome.answers,
        p50: f64::from(outcome.p50) / 1_000.0,
        p99: f64::from(outcome.p99) / 1_000.0,
        server_cpu: each(outcome.server_cpu),
        database_cpu: each(outcome.database_cpu),
        memory: outcome.memory,
        error: outcome.error,
    }
}

impl Results {
    pub(crate) fn create(path: &Path) -> Result<Self, RunError> {
        let failed = |source| RunError::File { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        Ok(Self { path: path.to_owned(), file: File::create(path).map_err(failed)?, records: Vec::new() })
    }

    pub(crate) fn put(&mut self, record: Record) -> Result<(), RunError> {
        let line = serde_json::to_string(&record).unwrap_or_default();
        let written = writeln!(self.file, "{line}");
        written.map_err(|source| RunError::File { path: self.path.clone(), source })?;
        self.records.push(record);
        Ok(())
    }
}

pub(crate) fn name_of_cell(database: Database, step: Step, connections: usize, target: Target) -> String {
    let target = match target {
        Target::Server => "server",
        Target::Floor => "floor",
    };
    format!("{}, {} × {connections}, {target}", database.title(), step.name())
}

#[expect(clippy::disallowed_methods, reason = "a report says when it was made")]
fn today() -> String {
    time::OffsetDateTime::now_utc().date().to_string()
}
