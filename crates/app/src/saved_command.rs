//! `countersign backup`, `restore` and `copy`: everything that a database holds, saved and brought back.

mod file;
mod progress;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use countersign_archive::{BackupReader, BackupWriter, Identities};
use countersign_domain::archive::{Header, SecretFingerprint};
use countersign_domain::epoch::Filling;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::id::EpochId;
use countersign_ports::{ArchiveError, ArchiveSource, EntropyExt, RaiseEpoch};
use countersign_usecases::saved::copy::{copy as copy_all, judge_source};
use countersign_usecases::saved::fill::{Fill, fill, judge_target};
use countersign_usecases::saved::save::{Step, check, save};
use serde_json::json;

use self::file::BackupFile;
use self::progress::Teller;
use crate::cli::{BackupFlags, CopyFlags, Output, RestoreFlags};
use crate::config::{Config, DatabaseUrl};
use crate::failure::{Failure, chain};
use crate::operator::Operator;
use crate::operator_secret::{self, OperatorSecretError};
use crate::server::opening;
use crate::terminal::{count, note, written};
use crate::wiring::Wiring;

/// What the fingerprint of the secret is derived for.
const FINGERPRINT: &str = "fingerprint of the secret in backups";

/// Every other process goes first.
const LOWEST_PRIORITY: i32 = 19;

/// Saves everything into a file, while servers run.
pub(crate) fn backup(
    flags: &BackupFlags,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let scheme = opening::scheme(config, wiring)?;
    let is_stream = flags.file.as_os_str() == "-";
    let fingerprint = match operator_secret::load(config, wiring) {
        Ok(secret) => Some(SecretFingerprint::new(secret.derive(FINGERPRINT))),
        Err(OperatorSecretError::NotSet | OperatorSecretError::NoFile(_)) => {
            note("there is no secret here, so the backup does not tell which secret it belongs to")?;
            None
        }
        Err(error) => return Err(Failure::because("get the secret (secret)", &error)),
    };
    // What cannot be had is the processor's attention, and nothing else fails for it.
    let _ = rustix::process::nice(LOWEST_PRIORITY);
    let failed = |error| failure("back up", &config.database_url, error);
    let file = if is_stream { None } else { Some(BackupFile::create(&flags.file)?) };
    opening::introduce(config, scheme);
    let made_at = wiring.clock.now();
    let mut source = scheme.archive(&config.database_url).map_err(failed)?;
    let header = Header {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        schema: source.schema().to_owned(),
        issuer: config.public_url.as_str().to_owned(),
        made_at,
        fingerprint,
        tables: source.tables().map_err(failed)?,
    };
    let write = |source: &mut dyn ArchiveSource, into: &mut (dyn Write + Send)| -> Result<(), ArchiveError> {
        let mut writer = BackupWriter::begin(into, &header, &flags.encrypt_to)?;
        let mut teller = Teller::new();
        save(source, &header.tables, &mut writer, Step::Storing, &mut |progress| teller.tell(progress))?;
        writer.finish()?.flush().map_err(ArchiveError::failed("backup could not be written"))
    };
    let bytes = match file {
        None => {
            write(&mut *source, &mut io::stdout()).map_err(failed)?;
            note(&format!("saved {}", count(header.rows(), "row")))?;
            return Ok(());
        }
        Some(mut file) => {
            write(&mut *source, &mut file).map_err(failed)?;
            file.keep()?
        }
    };
    let (rows, tables) = (header.rows(), header.tables.len());
    match flags.output.output {
        Output::Json => writeln!(
            out,
            "{}",
            json!({
                "file": flags.file.display().to_string(),
                "bytes": bytes,
                "tables": tables,
                "rows": rows,
                "made_at": written(made_at),
                "encrypted": !flags.encrypt_to.is_empty(),
            })
        )?,
        Output::Table => writeln!(
            out,
            "saved {} of {} in {}: {bytes} bytes",
            count(rows, "row"),
            tables_in_all(tables),
            flags.file.display()
        )?,
    }
    Ok(())
}

/// Brings back what a backup saved.
pub(crate) fn restore(
    flags: &RestoreFlags,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let scheme = opening::scheme(config, wiring)?;
    let shown = flags.file.display().to_string();
    let failed = |error| failure(&format!("restore {shown} into"), &config.database_url, error);
    let identities = identities(flags.identity.as_deref())?;
    let mut source = open(&flags.file, &identities).map_err(failed)?;
    let header = source.header().clone();
    let mut target = scheme.archive_target(&config.database_url).map_err(failed)?;
    let secret = match operator_secret::load(config, wiring) {
        Ok(secret) => SecretFingerprint::new(secret.derive(FINGERPRINT)),
        Err(error) => {
            return Err(Failure::Failed(format!(
                "a restored database needs the secret of the server whose backup it is: {}",
                chain(&error)
            )));
        }
    };
    header.judge(target.known_schema(), secret).map_err(|unfit| Failure::Failed(unfit.to_string()))?;
    if header.fingerprint.is_none() {
        note(
            "the backup does not tell which secret it belongs to; if it is another one, no server will start on it",
        )?;
    }
    if header.issuer != config.public_url.as_str() {
        note(&format!(
            "the backup is of the issuer {}, and public_url here is {}; clients know the server by that name",
            header.issuer,
            config.public_url.as_str()
        ))?;
    }
    let now = wiring.clock.now();
    judge_target(&mut *target, now, flags.force).map_err(failed)?;
    opening::introduce(config, scheme);
    let mut teller = Teller::new();
    let mut tell = |progress| teller.tell(progress);
    // The whole file is read once before anything is changed.
    let sums = check(&mut source, &header.tables, &mut tell).map_err(failed)?;
    let event = config.events.event(
        &*wiring.entropy,
        now,
        &Operator::of_this_process().cause(),
        EventKind::Restored,
        |event| event.details = Details::default().text("made_at", written(header.made_at)),
    );
    let epoch = RaiseEpoch { id: EpochId::at(now, wiring.entropy.bytes()), now, event };
    let mut source = open(&flags.file, &identities).map_err(failed)?;
    let work = Fill {
        filling: Filling::Restore,
        tables: &header.tables,
        sums: Some(&sums),
        replaces: flags.force,
        epoch: (!flags.keep_tokens).then_some(&epoch),
    };
    let migrated = fill(&mut source, &mut *target, now, &work, &mut tell).map_err(failed)?;
    match flags.output.output {
        Output::Json => writeln!(
            out,
            "{}",
            json!({
                "tables": header.tables.len(),
                "rows": header.rows(),
                "made_at": written(header.made_at),
                "version": header.version,
                "migrations": migrated,
                "tokens_kept": flags.keep_tokens,
            })
        )?,
        Output::Table => {
            writeln!(
                out,
                "restored {} of {}, saved at {} by Countersign {}",
                count(header.rows(), "row"),
                tables_in_all(header.tables.len()),
                written(header.made_at),
                header.version
            )?;
            for name in &migrated {
                writeln!(out, "ran {name}")?;
            }
            let tokens = if flags.keep_tokens {
                "sessions, codes and tokens from then go on working"
            } else {
                "sessions, codes and tokens from before are refused: everybody signs in again"
            };
            writeln!(out, "{tokens}")?;
        }
    }
    Ok(())
}

/// Copies a database into another.
pub(crate) fn copy(flags: &CopyFlags, wiring: &Wiring, out: &mut dyn Write) -> Result<(), Failure> {
    let (from, to) = (&flags.from, &flags.to);
    let of =
        |url: &DatabaseUrl| wiring.scheme_of(url).map_err(|error| Failure::Usage(format!("{url}: {error}")));
    let (source_scheme, target_scheme) = (of(from)?, of(to)?);
    // One file can have two names.
    let file = |url: &DatabaseUrl| fs::canonicalize(url.rest()).ok();
    let is_one_file = file(from).is_some_and(|path| file(to) == Some(path));
    if is_one_file || source_scheme.place(from) == target_scheme.place(to) {
        return Err(Failure::Usage("--from and --to name the same database".to_owned()));
    }
    let not_read = |error| failure("copy from", from, error);
    let not_filled = |error| failure("copy to", to, error);
    let now = wiring.clock.now();
    if !flags.while_it_runs {
        let holdings = source_scheme.archive_target(from).and_then(|mut source| source.holdings());
        judge_source(holdings.map_err(not_read)?, now).map_err(not_read)?;
    }
    let mut source = source_scheme.archive(from).map_err(not_read)?;
    let mut target = target_scheme.archive_target(to).map_err(not_filled)?;
    if source.schema() > target.known_schema() {
        return Err(Failure::Failed(format!(
            "{from} has the schema of a newer release; copy it with that release"
        )));
    }
    let mut teller = Teller::new();
    let copied =
        copy_all(&mut *source, &mut *target, now, flags.force, &mut |progress| teller.tell(progress));
    let copied = copied.map_err(not_filled)?;
    match flags.output.output {
        Output::Json => writeln!(
            out,
            "{}",
            json!({ "tables": copied.tables, "rows": copied.rows, "migrations": copied.migrated })
        )?,
        Output::Table => {
            writeln!(
                out,
                "copied {} of {}; the hash of each table is the same on both sides",
                count(copied.rows, "row"),
                tables_in_all(copied.tables),
            )?;
            writeln!(out, "tokens go on working if the server gets the secret that it had")?;
        }
    }
    if let Some(secret) = source_scheme.secret_file(from) {
        note(&format!("if the secret is in {}, the server on the copy needs it too", secret.display()))?;
    }
    Ok(())
}

fn tables_in_all(tables: usize) -> String {
    count(u64::try_from(tables).unwrap_or(u64::MAX), "table")
}

fn open(path: &Path, identities: &Identities) -> Result<BackupReader<io::BufReader<fs::File>>, ArchiveError> {
    let file = fs::File::open(path).map_err(ArchiveError::failed("backup could not be opened"))?;
    BackupReader::open(io::BufReader::with_capacity(1 << 16, file), identities)
}

fn identities(path: Option<&Path>) -> Result<Identities, Failure> {
    let Some(path) = path else { return Ok(Identities::default()) };
    let shown = path.display();
    let text =
        fs::read_to_string(path).map_err(|error| Failure::because(&format!("read {shown}"), &error))?;
    Identities::parse(&text).map_err(|error| Failure::Usage(format!("{shown}: {error}")))
}

/// One line about what failed. Passwords are removed from it.
fn failure(what: &str, url: &DatabaseUrl, error: ArchiveError) -> Failure {
    Failure::Failed(format!("failed to {what} {url}: {}", url.redact(&chain(&error))))
}
