//! `countersign backup`, `restore` and `copy`: everything that a database holds, saved and brought back.

mod file;
mod interruption;
pub(crate) mod kept;
mod progress;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use countersign_archive::{BackupReader, BackupWriter, Identities};
use countersign_domain::archive::{CountedTable, ForeignPart, Header, SecretFingerprint};
use countersign_domain::epoch::Filling;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::id::{EpochId, FillingId};
use countersign_operators::saved::copy::{Copy, copy as copy_all, judge_source};
use countersign_operators::saved::fill::{Fill, fill, judge_target};
use countersign_operators::saved::ours::Ours;
use countersign_operators::saved::running::Judging;
use countersign_operators::saved::save::{Step, check, save};
use countersign_ports::{ArchiveError, ArchiveSource, Clock, EntropyExt, MarkRemoved, RaiseEpoch};
use serde_json::json;
use time::OffsetDateTime;

use self::file::BackupFile;
use self::interruption::Interruption;
use self::progress::Teller;
use crate::cli::{BackupFlags, CopyFlags, Output, RestoreFlags};
use crate::config::Config;
use crate::database::opening;
use crate::database::operator::Operator;
use crate::database::operator_secret::{self, OperatorSecretError};
use crate::failure::{Failure, chain};
use crate::output::terminal::{count, note, one_line, visible, written};
use crate::wiring::{DatabaseUrl, Wiring};

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
    let made_at = wiring.clock.now();
    let place = place(flags, config, made_at)?;
    let is_stream = place.as_os_str() == "-";
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
    let interruption = Interruption::listen()?;
    let file = if is_stream { None } else { Some(BackupFile::create(&place)?) };
    opening::introduce(config, scheme);
    let mut source = scheme.archive(&config.database_url).map_err(failed)?;
    let header = Header {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        schema: source.schema().to_owned(),
        issuer: config.public_url.as_str().to_owned(),
        made_at,
        fingerprint,
        tables: source.tables().map_err(failed)?,
    };
    let foreign = source.foreign().map_err(failed)?;
    let write = |source: &mut dyn ArchiveSource, into: &mut (dyn Write + Send)| -> Result<(), ArchiveError> {
        let mut writer = BackupWriter::begin(into, &header, &flags.encrypt_to)?;
        let mut teller = Teller::new();
        save(source, &header.tables, &mut writer, Step::Storing, &mut |progress| {
            teller.tell(progress);
            interruption.check()
        })?;
        writer.finish()?.flush().map_err(ArchiveError::failed("backup could not be written"))
    };
    let bytes = match file {
        None => {
            write(&mut *source, &mut io::stdout()).map_err(failed)?;
            note(&format!("saved {}", count(header.rows(), "row")))?;
            note_foreign(&foreign, "not in the backup, because it is not of Countersign")?;
            return Ok(());
        }
        Some(mut file) => {
            write(&mut *source, &mut file).map_err(failed)?;
            file.keep()?
        }
    };
    let removed = remove_older(flags, &place, made_at)?;
    let (rows, tables) = (header.rows(), header.tables.len());
    note_foreign(&foreign, "not in the backup, because it is not of Countersign")?;
    match flags.output.output {
        Output::Json => writeln!(
            out,
            "{}",
            json!({
                "file": place.display().to_string(),
                "bytes": bytes,
                "tables": tables,
                "rows": rows,
                "made_at": written(made_at),
                "encrypted": !flags.encrypt_to.is_empty(),
                "left_out": names(&foreign),
                "removed": removed,
            })
        )?,
        Output::Table => writeln!(
            out,
            "saved {} of {} in {}: {bytes} bytes{}",
            count(rows, "row"),
            tables_in_all(tables),
            place.display(),
            if removed == 0 {
                String::new()
            } else {
                format!("; removed {}", count(removed, "older backup"))
            }
        )?,
    }
    Ok(())
}

/// Where a backup goes that is made now.
fn place(flags: &BackupFlags, config: &Config, made_at: OffsetDateTime) -> Result<PathBuf, Failure> {
    match (&flags.file, &config.backup_directory) {
        (Some(file), _) => Ok(file.clone()),
        (None, Some(folder)) => Ok(kept::place(folder, made_at, !flags.encrypt_to.is_empty())),
        (None, None) => Err(Failure::Usage("name the file to write, or set backup_directory".to_owned())),
    }
}

/// Removes the backups beside a new one that are too many. Returns how many these were.
fn remove_older(flags: &BackupFlags, newest: &Path, now: OffsetDateTime) -> Result<u64, Failure> {
    let Some((keep, folder)) = flags.keep.zip(newest.parent()) else { return Ok(0) };
    kept::remove_older(folder, keep.into(), now)
        .map_err(|error| Failure::because(&format!("remove older backups in {}", folder.display()), &error))
}

/// Refuses a backup that a server with these settings could not use, and notes what may surprise.
fn must_fit(header: &Header, schema: &str, config: &Config, wiring: &Wiring) -> Result<(), Failure> {
    let secret = match operator_secret::load(config, wiring) {
        Ok(secret) => SecretFingerprint::new(secret.derive(FINGERPRINT)),
        Err(error) => {
            return Err(Failure::Failed(format!(
                "a restored database needs the secret of the server whose backup it is: {}",
                chain(&error)
            )));
        }
    };
    header.judge(schema, secret).map_err(|unfit| Failure::Failed(one_line(&unfit.to_string())))?;
    if header.fingerprint.is_none() {
        note(
            "the backup does not tell which secret it belongs to; if it is another one, no server will start on it",
        )?;
    }
    if header.issuer != config.public_url.as_str() {
        note(&format!(
            "the backup is of the issuer {}, and public_url here is {}; clients know the server by that name",
            one_line(&header.issuer),
            config.public_url.as_str()
        ))?;
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
    let Some(file) = flags.file.as_deref().filter(|_| !flags.undo) else {
        return undo(flags, config, wiring, out);
    };
    let scheme = opening::scheme(config, wiring)?;
    let shown = file.display().to_string();
    let failed = |error| failure(&format!("restore {shown} into"), &config.database_url, error);
    let identities = identities(flags.identity.as_deref())?;
    let source = open(file, &identities).map_err(failed)?;
    let header = source.header().clone();
    let mut target = scheme.archive_target(&config.database_url).map_err(failed)?;
    must_fit(&header, target.known_schema(), config, wiring)?;
    let interruption = Interruption::listen()?;
    let judged = {
        let mut pause = pause(&interruption);
        let mut judging = judging(&*wiring.clock, flags.servers_are_stopped, &mut pause);
        judge_target(&mut *target, &mut judging, flags.force).map_err(failed)?
    };
    // Servers follow the clock of the database, and so do the times of the restore.
    let now = judged.clock.unwrap_or_else(|| wiring.clock.now());
    opening::introduce(config, scheme);
    let layout = target.layout(&header.schema);
    let mut teller = Teller::new();
    let mut tell = |progress| {
        teller.tell(progress);
        interruption.check()
    };
    let mut source = Ours::of(source, layout.clone()).map_err(failed)?;
    let (tables, left_out) = (source.tables().map_err(failed)?, source.foreign().map_err(failed)?);
    // The whole file is read once before anything is changed.
    let sums = check(&mut source, &tables, &mut tell).map_err(failed)?;
    let event = config.events.event(
        &*wiring.entropy,
        now,
        &Operator::of_this_process().cause(),
        EventKind::Restored,
        |event| event.details = Details::default().text("made_at", written(header.made_at)),
    );
    let epoch = RaiseEpoch { id: EpochId::at(now, wiring.entropy.bytes()), now, event };
    let mut source = Ours::of(open(file, &identities).map_err(failed)?, layout).map_err(failed)?;
    let work = Fill {
        filling: Filling::Restore,
        id: FillingId::at(now, wiring.entropy.bytes()),
        now,
        holdings: &judged,
        tables: &tables,
        sums: Some(&sums),
        replaces: flags.force,
        epoch: (!flags.keep_tokens).then_some(&epoch),
    };
    let migrated = fill(&mut source, &mut *target, &work, &mut tell).map_err(failed)?;
    // Its line must be gone before the next one.
    drop(teller);
    note_foreign(&left_out, "in the backup and left out, because it is not of Countersign")?;
    note_foreign(&judged.foreign, "in the database and left alone, because it is not of Countersign")?;
    let version = one_line(&header.version);
    let rows = rows_of(&tables);
    match flags.output.output {
        Output::Json => {
            let shown = json!({
                "tables": tables.len(),
                "rows": rows,
                "made_at": written(header.made_at),
                "version": version,
                "migrations": migrated,
                "tokens_kept": flags.keep_tokens,
                "left_out": names(&left_out),
                "left_alone": names(&judged.foreign),
            });
            writeln!(out, "{}", visible(&shown.to_string()))?;
        }
        Output::Table => {
            writeln!(
                out,
                "restored {} of {}, saved at {} by Countersign {version}",
                count(rows, "row"),
                tables_in_all(tables.len()),
                written(header.made_at),
            )?;
            for name in &migrated {
                writeln!(out, "ran {name}")?;
            }
            let tokens = if flags.keep_tokens {
                "sessions, codes and tokens from then go on working"
            } else {
                "sessions, codes and tokens from before are refused: everyone signs in again"
            };
            writeln!(out, "{tokens}")?;
        }
    }
    Ok(())
}

/// Removes the mark that a killed restore or copy left.
fn undo(flags: &RestoreFlags, config: &Config, wiring: &Wiring, out: &mut dyn Write) -> Result<(), Failure> {
    let scheme = opening::scheme(config, wiring)?;
    let failed = |error| failure("undo a restore of", &config.database_url, error);
    let mut target = scheme.archive_target(&config.database_url).map_err(failed)?;
    opening::introduce(config, scheme);
    let removed = target.remove_mark().map_err(failed)?;
    let said = match removed {
        MarkRemoved::NoMark => "nothing to undo: no restore or copy of this database was interrupted",
        MarkRemoved::DataUsable => "undone: the data that were there before can be used again",
        MarkRemoved::NothingThere => "undone: there are no data in this database",
    };
    match flags.output.output {
        Output::Json => writeln!(out, "{}", json!({ "undone": removed != MarkRemoved::NoMark }))?,
        Output::Table => writeln!(out, "{said}")?,
    }
    Ok(())
}

/// Copies a database into another.
pub(crate) fn copy(flags: &CopyFlags, wiring: &Wiring, out: &mut dyn Write) -> Result<(), Failure> {
    let (from, to) = (
        &named(flags.from.as_ref(), flags.from_file.as_deref())?,
        &named(flags.to.as_ref(), flags.to_file.as_deref())?,
    );
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
    let interruption = Interruption::listen()?;
    let mut pause = pause(&interruption);
    let mut judging = judging(&*wiring.clock, flags.servers_are_stopped, &mut pause);
    if !flags.while_it_runs {
        let mut source = source_scheme.archive_target(from).map_err(not_read)?;
        judge_source(&mut *source, &mut judging).map_err(not_read)?;
    }
    let mut source = source_scheme.archive(from).map_err(not_read)?;
    let mut target = target_scheme.archive_target(to).map_err(not_filled)?;
    if source.schema() > target.known_schema() {
        return Err(Failure::Failed(format!(
            "{from} has the schema of a newer release; copy it with that release"
        )));
    }
    let left_out = source.foreign().map_err(not_read)?;
    let judged = judge_target(&mut *target, &mut judging, flags.force).map_err(not_filled)?;
    let now = judged.clock.unwrap_or_else(|| wiring.clock.now());
    let work = Copy {
        id: FillingId::at(now, wiring.entropy.bytes()),
        now,
        holdings: &judged,
        replaces: flags.force,
    };
    let mut teller = Teller::new();
    let copied = copy_all(&mut *source, &mut *target, &work, &mut |progress| {
        teller.tell(progress);
        interruption.check()
    });
    drop(teller);
    let copied = copied.map_err(not_filled)?;
    note_foreign(&left_out, "not copied, because it is not of Countersign")?;
    note_foreign(&judged.foreign, "in the target and left alone, because it is not of Countersign")?;
    match flags.output.output {
        Output::Json => writeln!(
            out,
            "{}",
            json!({
                "tables": copied.tables,
                "rows": copied.rows,
                "migrations": copied.migrated,
                "left_out": names(&left_out),
                "left_alone": names(&judged.foreign),
            })
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

/// The URL of a database, from the command line or from a file.
fn named(url: Option<&DatabaseUrl>, file: Option<&Path>) -> Result<DatabaseUrl, Failure> {
    let Some(file) = file else {
        let missing =
            || Failure::Usage("name both databases: --from or --from-file, --to or --to-file".to_owned());
        return url.cloned().ok_or_else(missing);
    };
    let shown = file.display();
    let text =
        fs::read_to_string(file).map_err(|error| Failure::because(&format!("read {shown}"), &error))?;
    DatabaseUrl::parse(text.trim()).map_err(|error| Failure::Usage(format!("{shown}: {error}")))
}

/// Waits, unless a signal comes.
fn pause(interruption: &Interruption) -> impl FnMut(Duration) -> Result<(), ArchiveError> {
    let interruption = interruption.clone();
    move |duration| {
        thread::sleep(duration);
        interruption.check()
    }
}

/// How it is judged whether a server runs.
fn judging<'a>(
    clock: &dyn Clock,
    servers_are_stopped: bool,
    pause: &'a mut dyn FnMut(Duration) -> Result<(), ArchiveError>,
) -> Judging<'a> {
    Judging { now: clock.now(), servers_are_stopped, pause, notice: say }
}

/// Says something on the way. If it cannot be written, the work goes on.
fn say(text: &str) {
    let _ = note(text);
}

fn rows_of(tables: &[CountedTable]) -> u64 {
    tables.iter().map(|counted| counted.rows).sum()
}

/// Names what belongs to other programs.
fn note_foreign(parts: &[ForeignPart], what: &str) -> Result<(), Failure> {
    if parts.is_empty() {
        return Ok(());
    }
    note(&format!("{what}: {}", names(parts).join(", ")))
}

fn names(parts: &[ForeignPart]) -> Vec<String> {
    parts.iter().map(|part| one_line(&part.to_string())).collect()
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
    Failure::Failed(format!("failed to {what} {url}: {}", one_line(&url.redact(&chain(&error)))))
}
