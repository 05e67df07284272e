//! The commands about invitations into groups.

use std::path::PathBuf;

use clap::Subcommand;
use countersign_domain::group::GroupName;
use countersign_domain::id::InvitationId;
use countersign_domain::invitation::{InvitationLimits, Inviter};
use countersign_domain::person_name::PersonName;

use super::people::limit;
use crate::cli::OutputChoice;
use crate::config::duration;

#[derive(Debug, Subcommand)]
pub(crate) enum InviteCommand {
    /// Create an invitation into a group. Its link is shown only once.
    ///
    /// People who open the link read what it is, sign with their wallet, and are in the group from then on. A block takes
    /// precedence.
    #[command(after_help = INVITE_EXAMPLES)]
    Create {
        /// The group that people come into.
        #[arg(long, value_parser = GroupName::parse)]
        group: GroupName,
        /// How many people can come in by it.
        #[arg(long, value_name = "N", default_value_t = InvitationLimits::USUAL.uses)]
        uses: u32,
        /// How long it is valid: `7d` or `12h`, at most 365 days.
        #[arg(long, value_name = "TIME", value_parser = invited_for, default_value = "7d")]
        expires: u32,
        /// What operators call the one who comes in. Only for one person, and only if they have no name yet.
        #[arg(long, value_name = "NAME", value_parser = PersonName::parse)]
        name: Option<PersonName>,
        /// Who invites, as the page says it: `The Millers`. Without it, the page names this server.
        #[arg(long, value_name = "WORDS", value_parser = Inviter::parse)]
        from: Option<Inviter>,
        /// The client that people go on to: its id, or its name if no other client has it.
        #[arg(long = "for", value_name = "CLIENT")]
        client: Option<String>,
        /// Write the QR code to this file, too, as SVG.
        #[arg(long, value_name = "FILE")]
        qr: Option<PathBuf>,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// List invitations, the newest first.
    #[command(after_help = INVITE_EXAMPLES)]
    List {
        /// Only those into this group.
        #[arg(long, value_parser = GroupName::parse)]
        group: Option<GroupName>,
        /// How many to list at most.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = limit())]
        limit: u32,
        /// List those that are older than this one.
        #[arg(long, value_name = "ID", value_parser = invitation_id)]
        after: Option<InvitationId>,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Show an invitation, and the wallets that came in by it.
    #[command(after_help = INVITE_EXAMPLES)]
    Show {
        /// Its id, as `invite list` shows it.
        #[arg(value_parser = invitation_id)]
        id: InvitationId,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Revoke an invitation for good. People who came in stay in the group.
    #[command(after_help = INVITE_EXAMPLES)]
    Revoke {
        /// Its id, as `invite list` shows it.
        #[arg(value_parser = invitation_id)]
        id: InvitationId,
        #[command(flatten)]
        output: OutputChoice,
    },
}

/// The examples in the help of the commands about invitations.
const INVITE_EXAMPLES: &str = "\
Examples:
  countersign invite create --group family --uses 5 --from 'The Millers'
  countersign invite create --group staff --name 'Ann Lee' --expires 2d --for 'Photo Album'
  countersign invite list --group staff
  countersign invite revoke 01a1fd8c-…

Exit code: 0 done, 1 refused or not found, 2 bad usage.";

fn invited_for(text: &str) -> Result<u32, String> {
    let wrong = |reason| format!("{reason}; it takes a time such as 7d, 1m to 365d");
    let (shortest, longest) = (InvitationLimits::SHORTEST.into(), InvitationLimits::LONGEST.into());
    let valid = duration::parse_within(text, shortest, longest).map_err(wrong)?;
    u32::try_from(valid.whole_seconds()).map_err(|_| wrong("too large".to_owned()))
}

fn invitation_id(text: &str) -> Result<InvitationId, String> {
    InvitationId::parse(text)
        .ok_or_else(|| "it is not the id of an invitation: `invite list` shows them".to_owned())
}
