//! The file of a backup: complete or not there, readable by its owner only, and never in the place of another.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags};

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
                Failure::Failed(format!("{shown} was created meanwhile; a backup overwrites nothing"))
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
        move_without_replacing(&self.partial, &self.path, |from, to| fs::hard_link(from, to))?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(bytes)
    }
}

/// Gives a file its name, and fails if there is one of that name. A link fails where a file is; renaming would replace it. Some file systems
/// (FAT, many SMB and FUSE mounts) have no links, so the system is asked to rename without replacing, and where it cannot do that either, the
/// name is first taken by an empty file.
fn move_without_replacing(
    from: &Path,
    to: &Path,
    link: impl Fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
    match link(from, to) {
        Ok(()) => return fs::remove_file(from),
        Err(error) if is_taken(&error) => return Err(error),
        Err(_) => {}
    }
    let renamed =
        rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(io::Error::from);
    match renamed {
        Ok(()) => return Ok(()),
        Err(error) if is_taken(&error) => return Err(error),
        Err(_) => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    fs::rename(from, to)
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("countersign-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn f8_a_file_system_without_links_takes_a_backup_and_replaces_nothing() {
        let folder = folder("no-links");
        let (from, to) = (folder.join("a.partial"), folder.join("a"));
        let no_links = |_: &Path, _: &Path| Err(io::Error::from_raw_os_error(1));
        fs::write(&from, "new").unwrap();
        move_without_replacing(&from, &to, no_links).unwrap();
        assert_eq!((fs::read_to_string(&to).unwrap(), from.exists()), ("new".to_owned(), false));
        fs::write(&from, "newer").unwrap();
        for _ in 0..2 {
            let refused = move_without_replacing(&from, &to, no_links).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(&to).unwrap(), "new");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
