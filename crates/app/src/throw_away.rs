//! The folder of `serve --dev`: a database and a secret that live as long as the server.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use countersign_ports::{Entropy, EntropyExt};

/// How often the removal is tried: a database that was not closed in peace may still be putting its files in order.
const TRIES: u32 = 3;

/// A folder that goes away with this value. Until [`ThrowAway::make`] it is a name.
#[derive(Debug)]
pub(crate) struct ThrowAway {
    path: PathBuf,
    made: bool,
}

impl ThrowAway {
    /// Chooses a name below the folder for temporary things that nobody can foresee.
    pub(crate) fn name(entropy: &dyn Entropy) -> Self {
        let path =
            std::env::temp_dir().join(format!("countersign-dev-{}", hex::encode(entropy.bytes::<16>())));
        Self { path, made: false }
    }

    /// The database in the folder.
    pub(crate) fn database_url(&self) -> String {
        format!("sqlite://{}", self.path.join("countersign.db").display())
    }

    /// Makes the folder, for its owner only.
    pub(crate) fn make(&mut self) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(&self.path)?;
        self.made = true;
        Ok(())
    }

    /// Where it is.
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
