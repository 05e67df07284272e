//! The commands about resources: what the operator declares for APIs, with scopes of their own.

use clap::{Subcommand, ValueEnum};
use countersign_domain::resource::OpenTo;

use crate::cli::OutputChoice;

#[derive(Debug, Subcommand)]
pub(crate) enum ResourceCommand {
    /// List all resources with their scopes: those that were declared here, and those in the settings.
    List {
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Declare a resource: an API that access tokens can be for.
    #[command(after_help = CREATE_EXAMPLES)]
    Create {
        #[command(flatten)]
        resource: Box<DeclaredFlags>,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Add scopes to a resource, change them, or take them away. What is not named stays.
    #[command(after_help = UPDATE_EXAMPLES)]
    Update {
        #[command(flatten)]
        resource: Box<DeclaredFlags>,
        /// A scope to take away (repeatable).
        #[arg(long, value_name = "SCOPE")]
        remove_scope: Vec<String>,
        /// Take scopes away although clients or live sign-ins use them.
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Delete a resource with its scopes: from then on no token is issued for it.
    Delete {
        /// The resource, exactly as it is declared.
        uri: String,
        /// Delete it although clients or live sign-ins use it.
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        output: OutputChoice,
    },
}

/// The examples in the help of `resource create`.
const CREATE_EXAMPLES: &str = "\
Examples:
  countersign resource create https://api.example.com --name 'Photo Store' --scope photos.read='See your photos'
  countersign resource create https://api.example.com \\
      --scope photos.read='See your photos' --title de:photos.read='Deine Fotos sehen' \\
      --scope photos.admin='Change all photos' --needs photos.admin=staff
  countersign resource create https://payroll.example.com --open-to named --scope payroll.read='See your payslips'

A client asks for these scopes like for `profile`, once it registered them. People read the titles before they sign.";

/// The examples in the help of `resource update`.
const UPDATE_EXAMPLES: &str = "\
Examples:
  countersign resource update https://api.example.com --scope photos.write='Add photos'
  countersign resource update https://api.example.com --title fr:photos.read='Voir vos photos'
  countersign resource update https://api.example.com --scope photos.admin --needs staff
  countersign resource update https://api.example.com --needs photos.admin=
  countersign resource update https://api.example.com --remove-scope photos.write

A running server uses the new values from the moment the command ends.";

#[derive(Debug, clap::Args)]
pub(crate) struct DeclaredFlags {
    /// The resource: an absolute URI without a fragment. Requests must repeat it byte for byte.
    pub(crate) uri: String,
    /// What people read before the URI when they are asked to give access to it. An empty text takes it away.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A scope, and what people read about it (repeatable). Without a title they read the name.
    #[arg(long, value_name = "NAME=TITLE")]
    pub(crate) scope: Vec<String>,
    /// The title of a scope in another language of the pages (repeatable). An empty text takes it away.
    #[arg(long, value_name = "LANG:SCOPE=TITLE")]
    pub(crate) title: Vec<String>,
    /// The group that a user must be in to get a scope (repeatable). The others get the rest. With one
    /// `--scope`, the group alone is enough; `SCOPE=` takes the need away.
    #[arg(long, value_name = "SCOPE=GROUP")]
    pub(crate) needs: Vec<String>,
    /// Which clients can ask for it: all of them, or those that it was opened to by name. Default: `everyone`.
    #[arg(long, value_name = "CLIENTS", value_enum)]
    pub(crate) open_to: Option<OpenToChoice>,
}

/// Which clients can ask for a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OpenToChoice {
    /// All clients: the person reads the resource and signs for it.
    Everyone,
    /// The clients that have the resource or one of its scopes from the operator.
    Named,
}

impl From<OpenToChoice> for OpenTo {
    fn from(choice: OpenToChoice) -> Self {
        match choice {
            OpenToChoice::Everyone => Self::Everyone,
            OpenToChoice::Named => Self::Named,
        }
    }
}
