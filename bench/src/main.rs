//! The benchmark's program.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use countersign_bench::cell::Record;
use countersign_bench::cli::{
    Cli, Command, CrowdArguments, EventsArguments, GuardArguments, ReportArguments, RunArguments,
    ShorteningArguments,
};
use countersign_bench::floor;
use countersign_bench::guard::guard;
use countersign_bench::report::{Report, docs};
use countersign_bench::run::run;
use countersign_bench::{crowd, events, shortening};
use tokio::signal::unix::{SignalKind, signal};

/// The same allocator as the server's, so that neither has an advantage.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(arguments) => measure(&arguments),
        Command::Report(arguments) => report(&arguments),
        Command::Guard(arguments) => hold(&arguments),
        Command::Crowd(arguments) => gather(&arguments),
        Command::Events(arguments) => compare(&arguments),
        Command::Shortening(arguments) => shorten(&arguments),
        Command::Floor(arguments) => floor::serve(&arguments.settings()).map_err(Into::into),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
            // If this fails too, nobody is left to tell.
            let _ = writeln!(io::stderr(), "\n{error}{cause}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &RunArguments) -> Result<(), Box<dyn Error>> {
    let plan = arguments.plan();
    let records = until_stopped(run(&plan))?;
    let report = Report::of(&records);
    let mut out = io::stdout().lock();
    for database in report.databases() {
        for connections in report.connections() {
            writeln!(out, "\n{}, {connections} connections\n", database.title())?;
            out.write_all(report.table(database, connections).as_bytes())?;
        }
    }
    writeln!(out, "\n{}", report.footprints())?;
    let errors = report.errors();
    if !errors.is_empty() {
        return Err(errors.join("\n").into());
    }
    if let Some(folder) = &arguments.docs {
        docs::write(&records, folder)?;
        writeln!(out, "wrote {}", folder.join("performance.md").display())?;
    }
    Ok(())
}

fn hold(arguments: &GuardArguments) -> Result<(), Box<dyn Error>> {
    let plan = arguments.plan();
    let verdict = until_stopped(guard(&plan))?;
    let mut out = io::stdout().lock();
    out.write_all(verdict.table().as_bytes())?;
    match verdict.complaints() {
        complaints if plan.record || complaints.is_empty() => Ok(()),
        complaints => Err(complaints.join("\n").into()),
    }
}

fn gather(arguments: &CrowdArguments) -> Result<(), Box<dyn Error>> {
    let table = until_stopped(crowd::run(&arguments.plan()))?;
    Ok(io::stdout().lock().write_all(table.as_bytes())?)
}

fn compare(arguments: &EventsArguments) -> Result<(), Box<dyn Error>> {
    let table = until_stopped(events::run(&arguments.plan()))?;
    Ok(io::stdout().lock().write_all(table.as_bytes())?)
}

fn shorten(arguments: &ShorteningArguments) -> Result<(), Box<dyn Error>> {
    let table = until_stopped(shortening::run(&arguments.plan()))?;
    Ok(io::stdout().lock().write_all(table.as_bytes())?)
}

fn report(arguments: &ReportArguments) -> Result<(), Box<dyn Error>> {
    let lines = fs::read_to_string(&arguments.results)?;
    let records: Vec<Record> = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    Ok(docs::write(&records, &arguments.docs)?)
}

/// One thread: the driver's share of the machine must be small and the same for every server.
fn until_stopped<T, E: Error + 'static>(
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        let mut terminated = signal(SignalKind::terminate())?;
        // Whichever ends first, the servers and databases end with it: they are killed when they are dropped.
        tokio::select! {
            done = work => done.map_err(Box::<dyn Error>::from),
            _ = tokio::signal::ctrl_c() => Err("interrupted; everything was stopped".into()),
            _ = terminated.recv() => Err("terminated; everything was stopped".into()),
        }
    });
    // A database may still be filling; nobody waits for it.
    runtime.shutdown_background();
    done
}
