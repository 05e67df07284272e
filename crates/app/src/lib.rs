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

mod applications;
mod cli;
mod commands;
mod config;
mod database;
mod failure;
mod files;
mod keys;
mod log;
mod output;
mod server;
mod upkeep;
pub mod wiring;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::FromArgMatches;
use countersign_adapters_crypto::WalletSettings;

use crate::cli::{Cli, Command};
use crate::config::throw_away::{ThrowAway, Trial};
use crate::config::{Config, Origin, Purpose, Sources};
use crate::failure::Failure;
use crate::log::Audience;
use crate::wiring::Wiring;

/// Runs one command line with these adapters and returns the exit code: 0 success, 1 failure, 2 wrong
/// settings or a wrong command line, 141 if the output was no longer read.
pub fn run(args: impl IntoIterator<Item = OsString>, wiring: Wiring) -> ExitCode {
    let matches = match cli::command().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => {
            let error = cli::flags::explain(error);
            let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
            // Help and version come this way too. They are output, as that of a command.
            return match error.print() {
                Err(unwritten) if error.exit_code() == 0 => {
                    let failure = Failure::from(unwritten);
                    let _ = write!(io::stderr().lock(), "{failure}");
                    ExitCode::from(failure.exit_code())
                }
                Ok(()) | Err(_) => code,
            };
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
    if command.is_for_trial() {
        sources.reach(&Trial::the_one()?);
    }
    match command {
        Command::Serve { dev, clock_is_right } => serve(dev, clock_is_right, sources, wiring),
        Command::CheckConfig => {
            let config = load(&sources, &wiring, Purpose::Serve)?;
            commands::check_config::check_config(&config, &wiring, &mut out)
        }
        Command::Healthcheck(flags) => {
            block_on(commands::healthcheck::healthcheck(&flags, &sources, &mut out))
        }
        Command::Doctor(flags) => {
            let config = load(&sources, &wiring, Purpose::Serve);
            let _flushed = config.as_ref().ok().map(|config| log::start(config, Audience::Command));
            let loaded = match &config {
                Ok(config) => Ok(config),
                Err(Failure::Settings(mistakes)) => Err(Failure::Settings(mistakes.clone())),
                Err(failure) => Err(Failure::Failed(failure.to_string())),
            };
            block_on(commands::doctor::doctor(&flags, loaded, &wiring, &mut out))
        }
        Command::Migrate => administer(&sources, &wiring, |config, out| {
            block_on(commands::migrate::migrate(config, &wiring, out))
        }),
        Command::Backup(flags) => {
            administer(&sources, &wiring, |config, out| commands::saved::backup(&flags, config, &wiring, out))
        }
        Command::Restore(flags) => administer(&sources, &wiring, |config, out| {
            commands::saved::restore(&flags, config, &wiring, out)
        }),
        Command::Copy(flags) => {
            administer(&sources, &wiring, |_, out| commands::saved::copy(&flags, &wiring, out))
        }
        Command::Client { command, .. } => administer(&sources, &wiring, |config, out| {
            block_on(commands::client::client(command, config, &wiring, out))
        }),
        Command::Resource { command, .. } => administer(&sources, &wiring, |config, out| {
            block_on(commands::resource::resource(command, config, &wiring, out))
        }),
        Command::Event { command, .. } => administer(&sources, &wiring, |config, out| {
            block_on(commands::event::event(command, config, &wiring, out))
        }),
        Command::User { command, .. } => administer(&sources, &wiring, |config, out| {
            block_on(commands::people::user(command, config, &wiring, out))
        }),
        Command::Wallet { command, .. } => administer(&sources, &wiring, |config, out| {
            block_on(commands::people::wallet(command, config, &wiring, out))
        }),
        Command::Operator { command, .. } => administer(&sources, &wiring, |config, out| {
            block_on(commands::people::operator(command, config, &wiring, out))
        }),
        Command::Group { command, .. } => administer(&sources, &wiring, |config, out| {
            block_on(commands::people::group(command, config, &wiring, out))
        }),
        Command::Invite { command, .. } => administer(&sources, &wiring, |config, out| {
            block_on(commands::people::invite(command, config, &wiring, out))
        }),
        Command::Access { command, .. } => administer(&sources, &wiring, |config, out| {
            block_on(commands::people::access(command, config, &wiring, out))
        }),
        Command::Apply { flags, .. } => administer(&sources, &wiring, |config, out| {
            block_on(commands::declared::apply(flags, config, &wiring, out))
        }),
        Command::Export { flags, .. } => administer(&sources, &wiring, |config, out| {
            block_on(commands::declared::export(flags, config, &wiring, out))
        }),
        Command::AdminKey { command, .. } => administer(&sources, &wiring, |config, out| {
            block_on(commands::admin_key::admin_key(command, config, &wiring, out))
        }),
        Command::Key { command, .. } => administer(&sources, &wiring, |config, out| {
            block_on(commands::key::key(command, config, &wiring, out))
        }),
        Command::Challenge { command } => {
            // The operator's coins are known here too. No chain is asked, so the answer is the same on every
            // machine.
            let settings = load(&sources, &wiring, Purpose::Administer)?.wallets;
            let wallets = (wiring.wallets)(WalletSettings { ethereum_rpc: Vec::new(), ..settings });
            block_on(commands::challenge::challenge(command, wallets.as_ref(), &mut out))
        }
        Command::Openapi { admin: true } => {
            writeln!(out, "{}", countersign_http_operators::admin_openapi_json())?;
            Ok(())
        }
        Command::Openapi { admin: false } => {
            let config = load(&sources, &wiring, Purpose::Administer)?;
            writeln!(out, "{}", countersign_http_actix::openapi_json(&config.public_url))?;
            Ok(())
        }
        Command::Templates { command } => commands::templates::templates(command, &wiring, &mut out),
        Command::Generate { command } => commands::generate::generate(command, &mut out),
        Command::DemoWallet { command } => {
            commands::demo_wallet::demo_wallet(command, wiring.entropy.as_ref(), &mut out)
        }
    }
}

fn serve(dev: bool, clock_is_right: bool, mut sources: Sources, wiring: Wiring) -> Result<(), Failure> {
    let throw_away = dev.then(|| ThrowAway::name(wiring.entropy.as_ref()));
    if let Some(place) = &throw_away {
        sources.try_out(place.database_url());
    }
    let purpose = if dev { Purpose::TryOut } else { Purpose::Serve };
    let handed_over = server::handed_over()?;
    if let Some((_, address)) = &handed_over {
        sources.listening_on(*address, Origin::HandedOver);
    }
    let mut config = load(&sources, &wiring, purpose)?;
    let listener = match handed_over {
        Some((listener, _)) => listener,
        None => server::listen(&config)?,
    };
    if config.bind.port() == 0 {
        let address = listener.local_addr();
        let address = address.map_err(|error| Failure::because("find the port (bind)", &error))?;
        sources.listening_on(address, Origin::System);
        config = load(&sources, &wiring, purpose)?;
    }
    let _flushed = log::start(&config, Audience::Server);
    block_on(server::serve(config, wiring, listener, throw_away, clock_is_right))
}

/// Works on the database of the settings, which need not be those of a server.
fn administer(
    sources: &Sources,
    wiring: &Wiring,
    work: impl FnOnce(&Config, &mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let config = load(sources, wiring, Purpose::Administer)?;
    let _flushed = log::start(&config, Audience::Command);
    work(&config, &mut io::stdout())
}

fn load(sources: &Sources, wiring: &Wiring, purpose: Purpose) -> Result<Config, Failure> {
    Config::load(sources, wiring, purpose).map_err(Failure::Settings)
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
