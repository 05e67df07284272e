//! The names of the scopes that an operator declares.

use std::fmt;
use std::sync::Arc;

use crate::look_alike::skeleton;

/// The longest name of a scope, in characters.
pub const MAX_SCOPE_NAME: usize = 64;

/// The names that no resource can have: those of this server, those of OpenID Connect, and those that this
/// server means to know one day.
const RESERVED: [&str; 10] = [
    "openid",
    "profile",
    "email",
    "offline_access",
    "wallets",
    "wallet_proof",
    "groups",
    "address",
    "phone",
    "ens",
];

/// The name of a scope that an operator declared.
///
/// It has the characters of RFC 6749 section 3.3 that a URI has too, because it is in the text that people
/// sign, whose resources are URIs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeName(Arc<str>);

/// Why a text cannot be the name of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeNameRejected {
    /// It is empty or too long, or has a character that no name has.
    #[error(
        "takes 1 to {MAX_SCOPE_NAME} letters, digits and . _ ~ : / - + and begins with a letter or a digit"
    )]
    Form,
    /// It is, or looks like, a scope of this server or of OpenID Connect.
    #[error("is the name of a scope of this server or of OpenID Connect, or looks like one")]
    Reserved,
}

impl ScopeName {
    /// Checks the name of a scope that is declared.
    pub fn parse(text: &str) -> Result<Self, ScopeNameRejected> {
        let name = Self::of_form(text).ok_or(ScopeNameRejected::Form)?;
        let looks = at_a_glance(text);
        if RESERVED.into_iter().any(|reserved| at_a_glance(reserved) == looks) {
            return Err(ScopeNameRejected::Reserved);
        }
        Ok(name)
    }

    /// Reads a name that was checked before. A name that is reserved only since then is still one.
    pub(super) fn of_form(text: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._~:/-+".contains(&byte);
        let begins_well = text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
        let is_name = begins_well && text.len() <= MAX_SCOPE_NAME && text.bytes().all(is_plain);
        is_name.then(|| Self(text.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for ScopeName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ScopeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ScopeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScopeName({self})")
    }
}

/// What a name looks like to a quick reader: without what separates its parts, and with similar letters as
/// one.
fn at_a_glance(name: &str) -> String {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    skeleton(&letters)
}
