//! The commands about clients. A flag for a field of a registration has the field's name in RFC 7591, with an `s`
//! less if the flag repeats.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use countersign_domain::client::AuthenticationMethod;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::grant_type::GrantType;
use countersign_domain::signing_algorithm::SigningAlgorithm;

use crate::applications;
use crate::cli::OutputChoice;
use crate::client_command::fields;

#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// Register a client. Its secrets are shown only once.
    #[command(after_help = CREATE_EXAMPLES)]
    Create {
        #[command(flatten)]
        client: Box<NewClient>,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// List all clients.
    List {
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Show all fields of one client, and when its secrets were made and last used. With `--output json`,
    /// `create` and `update` can read the fields.
    Show {
        /// The client's id.
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
    /// Give a client a new secret; the old one stops working at once, unless you keep it for a while.
    #[command(after_help = ROTATE_EXAMPLES)]
    RotateSecret {
        /// The client's id.
        client_id: String,
        /// Let the old secret work for so many seconds more, at most 7776000 (90 days). A client has two secrets
        /// at most: one that was kept before ends at once.
        #[arg(long, value_name = "SECONDS", default_value_t = 0, hide_default_value = true)]
        #[arg(value_parser = clap::value_parser!(u32).range(..=i64::from(KeepOld::LONGEST)))]
        keep_old: u32,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Let a client get access tokens for resources (RFC 8707): for one that is declared as `named`, or for any
    /// declared one when the client acts for itself (`client_credentials`). A client that gets one of its scopes by
    /// `client create` or `client update` gets the resource too.
    OpenResource {
        /// The client's id.
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
        /// The client's id.
        client_id: String,
        /// The resource, as `client show` prints it (repeatable).
        #[arg(required = true, value_name = "URI")]
        resource: Vec<String>,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Delete a client and everything that users allowed it.
    Delete {
        /// The client's id.
        client_id: String,
        /// Delete without asking first.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        output: OutputChoice,
    },
}

/// The examples in the help of `client create`.
const CREATE_EXAMPLES: &str = "\
Examples:
  countersign client create --name 'Photo Album' --redirect-uri https://photos.example/callback \\
      --scope 'openid profile email offline_access'
  countersign client create --name Matrix --for synapse --url https://matrix.example
  countersign client create --name Nightly --grant-type client_credentials
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
  countersign client rotate-secret 01a1fd8c-…                       # the old secret is no longer a secret
  countersign client rotate-secret 01a1fd8c-… --keep-old 86400      # a day to hand out the new one
  countersign client show 01a1fd8c-…                                # is the old one still in use?

A running server knows the new secret from the moment the command ends.";

#[derive(Debug, clap::Args)]
pub(crate) struct NewClient {
    /// The name that users see.
    #[arg(long, required_unless_present = "from_file")]
    pub(crate) name: Option<String>,
    /// Register this application as it was tested (docs/clients.md), and print its settings with all values
    /// filled in.
    #[arg(long = "for", value_name = "APPLICATION", value_parser = applications(), requires = "url")]
    #[arg(conflicts_with_all = ["from_file", "redirect_uri", "grant_type", "scope", "public", "auth_method"])]
    #[arg(conflicts_with_all = ["jwks_file", "jwks_uri", "application_type", "id_token_signed_response_alg"])]
    #[arg(conflicts_with_all = ["token_endpoint_auth_signing_alg", "post_logout_redirect_uri"])]
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
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChangedClient {
    /// The client's id.
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
    /// A scope that the client can ask for (repeatable, or several in one text); default: `profile`.
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
    /// The address of the client's public keys (a JSON Web Key Set), for `private_key_jwt`.
    #[arg(long, value_name = "URI")]
    pub(crate) jwks_uri: Option<String>,
    /// The algorithm of the client's assertions, for `private_key_jwt`; default: any that its keys allow.
    #[arg(long, value_name = "ALG")]
    pub(crate) token_endpoint_auth_signing_alg: Option<String>,
    /// The algorithm of ID tokens for this client; default: RS256.
    #[arg(long, value_name = "ALG", value_parser = SigningAlgorithm::ALL.map(SigningAlgorithm::name))]
    pub(crate) id_token_signed_response_alg: Option<String>,
    /// Refuse authorization requests of this client that were not pushed (RFC 9126). `=false` allows them.
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) require_pushed_authorization_requests: Option<bool>,
    /// Give this client only tokens that are bound to a key (DPoP, RFC 9449). `=false` allows others.
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) dpop_bound_access_tokens: Option<bool>,
    /// Where users can be sent after they sign out (repeatable).
    #[arg(long, value_name = "URI")]
    pub(crate) post_logout_redirect_uri: Vec<String>,
    /// Where the server tells the client that a sign-in ended.
    #[arg(long, value_name = "URI")]
    pub(crate) backchannel_logout_uri: Option<String>,
    /// The client's home page. For a resource server, its resource URI: it may introspect the tokens for that
    /// resource.
    #[arg(long, value_name = "URI")]
    pub(crate) client_uri: Option<String>,
    /// The client's logo.
    #[arg(long, value_name = "URI")]
    pub(crate) logo_uri: Option<String>,
    /// The client's terms of service.
    #[arg(long, value_name = "URI")]
    pub(crate) tos_uri: Option<String>,
    /// The client's privacy policy.
    #[arg(long, value_name = "URI")]
    pub(crate) policy_uri: Option<String>,
    /// How to reach the client's owner, for example an e-mail address (repeatable).
    // Its id is not that of the setting `contact`.
    #[arg(long = "contact", id = "client_contact", value_name = "CONTACT")]
    pub(crate) contact: Vec<String>,
    /// `web` or `native`.
    #[arg(long, value_name = "TYPE")]
    pub(crate) application_type: Option<String>,
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
    fields::CLEARABLE.into()
}
