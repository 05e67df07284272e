//! The commands about what happened.

use std::path::PathBuf;

use clap::Subcommand;
use countersign_domain::event::EventKind;
use countersign_domain::id::{ClientId, EventId};
use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime};

use super::people::limit;
use crate::cli::OutputChoice;
use crate::config::duration;

#[derive(Debug, Subcommand)]
pub(crate) enum EventCommand {
    /// List what happened, the newest first.
    #[command(after_help = EVENT_EXAMPLES)]
    List {
        #[command(flatten)]
        filter: EventChoice,
        /// List at most this many.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = limit())]
        limit: u32,
        /// Begin after the event with this id.
        #[arg(long, value_name = "ID", value_parser = event_id, conflicts_with = "follow")]
        after: Option<EventId>,
        /// Go on and show what happens, the oldest first, until the command is interrupted. As JSON it is one
        /// value in each line.
        #[arg(long)]
        follow: bool,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Show an event.
    #[command(after_help = EVENT_EXAMPLES)]
    Show {
        /// The event's id.
        #[arg(value_parser = event_id)]
        id: EventId,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Verify that no event was altered, removed, added or moved since it was sealed.
    ///
    /// It reads the database, and needs no running server. It names the first checkpoint that does not hold.
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify {
        /// Compare with checkpoints that were saved elsewhere: a file that `event checkpoints --output json`
        /// wrote.
        #[arg(long, value_name = "FILE")]
        against: Option<PathBuf>,
        /// Verify with these public keys, not with the server's secret: a file with what the server publishes
        /// at `/oauth/jwks`, or did.
        #[arg(long, value_name = "FILE")]
        keys: Option<PathBuf>,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Go on after a last checkpoint that is not this server's.
    ///
    /// A server seals no events after a checkpoint that was forged or altered. This makes a checkpoint that
    /// says who decided to go on. Keep a copy of the database first: docs/events.md says what else to do.
    #[command(after_help = VERIFY_EXAMPLES)]
    Accept {
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// List checkpoints, to save them where they cannot be altered.
    #[command(after_help = VERIFY_EXAMPLES)]
    Checkpoints {
        /// Begin after the checkpoint with this number.
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        after: u64,
        /// List at most this many; without it, all.
        #[arg(long, value_name = "N", value_parser = limit())]
        limit: Option<u32>,
        #[command(flatten)]
        output: OutputChoice,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct EventChoice {
    /// Only events since this time: `2026-11-23T12:00:00Z`, `2026-11-23` (UTC), or how long ago: `30m`, `2h`,
    /// `7d`, `2w`.
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    pub(crate) since: Option<Moment>,
    /// Only events before this time.
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    pub(crate) until: Option<Moment>,
    /// Only events of this type. Can be repeated. docs/events.md lists the kinds.
    #[arg(long = "type", alias = "kind", value_name = "TYPE", value_parser = EventKind::parse)]
    pub(crate) kinds: Vec<EventKind>,
    /// Only events about this user: an id, the address of a wallet, a wallet with its chain, or `deleted:…`.
    #[arg(long, value_name = "WHO")]
    pub(crate) user: Option<String>,
    /// Only events about this client.
    #[arg(long, value_name = "ID", value_parser = client_id)]
    pub(crate) client: Option<ClientId>,
}

/// A day, without a time.
const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// A time, or how long ago something was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    At(OffsetDateTime),
    Ago(Duration),
}

impl Moment {
    fn parse(text: &str) -> Result<Self, &'static str> {
        const WRONG: &str = "it takes 2026-11-23T12:00:00Z, 2026-11-23, 30m, 2h, 7d or 2w";
        // A number alone is not how long ago something was: `2026` may be meant as a year.
        let has_unit = text.ends_with(|last: char| last.is_ascii_lowercase());
        if let Some(ago) = duration::parse(text).ok().filter(|ago| has_unit && !ago.is_negative()) {
            return Ok(Self::Ago(ago));
        }
        let at = OffsetDateTime::parse(text, &Rfc3339)
            .or_else(|_| Date::parse(text, DAY).map(|date| date.midnight().assume_utc()));
        at.map(Self::At).map_err(|_| WRONG)
    }

    /// The time that is meant.
    pub(crate) fn before(self, now: OffsetDateTime) -> OffsetDateTime {
        match self {
            Self::At(at) => at,
            Self::Ago(duration) => now.checked_sub(duration).unwrap_or(OffsetDateTime::UNIX_EPOCH),
        }
    }
}

/// The examples in the help of the commands that show events.
const EVENT_EXAMPLES: &str = "\
Examples:
  countersign event list --since 2h
  countersign event list --type sign_in --user 0x2c7536E3605D9C16a7a3D7b1898e529396a65c23
  countersign event list --type client_changed --type secret_rotated --client 019abc12-… --output json
  countersign event list --follow
  countersign event show 019abc34-…

Exit code: 0 done, 1 refused or not found, 2 bad usage.";

/// The examples in the help of the commands about checkpoints.
const VERIFY_EXAMPLES: &str = "\
Examples:
  countersign event checkpoints --output json > /mnt/elsewhere/checkpoints.json
  countersign event verify
  countersign event verify --against /mnt/elsewhere/checkpoints.json
  countersign event verify --keys jwks.json

Exit code: 0 everything holds, 1 something does not, 2 bad usage.";

fn event_id(text: &str) -> Result<EventId, &'static str> {
    EventId::parse(&text.to_ascii_lowercase()).ok_or("it is not an event's id")
}

fn client_id(text: &str) -> Result<ClientId, &'static str> {
    ClientId::parse(text).ok_or("it is not a client's id")
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_time_is_written_in_full_as_a_day_or_as_how_long_ago() {
        let now = datetime!(2026-11-23 12:00 UTC);
        for (text, meant) in [
            ("2026-11-23T11:30:00Z", datetime!(2026-11-23 11:30 UTC)),
            ("2026-11-23T11:30:00+02:00", datetime!(2026-11-23 09:30 UTC)),
            ("2026-11-22", datetime!(2026-11-22 0:00 UTC)),
            ("90s", datetime!(2026-11-23 11:58:30 UTC)),
            ("30m", datetime!(2026-11-23 11:30 UTC)),
            ("2h", datetime!(2026-11-23 10:00 UTC)),
            ("7d", datetime!(2026-11-16 12:00 UTC)),
            ("2w", datetime!(2026-11-09 12:00 UTC)),
        ] {
            assert_eq!(Moment::parse(text).unwrap().before(now), meant, "{text}");
        }
        for text in ["", "h", "yesterday", "2026", "2026-13-01", "5y", "-3d", "1.5h", "é", "2026-11-23T11:30"]
        {
            assert!(Moment::parse(text).is_err(), "{text}");
        }
    }
}
