//! The rules of registration (RFC 7591 section 2, and the specification's section 4.1).

use time::Duration;
use url::Url;

use crate::addresses::host;
use crate::client::{
    AuthenticationMethod, Client, ClientMetadata, ClientOrigin, DisplayMetadata, SecretMethod, USUAL,
    USUAL_OF_OPERATORS, USUAL_OF_SPECIFICATION,
};
use crate::client_field::{ClientField, FieldKind, FieldSaid};
use crate::grant_type::{GrantType, RESPONSE_TYPE_CODE};
use crate::lifetimes::{Longest, SHORTEST};
use crate::own_origin::OwnOrigin;
use crate::public_url::is_loopback;
use crate::readable::{self, NameRejected, is_hidden};
use crate::redirect_uri::{
    MAX_LENGTH, RedirectUri, RedirectUriRejected, UriOwner, is_plain_uri_byte, percent_escapes_are_whole,
};
use crate::scope::{Scope, ScopeSet};
use crate::scopes::catalog::Catalog;
use crate::scopes::named_scopes::UnknownScope;
use crate::sector::{self, SectorRejected, SectorUnfit};

pub use crate::client_field::RequestedMetadata;

/// The most redirect URIs that a client can register.
pub const MAX_REDIRECT_URIS: usize = 20;
const MAX_CONTACTS: usize = 10;
const MAX_CONTACT_LENGTH: usize = 254;
const MAX_JWKS_LENGTH: usize = 16 * 1024;
const URI_RULE: &str = "must be an https address, or http on a loopback host";

impl RegistrationRejected {
    /// The field that it is about.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Missing(field)
            | Self::Scope { field, .. }
            | Self::Lifetime { field, .. }
            | Self::Field { field, .. } => field,
            Self::RedirectUriCount | Self::RedirectUri { .. } => "redirect_uris",
            Self::Name(_) => "client_name",
            Self::Keys(_) => "jwks",
            Self::Sector(_) => "sector_identifier_uri",
        }
    }
}

impl RequestedMetadata {
    /// Does it name a scope that may be one of the operator's resources?
    pub fn names_own_scopes(&self) -> bool {
        let listed = self.scopes.iter().flatten().map(String::as_str);
        listed.chain(self.scope.as_deref()).any(Scope::names_others)
    }
}

/// Metadata that passed the checks, and how the client will authenticate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedMetadata {
    /// The metadata to store.
    pub metadata: ClientMetadata,
    /// The authentication method that was requested.
    pub method: AuthenticationMethod,
    /// The redirect URIs that are not in the metadata, because a rule forbids them.
    pub left_out: Vec<LeftOut>,
}

/// A redirect URI that was not registered, although others were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The URI, as it was sent.
    pub uri: String,
    /// The rule that it breaks.
    pub reason: RedirectUriRejected,
}

/// What happens to a redirect URI or a scope that a client cannot have, if it can have others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistakes {
    /// It is an error: a person chose the value, and reads the error.
    Refused,
    /// It is left out, and the answer says what was registered: a program sends the same to every server.
    LeftOut,
}

/// The rules that a registration is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// Who registers the client.
    pub origin: ClientOrigin,
    /// What happens to values that are not acceptable.
    pub mistakes: Mistakes,
    /// The scopes of resources that the client can register.
    pub declared: &'a Catalog,
    /// The addresses of this server, where no client lives.
    pub own_origin: Option<OwnOrigin<'a>>,
    /// The longest lifetimes that it can get. `None`: no one here can give it any, and what is said of them is left out.
    pub longest: Option<Longest>,
}

impl<'a> Rules<'a> {
    /// The rules for a client of this origin that registers, or changes its own registration.
    pub const fn of(origin: ClientOrigin, declared: &'a Catalog) -> Self {
        let (mistakes, longest) = match origin {
            ClientOrigin::Operator => (Mistakes::Refused, Some(Longest::USUAL)),
            ClientOrigin::SelfRegistered | ClientOrigin::Document => (Mistakes::LeftOut, None),
        };
        Self { origin, mistakes, declared, own_origin: None, longest }
    }
}

/// Why metadata cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationRejected {
    /// A required field is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// There is no redirect URI, or there are too many.
    #[error("redirect_uris takes 1 to {MAX_REDIRECT_URIS} URIs")]
    RedirectUriCount,
    /// A redirect URI is not acceptable.
    #[error("redirect_uris[{position}]: {reason}")]
    RedirectUri {
        /// Its index in the list, from 0.
        position: usize,
        /// The rule that it breaks.
        reason: RedirectUriRejected,
    },
    /// The name is not readable.
    #[error("client_name {0}")]
    Name(NameRejected),
    /// The keys cannot be used.
    #[error("jwks: {0}")]
    Keys(&'static str),
    /// A scope is not one that the client can register.
    #[error("{field} {unknown}")]
    Scope {
        /// The name of the field.
        field: &'static str,
        /// The scope.
        unknown: UnknownScope,
    },
    /// A lifetime is not within its bounds.
    #[error("{field} takes {} to {longest} seconds", SHORTEST.whole_seconds())]
    Lifetime {
        /// The name of the field.
        field: &'static str,
        /// The longest that the settings allow.
        longest: i64,
    },
    /// The list of the sector is not as it must be.
    #[error("sector_identifier_uri {0}")]
    Sector(SectorRejected),
    /// Another field has an unacceptable value.
    #[error("{field} {rule}")]
    Field {
        /// The name of the field.
        field: &'static str,
        /// The rule for its values.
        rule: &'static str,
    },
}

/// Checks what someone wants to register. Scopes of ours that a client of this origin cannot have are left out
/// without an error, because the answer says which scopes were registered (RFC 7591 section 2).
pub fn judge(requested: RequestedMetadata, rules: Rules<'_>) -> Result<JudgedMetadata, RegistrationRejected> {
    let usual = match rules.origin {
        ClientOrigin::Operator => ScopeSet::of(&USUAL_OF_OPERATORS),
        ClientOrigin::SelfRegistered | ClientOrigin::Document => requested.usual_scopes(),
    };
    let name = requested.client_name.ok_or(RegistrationRejected::Missing("client_name"))?;
    let name = readable::judge_name(&name).map_err(RegistrationRejected::Name)?.to_owned();
    let code_flow = GrantType::AuthorizationCode.name();
    let is_redirected =
        requested.grant_types.as_ref().is_none_or(|names| names.iter().any(|name| name == code_flow));
    let method = match requested.token_endpoint_auth_method.as_deref() {
        None => AuthenticationMethod::Secret(SecretMethod::Post),
        Some(name) => AuthenticationMethod::parse(name).ok_or(RegistrationRejected::Field {
            field: "token_endpoint_auth_method",
            rule: "must be client_secret_post, client_secret_basic, private_key_jwt or none",
        })?,
    };
    let owner = UriOwner::asking(rules.origin, method);
    let (redirect_uris, left_out) = match requested.redirect_uris {
        None if is_redirected => return Err(RegistrationRejected::Missing("redirect_uris")),
        uris => judge_redirect_uris(uris.unwrap_or_default(), is_redirected, owner, rules)?,
    };
    let scopes = judge_scopes(requested.scopes.as_deref(), requested.scope.as_deref(), rules)?;
    let scopes = scopes.map(|scopes| rules.origin.admitted(&scopes)).filter(|left| !left.is_empty());
    let scopes = scopes.unwrap_or(usual);
    // A client that is never redirected has no response type either.
    let may_be = |types: &[String]| types == [RESPONSE_TYPE_CODE] || (types.is_empty() && !is_redirected);
    if requested.response_types.is_some_and(|types| !may_be(&types)) {
        return field("response_types", "must be [code]");
    }
    let grant_types = judge_grant_types(requested.grant_types)?;
    let needs_credential = |grant_type: &GrantType| {
        matches!(grant_type, GrantType::ClientCredentials | GrantType::WalletSignature)
    };
    if method == AuthenticationMethod::None && grant_types.iter().any(needs_credential) {
        return field(
            "grant_types",
            "must not name client_credentials or wallet signatures for a client without a credential",
        );
    }
    let backchannel_logout_uri = requested.backchannel_logout_uri;
    if backchannel_logout_uri.as_deref().is_some_and(|uri| !is_web_address(uri)) {
        return field("backchannel_logout_uri", URI_RULE);
    }
    let display = judge_display(requested.display, owner, rules)?;
    if method == AuthenticationMethod::PrivateKeyJwt && display.jwks.is_none() && display.jwks_uri.is_none() {
        return field("token_endpoint_auth_method", "private_key_jwt needs jwks or jwks_uri");
    }
    let metadata = ClientMetadata {
        name,
        redirect_uris,
        scopes,
        grant_types,
        backchannel_logout_uri,
        requires_pushed_requests: requested.require_pushed_authorization_requests.unwrap_or(false),
        requires_bound_tokens: requested.dpop_bound_access_tokens.unwrap_or(false),
        display,
    };
    sector::judge(&metadata, rules.origin).map_err(unfit)?;
    Ok(JudgedMetadata { metadata, method, left_out })
}

/// Judges what a change does to the sector of a client. It must not move to another by the way.
pub fn judge_sector_change(before: &Client, after: &Client) -> Result<(), RegistrationRejected> {
    sector::judge_change(before, after).map_err(unfit)
}

fn unfit(SectorUnfit { field, rule }: SectorUnfit) -> RegistrationRejected {
    RegistrationRejected::Field { field, rule }
}

fn judge_redirect_uris(
    uris: Vec<String>,
    needed: bool,
    owner: UriOwner,
    rules: Rules<'_>,
) -> Result<(Vec<RedirectUri>, Vec<LeftOut>), RegistrationRejected> {
    if (uris.is_empty() && needed) || uris.len() > MAX_REDIRECT_URIS {
        return Err(RegistrationRejected::RedirectUriCount);
    }
    let (mut judged, mut left_out, mut first) = (Vec::with_capacity(uris.len()), Vec::new(), None);
    for (position, uri) in uris.into_iter().enumerate() {
        let is_own = rules.own_origin.is_some_and(|own_origin| own_origin.forbids(&uri));
        let one = RedirectUri::parse(&uri, owner);
        match one.and_then(|one| if is_own { Err(RedirectUriRejected::OwnOrigin) } else { Ok(one) }) {
            Ok(one) if judged.contains(&one) => {}
            Ok(one) => judged.push(one),
            Err(reason) => {
                first.get_or_insert(RegistrationRejected::RedirectUri { position, reason: reason.clone() });
                left_out.push(LeftOut { uri, reason });
            }
        }
    }
    match first {
        Some(rejected) if judged.is_empty() || rules.mistakes == Mistakes::Refused => Err(rejected),
        Some(_) | None => Ok((judged, left_out)),
    }
}

/// The scopes that a registration names. `None` if it names none: an empty value counts as absent.
fn judge_scopes(
    list: Option<&[String]>,
    text: Option<&str>,
    rules: Rules<'_>,
) -> Result<Option<ScopeSet>, RegistrationRejected> {
    let is_named = |name: &str| !name.is_empty();
    let list = list.filter(|names| names.iter().any(|name| is_named(name)));
    let text = text.filter(|text| text.split(' ').any(is_named));
    let list =
        list.map(|names| judge_names("scopes", names.iter().map(String::as_str), rules)).transpose()?;
    let text = text.map(|text| judge_names("scope", text.split(' '), rules)).transpose()?;
    match (list, text) {
        (Some(list), Some(text)) if list != text => field("scope", "and scopes differ: send one of them"),
        (Some(scopes), _) | (None, Some(scopes)) => Ok(Some(scopes).filter(|scopes| !scopes.is_empty())),
        (None, None) => Ok(None),
    }
}

fn judge_names<'a>(
    field: &'static str,
    names: impl Iterator<Item = &'a str> + Clone,
    rules: Rules<'_>,
) -> Result<ScopeSet, RegistrationRejected> {
    let named = names.clone().filter(|name| !name.is_empty());
    match rules.mistakes {
        Mistakes::LeftOut => Ok(ScopeSet::of_known_names(named, rules.declared)),
        Mistakes::Refused => ScopeSet::from_names(named, rules.declared).map_err(|_| {
            let unknown = UnknownScope::first_in(names, rules.declared);
            RegistrationRejected::Scope { field, unknown }
        }),
    }
}

impl RequestedMetadata {
    /// Are no scopes named? Empty names count as absent.
    pub fn names_no_scopes(&self) -> bool {
        let list = self.scopes.iter().flatten().map(String::as_str);
        list.chain(self.scope.as_deref()).all(|name| name.trim().is_empty())
    }

    /// The scopes of a client that names none. The form of the specification's section 4.1 has a default of its own;
    /// a registration with any other field is one of RFC 7591, as OpenID Connect libraries send it.
    fn usual_scopes(&self) -> ScopeSet {
        let display = DisplayMetadata {
            client_uri: self.display.client_uri.clone(),
            logo_uri: self.display.logo_uri.clone(),
            ..DisplayMetadata::default()
        };
        let of_specification = Self {
            client_name: self.client_name.clone(),
            redirect_uris: self.redirect_uris.clone(),
            scopes: self.scopes.clone(),
            response_types: self.response_types.clone(),
            display,
            ..Self::default()
        };
        ScopeSet::of(if *self == of_specification { &USUAL_OF_SPECIFICATION[..] } else { &USUAL })
    }
}

fn judge_grant_types(names: Option<Vec<String>>) -> Result<Vec<GrantType>, RegistrationRejected> {
    const RULE: &str = "must name grant types that this server offers";
    let Some(names) = names else { return Ok(GrantType::DEFAULT.to_vec()) };
    let known = names.iter().all(|name| GrantType::parse(name).is_some());
    let grant_types: Vec<_> = GrantType::ALL
        .into_iter()
        .filter(|grant_type| names.iter().any(|name| name == grant_type.name()))
        .collect();
    let begins = grant_types.iter().any(|grant_type| *grant_type != GrantType::RefreshToken);
    if known && begins { Ok(grant_types) } else { field("grant_types", RULE) }
}

fn judge_display(
    display: DisplayMetadata,
    owner: UriOwner,
    rules: Rules<'_>,
) -> Result<DisplayMetadata, RegistrationRejected> {
    let display = match rules.longest {
        Some(_) => display,
        None => display.with_lifetimes_of(&DisplayMetadata::default()),
    };
    for field in ClientField::DISPLAY {
        if let Ok(said) = display.said(*field) {
            judge_kind(*field, said, owner, rules.longest)?;
        }
    }
    if display.jwks.is_some() && display.jwks_uri.is_some() {
        return field("jwks", "and jwks_uri exclude each other");
    }
    let contact_is_plain = |contact: &String| {
        !contact.trim().is_empty() && contact.len() <= MAX_CONTACT_LENGTH && !contact.chars().any(is_hidden)
    };
    if display.contacts.len() > MAX_CONTACTS || !display.contacts.iter().all(contact_is_plain) {
        return field("contacts", "can have up to 10 addresses of up to 254 characters");
    }
    Ok(display)
}

/// Checks what the kind of a field says about its values.
fn judge_kind(
    which: ClientField,
    said: FieldSaid<'_>,
    owner: UriOwner,
    longest: Option<Longest>,
) -> Result<(), RegistrationRejected> {
    let (text, list) = match said {
        FieldSaid::Text(text) => (text.as_deref(), [].as_slice()),
        FieldSaid::Several(list) => (None, list.as_slice()),
        FieldSaid::Texts(list) => (None, list.as_deref().unwrap_or_default()),
        FieldSaid::Number(Some(seconds)) => {
            let Some(Longest { access_token, refresh_token }) = longest else { return Ok(()) };
            let longest = if which == ClientField::AccessTokenTtl { access_token } else { refresh_token };
            let is_within = (SHORTEST..=longest).contains(&Duration::seconds((*seconds).into()));
            let rejected =
                RegistrationRejected::Lifetime { field: which.name(), longest: longest.whole_seconds() };
            return if is_within { Ok(()) } else { Err(rejected) };
        }
        FieldSaid::Truth(_) | FieldSaid::Number(None) => return Ok(()),
    };
    let rule = match which.kind() {
        FieldKind::Address if text.is_some_and(|uri| !is_web_address(uri)) => URI_RULE,
        FieldKind::OneOf(values, rule) if text.is_some_and(|text| !values.contains(&text)) => rule,
        FieldKind::Keys if text.is_some_and(|keys| keys.len() > MAX_JWKS_LENGTH) => "takes 16 KiB at most",
        FieldKind::RedirectUris
            if list.len() > MAX_REDIRECT_URIS
                || list.iter().any(|uri| RedirectUri::parse(uri, owner).is_err()) =>
        {
            "can have up to 20 URIs with the rules of redirect_uris"
        }
        FieldKind::Text
        | FieldKind::Address
        | FieldKind::OneOf(..)
        | FieldKind::Keys
        | FieldKind::Truth
        | FieldKind::Seconds
        | FieldKind::List
        | FieldKind::RedirectUris => return Ok(()),
    };
    field(which.name(), rule)
}

/// Can a client name this URL for people, for its keys, or for us to call? A stored URL is checked again
/// whenever it is used.
pub fn is_web_address(text: &str) -> bool {
    if text.len() > MAX_LENGTH || !text.bytes().all(is_plain_uri_byte) || !percent_escapes_are_whole(text) {
        return false;
    }
    let Ok(url) = Url::parse(text) else { return false };
    let Some(host) = url.host() else { return false };
    let bare = url.username().is_empty() && url.password().is_none();
    let is_of_dns = host::judge(text, &url).is_ok();
    bare && is_of_dns && (url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&host)))
}

fn field<T>(field: &'static str, rule: &'static str) -> Result<T, RegistrationRejected> {
    Err(RegistrationRejected::Field { field, rule })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge_own(requested: RequestedMetadata) -> Result<JudgedMetadata, RegistrationRejected> {
        judge(requested, Rules::of(ClientOrigin::SelfRegistered, &Catalog::NONE))
    }

    fn minimal() -> RequestedMetadata {
        RequestedMetadata {
            client_name: Some(" Photo Album ".to_owned()),
            redirect_uris: Some(vec!["https://photos.example/cb".to_owned()]),
            ..RequestedMetadata::default()
        }
    }

    #[test]
    fn a_minimal_registration_gets_the_defaults_of_the_specification() {
        let judged = judge_own(minimal()).unwrap();
        assert_eq!(judged.metadata.name, "Photo Album");
        assert_eq!(judged.metadata.scopes.to_string(), "profile");
        assert_eq!(judged.metadata.grant_types, GrantType::DEFAULT);
        assert_eq!(judged.method.name(), "client_secret_post");
    }

    #[test]
    fn a_012_both_spellings_of_scopes_mean_the_same_and_must_agree() {
        let by_list = RequestedMetadata { scopes: Some(vec!["email".to_owned()]), ..minimal() };
        let by_text = RequestedMetadata { scope: Some("email".to_owned()), ..minimal() };
        assert_eq!(judge_own(by_list.clone()), judge_own(by_text));
        // A name that nobody offers is left out where strangers register, but it is another one.
        for other in ["profile", "mcp:tools"] {
            let both = RequestedMetadata { scope: Some(other.to_owned()), ..by_list.clone() };
            assert_eq!(
                judge(both, Rules::of(ClientOrigin::SelfRegistered, &Catalog::NONE)).unwrap_err().to_string(),
                "scope and scopes differ: send one of them"
            );
        }
    }

    #[test]
    fn only_a_client_of_the_operator_s_can_register_the_scope_of_groups() {
        let requested = RequestedMetadata { scope: Some("groups email".to_owned()), ..minimal() };
        let registered = |requested: &RequestedMetadata, origin| {
            judge(requested.clone(), Rules::of(origin, &Catalog::NONE)).unwrap().metadata.scopes
        };
        assert_eq!(registered(&requested, ClientOrigin::Operator).to_string(), "email groups");
        let alone = RequestedMetadata { scope: Some("groups".to_owned()), ..minimal() };
        for origin in [ClientOrigin::SelfRegistered, ClientOrigin::Document] {
            assert_eq!(registered(&requested, origin).to_string(), "email");
            assert_eq!(registered(&alone, origin).to_string(), "openid profile offline_access");
        }
    }

    #[test]
    fn a_013_a_missing_field_is_named() {
        let nameless = RequestedMetadata { client_name: None, ..minimal() };
        assert_eq!(judge_own(nameless), Err(RegistrationRejected::Missing("client_name")));
        let homeless = RequestedMetadata { redirect_uris: None, ..minimal() };
        assert_eq!(judge_own(homeless), Err(RegistrationRejected::Missing("redirect_uris")));
    }

    #[test]
    fn a_016_only_the_code_response_type_is_taken() {
        let implicit = RequestedMetadata { response_types: Some(vec!["token".to_owned()]), ..minimal() };
        assert!(judge_own(implicit).is_err());
    }

    #[test]
    fn a_020_one_to_twenty_redirect_uris_are_taken() {
        let uris = |count: usize| Some((0..count).map(|n| format!("https://photos.example/{n}")).collect());
        assert!(judge_own(RequestedMetadata { redirect_uris: uris(20), ..minimal() }).is_ok());
        for count in [0, 21] {
            let judged = judge_own(RequestedMetadata { redirect_uris: uris(count), ..minimal() });
            assert_eq!(judged, Err(RegistrationRejected::RedirectUriCount));
        }
    }

    #[test]
    fn the_error_names_the_uri_and_the_rule() {
        let uris = vec!["https://photos.example/cb".to_owned(), "http://photos.example/cb".to_owned()];
        let requested = RequestedMetadata { redirect_uris: Some(uris), ..minimal() };
        let judged = judge(requested, Rules::of(ClientOrigin::Operator, &Catalog::NONE));
        assert_eq!(
            judged.unwrap_err().to_string(),
            "redirect_uris[1]: must be https, http on a loopback host, or a private-use scheme in lower case"
        );
    }

    /// Cursor registers these three, and no address of a server may be among them.
    #[test]
    fn a_uri_that_is_refused_leaves_the_others_of_a_client_that_is_not_the_operators() {
        let uris = [
            "javascript:alert(1)",
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "https://auth.example/oauth/continue",
            "http://localhost:8787/callback",
        ];
        let public_url = crate::public_url::PublicUrl::parse("https://auth.example").unwrap();
        let registered = |origin, mistakes, method: &str| {
            let requested = RequestedMetadata {
                redirect_uris: Some(uris.map(str::to_owned).to_vec()),
                token_endpoint_auth_method: Some(method.to_owned()),
                ..minimal()
            };
            let own_origin = Some(OwnOrigin::new(&public_url, None));
            let judged =
                judge(requested, Rules { mistakes, own_origin, ..Rules::of(origin, &Catalog::NONE) })?;
            let left: Vec<_> = judged.metadata.redirect_uris.iter().map(ToString::to_string).collect();
            Ok::<_, RegistrationRejected>((left, judged.left_out))
        };
        for origin in [ClientOrigin::SelfRegistered, ClientOrigin::Document] {
            let (left, left_out) = registered(origin, Mistakes::LeftOut, "none").unwrap();
            assert_eq!(left, [uris[1], uris[3]]);
            let reasons: Vec<_> = left_out.iter().map(|out| (out.uri.as_str(), &out.reason)).collect();
            let script = RedirectUriRejected::SchemeTaken("a browser runs or shows it itself");
            assert_eq!(reasons, [(uris[0], &script), (uris[2], &RedirectUriRejected::OwnOrigin)]);
        }
        let (left, left_out) =
            registered(ClientOrigin::SelfRegistered, Mistakes::LeftOut, "client_secret_post").unwrap();
        assert_eq!((left, left_out.len()), (vec![uris[3].to_owned()], 3), "only with PKCE for sure");
        for origin in [ClientOrigin::Operator, ClientOrigin::SelfRegistered] {
            let rejected = registered(origin, Mistakes::Refused, "none").unwrap_err();
            assert!(matches!(rejected, RegistrationRejected::RedirectUri { position: 0, .. }), "{rejected}");
        }
        let bad = RequestedMetadata { redirect_uris: Some(vec!["data:x".to_owned()]), ..minimal() };
        assert!(matches!(judge_own(bad), Err(RegistrationRejected::RedirectUri { position: 0, .. })));
    }

    #[test]
    fn an_empty_scope_and_an_unknown_one_count_as_absent_or_are_named() {
        let registered = |requested: RequestedMetadata, origin| {
            let judged = judge(requested, Rules::of(origin, &Catalog::NONE));
            judged.map(|judged| judged.metadata.scopes.to_string()).map_err(|rejected| rejected.to_string())
        };
        let text = |scope: &str| RequestedMetadata { scope: Some(scope.to_owned()), ..minimal() };
        let list = |scopes: &[&str]| RequestedMetadata {
            scopes: Some(scopes.iter().map(|scope| (*scope).to_owned()).collect()),
            ..minimal()
        };
        let of_operators = "openid profile";
        for (origin, usual, of_specification) in [
            (ClientOrigin::Operator, of_operators, of_operators),
            (ClientOrigin::SelfRegistered, "openid profile offline_access", "profile"),
            (ClientOrigin::Document, "openid profile offline_access", "profile"),
        ] {
            for empty in ["", " ", "  "] {
                assert_eq!(registered(text(empty), origin), Ok(usual.to_owned()), "{origin:?}");
            }
            for empty in [&[][..], &[""], &["", ""]] {
                assert_eq!(registered(list(empty), origin), Ok(of_specification.to_owned()), "{origin:?}");
            }
            let both = RequestedMetadata { scope: Some(String::new()), ..list(&["email"]) };
            assert_eq!(registered(both, origin), Ok("email".to_owned()), "{origin:?}");
        }
        let told = "scope holds mcp:tools, which this server does not know; it knows openid profile email \
                    offline_access wallets wallet_proof groups";
        assert_eq!(registered(text("openid mcp:tools"), ClientOrigin::Operator), Err(told.to_owned()));
        for origin in [ClientOrigin::SelfRegistered, ClientOrigin::Document] {
            assert_eq!(registered(text("openid mcp:tools"), origin), Ok("openid".to_owned()));
            assert_eq!(
                registered(text("mcp:tools <b>"), origin),
                Ok("openid profile offline_access".to_owned())
            );
            assert_eq!(registered(list(&["mcp:tools", "email"]), origin), Ok("email".to_owned()));
        }
    }

    fn without_redirects(grant_types: &[GrantType], method: &str) -> RequestedMetadata {
        RequestedMetadata {
            redirect_uris: None,
            grant_types: Some(grant_types.iter().map(|one| one.name().to_owned()).collect()),
            token_endpoint_auth_method: Some(method.to_owned()),
            ..minimal()
        }
    }

    #[test]
    fn only_a_client_that_is_never_redirected_needs_no_redirect_uri() {
        use GrantType::{AuthorizationCode, ClientCredentials, DeviceCode, RefreshToken, WalletSignature};
        for grant_type in [ClientCredentials, DeviceCode, WalletSignature] {
            let requested = without_redirects(&[grant_type, RefreshToken], "client_secret_basic");
            let judged = judge_own(requested.clone()).unwrap().metadata;
            assert_eq!((judged.redirect_uris, judged.grant_types.len()), (Vec::new(), 2));
            let listed = RequestedMetadata {
                redirect_uris: Some(Vec::new()),
                response_types: Some(Vec::new()),
                ..requested
            };
            assert!(judge_own(listed).is_ok());
            let redirected = without_redirects(&[grant_type, AuthorizationCode], "client_secret_basic");
            assert_eq!(judge_own(redirected), Err(RegistrationRejected::Missing("redirect_uris")));
        }
        let refreshing = without_redirects(&[RefreshToken], "client_secret_basic");
        assert!(judge_own(refreshing).unwrap_err().to_string().starts_with("grant_types"));
    }

    #[test]
    fn a_client_without_a_credential_gets_no_tokens_without_a_page() {
        for grant_type in [GrantType::ClientCredentials, GrantType::WalletSignature] {
            let rejected = judge_own(without_redirects(&[grant_type], "none")).unwrap_err();
            assert!(
                matches!(rejected, RegistrationRejected::Field { field: "grant_types", .. }),
                "{rejected}"
            );
        }
        assert!(judge_own(without_redirects(&[GrantType::DeviceCode], "none")).is_ok());
    }
}
