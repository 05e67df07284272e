//! The countersign binary: settings, wiring, server, command line.
//!
//! A binary with other adapters calls [`run`] with its own [`wiring::Wiring`]. Everything else is the same:
//!
//! ```no_run
//! use countersign_app::wiring::Wiring;
//!
//! fn main() -> std::process::ExitCode {
//!     let mut wiring = Wiring::standard();
//!     wiring.storage.retain(|scheme| scheme.schemes() != ["sqlite"]);
//!     countersign_app::run(std::env::args_os(), wiring)
//! }
//! ```

mod admin_key_command;
mod agreement;
mod applications;
mod challenge_command;
mod change_log;
mod check_config;
mod cli;
mod client_command;
mod client_output;
mod clock_watch;
mod config;
mod declared;
mod demo_wallet;
mod descriptors;
mod desk;
mod doctor;
mod epoch_watch;
mod event_command;
mod event_keeper;
mod event_output;
mod event_pusher;
mod failure;
mod file_system;
mod generate_command;
mod healthcheck;
mod key_command;
mod key_events;
mod key_ring;
mod keys;
mod lease;
mod migrate;
mod opened;
mod operator;
mod operator_secret;
mod people_command;
mod people_output;
mod private_file;
mod replica_keeper;
mod resource_command;
mod resource_output;
mod saved_command;
mod server;
mod settings_file;
mod shutdown;
mod supervisor;
mod table;
mod telemetry;
mod templates_command;
mod terminal;
mod throw_away;
mod upkeep;
mod warnings;
pub mod wiring;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::FromArgMatches;
use countersign_adapters_crypto::WalletSettings;

use crate::cli::{Cli, Command};
use crate::config::{Config, Origin, Purpose, Sources};
use crate::failure::Failure;
use crate::telemetry::Audience;
use crate::throw_away::{ThrowAway, Trial};
use crate::wiring::Wiring;

/// Runs one command line with these adapters and returns the exit code: 0 success, 1 failure, 2 wrong
/// settings or a wrong command line.
pub fn run(args: impl IntoIterator<Item = OsString>, wiring: Wiring) -> ExitCode {
    let matches = match cli::command().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => {
            let error = cli::flags::explain(error);
            // Help and version come this way too, with exit code 0. If they cannot be printed, there is no
            // other way to say so.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let ended = Cli::from_arg_matches(&matches)
        .map_err(|error| Failure::Usage(error.to_string()))
        .and_then(|cli| dispatch(cli, Sources::of_process(&matches), wiring));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = write!(io::stderr().lock(), "{failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn dispatch(cli: Cli, mut sources: Sources, wiring: Wiring) -> Result<(), Failure> {
    let mut out = io::stdout();
    let command = cli.command.unwrap_or(Command::Serve { dev: false, clock_is_right: false });
    match &command {
        Command::Client { trial, .. }
        | Command::User { trial, .. }
        | Command::Wallet { trial, .. }
        | Command::Group { trial, .. }
        | Command::Access { trial, .. }
        | Command::Resource { trial, .. }
        | Command::AdminKey { trial, .. }
        | Command::Event { trial, .. }
        | Command::Apply { trial, .. }
        | Command::Export { trial, .. }
        | Command::Key { trial, .. }
            if trial.is_chosen =>
        {
            sources.reach(&Trial::the_one()?);
        }
        Command::Serve { .. }
        | Command::Migrate
        | Command::Backup(_)
        | Command::Restore(_)
        | Command::Copy(_)
        | Command::CheckConfig
        | Command::Healthcheck(_)
        | Command::Doctor(_)
        | Command::Client { .. }
        | Command::Resource { .. }
        | Command::Event { .. }
        | Command::User { .. }
        | Command::Wallet { .. }
        | Command::Group { .. }
        | Command::Access { .. }
        | Command::Apply { .. }
        | Command::Export { .. }
        | Command::AdminKey { .. }
        | Command::Key { .. }
        | Command::Challenge { .. }
        | Command::Openapi { .. }
        | Command::Templates { .. }
        | Command::Generate { .. }
        | Command::DemoWallet { .. } => {}
    }
    let load =
        |sources: &Sources, purpose| Config::load(sources, &wiring, purpose).map_err(Failure::Settings);
    match command {
        Command::Serve { dev, clock_is_right } => {
            let throw_away = dev.then(|| ThrowAway::name(wiring.entropy.as_ref()));
            if let Some(place) = &throw_away {
                sources.try_out(place.database_url());
            }
            let purpose = if dev { Purpose::TryOut } else { Purpose::Serve };
            let handed_over = server::handed_over()?;
            if let Some((_, address)) = &handed_over {
                sources.listening_on(*address, Origin::HandedOver);
            }
            let mut config = load(&sources, purpose)?;
            let listener = match handed_over {
                Some((listener, _)) => listener,
                None => server::listen(&config)?,
            };
            if config.bind.port() == 0 {
                let address = listener.local_addr();
                let address = address.map_err(|error| Failure::because("find the port (bind)", &error))?;
                sources.listening_on(address, Origin::System);
                config = load(&sources, purpose)?;
            }
            let _flushed = telemetry::start(&config, Audience::Server);
            block_on(server::serve(config, wiring, listener, throw_away, clock_is_right))
        }
        Command::Migrate => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            block_on(migrate::migrate(&config, &wiring, &mut out))
        }
        Command::Backup(flags) => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            saved_command::backup(&flags, &config, &wiring, &mut out)
        }
        Command::Restore(flags) => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            saved_command::restore(&flags, &config, &wiring, &mut out)
        }
        Command::Copy(flags) => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            saved_command::copy(&flags, &wiring, &mut out)
        }
        Command::CheckConfig => {
            let config = load(&sources, Purpose::Serve)?;
            check_config::check_config(&config, &wiring, &mut out)
        }
        Command::Healthcheck(flags) => block_on(healthcheck::healthcheck(&flags, &sources, &mut out)),
        Command::Doctor(flags) => {
            let config = load(&sources, Purpose::Serve);
            let _flushed = config.as_ref().ok().map(|config| telemetry::start(config, Audience::Command));
            let loaded = match &config {
                Ok(config) => Ok(config),
                Err(Failure::Settings(mistakes)) => Err(Failure::Settings(mistakes.clone())),
                Err(failure) => Err(Failure::Failed(failure.to_string())),
            };
            block_on(doctor::doctor(&flags, loaded, &wiring, &mut out))
        }
        Command::Client { command, .. } => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            block_on(client_command::client(command, &config, &wiring, &mut out))
        }
        Command::Resource { command, .. } => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            block_on(resource_command::resource(command, &config, &wiring, &mut out))
        }
        Command::Event { command, .. } => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            block_on(event_command::event(command, &config, &wiring, &mut out))
        }
        Command::User { command, .. } => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            block_on(people_command::user(command, &config, &wiring, &mut out))
        }
        Command::Wallet { command, .. } => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            block_on(people_command::wallet(command, &config, &wiring, &mut out))
        }
        Command::Group { command, .. } => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            block_on(people_command::group(command, &config, &wiring, &mut out))
        }
        Command::Access { command, .. } => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            block_on(people_command::access(command, &config, &wiring, &mut out))
        }
        Command::Apply { flags, .. } => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            block_on(declared::apply(flags, &config, &wiring, &mut out))
        }
        Command::Export { flags, .. } => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            block_on(declared::export(flags, &config, &wiring, &mut out))
        }
        Command::AdminKey { command, .. } => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            block_on(admin_key_command::admin_key(command, &config, &wiring, &mut out))
        }
        Command::Key { command, .. } => {
            let config = load(&sources, Purpose::Administer)?;
            let _flushed = telemetry::start(&config, Audience::Command);
            block_on(key_command::key(command, &config, &wiring, &mut out))
        }
        Command::Challenge { command } => {
            // The operator's coins are known here too. No chain is asked, so the answer is the same on every
            // machine.
            let settings = load(&sources, Purpose::Administer)?.wallets;
            let wallets = (wiring.wallets)(WalletSettings { ethereum_rpc: Vec::new(), ..settings });
            block_on(challenge_command::challenge(command, wallets.as_ref(), &mut out))
        }
        Command::Openapi { admin: true } => {
            writeln!(out, "{}", countersign_http_actix::admin_openapi_json())?;
            Ok(())
        }
        Command::Openapi { admin: false } => {
            let config = load(&sources, Purpose::Administer)?;
            writeln!(out, "{}", countersign_http_actix::openapi_json(&config.public_url))?;
            Ok(())
        }
        Command::Templates { command } => templates_command::templates(command, &wiring, &mut out),
        Command::Generate { command } => generate_command::generate(command, &mut out),
        Command::DemoWallet { command } => {
            demo_wallet::demo_wallet(command, wiring.entropy.as_ref(), &mut out)
        }
    }
}

/// One thread is enough: the server's workers and the database have their own threads.
fn block_on(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::because("start the runtime", &error))?;
    let done = runtime.block_on(work);
    // Someone who asked twice to stop does not wait for a database that hangs.
    runtime.shutdown_background();
    done
}
