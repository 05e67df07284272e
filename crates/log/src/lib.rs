//! The log: text for people, or lines of JSON. Every request passes through it, so it is a crate of its own: the commands
//! and settings in `countersign-app` are compiled to be small, and this is compiled to be fast.

mod json_lines;
mod log_writer;
mod once_per_minute;
#[cfg(test)]
mod page;

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use json_lines::JsonLines;
pub use log_writer::Flush;
use log_writer::LogWriter;
use once_per_minute::OncePerMinute;

/// What a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text.
    Text {
        /// With the colors of a terminal.
        colors: bool,
    },
    /// JSON.
    Json,
}

/// Says what is wrong with directives of `EnvFilter`.
pub fn judge(directives: &str) -> Result<(), String> {
    EnvFilter::builder().parse(directives).map(drop).map_err(|error| error.to_string())
}

/// Starts the log on standard error, with these directives of `EnvFilter`. Dropping the returned value makes sure that
/// everything logged so far has reached it.
pub fn start(directives: &str, style: Style) -> Flush {
    let filter = EnvFilter::builder().parse_lossy(directives);
    let (writer, flush) = LogWriter::start(io::stderr());
    let registry = tracing_subscriber::registry().with(filter).with(OncePerMinute::default());
    // This fails only at a second start in one process, and then there is a log already.
    let _ = match style {
        Style::Text { colors } => {
            // A log that cannot be written must not cause a panic: the layer itself would complain on standard
            // error.
            let layer = tracing_subscriber::fmt::layer().with_writer(writer).log_internal_errors(false);
            registry.with(layer.with_ansi(colors)).try_init()
        }
        Style::Json => registry.with(JsonLines(writer)).try_init(),
    };
    flush
}
