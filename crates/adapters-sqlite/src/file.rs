//! The database file: its path, its permissions, and the lock for setting it up.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::SqliteError;

/// The path cannot hold a database.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A database in memory would be lost when the process ends.
    #[error(
        "`{0}` would be a database in memory, which is lost when the server stops; give the path of a file"
    )]
    InMemory(String),
    /// SQLite needs paths in UTF-8.
    #[error("path {0:?} is not UTF-8")]
    NotUtf8(PathBuf),
    /// Others on this machine can change the database.
    #[error(
        "{path} has mode {mode:03o}: others on this machine can change who signed in where, or what they may do; run \
         `chmod 600 {path}`, and restore a backup if somebody may have changed it"
    )]
    Exposed {
        /// The database, or one of the files that SQLite keeps beside it.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file system refused.
    #[error("{path} could not be {attempted}")]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// What was attempted.
        attempted: &'static str,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

/// Where the database is. The path is absolute, so that SQLite never takes it for a URI or a database in
/// memory.
#[derive(Clone, Debug)]
pub(crate) struct DatabaseFile(String);

impl DatabaseFile {
    /// Checks a path.
    pub(crate) fn at(path: &Path) -> Result<Self, FileError> {
        let text = path.to_str().ok_or_else(|| FileError::NotUtf8(path.to_owned()))?;
        let is_memory = text.is_empty() || text == ":memory:" || text.starts_with("file:");
        if is_memory {
            return Err(FileError::InMemory(text.to_owned()));
        }
        let absolute = std::path::absolute(path).map_err(cannot("found", path))?;
        let text = absolute.to_str().ok_or_else(|| FileError::NotUtf8(path.to_owned()))?;
        Ok(Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(&self.0)
    }

    /// Refuses a database that others can write to: by its file, its log, or what its processes share (B-073). Files
    /// that do not exist are fine.
    pub(crate) fn guard(&self) -> Result<(), FileError> {
        for path in files(&self.path()) {
            let mode = match fs::metadata(&path) {
                Ok(metadata) if metadata.is_file() => metadata.mode() & 0o777,
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(cannot("found", &path)(error)),
            };
            if mode & OTHERS_WRITE != 0 {
                return Err(FileError::Exposed { path, mode });
            }
        }
        Ok(())
    }

    /// The file as a URI for SQLite, with these parameters. Whatever has a meaning in a URI is escaped.
    pub(crate) fn uri(&self, parameters: &str) -> String {
        let path: String = self
            .0
            .bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                    char::from(byte).to_string()
                }
                _ => format!("%{byte:02X}"),
            })
            .collect();
        format!("file:{path}?{parameters}")
    }

    /// Waits until no other process is setting this database up, creates its folder if necessary, and creates
    /// the file readable by its owner only. SQLite gives the files beside it the same permissions.
    ///
    /// The lock is a separate file, because closing any other handle of the database file would release
    /// SQLite's own locks in this process. The operating system releases the lock when the process ends,
    /// however it ends.
    pub(crate) fn prepare(&self) -> Result<SetupLock, FileError> {
        let path = self.path();
        if let Some(folder) = path.parent() {
            make_folder(folder).map_err(cannot("made", folder))?;
        }
        let lock_path = PathBuf::from(format!("{}-lock", self.0));
        let lock =
            private().create(true).truncate(false).open(&lock_path).map_err(cannot("opened", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                tracing::info!(path = %path.display(), "waiting for another process that is setting the database up");
                lock.lock().map_err(cannot("locked", &lock_path))?;
            }
            Err(TryLockError::Error(error)) => return Err(cannot("locked", &lock_path)(error)),
        }
        self.guard()?;
        match private().create_new(true).open(&path) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot("made", &path)(error)),
        }
        Ok(SetupLock(lock))
    }
}

/// The permission bits with which the group or everyone can write.
const OTHERS_WRITE: u32 = 0o022;

/// The files that SQLite keeps for the database at this path, the database first. Some may not exist now. If the path
/// is a symbolic link, they are where it leads.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    ["", "-wal", "-shm"]
        .into_iter()
        .map(|end| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        })
        .collect()
}

/// Checks that the path still leads to the files that are open. Somebody may remove them or put a backup in
/// their place.
#[derive(Debug)]
pub(crate) struct FileWatch {
    database: PathBuf,
    database_is: Identity,
    log: PathBuf,
    /// `None` until the log is first seen: SQLite creates it with the first write.
    log_is: Option<Identity>,
    was_said: bool,
}

/// Device and inode of a file.
type Identity = (u64, u64);

impl FileWatch {
    /// Remembers which file is there now.
    pub(crate) fn of(file: &DatabaseFile) -> Result<Self, FileError> {
        let database = file.path();
        let database_is = identity(&database).map_err(cannot("found", &database))?;
        let log = PathBuf::from(format!("{}-wal", file.0));
        Ok(Self { database, database_is, log, log_is: None, was_said: false })
    }

    /// Fails while the files are not where they were: nobody would find what is written then.
    pub(crate) fn check(&mut self) -> Result<(), SqliteError> {
        let is_there = identity(&self.database).ok() == Some(self.database_is);
        let log_is = identity(&self.log).ok();
        let log_is_there = match (self.log_is, log_is) {
            (None, seen) => {
                self.log_is = seen;
                true
            }
            (Some(before), seen) => seen == Some(before),
        };
        if is_there && log_is_there {
            if std::mem::take(&mut self.was_said) {
                tracing::warn!(path = %self.database.display(), "database file is back; writing again");
            }
            return Ok(());
        }
        let path = if is_there { &self.log } else { &self.database };
        if !std::mem::replace(&mut self.was_said, true) {
            tracing::error!(
                path = %path.display(),
                "database file was removed, moved or replaced: nothing more is written; put it back, or stop the server, \
                 restore the database and start again"
            );
        }
        Err(SqliteError::FileGone(path.clone()))
    }
}

fn identity(path: &Path) -> io::Result<Identity> {
    let metadata = fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Held while a database is set up.
#[derive(Debug)]
pub(crate) struct SetupLock(#[expect(dead_code, reason = "closing the file is what releases the lock")] File);

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn cannot(attempted: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError + use<> {
    let path = path.to_owned();
    move |source| FileError::Io { path, attempted, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_in_memory_is_refused_in_every_spelling() {
        for path in ["", ":memory:", "file::memory:", "file:x?mode=memory"] {
            assert!(matches!(DatabaseFile::at(Path::new(path)), Err(FileError::InMemory(_))), "{path}");
        }
    }

    #[test]
    fn a_relative_path_becomes_absolute() {
        let file = DatabaseFile::at(Path::new("a.db")).unwrap();
        assert!(file.path().is_absolute());
    }
}
