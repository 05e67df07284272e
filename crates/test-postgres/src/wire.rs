//! A connection to a server, by PostgreSQL's protocol: statements go out as text, and rows come back as text. Tests need no
//! more, and starting a program for each question would cost more than the answer.

use std::fmt::Display;
use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};

/// Version 3.0 of the protocol, as the first message names it.
const PROTOCOL: u32 = 3 << 16;

/// A connection as the user `postgres`, whom a cluster of ours trusts.
#[derive(Debug)]
pub(crate) struct Wire(BufReader<TcpStream>);

impl Wire {
    pub(crate) fn open(port: u16, database: &str) -> Result<Self, String> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(text)?;
        let mut wire = Self(BufReader::new(stream));
        let names = format!("user\0postgres\0database\0{database}\0client_encoding\0UTF8\0\0");
        wire.send(&[], &[&PROTOCOL.to_be_bytes()[..], names.as_bytes()].concat())?;
        wire.answer()?;
        Ok(wire)
    }

    /// Runs statements and returns their output: one line per row, with `|` between columns.
    pub(crate) fn execute(&mut self, statements: &str) -> Result<String, String> {
        self.send(b"Q", format!("{statements}\0").as_bytes())?;
        self.answer()
    }

    /// A message is its kind, which the first message does not have, its length and its content.
    fn send(&mut self, kind: &[u8], content: &[u8]) -> Result<(), String> {
        let length = u32::try_from(content.len() + 4).map_err(text)?;
        let message = [kind, &length.to_be_bytes(), content].concat();
        self.0.get_mut().write_all(&message).map_err(text)
    }

    /// Reads messages until the server waits for the next statements. A server that refuses a connection says why and
    /// closes it.
    fn answer(&mut self) -> Result<String, String> {
        let mut rows = Vec::new();
        let mut problem = None;
        loop {
            let (kind, content) = match self.receive() {
                Ok(message) => message,
                Err(lost) => return Err(problem.unwrap_or(lost)),
            };
            match kind {
                b'D' => rows.push(row(&content)),
                b'E' => problem = Some(complaint(&content)),
                b'Z' => return problem.map_or_else(|| Ok(rows.join("\n").trim_end().to_owned()), Err),
                // Names of columns, numbers of rows, settings and notices.
                _ => {}
            }
        }
    }

    fn receive(&mut self) -> Result<(u8, Vec<u8>), String> {
        let (mut kind, mut length) = ([0], [0; 4]);
        self.0.read_exact(&mut kind).and_then(|()| self.0.read_exact(&mut length)).map_err(text)?;
        let mut content = vec![0; u32::from_be_bytes(length).saturating_sub(4) as usize];
        self.0.read_exact(&mut content).map_err(text)?;
        Ok((kind[0], content))
    }
}

impl Drop for Wire {
    /// Says goodbye. Whoever does not is noted in the server's log.
    fn drop(&mut self) {
        // If the server is gone, there is nobody to tell.
        let _ = self.send(b"X", b"");
    }
}

/// How many columns, and of each its length and its text. NULL has the length -1 and no text.
fn row(content: &[u8]) -> String {
    let mut columns = Vec::new();
    let mut rest = content.get(2..).unwrap_or_default();
    while let Some((length, after)) = rest.split_first_chunk() {
        let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0).min(after.len());
        let (column, after) = after.split_at(length);
        columns.push(String::from_utf8_lossy(column).into_owned());
        rest = after;
    }
    columns.join("|")
}

/// Fields, each a letter and a text: `S` is how bad it is, `M` is the sentence.
fn complaint(content: &[u8]) -> String {
    let fields: Vec<_> = content.split(|byte| *byte == 0).filter_map(<[u8]>::split_first).collect();
    let of = |letter| fields.iter().find(|(kind, _)| **kind == letter).map_or(&[][..], |(_, words)| words);
    format!("{}: {}", String::from_utf8_lossy(of(b'S')), String::from_utf8_lossy(of(b'M')))
}

fn text(problem: impl Display) -> String {
    problem.to_string()
}
