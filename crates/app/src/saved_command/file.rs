//! The file of a backup: complete or not there, readable by its owner only, and never in the place of another.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A file that is being written beside its place. It is removed again unless it is kept.
pub(super) struct BackupFile {
    path: PathBuf,
    partial: PathBuf,
    out: BufWriter<File>,
    is_kept: bool,
}

impl BackupFile {
    /// Creates the file `PATH.partial`.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        if path.symlink_metadata().is_ok() {
            return Err(Failure::Failed(format!("{shown} exists; a backup overwrites nothing")));
        }
        let partial = PathBuf::from(format!("{}.partial", path.display()));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial);
        let file = file.map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                Failure::Failed(format!(
                    "{} exists: another backup is being written, or one was interrupted; remove it in the second case",
                    partial.display()
                ))
            } else {
                Failure::because(&format!("make {}", partial.display()), &error)
            }
        })?;
        Ok(Self {
            path: path.to_owned(),
            partial,
            out: BufWriter::with_capacity(1 << 16, file),
            is_kept: false,
        })
    }

    /// Puts the file in its place, once all of it is on disk. Returns how many bytes it has.
    pub(super) fn keep(mut self) -> Result<u64, Failure> {
        let shown = self.path.display().to_string();
        let kept = self.put_in_place().map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                Failure::Failed(format!(
                    "{shown} was made by somebody else meanwhile; a backup overwrites nothing"
                ))
            } else {
                Failure::because(&format!("write {shown}"), &error)
            }
        });
        self.is_kept = kept.is_ok();
        kept
    }

    fn put_in_place(&mut self) -> io::Result<u64> {
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        let bytes = self.out.get_ref().metadata()?.len();
        // A link fails where a file is; renaming would replace it.
        fs::hard_link(&self.partial, &self.path)?;
        fs::remove_file(&self.partial)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(bytes)
    }
}

impl Write for BackupFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for BackupFile {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_file(&self.partial);
        }
    }
}
