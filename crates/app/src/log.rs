//! What the log has: text for people on a terminal, JSON elsewhere. It always goes to standard error, so that standard
//! output holds only what a command was asked for.

use std::io::{self, IsTerminal};

use countersign_log::{Flush, Style};

use crate::config::{Config, LogFormat};
use crate::database::change_log;

/// The prefix of the names of all our crates.
const OURS: &str = "countersign";

/// Who writes the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A server, which logs as the settings say.
    Server,
    /// A command, whose output is its answer. It logs only what is wrong and, if the operator wants to know more, what it
    /// works on and what it changed.
    Command,
}

/// Starts the log. Dropping the returned value makes sure that everything logged so far has reached standard
/// error.
pub(crate) fn start(config: &Config, audience: Audience) -> Flush {
    let directives = match audience {
        Audience::Server => directives(&config.log),
        Audience::Command => directives_for_a_command(&config.log),
    };
    let is_terminal = io::stderr().is_terminal();
    let is_text = match config.log_format {
        LogFormat::Auto => is_terminal || audience == Audience::Command,
        LogFormat::Pretty => true,
        LogFormat::Json => false,
    };
    let colors = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    countersign_log::start(&directives, if is_text { Style::Text { colors } } else { Style::Json })
}

/// A level without a target applies to our own crates. Other crates log only warnings and errors unless the
/// operator names them: at `debug` and `trace` they log whole requests, including the secrets in them
///
fn directives(log: &str) -> String {
    let parts = log.split(',').map(str::trim).map(|part| match part.to_ascii_lowercase().as_str() {
        "error" | "off" => part.to_owned(),
        "warn" | "info" | "debug" | "trace" => format!("warn,{OURS}={part}"),
        _ => part.to_owned(),
    });
    let parts: Vec<_> = parts.collect();
    format!("warn,{}", parts.join(","))
}

/// Warnings, and with `debug` or `trace` what the command works on and what it changed.
fn directives_for_a_command(log: &str) -> String {
    let is_asked = log.split(',').any(|part| matches!(&*part.trim().to_ascii_lowercase(), "debug" | "trace"));
    let changes = if is_asked { format!(",{}=debug", change_log::TARGET) } else { String::new() };
    format!("{}{changes}", directives("warn"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_010_a_level_is_for_our_own_parts_and_others_are_quiet_unless_named() {
        assert_eq!(directives("trace"), "warn,warn,countersign=trace");
        assert_eq!(directives("off"), "warn,off");
        assert_eq!(directives("info, actix_http=debug"), "warn,warn,countersign=info,actix_http=debug");
        assert_eq!(
            directives_for_a_command("debug"),
            "warn,warn,countersign=warn,countersign::changes=debug"
        );
        assert_eq!(directives_for_a_command("info"), "warn,warn,countersign=warn");
        assert_eq!(countersign_log::judge(&directives("info,countersign_usecases=debug")), Ok(()));
    }
}
