//! Small files that only their owner may read: the operator's secret and the demo wallet's key.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::files::bounded_file;

/// The longest file with a secret.
const LONGEST: u64 = 64 << 10;

/// The permission bits of everyone but the owner.
const OTHERS: u32 = 0o077;

/// Returns the mode of a file that someone other than its owner may read or change.
pub(crate) const fn exposed(mode: u32) -> Option<u32> {
    let mode = mode & 0o777;
    if mode & OTHERS == 0 { None } else { Some(mode) }
}

/// A private file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrivateFileError {
    /// Others may read or change it (B-073).
    #[error(
        "{path} has mode {mode:03o}: others may read or change it; run `chmod 600 {path}`, and replace its \
         content if someone may have seen it"
    )]
    Exposed { path: PathBuf, mode: u32 },
    /// The file system refused.
    #[error("{path} could not be {attempted}")]
    Io {
        path: PathBuf,
        attempted: &'static str,
        #[source]
        source: io::Error,
    },
}

/// Reads a file, or returns `None` if it does not exist. Refuses a file that is not private.
pub(crate) fn read(path: &Path) -> Result<Option<String>, PrivateFileError> {
    let failed = |source| PrivateFileError::Io { path: path.to_owned(), attempted: "read", source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    // Checked on the open file, so that the file cannot be swapped between the check and the read.
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        return Err(PrivateFileError::Exposed { path: path.to_owned(), mode });
    }
    bounded_file::read_open(&file, LONGEST).map(Some).map_err(failed)
}

/// Reads a file that another user may have put there, and its mode if everyone on the machine may read or
/// change it. A group may read it: that is how an orchestrator hands a secret to a process of another user.
pub(crate) fn read_handed_over(path: &Path) -> io::Result<(String, Option<u32>)> {
    let file = File::open(path)?;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    let text = bounded_file::read_open(&file, LONGEST)?;
    Ok((text, (mode & 0o027 != 0).then_some(mode)))
}

/// Reads a file, or creates it with this text. If several processes do so at once, one creates it and all
/// read the same text.
pub(crate) fn read_or_create(path: &Path, text: impl FnOnce() -> String) -> Result<String, PrivateFileError> {
    if let Some(text) = read(path)? {
        return Ok(text);
    }
    let failed = |source| PrivateFileError::Io { path: path.to_owned(), attempted: "made", source };
    create(path, &text()).map_err(failed)?;
    read(path)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
}

/// Creates the file completely or not at all, and returns once it is on disk. An existing file stays as it
/// is.
fn create(path: &Path, text: &str) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}.new", std::process::id()));
    let draft = PathBuf::from(draft);
    let written = write(&draft, text).and_then(|()| match fs::hard_link(&draft, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    let removed = fs::remove_file(&draft);
    written.and(removed)?;
    File::open(folder)?.sync_all()
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_once_for_its_owner_only_and_read_ever_after() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/key");
        assert_eq!(read_or_create(&path, || "one".to_owned()).unwrap(), "one");
        assert_eq!(read_or_create(&path, || "two".to_owned()).unwrap(), "one");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn b_073_a_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        for mode in [0o644, 0o640, 0o602] {
            fs::write(&path, "secret-text").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let refused = read(&path).unwrap_err().to_string();
            assert!(
                refused.contains(&format!("mode {mode:03o}")) && !refused.contains("secret-text"),
                "{refused}"
            );
        }
    }
}
