//! The folder of `serve --dev`: a database and a secret that last as long as the server.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use countersign_ports::{Entropy, EntropyExt};

/// How often the removal is tried: a database that was not closed cleanly may still be tidying up its files.
const TRIES: u32 = 3;

/// A folder that is removed when this value is dropped. Before [`ThrowAway::make`] it is only a name.
#[derive(Debug)]
pub(crate) struct ThrowAway {
    path: PathBuf,
    made: bool,
}

impl ThrowAway {
    /// Chooses an unpredictable name inside the system's folder for temporary files.
    pub(crate) fn name(entropy: &dyn Entropy) -> Self {
        let path =
            std::env::temp_dir().join(format!("countersign-dev-{}", hex::encode(entropy.bytes::<16>())));
        Self { path, made: false }
    }

    /// The URL of the database in the folder.
    pub(crate) fn database_url(&self) -> String {
        format!("sqlite://{}", self.path.join("countersign.db").display())
    }

    /// Creates the folder, for its owner only.
    pub(crate) fn make(&mut self) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(&self.path)?;
        self.made = true;
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
