//! The folder of `serve --dev`: a database and a secret that last as long as the server, and how a command of
//! the same user finds them while it runs (docs/adr/0040-commands-find-a-running-trial.md).

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use countersign_domain::public_url::PublicUrl;
use countersign_ports::{Entropy, EntropyExt};

use crate::failure::Failure;
use crate::files::private_file;

/// How often the removal is tried: a database that was not closed cleanly may still be tidying up its files.
const TRIES: u32 = 3;
/// How the names of the folders begin.
const PREFIX: &str = "countersign-dev-";
/// The file that says where the server is. The server holds a lock on it for as long as it runs, and the
/// system releases the lock however it ends: a folder that was left behind is not taken for a server.
const MARKER: &str = "running";
/// A marker contains one URL.
const LONGEST_MARKER: u64 = 1_024;

/// A folder that is removed when this value is dropped. Before [`ThrowAway::make`] it is only a name.
#[derive(Debug)]
pub(crate) struct ThrowAway {
    path: PathBuf,
    made: bool,
    /// Locked while this value lives.
    marker: Option<File>,
}

impl ThrowAway {
    /// Chooses an unpredictable name inside the system's folder for temporary files.
    pub(crate) fn name(entropy: &dyn Entropy) -> Self {
        let path = env::temp_dir().join(format!("{PREFIX}{}", hex::encode(entropy.bytes::<16>())));
        Self { path, made: false, marker: None }
    }

    /// The URL of the database in the folder.
    pub(crate) fn database_url(&self) -> String {
        database_url(&self.path)
    }

    /// Creates the folder, for its owner only.
    pub(crate) fn make(&mut self) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(&self.path)?;
        self.made = true;
        Ok(())
    }

    /// Lets commands of the same user find the server, which is ready.
    pub(crate) fn announce(&mut self, public_url: &PublicUrl) -> io::Result<()> {
        let path = self.path.join(MARKER);
        let mut marker = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        // Locked before anything is written: what has an address is locked.
        marker.lock()?;
        writeln!(marker, "{}", public_url.as_str())?;
        self.marker = Some(marker);
        Ok(())
    }

    /// The path of the folder.
    pub(crate) fn path(&self) -> std::path::Display<'_> {
        self.path.display()
    }
}

impl Drop for ThrowAway {
    fn drop(&mut self) {
        if !self.made {
            return;
        }
        let removed = || fs::remove_dir_all(&self.path).is_ok() || !self.path.exists();
        if !(0..TRIES).any(|_| removed()) {
            tracing::warn!(folder = %self.path.display(), "the folder of this trial could not be removed");
        }
    }
}

/// A `serve --dev` that is running.
#[derive(Debug)]
pub(crate) struct Trial {
    folder: PathBuf,
    pub(crate) public_url: PublicUrl,
}

impl Trial {
    /// All that run as this user, in the folder for temporary files.
    ///
    /// Anyone may create folders there. Only one that belongs to this user, and that no one else may enter,
    /// is opened: what is in it was written by this user.
    pub(crate) fn running() -> Vec<Self> {
        let me = rustix::process::geteuid().as_raw();
        let entries = fs::read_dir(env::temp_dir()).into_iter().flatten().flatten();
        let named =
            entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()));
        let mut running: Vec<_> = named.filter_map(|entry| Self::at(entry.path(), me)).collect();
        running.sort_by(|one, other| one.public_url.as_str().cmp(other.public_url.as_str()));
        running
    }

    /// The one that is running. It is an error if there is none, or more than one.
    pub(crate) fn the_one() -> Result<Self, Failure> {
        let mut running = Self::running();
        match (running.pop(), running.is_empty()) {
            (None, _) => Err(Failure::Failed(format!(
                "no `countersign serve --dev` of this user is running (looked in {}, the folder for temporary files): \
                 start one, or leave out --dev",
                env::temp_dir().display()
            ))),
            (Some(trial), true) => Ok(trial),
            (Some(last), false) => {
                running.push(last);
                let lines: String = running
                    .iter()
                    .map(|trial| {
                        let (database, url) = (trial.database_url(), trial.public_url.as_str());
                        format!("\n  --public-url {url} --database-url {database}")
                    })
                    .collect();
                Err(Failure::Failed(format!(
                    "{} of `countersign serve --dev` are running; instead of --dev, write which one:{lines}",
                    running.len()
                )))
            }
        }
    }

    /// The URL of its database.
    pub(crate) fn database_url(&self) -> String {
        database_url(&self.folder)
    }

    /// One that does not run, for tests of what a command does with it.
    #[cfg(test)]
    pub(crate) fn of_test(folder: &str, public_url: &str) -> Self {
        Self { folder: PathBuf::from(folder), public_url: PublicUrl::parse(public_url).unwrap() }
    }

    fn at(folder: PathBuf, me: u32) -> Option<Self> {
        let metadata = fs::symlink_metadata(&folder).ok()?;
        if !metadata.is_dir() || metadata.uid() != me || private_file::exposed(metadata.mode()).is_some() {
            return None;
        }
        let marker = folder.join(MARKER);
        // Opening a pipe would wait for a writer.
        if !fs::symlink_metadata(&marker).ok()?.is_file() {
            return None;
        }
        let marker = File::open(marker).ok()?;
        // Asked of the file that is open: the folder may have been replaced since.
        if marker.metadata().ok()?.uid() != me {
            return None;
        }
        match marker.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {}
            Ok(()) | Err(TryLockError::Error(_)) => return None,
        }
        let mut text = String::new();
        marker.take(LONGEST_MARKER).read_to_string(&mut text).ok()?;
        let public_url = PublicUrl::parse(text.trim()).ok().filter(PublicUrl::is_loopback)?;
        Some(Self { folder, public_url })
    }
}

fn database_url(folder: &Path) -> String {
    format!("sqlite://{}", folder.join("countersign.db").display())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn trial(folder: &Path) -> ThrowAway {
        let mut trial = ThrowAway { path: folder.to_owned(), made: false, marker: None };
        trial.make().unwrap();
        trial.announce(&PublicUrl::parse("http://localhost:8081").unwrap()).unwrap();
        trial
    }

    fn found(folder: &Path, me: u32) -> Option<String> {
        Trial::at(folder.to_owned(), me).map(|trial| trial.public_url.as_str().to_owned())
    }

    #[test]
    fn a_trial_is_found_while_it_runs_and_only_by_its_user() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("trial");
        let me = rustix::process::geteuid().as_raw();
        let mut running = trial(&folder);
        assert_eq!(found(&folder, me).as_deref(), Some("http://localhost:8081"));
        assert_eq!(found(&folder, me + 1), None, "another user's");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(found(&folder, me), None, "others may enter it");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::symlink(&folder, place.path().join("link")).unwrap();
        assert_eq!(found(&place.path().join("link"), me), None, "a link to somewhere");
        running.marker = None;
        assert_eq!(found(&folder, me), None, "left behind by a server that was killed");
    }

    #[test]
    fn a_marker_that_is_a_pipe_keeps_nobody_waiting() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("trial");
        let mut unfinished = ThrowAway { path: folder.clone(), made: false, marker: None };
        unfinished.make().unwrap();
        let me = rustix::process::geteuid().as_raw();
        assert_eq!(found(&folder, me), None, "not ready yet");
        let made = std::process::Command::new("mkfifo").arg(folder.join(MARKER)).status().unwrap();
        assert!(made.success());
        assert_eq!(found(&folder, me), None);
    }

    #[test]
    fn a_marker_that_names_a_public_address_is_not_believed() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("trial");
        let _running = trial(&folder);
        fs::write(folder.join(MARKER), "https://auth.example.com\n").unwrap();
        assert_eq!(found(&folder, rustix::process::geteuid().as_raw()), None);
    }
}
