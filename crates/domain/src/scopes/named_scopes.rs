//! The scopes that requests and registrations name, read with the [`Catalog`] of those that the operator declared.

use crate::scope::{MAX_LENGTH, Scope, ScopeRejected, ScopeSet};
use crate::scopes::catalog::Catalog;

/// The longest unknown name that an error repeats.
const MAX_REPEATED: usize = 40;

/// A name that is not a scope here, to be repeated in an error. Anyone can write a request, and its client may show
/// what we answer. So the name is repeated only if it is short and looks like the name of a scope, never if it could
/// be markup, an address or a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("holds {0}, which this server does not know; it knows {known}", known = ScopeSet::of(&Scope::ALL))]
pub struct UnknownScope(String);

impl UnknownScope {
    /// The first of these names that is not a scope here.
    pub fn first_in<'a>(names: impl IntoIterator<Item = &'a str>, declared: &Catalog) -> Self {
        let looks_like_one = |name: &&str| {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':');
            name.len() <= MAX_REPEATED && name.bytes().all(is_plain)
        };
        let mut names = names.into_iter().filter(|name| !name.is_empty());
        let unknown = names.find(|name| ScopeSet::from_names([*name], declared).is_err());
        Self(unknown.filter(looks_like_one).unwrap_or("a value").to_owned())
    }
}

impl ScopeSet {
    /// Parses requested scopes, separated by spaces. Extra spaces are tolerated. The operator's scopes must
    /// be declared.
    pub fn parse(text: &str, declared: &Catalog) -> Result<Self, ScopeRejected> {
        if text.len() > MAX_LENGTH {
            return Err(ScopeRejected::TooLong);
        }
        Self::from_names(text.split(' ').filter(|name| !name.is_empty()), declared)
    }

    /// Makes a set from a list of requested names.
    pub fn from_names<'a>(
        names: impl IntoIterator<Item = &'a str>,
        declared: &Catalog,
    ) -> Result<Self, ScopeRejected> {
        Self::collect(names, |name| declared.scope(name).map(|scope| scope.name.clone()))
    }

    /// Makes a set of those names that are scopes here. Others are ignored.
    pub fn of_known_names<'a>(names: impl IntoIterator<Item = &'a str>, declared: &Catalog) -> Self {
        let is_known = |name: &&str| Scope::parse(name).is_some() || declared.scope(name).is_some();
        Self::from_names(names.into_iter().filter(is_known), declared).unwrap_or_default()
    }

    /// Like [`Self::parse`], but ignores scopes that are unknown. The set can be empty.
    pub fn parse_known(text: &str, declared: &Catalog) -> Result<Self, ScopeRejected> {
        if text.len() > MAX_LENGTH {
            return Err(ScopeRejected::TooLong);
        }
        Ok(Self::of_known_names(text.split(' '), declared))
    }
}
