//! Encryption by age (<https://age-encryption.org/v1>): for recipients, opened with an identity.

use std::fmt;
use std::io::{self, BufRead, Read, Write};

use age::stream::{StreamReader, StreamWriter};
use age::x25519;
use countersign_ports::ArchiveError;

/// How an encrypted file begins.
const AGE: &[u8] = b"age-encryption.org/";

/// The recipient who can open a backup.
#[derive(Clone)]
pub struct Recipient(x25519::Recipient);

/// A text is not a recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecipientRejected;

impl std::error::Error for RecipientRejected {}

impl fmt::Display for RecipientRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not an age recipient: one begins with age1 and has 62 characters, as `age-keygen` prints it",
        )
    }
}

impl std::str::FromStr for Recipient {
    type Err = RecipientRejected;

    fn from_str(text: &str) -> Result<Self, RecipientRejected> {
        text.trim().parse().map(Self).map_err(|_| RecipientRejected)
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipient({})", self.0)
    }
}

/// What opens an encrypted backup. Its `Debug` shows nothing.
#[derive(Clone, Default)]
pub struct Identities(Vec<x25519::Identity>);

/// A text has no identity. The error never repeats the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentityRejected;

impl std::error::Error for IdentityRejected {}

impl fmt::Display for IdentityRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is not a file of age identities: each line is one that begins with AGE-SECRET-KEY-1, or a comment")
    }
}

impl Identities {
    /// Reads the file that `age-keygen` writes: an identity on each line, comments after `#`.
    pub fn parse(text: &str) -> Result<Self, IdentityRejected> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let parsed: Result<Vec<_>, _> =
            lines.map(|line| line.parse().map_err(|_| IdentityRejected)).collect();
        match parsed? {
            none if none.is_empty() => Err(IdentityRejected),
            identities => Ok(Self(identities)),
        }
    }
}

impl fmt::Debug for Identities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identities(..)")
    }
}

/// A file that is written, encrypted or not.
pub(crate) enum Sealed<W: Write> {
    Plain(W),
    ForRecipients(StreamWriter<W>),
}

impl<W: Write> Sealed<W> {
    pub(crate) fn new(out: W, recipients: &[Recipient]) -> io::Result<Self> {
        if recipients.is_empty() {
            return Ok(Self::Plain(out));
        }
        let recipients = recipients.iter().map(|recipient| &recipient.0 as &dyn age::Recipient);
        let encryptor = age::Encryptor::with_recipients(recipients).map_err(io::Error::other)?;
        Ok(Self::ForRecipients(encryptor.wrap_output(out)?))
    }

    /// Writes what is left, and returns the file.
    pub(crate) fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(out) => Ok(out),
            Self::ForRecipients(out) => out.finish(),
        }
    }
}

impl<W: Write> Write for Sealed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::ForRecipients(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::ForRecipients(out) => out.flush(),
        }
    }
}

/// A file that is read, encrypted or not.
pub(crate) enum Opened<R: BufRead> {
    Plain(R),
    Decrypted(Box<StreamReader<R>>),
}

impl<R: BufRead> Opened<R> {
    /// Looks at how the file begins, and opens it.
    pub(crate) fn new(mut file: R, identities: &Identities) -> Result<Self, ArchiveError> {
        let begins = file.fill_buf().map_err(ArchiveError::failed("backup could not be read"))?;
        if !begins.starts_with(AGE) {
            return Ok(Self::Plain(file));
        }
        if identities.0.is_empty() {
            return Err(ArchiveError::Unsound(
                "the backup is encrypted; name the file of an age identity that opens it (--identity)"
                    .to_owned(),
            ));
        }
        let identities = identities.0.iter().map(|identity| identity as &dyn age::Identity);
        let opened = age::Decryptor::new_buffered(file).and_then(|decryptor| decryptor.decrypt(identities));
        match opened {
            Ok(reader) => Ok(Self::Decrypted(Box::new(reader))),
            Err(age::DecryptError::NoMatchingKeys) => Err(ArchiveError::Unsound(
                "the backup was encrypted for others than this identity".to_owned(),
            )),
            Err(error) => Err(ArchiveError::Unsound(format!(
                "the backup is damaged: its encryption cannot be read ({error})"
            ))),
        }
    }
}

impl<R: BufRead> Read for Opened<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(buffer),
            Self::Decrypted(file) => file.read(buffer),
        }
    }
}
