//! Checks many signatures in one run: JSON lines in, one JSON line out for each, in the same order, whatever
//! the input is.

use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Write};

use countersign_ports::WalletVerifier;
use serde::{Deserialize, Serialize};

use super::{Claim, Judgement, LONGEST, UNKNOWN_FAMILY, judge};
use crate::failure::Failure;

/// The number of bytes to read and write at once.
const BUFFER: usize = 64 * 1024;

/// One line of the input. A repeated member is refused, because two readers could take the line for two
/// different claims.
#[derive(Debug, Deserialize)]
struct Question {
    address: String,
    text: String,
    signature: String,
    chain: Option<String>,
}

/// One line of the output. Every member is always present.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    valid: bool,
    family: &'a str,
    reason: &'a str,
}

/// Answers each line of the input, and returns whether all signatures were valid. Answers are buffered only
/// while more input is ready, so a caller who sends one line and waits gets its answer.
pub(super) async fn verify_lines(
    input: impl Read,
    wallets: &dyn WalletVerifier,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let mut lines = Lines { input: BufReader::with_capacity(BUFFER, input), line: Vec::new() };
    let mut out = BufWriter::with_capacity(BUFFER, out);
    let mut all_valid = true;
    while let Some(line) = lines.next(&mut out)? {
        let judged = match line {
            InputLine::Whole(bytes) => match question(bytes) {
                Ok(question) => {
                    let claim = Claim {
                        address: &question.address,
                        chain: question.chain.as_deref(),
                        text: &question.text,
                        signature: &question.signature,
                    };
                    judge(&claim, wallets).await
                }
                Err(reason) => unanswerable(reason),
            },
            InputLine::TooLong => unanswerable("the line is longer than 1 MiB".to_owned()),
        };
        let (valid, reason) = match &judged.outcome {
            Ok(_) => (true, "signature is valid"),
            Err(reason) => (false, reason.as_ref()),
        };
        all_valid &= valid;
        serde_json::to_writer(&mut out, &Answer { valid, family: &judged.family, reason })
            .map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(all_valid)
}

fn unanswerable(reason: String) -> Judgement {
    Judgement { family: UNKNOWN_FAMILY.to_owned(), outcome: Err(reason.into()) }
}

fn question(line: &[u8]) -> Result<Question, String> {
    let Ok(line) = std::str::from_utf8(line) else {
        return Err("the line is not valid UTF-8".to_owned());
    };
    let line = line.trim_matches([' ', '\t', '\r']);
    if line.is_empty() {
        return Err("the line is empty".to_owned());
    }
    // serde would read an array as the members in order.
    if !line.starts_with('{') {
        return Err("the line is not a JSON object".to_owned());
    }
    serde_json::from_str(line).map_err(|error| format!("the line cannot be read: {error}"))
}

/// Reads lines with a fixed amount of memory, however long the input is.
struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
}

enum InputLine<'a> {
    /// A line without its line break.
    Whole(&'a [u8]),
    /// A line longer than [`LONGEST`] bytes, skipped to its end.
    TooLong,
}

impl<R: Read> Lines<R> {
    /// The next line, or `None` at the end of the input. Flushes `out` before waiting for more input.
    fn next(&mut self, out: &mut impl Write) -> Result<Option<InputLine<'_>>, Failure> {
        self.line.clear();
        let mut length = 0_usize;
        loop {
            if self.input.buffer().is_empty() {
                out.flush()?;
            }
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::Usage(format!("failed to read standard input: {error}"))),
            };
            if chunk.is_empty() {
                break;
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            length = length.saturating_add(part.len());
            if length <= LONGEST {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return Ok(Some(self.ended(length)));
            }
        }
        // The last line may have no line break. If it has one, no line follows.
        Ok((length > 0).then(|| self.ended(length)))
    }

    fn ended(&self, length: usize) -> InputLine<'_> {
        if length > LONGEST { InputLine::TooLong } else { InputLine::Whole(&self.line) }
    }
}
