//! The log as JSON: one line for each event, with the fields of the event and of the request that it belongs
//! to.
//!
//! The library's own layer keeps the fields of a span as text and parses them again for every line, which
//! costs more than a small request does. This one formats a span's fields once and copies the text into each
//! of its lines.

use std::error::Error;
use std::fmt::{self, Write as _};

use time::OffsetDateTime;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::log_writer::LogWriter;

/// Writes each event as one line of JSON.
#[derive(Debug)]
pub(crate) struct JsonLines(pub(crate) LogWriter);

/// The members of a JSON object that a span adds to the lines of its events.
struct SpanText(Vec<u8>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for JsonLines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut text = Vec::with_capacity(160);
        text.extend_from_slice(b",\"span\":{\"name\":");
        write_text(&mut text, attributes.metadata().name());
        attributes.record(&mut Fields(&mut text));
        text.push(b'}');
        span.extensions_mut().insert(SpanText(text));
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a log line carries the time at which it was written; nothing is decided by it"
    )]
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut line = Vec::with_capacity(384);
        line.extend_from_slice(b"{\"timestamp\":\"");
        write_time(&mut line, OffsetDateTime::now_utc());
        line.extend_from_slice(b"\",\"level\":\"");
        line.extend_from_slice(event.metadata().level().as_str().as_bytes());
        line.push(b'"');
        event.record(&mut Fields(&mut line));
        line.extend_from_slice(b",\"target\":");
        write_text(&mut line, event.metadata().target());
        if let Some(span) = context.event_span(event)
            && let Some(SpanText(text)) = span.extensions().get::<SpanText>()
        {
            line.extend_from_slice(text);
        }
        line.extend_from_slice(b"}\n");
        self.0.send(line);
    }
}

/// Writes each field as a further member of a JSON object.
struct Fields<'a>(&'a mut Vec<u8>);

impl Fields<'_> {
    fn name(&mut self, field: &Field) {
        self.0.push(b',');
        write_text(self.0, field.name());
        self.0.push(b':');
    }

    fn number(&mut self, field: &Field, number: impl fmt::Display) {
        self.name(field);
        let _ = write!(Escaped(self.0), "{number}");
    }
}

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.name(field);
        write_text(self.0, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.number(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() {
            self.number(field, value);
        } else {
            self.record_debug(field, &value);
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.name(field);
        self.0.push(b'"');
        let _ = write!(Escaped(self.0), "{value:?}");
        self.0.push(b'"');
    }
}

/// Writes a text as a JSON string, with its quotes.
fn write_text(line: &mut Vec<u8>, text: &str) {
    line.push(b'"');
    let _ = Escaped(line).write_str(text);
    line.push(b'"');
}

const fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\' && byte != 0x7f
}

/// Writes the part between the quotes of a JSON string.
struct Escaped<'a>(&'a mut Vec<u8>);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Almost no text needs escaping, and this check looks at many bytes at once.
        if text.bytes().fold(true, |is, byte| is & is_plain(byte)) {
            self.0.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        let mut plain_from = 0;
        for (at, byte) in text.bytes().enumerate() {
            if is_plain(byte) {
                continue;
            }
            self.0.extend_from_slice(&text.as_bytes()[plain_from..at]);
            plain_from = at + 1;
            match byte {
                b'"' => self.0.extend_from_slice(b"\\\""),
                b'\\' => self.0.extend_from_slice(b"\\\\"),
                b'\n' => self.0.extend_from_slice(b"\\n"),
                b'\r' => self.0.extend_from_slice(b"\\r"),
                b'\t' => self.0.extend_from_slice(b"\\t"),
                other => {
                    let digit = |four_bits: u8| {
                        char::from_digit(four_bits.into(), 16).map_or(b'0', |digit| digit as u8)
                    };
                    self.0.extend_from_slice(b"\\u00");
                    self.0.extend_from_slice(&[digit(other >> 4), digit(other & 15)]);
                }
            }
        }
        self.0.extend_from_slice(&text.as_bytes()[plain_from..]);
        Ok(())
    }
}

/// Writes a time in the format of RFC 3339, with microseconds.
fn write_time(line: &mut Vec<u8>, now: OffsetDateTime) {
    let (date, time) = (now.date(), now.time());
    write_digits(line, u32::try_from(date.year()).unwrap_or_default(), 4);
    let parts = [
        (b'-', u32::from(u8::from(date.month())), 2),
        (b'-', date.day().into(), 2),
        (b'T', time.hour().into(), 2),
        (b':', time.minute().into(), 2),
        (b':', time.second().into(), 2),
        (b'.', time.microsecond(), 6),
    ];
    for (separator, number, digits) in parts {
        line.push(separator);
        write_digits(line, number, digits);
    }
    line.push(b'Z');
}

fn write_digits(line: &mut Vec<u8>, number: u32, digits: u32) {
    for place in (0..digits).rev() {
        let digit = number / 10_u32.pow(place) % 10;
        line.push(b'0' + u8::try_from(digit).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use serde_json::{Value, json};
    use time::macros::datetime;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::page::Page;

    /// The log lines that some work produces.
    fn logged(work: impl FnOnce()) -> Vec<Value> {
        let page = Page::default();
        let (writer, flush) = LogWriter::start(page.clone());
        let registry = tracing_subscriber::registry().with(JsonLines(writer));
        tracing::subscriber::with_default(registry, work);
        drop(flush);
        let bytes = page.read();
        bytes
            .split_inclusive(|byte| *byte == b'\n')
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    #[test]
    fn a_line_has_the_fields_of_its_event_and_of_its_request() {
        let lines = logged(|| {
            let span = tracing::info_span!("request", request.id = %"a-1", method = %"GET", path = "/x");
            span.in_scope(|| tracing::info!(status = 200_u16, ok = true, share = 0.5, "answered"));
            tracing::warn!(below = -3, missing = f64::NAN, "outside");
        });
        let [mut inside, mut outside] = <[Value; 2]>::try_from(lines).unwrap();
        for line in [&mut inside, &mut outside] {
            let time = line.as_object_mut().unwrap().remove("timestamp").unwrap();
            assert_eq!(time.as_str().unwrap().len(), "2026-01-02T03:04:05.000006Z".len());
        }
        let target = module_path!();
        let span = json!({"name": "request", "request.id": "a-1", "method": "GET", "path": "/x"});
        let message = "answered";
        let expected = json!({"level": "INFO", "message": message, "status": 200, "ok": true, "share": 0.5, "target": target, "span": span});
        assert_eq!(inside, expected);
        let expected =
            json!({"level": "WARN", "message": "outside", "below": -3, "missing": "NaN", "target": target});
        assert_eq!(outside, expected);
    }

    #[test]
    fn b_074_nobody_writes_a_line_of_their_own_into_the_log() {
        let evil = "\"}\n{\"level\":\"INFO\",\u{1b}[31m\\\r\t\u{7f}é\u{2028}😀";
        let lines =
            logged(|| tracing::info!(path = evil, shown = %evil, debug = ?evil, "as it came: {evil}"));
        let [line] = <[Value; 1]>::try_from(lines).unwrap();
        assert_eq!((&line["path"], &line["shown"]), (&json!(evil), &json!(evil)));
        assert_eq!(line["message"], json!(format!("as it came: {evil}")));
        assert_eq!(line["debug"], json!(format!("{evil:?}")));
    }

    #[test]
    fn an_error_is_told_in_its_own_words() {
        let error = io::Error::other("disk \"full\"");
        let lines = logged(|| tracing::error!(error = &error as &(dyn Error + 'static), "failed"));
        assert_eq!(lines.first().unwrap()["error"], json!("disk \"full\""));
    }

    #[test]
    fn times_have_all_their_digits() {
        let mut line = Vec::new();
        write_time(&mut line, datetime!(2026-01-02 03:04:05.000_006 UTC));
        assert_eq!(line, b"2026-01-02T03:04:05.000006Z");
    }
}
