//! The commands about clients. A flag for a field of a registration has the field's name in RFC 7591, with an `s`
//! less if the flag repeats.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, FromArgMatches, Subcommand, ValueEnum};
use countersign_domain::admission::Release;
use countersign_domain::client::AuthenticationMethod;
use countersign_domain::client_field::{ClientField, FieldKind};
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::grant_type::GrantType;
use countersign_usecases::clients::registration::Fields;
use serde_json::Value;

use crate::applications;
use crate::cli::{NewRule, OutputChoice, new_release, new_rule};
use crate::config::duration;

#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// Register a client. Its secrets are shown only once.
    #[command(after_help = CREATE_EXAMPLES)]
    Create {
        #[command(flatten)]
        client: Box<NewClient>,
        /// The output format: for people, for scripts, or as the lines of an application's `.env` file.
        #[arg(long, value_enum, default_value_t = NewClientOutput::Table)]
        output: NewClientOutput,
    },
    /// List all clients.
    List {
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Show all fields of one client, and when its secrets were made and last used. With `--output json`,
    /// `create` and `update` can read the fields.
    Show {
        /// The client's id, or its name if no other has it.
        client_id: String,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Change the named fields of a client. Its id and its secrets stay, and so does every field that is not
    /// named.
    #[command(after_help = UPDATE_EXAMPLES)]
    Update {
        #[command(flatten)]
        client: Box<ChangedClient>,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Give a client a new secret; the old one works for another day, unless you say for how long.
    #[command(after_help = ROTATE_EXAMPLES)]
    RotateSecret {
        /// The client's id, or its name if no other has it.
        client_id: String,
        /// Let the old secret work for this long: `7d`, or a number of seconds, at most 90 days; `0` ends it at once, as
        /// one that may have leaked must. A client has two secrets at most: one that was kept before ends at once.
        #[arg(long, value_name = "TIME", default_value = "1d", value_parser = keep_old)]
        keep_old: KeepOld,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Let a client get access tokens for resources (RFC 8707): for one that is declared as `named`, or for any
    /// declared one when the client acts for itself (`client_credentials`). A client that gets one of its scopes by
    /// `client create` or `client update` gets the resource too.
    OpenResource {
        /// The client's id, or its name if no other has it.
        client_id: String,
        /// The resource, exactly as it is declared (repeatable).
        #[arg(required = true, value_name = "URI")]
        resource: Vec<String>,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Undo `open-resource`: the client gets no new tokens for these resources. Tokens that it already has
    /// work until they expire.
    CloseResource {
        /// The client's id, or its name if no other has it.
        client_id: String,
        /// The resource, as `client show` prints it (repeatable).
        #[arg(required = true, value_name = "URI")]
        resource: Vec<String>,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Delete a client and everything that users allowed it.
    Delete {
        /// The client's id, or its name if no other has it.
        client_id: String,
        /// Delete without asking first.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        output: OutputChoice,
    },
}

/// The output format of `client create`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewClientOutput {
    /// Aligned text, for people.
    #[value(name = "text", alias = "table")]
    Table,
    /// One JSON value, for scripts.
    Json,
    /// Environment variables: the application's own with `--for` if it has some, otherwise ISSUER, CLIENT_ID,
    /// CLIENT_SECRET and APP_URL.
    Env,
}

/// The examples in the help of `client create`.
const CREATE_EXAMPLES: &str = "\
Examples:
  countersign client create --name 'Photo Album' --redirect-uri https://photos.example/callback \\
      --scope 'openid profile email offline_access'
  countersign client create --name Matrix --for synapse --url https://matrix.example
  countersign client create --name Nightly --grant-type client_credentials
  countersign client create --name Shop --for next-auth --url http://localhost:3000 --output env > .env
  countersign client create --from-file client.json --name 'Photo Album, test'

Most OpenID Connect libraries ask for the scope `openid`. A client can only ask for scopes that it registered.";

/// The examples in the help of `client update`.
const UPDATE_EXAMPLES: &str = "\
Examples:
  countersign client update 01a1fd8c-… --logo-uri https://photos.example/logo.png
  countersign client update 01a1fd8c-… --redirect-uri https://photos.example/cb --redirect-uri http://127.0.0.1/cb
  countersign client update 01a1fd8c-… --clear logo_uri --clear contacts
  countersign client update 01a1fd8c-… --clear jwks --jwks-uri https://photos.example/jwks.json
  countersign client show 01a1fd8c-… --output json > client.json    # then edit it
  countersign client update 01a1fd8c-… --from-file client.json

A running server uses the new values from the moment the command ends.";

/// The examples in the help of `client rotate-secret`.
const ROTATE_EXAMPLES: &str = "\
Examples:
  countersign client rotate-secret 01a1fd8c-…                       # a day to hand out the new one
  countersign client rotate-secret 01a1fd8c-… --keep-old 0       # the old one has leaked
  countersign client show 01a1fd8c-…                                # is the old one still in use?

A running server knows the new secret from the moment the command ends.";

#[derive(Debug, clap::Args)]
pub(crate) struct NewClient {
    /// The name that users see.
    #[arg(long, required_unless_present = "from_file")]
    pub(crate) name: Option<String>,
    /// Register this application as it was tested (docs/clients), and print its settings with all values
    /// filled in.
    #[arg(long = "for", value_name = "APPLICATION", value_parser = applications(), requires = "url")]
    #[arg(conflicts_with_all = ["from_file", "redirect_uri", "grant_type", "scope", "public", "auth_method"])]
    #[arg(conflicts_with_all = ["jwks_file", "jwks_uri", "application_type", "id_token_signed_response_alg"])]
    #[arg(conflicts_with_all = ["token_endpoint_auth_signing_alg", "post_logout_redirect_uris"])]
    #[arg(conflicts_with_all = ["backchannel_logout_uri", "require_pushed_authorization_requests"])]
    #[arg(conflicts_with = "dpop_bound_access_tokens")]
    pub(crate) application: Option<String>,
    /// The address of that application.
    #[arg(long, requires = "application")]
    pub(crate) url: Option<String>,
    /// A file with the fields of the registration as a JSON object (RFC 7591), for example the output of `client
    /// show --output json`; `-` is standard input. Flags replace what the file says.
    #[arg(long, value_name = "FILE")]
    pub(crate) from_file: Option<PathBuf>,
    /// A redirect URI (repeatable); required unless the grant types leave out `authorization_code`.
    #[arg(long, value_name = "URI", required_unless_present_any = ["grant_type", "application", "from_file"])]
    pub(crate) redirect_uri: Vec<String>,
    #[command(flatten)]
    pub(crate) metadata: MetadataFlags,
    /// A resource (RFC 8707) to open to the client, as `client open-resource` does (repeatable).
    #[arg(long, value_name = "URI")]
    pub(crate) resource: Vec<String>,
    /// Who can sign in to it, as `access set` takes it; without this, the setting `default_access` decides.
    #[arg(long, value_name = "RULE", value_parser = new_rule)]
    pub(crate) access: Option<NewRule>,
    /// The groups of its users that the client gets: `all`, `a,b`, or `rule` for those of its rule (the default).
    #[arg(long, value_name = "GROUPS", value_parser = new_release, requires = "access")]
    pub(crate) release: Option<Release>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChangedClient {
    /// The client's id, or its name if no other has it.
    pub(crate) client_id: String,
    /// A field that goes back to its default, or to nothing if it has none (repeatable).
    #[arg(long, value_name = "FIELD", value_parser = clearable())]
    pub(crate) clear: Vec<String>,
    /// A file with the fields to change as a JSON object (RFC 7591); `-` is standard input. `null` clears a field.
    /// Flags replace what the file says.
    #[arg(long, value_name = "FILE")]
    pub(crate) from_file: Option<PathBuf>,
    /// The name that users see.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// A redirect URI (repeatable). The named ones replace all that are registered; so it is with every flag that
    /// repeats.
    #[arg(long, value_name = "URI")]
    pub(crate) redirect_uri: Vec<String>,
    #[command(flatten)]
    pub(crate) metadata: MetadataFlags,
}

/// The fields of a registration whose flags are the same for new clients and for those that are there.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct MetadataFlags {
    /// A scope that the client can ask for (repeatable, or several in one text); default: `profile`, or `openid profile offline_access`
    /// with an option that the short form of registration does not have.
    #[arg(long)]
    pub(crate) scope: Vec<String>,
    /// A grant type of the client (repeatable); default: `authorization_code` and `refresh_token`.
    #[arg(long, value_parser = grant_types())]
    pub(crate) grant_type: Vec<String>,
    /// A client that cannot keep a secret: it gets none and must use PKCE.
    #[arg(long, conflicts_with = "auth_method")]
    pub(crate) public: bool,
    /// How the client authenticates (`token_endpoint_auth_method`); default: `client_secret_post`.
    #[arg(long, alias = "token-endpoint-auth-method", value_parser = auth_methods())]
    pub(crate) auth_method: Option<String>,
    /// The file with the client's public keys (a JSON Web Key Set), for `private_key_jwt`.
    #[arg(long, value_name = "FILE", conflicts_with = "jwks_uri")]
    pub(crate) jwks_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) others: FieldFlags,
}

/// The flags of all other fields, made of the table of fields: each has the name of its field.
#[derive(Debug, Default)]
pub(crate) struct FieldFlags(pub(crate) Fields);

/// The fields that have flags of their own.
const WITH_OWN_FLAGS: [ClientField; 6] = [
    ClientField::Name,
    ClientField::RedirectUris,
    ClientField::Scopes,
    ClientField::GrantTypes,
    ClientField::Method,
    ClientField::Jwks,
];

impl FieldFlags {
    fn fields() -> impl Iterator<Item = ClientField> {
        let stored = ClientField::ALL.iter().copied().filter(|field| field.is_stored());
        stored.filter(|field| !WITH_OWN_FLAGS.contains(field))
    }

    fn arg(field: ClientField) -> Arg {
        let dashed = field.name().replace('_', "-");
        let arg = Arg::new(field.name()).help(field.description().trim_end_matches('.'));
        match field.kind() {
            FieldKind::Text | FieldKind::Keys => arg.long(dashed).value_name("TEXT"),
            FieldKind::Address => arg.long(dashed).value_name("URI"),
            FieldKind::OneOf(values, _) => {
                arg.long(dashed).value_name("VALUE").value_parser(PossibleValuesParser::new(values))
            }
            FieldKind::Seconds => arg.long(dashed).value_name("TIME").value_parser(seconds),
            FieldKind::Truth => arg
                .long(dashed)
                .value_name("true|false")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_parser(clap::value_parser!(bool)),
            FieldKind::List | FieldKind::RedirectUris => {
                let one = dashed.trim_end_matches('s').to_owned();
                let name = if field.kind() == FieldKind::List { "TEXT" } else { "URI" };
                let help = format!("{} (repeatable)", field.description().trim_end_matches('.'));
                arg.long(one).value_name(name).action(ArgAction::Append).help(help)
            }
        }
    }
}

impl clap::Args for FieldFlags {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(Self::fields().map(Self::arg))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FieldFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let said = Self::fields().filter_map(|field| {
            let name = field.name();
            let value = match field.kind() {
                FieldKind::Seconds => Value::from(*matches.get_one::<u32>(name)?),
                FieldKind::Truth => Value::from(*matches.get_one::<bool>(name)?),
                FieldKind::List | FieldKind::RedirectUris => {
                    Value::from_iter(matches.get_many::<String>(name)?.cloned())
                }
                FieldKind::Text | FieldKind::Keys | FieldKind::Address | FieldKind::OneOf(..) => {
                    Value::from(matches.get_one::<String>(name)?.as_str())
                }
            };
            Some((name.to_owned(), value))
        });
        Ok(Self(said.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// How long a secret that is replaced works on.
pub(crate) fn keep_old(text: &str) -> Result<KeepOld, String> {
    let wrong = |reason| format!("{reason}; it takes a time such as 1d, at most 90d");
    let kept = duration::parse_within(text, 0, i64::from(KeepOld::LONGEST)).map_err(wrong)?;
    let seconds = u32::try_from(kept.whole_seconds()).ok();
    seconds.and_then(KeepOld::seconds).ok_or_else(|| wrong("too large".to_owned()))
}

/// A lifetime of a client. Whether it is within its bounds is judged with the rest.
fn seconds(text: &str) -> Result<u32, String> {
    let lasts = duration::parse(text).map_err(|reason| format!("{reason}; it takes a time such as 15m"))?;
    u32::try_from(lasts.whole_seconds()).map_err(|_| "it takes a time such as 15m".to_owned())
}

fn grant_types() -> PossibleValuesParser {
    GrantType::ALL.map(GrantType::name).into()
}

fn applications() -> PossibleValuesParser {
    applications::names().collect::<Vec<_>>().into()
}

fn auth_methods() -> PossibleValuesParser {
    AuthenticationMethod::ALL.map(AuthenticationMethod::name).into()
}

fn clearable() -> PossibleValuesParser {
    let clearable = ClientField::ALL.iter().filter(|field| field.is_clearable());
    clearable.map(|field| field.name()).collect::<Vec<_>>().into()
}
