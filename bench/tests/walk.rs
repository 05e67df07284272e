//! Runs the driver's steps against the floor and the real server, so that all three keep working. Nothing is
//! timed.
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_bench::cell::{Database, Target};
use countersign_bench::flow::{self, StepError, Wallet};
use countersign_bench::http::Connection;
use countersign_bench::load::{self, Task};
use countersign_bench::servers::{Place, Server};
use countersign_bench::shortening::{self, ShorteningPlan};
use countersign_bench::step::Step;

/// The server that was built beside this test.
fn server() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let binary = test.ancestors().nth(2).expect("target/<profile>/deps/<test>").join("countersign");
    assert!(binary.is_file(), "{} is missing: run `make test` or `make build` first", binary.display());
    binary
}

fn program(target: Target) -> PathBuf {
    match target {
        Target::Server => server(),
        Target::Floor => PathBuf::from(env!("CARGO_BIN_EXE_countersign-bench")),
    }
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test);
}

async fn start(place: &Place, target: Target) -> Server {
    place.launch(target, Path::new(&program(target))).start().await.unwrap()
}

fn is_refused<T: std::fmt::Debug>(result: Result<T, StepError>) {
    assert!(matches!(result, Err(StepError::Status { status: 400 | 401, .. })), "{result:?}");
}

/// Runs every step once, and repeats what must not work twice.
async fn walk(server: &Server) {
    let mut connection = Connection::open(server.address).await.unwrap();
    let connection = &mut connection;
    let (client, wallet) = (flow::register(connection).await.unwrap(), Wallet::from_seed(7));
    flow::discovery(connection).await.unwrap();
    flow::keys(connection).await.unwrap();
    flow::authorize(connection, &client).await.unwrap();
    assert!(flow::page(connection).await.unwrap() > 1_000);
    let text = flow::challenge(connection, &wallet).await.unwrap();
    is_refused(flow::login(connection, &flow::sign(connection, &client, &Wallet::from_seed(8), &text)).await);
    let signed = flow::prepare_login(connection, &client, &wallet).await.unwrap();
    let code = flow::login(connection, &signed).await.unwrap();
    is_refused(flow::login(connection, &signed).await);
    let first = flow::exchange(connection, &client, &code).await.unwrap();
    let second = flow::refresh(connection, &client, &first.refresh).await.unwrap();
    assert_ne!(first, second);
    flow::user_info(connection, &second.access).await.unwrap();
    flow::introspect(connection, &client, &second.access).await.unwrap();
    flow::revoke(connection, &client, &second.access).await.unwrap();
    is_refused(flow::user_info(connection, &second.access).await);
    is_refused(flow::refresh(connection, &client, &first.refresh).await);
    is_refused(flow::exchange(connection, &client, &code).await);
}

/// On a busy machine the guard waits for callgrind for longer than the server keeps a connection.
#[test]
fn a_connection_that_was_idle_for_too_long_is_opened_again() {
    run(async {
        let place = Place::make(Database::Sqlite).unwrap();
        let server = start(&place, Target::Server).await;
        let mut connection = Connection::open(server.address).await.unwrap();
        flow::discovery(&mut connection).await.unwrap();
        tokio::time::sleep(Duration::from_secs(20)).await;
        flow::discovery(&mut connection).await.unwrap();
    });
}

/// Runs every step in the closed loop for a moment.
async fn load_each_step(server: &Server) {
    let people: Vec<Wallet> = (1..=3).map(Wallet::from_seed).collect();
    let client = flow::register(&mut Connection::open(server.address).await.unwrap()).await.unwrap();
    for step in Step::ALL {
        let task = Task {
            step,
            connections: 2,
            address: server.address,
            client: client.clone(),
            processes: (server.process(), None),
            warm_up: Duration::ZERO,
            measured: Duration::from_millis(50),
            preparation: Duration::from_millis(50),
        };
        let outcome = load::run(task, &people, Vec::new()).await;
        assert_eq!(outcome.error, None, "{step:?}");
    }
}

#[test]
fn the_driver_walks_the_whole_flow_at_the_server() {
    run(async {
        let place = Place::make(Database::Sqlite).unwrap();
        let server = start(&place, Target::Server).await;
        walk(&server).await;
        load_each_step(&server).await;
    });
}

#[test]
fn the_driver_walks_the_whole_flow_at_the_floor_on_sqlite() {
    run(async {
        let place = Place::make(Database::Sqlite).unwrap();
        let floor = start(&place, Target::Floor).await;
        walk(&floor).await;
        load_each_step(&floor).await;
    });
}

#[test]
fn the_driver_walks_the_whole_flow_at_the_floor_on_postgresql() {
    run(async {
        let place = Place::make(Database::Postgres).unwrap();
        let floor = start(&place, Target::Floor).await;
        walk(&floor).await;
        load_each_step(&floor).await;
    });
}

/// So does what fills databases with tokens: they are valid until their client's lifetimes are shortened.
#[test]
fn what_is_filled_in_is_valid_until_lifetimes_are_shortened() {
    let plan = ShorteningPlan {
        server: server(),
        tokens: vec![1_000],
        rounds: 1,
        measured: Duration::from_millis(50),
    };
    run(async {
        let table = shortening::run(&plan).await.unwrap();
        assert!(table.contains("| 1000 | "), "{table}");
    });
}
