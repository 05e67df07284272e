//! Writes the log from a thread of its own, so that a full disk or a pipe without a reader costs log lines
//! and never requests (D-11).
//!
//! Lines that wait are written together. After each write the thread sleeps briefly, because on a busy server
//! waking it for every line costs more than the lines themselves.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// How many lines may wait to be written.
const WAITING_LINES: usize = 8_192;
/// How many bytes to write at once.
const CHUNK: usize = 64 * 1024;
/// How long lines gather before the next write.
const REST: Duration = Duration::from_millis(5);
/// How long the process waits for the last lines when it ends.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bounded queue to the thread that writes the log. When it is full, new lines are counted and dropped.
#[derive(Clone, Debug)]
pub(crate) struct LogWriter {
    lines: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
}

/// Dropping it waits until all lines logged so far are written, or until that takes too long.
#[derive(Debug)]
pub struct Flush(SyncSender<Message>);

enum Message {
    Line(Vec<u8>),
    /// The channel is closed once all earlier lines are written.
    Flush(SyncSender<()>),
}

/// One event, sent in one piece once the layer has finished it.
#[derive(Debug)]
pub(crate) struct LogLine<'a> {
    writer: &'a LogWriter,
    bytes: Vec<u8>,
}

impl LogWriter {
    /// Starts the writing thread.
    pub(crate) fn start(out: impl Write + Send + 'static) -> (Self, Flush) {
        let (lines, received) = sync_channel(WAITING_LINES);
        let dropped = Arc::new(AtomicU64::new(0));
        let writer = Self { lines: lines.clone(), dropped: Arc::clone(&dropped) };
        // If the thread cannot start, every line is dropped: a server without a log is better than no server.
        let _ =
            thread::Builder::new().name("log".to_owned()).spawn(move || write_all(out, &received, &dropped));
        (writer, Flush(lines))
    }

    /// Sends one complete line to the writing thread.
    pub(crate) fn send(&self, line: Vec<u8>) {
        if let Err(TrySendError::Full(_)) = self.lines.try_send(Message::Line(line)) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = LogLine<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LogLine { writer: self, bytes: Vec::new() }
    }
}

impl Write for LogLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine<'_> {
    fn drop(&mut self) {
        self.writer.send(on_one_line(std::mem::take(&mut self.bytes)));
    }
}

impl Drop for Flush {
    fn drop(&mut self) {
        let (answer, answered) = sync_channel(0);
        if self.0.try_send(Message::Flush(answer)).is_ok() {
            // Disconnected: everything is written. Timed out: the log has no reader, and the process may end
            // all the same.
            let _: Result<(), RecvTimeoutError> = answered.recv_timeout(PATIENCE);
        }
    }
}

/// An event of the text format can hold text from elsewhere, such as another server's error. A line break in
/// it would begin a line that was never logged, so all but the last are escaped.
fn on_one_line(event: Vec<u8>) -> Vec<u8> {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let text = event.strip_suffix(b"\n").unwrap_or(&event);
    if !text.iter().any(is_break) {
        return event;
    }
    let mut line = Vec::with_capacity(event.len() + 16);
    for byte in text {
        match byte {
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            other => line.push(*other),
        }
    }
    line.push(b'\n');
    line
}

fn write_all(mut out: impl Write, received: &Receiver<Message>, dropped: &AtomicU64) {
    let mut waiting = Vec::with_capacity(CHUNK);
    while let Ok(message) = received.recv() {
        let mut flush = gather(&mut waiting, message);
        while flush.is_none()
            && waiting.len() < CHUNK
            && let Ok(message) = received.try_recv()
        {
            flush = gather(&mut waiting, message);
        }
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let line = format!(r#"{{"level":"WARN","message":"log lines were lost","lines":{lost}}}"#);
            waiting.extend_from_slice(line.as_bytes());
            waiting.push(b'\n');
        }
        // If the log cannot be written, there is nowhere to say so.
        let _ = out.write_all(&waiting);
        waiting.clear();
        if flush.is_none() {
            thread::sleep(REST);
        }
    }
}

/// Adds a line to the next write, or returns the channel of the caller that waits for the lines so far.
fn gather(waiting: &mut Vec<u8>, message: Message) -> Option<SyncSender<()>> {
    match message {
        Message::Line(line) => {
            waiting.extend_from_slice(&line);
            None
        }
        Message::Flush(answer) => Some(answer),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::page::Page;

    /// A pipe that no one reads. It says when something is written to it.
    struct Blocked {
        written: Sender<()>,
        read: Receiver<()>,
    }

    impl Write for Blocked {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.written.send(());
            let _ = self.read.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_was_logged_is_written_when_the_process_ends() {
        let page = Page::default();
        let (writer, flush) = LogWriter::start(page.clone());
        for line in ["one\n", "two\n"] {
            writer.make_writer().write_all(line.as_bytes()).unwrap();
        }
        drop(flush);
        assert_eq!(page.read(), b"one\ntwo\n");
    }

    #[test]
    fn b_074_an_event_of_the_text_format_stays_on_one_line() {
        let page = Page::default();
        let (writer, flush) = LogWriter::start(page.clone());
        let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false);
        let evil =
            std::io::Error::other("broken\r\n2026-01-01T00:00:00Z  INFO countersign::refusals: refused");
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            tracing::warn!(error = &evil as &(dyn std::error::Error + 'static), shown = %evil, "it said: {evil}");
        });
        drop(flush);
        let text = String::from_utf8(page.read()).unwrap();
        assert_eq!(
            (text.matches(['\n', '\r']).count(), text.matches("broken\\r\\n2026").count()),
            (1, 3),
            "{text}"
        );
    }

    #[test]
    fn d_11_a_pipe_that_nobody_reads_blocks_nobody() {
        let (_never, read) = channel();
        let (written, blocks) = channel();
        let (writer, _flush) = LogWriter::start(Blocked { written, read });
        // So long that it is written by itself.
        writer.make_writer().write_all(&[b'x'; CHUNK]).unwrap();
        blocks.recv().unwrap();
        for _ in 1..WAITING_LINES + 100 {
            writer.make_writer().write_all(b"line\n").unwrap();
        }
        assert!(writer.dropped.load(Ordering::Relaxed) >= 99);
    }
}
