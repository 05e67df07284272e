//! Files that another person may have written. None is read without end, whatever its path leads to.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a file of at most so many bytes. A pipe is one, too: that is how a shell hands over what a command writes.
pub(crate) fn read(path: &Path, longest: u64) -> io::Result<String> {
    read_open(&File::open(path)?, longest)
}

/// Reads the rest of an open file of at most so many bytes.
pub(crate) fn read_open(file: &File, longest: u64) -> io::Result<String> {
    let mut text = String::new();
    let mut within = file.take(longest + 1);
    // A file that is not text is noticed only at the end, so the length is looked at first.
    let mut bytes = Vec::new();
    within.read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > longest) {
        let why = format!("it is longer than {longest} bytes, or has no end");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    bytes.as_slice().read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_refused_and_one_that_just_fits_is_read() {
        let endless = read(Path::new("/dev/zero"), 1_000).unwrap_err();
        assert_eq!(endless.to_string(), "it is longer than 1000 bytes, or has no end");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "x".repeat(1_000)).unwrap();
        assert_eq!(read(&path, 1_000).unwrap().len(), 1_000);
        assert!(read(&path, 999).is_err());
        std::fs::write(&path, [0xFF]).unwrap();
        assert_eq!(read(&path, 999).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
