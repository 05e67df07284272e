//! The fields of a client, as one table.
//!
//! A line of the table is all that most fields need: requests of RFC 7591 and 7592, the admin interface, files, flags,
//! documents, the desk's forms and the lines of its texts, what is shown of a client, and both descriptions of the
//! interfaces are made of it. Besides, a field has a column in each storage adapter, and its words in the desk's
//! languages.
//!
//! `RequestedMetadata` holds what is judged into a type of its own, so a line there needs its rule in
//! [`crate::registration`] and its value in [`crate::client_view`]. `DisplayMetadata` holds what is stored as it came.

use std::fmt;

use crate::signing_algorithm::SigningAlgorithm;

macro_rules! slot {
    (Text) => { Option<String> };
    (Truth) => { Option<bool> };
    (Number) => { Option<u32> };
    (Texts) => { Option<Vec<String>> };
    (Several) => { Vec<String> };
}

macro_rules! fields {
    (
        $(#[$about_requested:meta])* RequestedMetadata {
            $($(#[doc = $doc:literal])* $name:ident: $slot:ident, $field:ident, $kind:expr, $words:expr;)*
        }
        $(#[$about_display:meta])* DisplayMetadata {
            $($(#[doc = $shown_doc:literal])* $shown_name:ident: $shown_slot:ident, $shown_field:ident, $shown_kind:expr, $shown_words:expr;)*
        }
    ) => {
        $(#[$about_requested])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct RequestedMetadata {
            $($(#[doc = $doc])* pub $name: slot!($slot),)*
            /// What is stored as it came, not checked yet.
            pub display: DisplayMetadata,
        }

        $(#[$about_display])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct DisplayMetadata {
            $($(#[doc = $shown_doc])* pub $shown_name: slot!($shown_slot),)*
        }

        /// A field of a registration.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ClientField {
            $($(#[doc = $doc])* $field,)*
            $($(#[doc = $shown_doc])* $shown_field,)*
        }

        impl ClientField {
            /// All of them, in the order in which they are written and shown.
            pub const ALL: &[Self] = &[$(Self::$field,)* $(Self::$shown_field,)*];
            /// Those of [`DisplayMetadata`].
            pub const DISPLAY: &[Self] = &[$(Self::$shown_field,)*];
            /// The names of all.
            pub const NAMES: &[&str] = &[$(stringify!($name),)* $(stringify!($shown_name),)*];

            /// Its name in a registration.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$field => stringify!($name),)*
                    $(Self::$shown_field => stringify!($shown_name),)*
                }
            }

            /// Finds a field by its name.
            pub fn named(name: &str) -> Option<Self> {
                $(if name == stringify!($name) { return Some(Self::$field); })*
                $(if name == stringify!($shown_name) { return Some(Self::$shown_field); })*
                None
            }

            /// What developers and operators read about it.
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$field => concat!($($doc,)*).trim_ascii(),)*
                    $(Self::$shown_field => concat!($($shown_doc,)*).trim_ascii(),)*
                }
            }

            /// What its values are.
            pub const fn kind(self) -> FieldKind {
                match self {
                    $(Self::$field => $kind,)*
                    $(Self::$shown_field => $shown_kind,)*
                }
            }

            /// Its topic and its words in the texts that operators sign.
            const fn words(self) -> Option<(FieldTopic, &'static str)> {
                match self {
                    $(Self::$field => $words,)*
                    $(Self::$shown_field => $shown_words,)*
                }
            }
        }

        impl RequestedMetadata {
            /// Where the value of a field is kept.
            pub const fn slot(&mut self, field: ClientField) -> FieldSlot<'_> {
                match field {
                    $(ClientField::$field => FieldSlot::$slot(&mut self.$name),)*
                    $(ClientField::$shown_field => FieldSlot::$shown_slot(&mut self.display.$shown_name),)*
                }
            }

            /// What it says of a field.
            pub const fn said(&self, field: ClientField) -> FieldSaid<'_> {
                match field {
                    $(ClientField::$field => FieldSaid::$slot(&self.$name),)*
                    $(ClientField::$shown_field => FieldSaid::$shown_slot(&self.display.$shown_name),)*
                }
            }
        }

        /// A field that is judged into a type of its own: those of [`RequestedMetadata`] itself.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum JudgedField {
            $($(#[doc = $doc])* $field,)*
        }

        impl DisplayMetadata {
            /// The value of a field if it is one of these, or which of the others it is.
            pub const fn said(&self, field: ClientField) -> Result<FieldSaid<'_>, JudgedField> {
                match field {
                    $(ClientField::$field => Err(JudgedField::$field),)*
                    $(ClientField::$shown_field => Ok(FieldSaid::$shown_slot(&self.$shown_name)),)*
                }
            }
        }
    };
}

use FieldKind::{Address, Keys, List, OneOf, RedirectUris, Seconds, Text, Truth};
use FieldTopic::{About, Basics, Credentials, IdTokens, Leaving, Lifetimes, Requirements};

fields! {
    /// What someone wants to register. The types are right; nothing else is checked yet.
    RequestedMetadata {
        /// The name that people see: 1 to 100 characters.
        client_name: Text, Name, Text, Some((Basics, "Its name"));
        /// Where people may be sent back to: 1 to 20 URIs, or none if `grant_types` does not have
        /// `authorization_code`.
        redirect_uris: Texts, RedirectUris, RedirectUris, Some((Basics, "It sends people to"));
        /// The scopes that it may request. Default: `profile`; `openid profile offline_access` if the request has a
        /// field that is only in RFC 7591.
        scopes: Texts, ScopeList, List, None;
        /// The scopes that it may request, in the form of RFC 7591: one string, separated by spaces.
        scope: Text, Scopes, Text, Some((Basics, "It may ask for"));
        /// Only `code`; nothing for a client without `authorization_code`.
        response_types: Texts, ResponseTypes, List, None;
        /// `authorization_code` and `refresh_token` by default.
        grant_types: Texts, GrantTypes, List, Some((Basics, "It gets tokens by"));
        /// `client_secret_post` by default.
        token_endpoint_auth_method: Text, Method, Text, Some((Basics, "It authenticates with"));
        /// Where the server notifies the client that a sign-in ended.
        backchannel_logout_uri: Text, BackchannelLogoutUri, Address,
            Some((Leaving, "It is notified of ended sign-ins at"));
        /// Whether its authorization requests must be pushed (RFC 9126).
        require_pushed_authorization_requests: Truth, PushedRequests, Truth,
            Some((Requirements, "Must its requests be pushed"));
        /// Whether its tokens must be bound to a key (DPoP, RFC 9449).
        dpop_bound_access_tokens: Truth, BoundTokens, Truth,
            Some((Requirements, "Must its tokens be bound to a key"));
    }
    /// What is stored for the client as it came.
    DisplayMetadata {
        /// The client's home page. For a resource server, its resource URI: it may introspect the tokens for that
        /// resource.
        client_uri: Text, ClientUri, Address,
            Some((Credentials, "Its own address, where it may introspect all tokens for the API there"));
        /// The client's logo.
        logo_uri: Text, LogoUri, Address, Some((About, "Its logo"));
        /// The client's terms of service.
        tos_uri: Text, TosUri, Address, Some((About, "Its terms of service"));
        /// The client's privacy policy.
        policy_uri: Text, PolicyUri, Address, Some((About, "Its privacy policy"));
        /// How to reach the people who are responsible for the client.
        contacts: Several, Contacts, List, Some((About, "Its contacts"));
        /// The client's public keys (a JSON Web Key Set), for `private_key_jwt`.
        jwks: Text, Jwks, Keys, Some((Credentials, "The keys that it authenticates with"));
        /// The address of the client's public keys (a JSON Web Key Set), for `private_key_jwt`.
        jwks_uri: Text, JwksUri, Address,
            Some((Credentials, "The address of the keys that it authenticates with"));
        /// `web` or `native`.
        application_type: Text, ApplicationType, OneOf(&["web", "native"], "must be web or native"), Some((About, "Its type"));
        /// The algorithm of ID tokens for this client; RS256 by default.
        id_token_signed_response_alg: Text, IdTokenAlgorithm,
            OneOf(&ID_TOKEN_ALGORITHMS, "must be RS256, ES256 or EdDSA"),
            Some((IdTokens, "The algorithm of its ID tokens"));
        /// `public` or `pairwise`. Clients of different sectors get different `sub` values for the same person from
        /// `pairwise`. A change gives everyone another `sub` at this client. Default: `public`.
        subject_type: Text, SubjectType, OneOf(&SUBJECT_TYPES, "must be public or pairwise"),
            Some((IdTokens, "Its IDs for people, which a change replaces"));
        /// The address of a JSON array with all redirect URIs of the sector. Its host is the sector of a `pairwise` client;
        /// by default the one host of the redirect URIs. Another host gives everyone another `sub` at this client.
        sector_identifier_uri: Text, SectorIdentifierUri, Address,
            Some((IdTokens, "The address of its sector, where another host replaces its IDs for people"));
        /// The algorithm of the client's assertions, for `private_key_jwt`; by default any that its keys allow.
        token_endpoint_auth_signing_alg: Text, AssertionAlgorithm,
            OneOf(&ASSERTION_ALGORITHMS, "must be RS256, PS256, ES256, ES384 or EdDSA"),
            Some((Credentials, "The algorithm of its assertions"));
        /// How long its access tokens and ID tokens are valid, in seconds: 60 at least. Only operators say so.
        access_token_ttl: Number, AccessTokenTtl, Seconds, Some((Lifetimes, "How many seconds its access tokens are valid"));
        /// How long it can refresh after a sign-in, in seconds, however often it does: 60 at least. Only operators say so.
        refresh_token_ttl: Number, RefreshTokenTtl, Seconds, Some((Lifetimes, "How many seconds after a sign-in it can refresh"));
        /// How long its unused refresh tokens are valid, in seconds: 60 at least. Only operators say so.
        refresh_token_idle_ttl: Number, RefreshTokenIdleTtl, Seconds,
            Some((Lifetimes, "How many seconds its unused refresh tokens are valid"));
        /// Where people may go after signing out.
        post_logout_redirect_uris: Several, PostLogoutRedirectUris, RedirectUris,
            Some((Leaving, "After signing out, it sends people to"));
    }
}

/// The algorithms that sign ID tokens.
const ID_TOKEN_ALGORITHMS: [&str; 3] =
    [SigningAlgorithm::Rs256.name(), SigningAlgorithm::Es256.name(), SigningAlgorithm::EdDsa.name()];
/// The values of `subject_type`.
pub const SUBJECT_TYPES: [&str; 2] = ["public", PAIRWISE];
/// The one with which each sector knows a person by another `sub`.
pub(crate) const PAIRWISE: &str = "pairwise";
/// The algorithms of assertions that we check.
const ASSERTION_ALGORITHMS: [&str; 5] = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A text that has a rule of its own.
    Text,
    /// An address on the web.
    Address,
    /// One of these, and the rule in words.
    OneOf(&'static [&'static str], &'static str),
    /// A JSON Web Key Set, as its JSON text.
    Keys,
    /// Yes or no.
    Truth,
    /// How long something lasts, in whole seconds.
    Seconds,
    /// Texts that have a rule of their own.
    List,
    /// URIs that a redirect URI can be.
    RedirectUris,
}

/// What a field is about. Operators read of what comes first here before the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FieldTopic {
    Basics,
    Credentials,
    Requirements,
    IdTokens,
    Lifetimes,
    Leaving,
    About,
}

/// Where the value of a field is kept.
#[derive(Debug)]
pub enum FieldSlot<'a> {
    /// A text, if it is said.
    Text(&'a mut Option<String>),
    /// Yes or no, if it is said.
    Truth(&'a mut Option<bool>),
    /// A number, if it is said.
    Number(&'a mut Option<u32>),
    /// A list. If it is said, it may be empty.
    Texts(&'a mut Option<Vec<String>>),
    /// A list. An empty one says nothing.
    Several(&'a mut Vec<String>),
}

/// What is said of a field.
#[derive(Clone, Copy, Debug)]
pub enum FieldSaid<'a> {
    /// A text, if it is said.
    Text(&'a Option<String>),
    /// Yes or no, if it is said.
    Truth(&'a Option<bool>),
    /// A number, if it is said.
    Number(&'a Option<u32>),
    /// A list. If it is said, it may be empty.
    Texts(&'a Option<Vec<String>>),
    /// A list. An empty one says nothing.
    Several(&'a Vec<String>),
}

impl ClientField {
    /// Finds a field that is stored, by its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::named(name).filter(|field| field.is_stored())
    }

    /// Is it stored? The others repeat one that is, or have one value only.
    pub const fn is_stored(self) -> bool {
        self.words().is_some()
    }

    /// Do only operators decide it? No one else can say how long a client goes on without its user.
    pub const fn is_operators(self) -> bool {
        matches!(self.kind(), Seconds)
    }

    /// Can an update clear it? Those that are stored can, but for the name and the method.
    pub fn is_clearable(self) -> bool {
        self.is_stored() && !matches!(self, Self::Name | Self::Method)
    }

    /// What operators read of it, in the characters of a statement (ERC-4361). Signed texts have it, so it stays.
    pub const fn label(self) -> &'static str {
        match self.words() {
            Some((_, label)) => label,
            None => self.name(),
        }
    }

    /// Those that are stored, in the order in which operators read of them. Signed texts have them in this order, so
    /// it stays.
    pub fn in_words() -> Vec<Self> {
        let mut fields: Vec<_> = Self::ALL.iter().copied().filter(|field| field.is_stored()).collect();
        fields.sort_by_key(|field| field.words().map(|(topic, _)| topic));
        fields
    }
}

/// The name in a registration.
impl fmt::Display for ClientField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_field_has_a_name_and_words_of_its_own() {
        for texts in [ClientField::name, ClientField::label, ClientField::description] {
            let different: BTreeSet<_> = ClientField::ALL.iter().map(|field| texts(*field)).collect();
            assert_eq!(different.len(), ClientField::ALL.len());
        }
    }

    /// Texts that were signed have this order.
    #[test]
    fn operators_read_of_the_fields_in_the_order_of_their_topics() {
        let names: Vec<_> = ClientField::in_words().into_iter().map(ClientField::name).collect();
        let signed = "client_name redirect_uris scope grant_types token_endpoint_auth_method client_uri jwks \
                      jwks_uri token_endpoint_auth_signing_alg require_pushed_authorization_requests \
                      dpop_bound_access_tokens id_token_signed_response_alg subject_type \
                      sector_identifier_uri access_token_ttl refresh_token_ttl \
                      refresh_token_idle_ttl backchannel_logout_uri \
                      post_logout_redirect_uris logo_uri tos_uri policy_uri contacts application_type";
        assert_eq!(names.join(" "), signed);
    }
}
