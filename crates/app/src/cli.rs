//! The command line. Commands and options are derived with clap; the flags for settings come from the one
//! table of [`crate::config`].

#[cfg(test)]
mod acts;
mod admin_key;
mod client;
mod declared;
mod event;
pub(crate) mod flags;
mod health;
mod invite;
mod people;
mod resource;
mod saved;

use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use countersign_domain::signing_algorithm::SigningAlgorithm;

pub(crate) use self::admin_key::AdminKeyCommand;
pub(crate) use self::client::{
    ChangedClient, ClientCommand, MetadataFlags, NewClient, NewClientOutput, keep_old,
};
pub(crate) use self::declared::{ApplyFlags, ExportFlags};
pub(crate) use self::event::{EventChoice, EventCommand};
pub(crate) use self::health::{DoctorFlags, HealthcheckFlags};
pub(crate) use self::invite::InviteCommand;
pub(crate) use self::people::{
    AccessCommand, GroupCommand, KindChoice, NewRule, OperatorCommand, Paging, UserCommand, WalletChoice,
    WalletCommand, WhoChoice, new_release, new_rule,
};
pub(crate) use self::resource::{DeclaredFlags, ResourceCommand};
pub(crate) use self::saved::{BackupFlags, CopyFlags, RestoreFlags};

/// The parsed command line.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, disable_help_subcommand = true)]
#[command(about = "An OAuth 2.0 authorization server that people sign in to with a wallet")]
#[command(
    after_help = "Without a command it runs the server. `countersign serve --help` lists the settings, which are also \
                  accepted before every command; docs/configuration.md explains them."
)]
pub(crate) struct Cli {
    /// The command to run; without one, `serve`.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server (also what a bare `countersign` does).
    Serve {
        /// Try it out on this machine, with the playground and with a database and a secret that are deleted
        /// at the end.
        #[arg(long)]
        dev: bool,
        /// Trust this machine's clock although it is not where it was expected: it was wrong before, or the
        /// server was off.
        #[arg(long)]
        clock_is_right: bool,
    },
    /// Bring the database schema up to date and list the migrations that ran.
    Migrate,
    /// Save everything in the database into one file, while servers run (docs/backup.md).
    #[command(after_help = saved::BACKUP_EXAMPLES)]
    Backup(BackupFlags),
    /// Bring back what a backup saved, into an empty database of either kind.
    #[command(after_help = saved::RESTORE_EXAMPLES)]
    Restore(RestoreFlags),
    /// Copy a database into another one, of the same kind or not.
    Copy(CopyFlags),
    /// Show every setting and where its value comes from, or every mistake in the settings.
    CheckConfig,
    /// Ask whether the server is ready; exit code 0 if it is. For containers and probes: no database, no secret.
    Healthcheck(HealthcheckFlags),
    /// Look at settings, database, keys, mail, RPC and the public URL, and say what is wrong and what to do.
    #[command(after_help = health::DOCTOR_HELP)]
    Doctor(DoctorFlags),
    /// Register, show, change and delete clients.
    Client {
        #[command(flatten)]
        trial: TrialChoice,
        #[command(subcommand)]
        command: ClientCommand,
    },
    /// Declare APIs with scopes of their own, list, change and delete them.
    Resource {
        #[command(flatten)]
        trial: TrialChoice,
        #[command(subcommand)]
        command: ResourceCommand,
    },
    /// List, show, block, sign out and delete users.
    User {
        #[command(flatten)]
        trial: TrialChoice,
        #[command(subcommand)]
        command: UserCommand,
    },
    /// Block single wallets, also before anybody signs in with them.
    Wallet {
        #[command(flatten)]
        trial: TrialChoice,
        #[command(subcommand)]
        command: WalletCommand,
    },
    /// List the operators of the desk, suspend one, and let a suspended one act again.
    Operator {
        #[command(flatten)]
        trial: TrialChoice,
        #[command(subcommand)]
        command: OperatorCommand,
    },
    /// Put users and wallets into groups, which clients can ask for and let in.
    Group {
        #[command(flatten)]
        trial: TrialChoice,
        #[command(subcommand)]
        command: GroupCommand,
    },
    /// Invite people into groups by a link or a QR code.
    Invite {
        #[command(flatten)]
        trial: TrialChoice,
        #[command(subcommand)]
        command: InviteCommand,
    },
    /// Decide who can sign in to a client, and which groups it gets.
    Access {
        #[command(flatten)]
        trial: TrialChoice,
        #[command(subcommand)]
        command: AccessCommand,
    },
    /// Create, list and revoke keys of the admin interface.
    AdminKey {
        #[command(flatten)]
        trial: TrialChoice,
        #[command(subcommand)]
        command: AdminKeyCommand,
    },
    /// Show what happened, and verify that it was not altered.
    Event {
        #[command(flatten)]
        trial: TrialChoice,
        #[command(subcommand)]
        command: EventCommand,
    },
    /// Make clients, groups and resources as files declare them (docs/declared.md).
    #[command(after_help = declared::APPLY_EXAMPLES)]
    Apply {
        #[command(flatten)]
        trial: TrialChoice,
        #[command(flatten)]
        flags: ApplyFlags,
    },
    /// Write a file that declares all clients, groups and resources, without their secrets.
    #[command(after_help = declared::EXPORT_EXAMPLES)]
    Export {
        #[command(flatten)]
        trial: TrialChoice,
        #[command(flatten)]
        flags: ExportFlags,
    },
    /// List, rotate and withdraw signing keys.
    Key {
        #[command(flatten)]
        trial: TrialChoice,
        #[command(subcommand)]
        command: KeyCommand,
    },
    /// Check signatures from wallets.
    Challenge {
        #[command(subcommand)]
        command: ChallengeCommand,
    },
    /// Print the OpenAPI description as JSON.
    Openapi {
        /// That of the admin interface.
        #[arg(long)]
        admin: bool,
    },
    /// Export the pages, texts, scripts and styles of this release, to change them (docs/pages.md).
    Templates {
        #[command(subcommand)]
        command: TemplatesCommand,
    },
    /// Write what an installation needs: a settings file, man pages, completions for a shell.
    Generate {
        #[command(subcommand)]
        command: GenerateCommand,
    },
    /// Use a throw-away wallet to try a sign-in without a browser extension.
    DemoWallet {
        #[command(subcommand)]
        command: DemoWalletCommand,
    },
}

impl Command {
    /// Does it work on the server that is being tried out?
    pub(crate) const fn is_for_trial(&self) -> bool {
        match self {
            Self::Client { trial, .. }
            | Self::User { trial, .. }
            | Self::Wallet { trial, .. }
            | Self::Operator { trial, .. }
            | Self::Group { trial, .. }
            | Self::Invite { trial, .. }
            | Self::Access { trial, .. }
            | Self::Resource { trial, .. }
            | Self::AdminKey { trial, .. }
            | Self::Event { trial, .. }
            | Self::Apply { trial, .. }
            | Self::Export { trial, .. }
            | Self::Key { trial, .. } => trial.is_chosen,
            Self::Serve { .. }
            | Self::Migrate
            | Self::Backup(_)
            | Self::Restore(_)
            | Self::Copy(_)
            | Self::CheckConfig
            | Self::Healthcheck(_)
            | Self::Doctor(_)
            | Self::Challenge { .. }
            | Self::Openapi { .. }
            | Self::Templates { .. }
            | Self::Generate { .. }
            | Self::DemoWallet { .. } => false,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct TrialChoice {
    /// Work on the `countersign serve --dev` that is running, instead of the database in the settings.
    #[arg(long = "dev", global = true, display_order = 900)]
    pub(crate) is_chosen: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// List all signing keys.
    List {
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Make the next keys: published now, used for signing in 24 hours.
    Rotate {
        /// In an emergency: the new keys sign at once, and everything that the old ones signed becomes
        /// invalid.
        #[arg(long)]
        now: bool,
        /// With `--now`: do it without asking first. Only a terminal is asked.
        #[arg(long, requires = "now")]
        yes: bool,
        /// Rotate only the keys of this algorithm.
        #[arg(long, value_parser = signing_algorithms())]
        algorithm: Option<String>,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Withdraw a key: it is no longer published, and everything that it signed becomes invalid.
    Withdraw {
        /// The key's id.
        #[arg(allow_hyphen_values = true)]
        kid: String,
        #[command(flatten)]
        output: OutputChoice,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct OutputChoice {
    /// The output format: for people or for scripts.
    #[arg(long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
}

/// The output format of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// Aligned text, for people.
    #[value(name = "text", alias = "table")]
    Table,
    /// One JSON value, for scripts.
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChallengeCommand {
    /// Check offline whether the holder of an address signed a text.
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifySignature),
}

#[derive(Debug, clap::Args)]
pub(crate) struct VerifySignature {
    /// The address as people write it, or in CAIP-10 form, with its chain.
    #[arg(long, value_name = "ADDR", required_unless_present = "batch")]
    pub(crate) address: Option<String>,
    /// The chain, when several chains write their addresses the same way.
    #[arg(long, value_name = "CAIP-2")]
    pub(crate) chain: Option<String>,
    /// The file with the exact bytes of the text; `-` is standard input.
    #[arg(long, value_name = "FILE", required_unless_present = "batch")]
    pub(crate) text_file: Option<PathBuf>,
    /// The signature as the wallet returned it.
    #[arg(long, value_name = "SIG", allow_hyphen_values = true)]
    #[arg(required_unless_present_any = ["signature_file", "batch"])]
    pub(crate) signature: Option<String>,
    /// Read the signature from this file, byte for byte: like a sign-in, it refuses a line break at the end.
    #[arg(long, value_name = "FILE", conflicts_with = "signature")]
    pub(crate) signature_file: Option<PathBuf>,
    /// Read one JSON object per line from standard input, with `address`, `text`, `signature` and an optional
    /// `chain`, and answer each with one line.
    #[arg(long, conflicts_with_all = ["address", "chain", "text_file", "signature", "signature_file"])]
    pub(crate) batch: bool,
}

/// The examples in the help of `challenge verify`.
const VERIFY_EXAMPLES: &str = "\
Examples:
  countersign challenge verify --address 0x2c7536E3605D9C16a7a3D7b1898e529396a65c23 \\
      --text-file sign-in.txt --signature 0xb914…1c
  countersign challenge verify --address bc1q… --text-file sign-in.txt --signature-file signature.txt
  printf %s \"$challenge\" | countersign challenge verify --address \"$address\" --text-file - --signature \"$signature\"
  countersign challenge verify --batch < signatures.jsonl
      {\"address\":\"0x2c75…\",\"text\":\"Some data\",\"signature\":\"0xb914…1c\"}
   -> {\"valid\":true,\"family\":\"ethereum\",\"reason\":\"signature is valid\"}

Every byte of a file counts, as at a sign-in: a line break at its end too. Contract wallets cannot be judged offline.
Exit code: 0 every signature is valid, 1 one is not, 2 bad usage or an unreadable file.";

#[derive(Debug, Subcommand)]
pub(crate) enum TemplatesCommand {
    /// Write files of this release into a folder, and list them. It never overwrites one.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export {
        /// The folder; created if it does not exist.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// What to write: files or folders, like `home.html` or `locales/de`; default: everything.
        #[arg(value_name = "PATH")]
        paths: Vec<String>,
    },
}

/// The examples in the help of `templates export`.
const EXPORT_EXAMPLES: &str = "\
Examples:
  countersign templates export brand assets/countersign.css assets/logo.svg
  countersign templates export brand locales/en/home.json locales/de/home.json
  countersign templates export all-of-it

Leave what you do not change out of template_directory: then the next release can improve it.";

#[derive(Debug, Subcommand)]
pub(crate) enum GenerateCommand {
    /// Print a settings file that explains every setting and sets none.
    Settings,
    /// Write a man page for each command, and one for the settings file, into a folder.
    Man {
        /// The folder; created if it does not exist. Pages in it are replaced.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Print the completions of commands and flags for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum DemoWalletCommand {
    /// Print the wallet's address. The first call creates the wallet.
    Address {
        #[command(flatten)]
        key: DemoKey,
    },
    /// Sign the exact bytes of a text from standard input or a file, and print the signature.
    Sign {
        #[command(flatten)]
        key: DemoKey,
        /// Read the text from this file instead of standard input.
        #[arg(long, value_name = "FILE")]
        text_file: Option<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct DemoKey {
    /// The file that keeps the key; created with mode 0600 if it does not exist.
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: PathBuf,
}

/// The whole command line: the derived commands, and the flags for settings.
pub(crate) fn command() -> clap::Command {
    flags::with_settings(Cli::command())
}

fn signing_algorithms() -> clap::builder::PossibleValuesParser {
    SigningAlgorithm::ALL.map(SigningAlgorithm::name).into()
}
