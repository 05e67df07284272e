//! The database file: its path, its permissions, and the lock for setting it up.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{FileError, SqliteError};

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
        let mut made = Vec::new();
        let path = self.path();
        if let Some(folder) = path.parent() {
            make_folder(folder, &mut made).map_err(cannot("made", folder))?;
        }
        let lock_path = PathBuf::from(format!("{}-lock", self.0));
        let lock = self.lock(&lock_path, true, &mut made)?;
        self.guard()?;
        create(&path, &mut made).map_err(cannot("made", &path))?;
        Ok(SetupLock { lock, made })
    }

    /// The lock, without waiting for it. `None` if another process has it.
    pub(crate) fn try_prepare(&self) -> Result<Option<SetupLock>, FileError> {
        let (lock_path, mut made) = (PathBuf::from(format!("{}-lock", self.0)), Vec::new());
        match self.lock(&lock_path, false, &mut made) {
            Ok(lock) => Ok(Some(SetupLock { lock, made })),
            Err(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn lock(&self, path: &Path, waits: bool, made: &mut Vec<PathBuf>) -> Result<File, FileError> {
        loop {
            create(path, made).map_err(cannot("opened", path))?;
            let lock = private().open(path).map_err(cannot("opened", path))?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if waits => {
                    tracing::info!(
                        path = self.0,
                        "waiting for another process that is setting the database up"
                    );
                    lock.lock().map_err(cannot("locked", path))?;
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(cannot("locked", path)(io::ErrorKind::WouldBlock.into()));
                }
                Err(TryLockError::Error(error)) => return Err(cannot("locked", path)(error)),
            }
            // A work that failed removes the files that it made. Then another process may have made the lock
            // anew.
            let held = lock.metadata().map(|metadata| (metadata.dev(), metadata.ino()));
            if held.map_err(cannot("locked", path))? == identity(path).unwrap_or_default() {
                return Ok(lock);
            }
        }
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

/// Checks that the path still leads to the files that are open. They may be removed or replaced with a
/// backup.
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

    /// Fails while the files are not where they were: what is written then would be lost.
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
pub(crate) struct SetupLock {
    #[expect(dead_code, reason = "closing the file is what releases the lock")]
    lock: File,
    /// The folders and files that were made for it, in their order.
    made: Vec<PathBuf>,
}

impl SetupLock {
    /// Was the file of the database made with this lock?
    pub(crate) fn made(&self, database: &Path) -> bool {
        self.made.iter().any(|path| path == database)
    }

    /// Removes what was made, because nothing came of it. Nothing else may have the database open.
    pub(crate) fn remove_what_was_made(self, database: &Path) {
        let beside = ["-wal", "-shm"].map(|end| {
            let mut name = database.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        });
        if self.made(database) {
            for path in beside {
                let _ = fs::remove_file(path);
            }
        }
        for path in self.made.iter().rev() {
            // A folder goes only if it is empty.
            let _ = if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
        }
    }
}

/// Creates an empty private file if there is none. If root creates it in the folder of another user, it belongs to that user: the server runs
/// as that user, and must be able to open what a command of root made.
fn create(path: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let file = match private().create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error),
    };
    made.push(path.to_owned());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let owner = fs::metadata(folder.unwrap_or(Path::new(".")))?;
    if file.metadata()?.uid() == ROOT && owner.uid() != ROOT {
        std::os::unix::fs::fchown(&file, Some(owner.uid()), Some(owner.gid()))?;
    }
    Ok(())
}

/// The user who may give files to others.
const ROOT: u32 = 0;

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a folder with those above it, as far as they are missing, and remembers which.
fn make_folder(folder: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|path| !path.exists()).collect();
    made.extend(missing.into_iter().rev().map(Path::to_owned));
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
