//! Scopes: what a client can ask for (RFC 6749 section 3.3).
//!
//! This server knows a few itself ([`Scope`]). The operator declares others with a resource
//! ([`crate::resource`]), and they are only names here ([`ScopeName`]).

mod name;

pub use name::{MAX_SCOPE_NAME, ScopeName, ScopeNameRejected};

use std::fmt;
use std::sync::Arc;

/// One scope that this server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Sign-in with OpenID Connect.
    OpenId,
    /// The user's id, name and wallet address.
    Profile,
    /// The user's e-mail address, if there is one.
    Email,
    /// Access while the user is away.
    OfflineAccess,
    /// All of the user's wallets.
    Wallets,
    /// What the wallet signed, so that the client can check it itself.
    WalletProof,
    /// The groups that the user is in, as far as the operator releases them to the client.
    Groups,
}

impl Scope {
    /// All scopes, in the order in which sets are printed. Storage uses the index in this list, so new scopes
    /// go at the end.
    pub const ALL: [Self; 7] = [
        Self::OpenId,
        Self::Profile,
        Self::Email,
        Self::OfflineAccess,
        Self::Wallets,
        Self::WalletProof,
        Self::Groups,
    ];

    /// Those that the server advertises. Many programs ask for all that is on that list. The others say more about
    /// a person, and an application that needs one knows its name.
    pub const ADVERTISED: [Self; 4] = [Self::OpenId, Self::Profile, Self::Email, Self::OfflineAccess];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenId => "openid",
            Self::Profile => "profile",
            Self::Email => "email",
            Self::OfflineAccess => "offline_access",
            Self::Wallets => "wallets",
            Self::WalletProof => "wallet_proof",
            Self::Groups => "groups",
        }
    }

    /// Is there a word in this list that is not a scope of this server, so that it may be one of the operator's?
    pub fn names_others(list: &str) -> bool {
        list.split(' ').any(|name| !name.is_empty() && Self::parse(name).is_none())
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Why a text is not a set of scopes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeRejected {
    /// A word that is not a scope.
    #[error("a scope that this server does not know")]
    Unknown,
    /// The text is longer than any sensible list of scopes.
    #[error("longer than {MAX_LENGTH} characters")]
    TooLong,
    /// There is no scope in it.
    #[error("no scope at all")]
    Empty,
}

pub(crate) const MAX_LENGTH: usize = 512;

/// The scopes that a text names. An empty text names none, as if it were not there.
pub fn named(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

/// A set of scopes, without order and without duplicates: those that this server knows, and those of the
/// operator's resources.
///
/// The names of the operator's scopes are shared, so a copy of a set costs no memory. A set without any, which
/// is nearly every set, is one byte and a null pointer.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ScopeSet {
    known: u8,
    /// Sorted, and never an empty list.
    own: Option<Arc<[ScopeName]>>,
}

impl ScopeSet {
    /// The set without any scope.
    pub const EMPTY: Self = Self { known: 0, own: None };

    /// Parses requested scopes out of those that were granted. Others of the operator's are unknown, whether
    /// they are declared or not.
    pub fn parse_within(text: &str, granted: &Self) -> Result<Self, ScopeRejected> {
        if text.len() > MAX_LENGTH {
            return Err(ScopeRejected::TooLong);
        }
        let find_own = |name: &str| granted.own().iter().find(|own| own.as_str() == name).cloned();
        Self::collect(text.split(' ').filter(|name| !name.is_empty()), find_own)
    }

    /// Reads the text of a set that this server wrote: in storage, in its cookie, or in a text with its MAC. A
    /// scope in it may have been deleted since.
    pub fn from_stored(text: &str) -> Result<Self, ScopeRejected> {
        Self::from_stored_names(text.split(' ').filter(|name| !name.is_empty()))
    }

    /// The same for a list of names.
    pub fn from_stored_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, ScopeRejected> {
        Self::collect(names, ScopeName::of_form)
    }

    /// Makes a set of these names. `find_own` finds the scope of the operator's with a name.
    pub(crate) fn collect<'a>(
        names: impl IntoIterator<Item = &'a str>,
        find_own: impl Fn(&str) -> Option<ScopeName>,
    ) -> Result<Self, ScopeRejected> {
        let (mut known, mut own) = (0, Vec::new());
        for name in names {
            match Scope::parse(name) {
                Some(scope) => known |= scope.bit(),
                None => own.push(find_own(name).ok_or(ScopeRejected::Unknown)?),
            }
        }
        let set = Self { known, own: shared(own) };
        if set.is_empty() { Err(ScopeRejected::Empty) } else { Ok(set) }
    }

    /// Makes a set of known scopes.
    pub fn of(scopes: &[Scope]) -> Self {
        Self { known: scopes.iter().fold(0, |bits, scope| bits | scope.bit()), own: None }
    }

    /// Makes a set of the operator's scopes.
    pub fn of_own(names: impl IntoIterator<Item = ScopeName>) -> Self {
        Self { known: 0, own: shared(names.into_iter().collect()) }
    }

    /// Does the set contain this scope?
    pub const fn contains(&self, scope: Scope) -> bool {
        self.known & scope.bit() != 0
    }

    /// Does it release the wallet that signed? To recognize a person, no client needs it.
    pub const fn releases_wallet(&self) -> bool {
        self.contains(Scope::Profile) || self.contains(Scope::Wallets)
    }

    /// Can a client learn a wallet with it? What the wallet signed names it, too.
    pub const fn shows_wallet(&self) -> bool {
        self.releases_wallet() || self.contains(Scope::WalletProof)
    }

    /// Is every scope of this set in the other one?
    pub fn is_subset_of(&self, other: &Self) -> bool {
        self.known & !other.known == 0 && self.own().iter().all(|name| other.has_own(name))
    }

    /// The scopes of both sets.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let own = match (&self.own, &other.own) {
            (own, None) | (None, own) => own.clone(),
            (Some(ours), Some(theirs)) => shared(ours.iter().chain(theirs.iter()).cloned().collect()),
        };
        Self { known: self.known | other.known, own }
    }

    /// The scopes of this set that are not in the other one.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let mut left = self.only_own(|name| !other.has_own(name));
        left.known &= !other.known;
        left
    }

    /// The scopes of this set that are in the other one, too.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        let mut both = self.only_own(|name| other.has_own(name));
        both.known &= other.known;
        both
    }

    /// The known scopes, and those of the operator's that pass.
    #[must_use]
    pub fn only_own(&self, passes: impl Fn(&ScopeName) -> bool) -> Self {
        let own = match &self.own {
            Some(own) if !own.iter().all(&passes) => {
                shared(own.iter().filter(|name| passes(name)).cloned().collect())
            }
            own => own.clone(),
        };
        Self { known: self.known, own }
    }

    /// The known scopes alone.
    #[must_use]
    pub const fn only_known(&self) -> Self {
        Self { known: self.known, own: None }
    }

    /// Is the set empty?
    pub const fn is_empty(&self) -> bool {
        self.known == 0 && self.own.is_none()
    }

    /// How many scopes there are.
    pub fn len(&self) -> usize {
        self.known().count() + self.own().len()
    }

    /// One bit for each index in [`Scope::ALL`], for storage. The operator's scopes have none.
    pub const fn bits(&self) -> u8 {
        self.known
    }

    /// The names of the operator's scopes, separated by spaces, for storage beside [`Self::bits`].
    pub fn own_text(&self) -> String {
        self.own().iter().map(ScopeName::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Makes a set from the bits in storage; `None` if a bit belongs to no scope.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits >> Scope::ALL.len() == 0 { Some(Self { known: bits, own: None }) } else { None }
    }

    /// Makes a set from the bits and the names in storage; `None` if either is not ours.
    pub fn from_bits_and_own(bits: u8, own: &str) -> Option<Self> {
        let known = Self::from_bits(bits)?;
        let own: Option<Vec<_>> =
            own.split(' ').filter(|name| !name.is_empty()).map(ScopeName::of_form).collect();
        Some(Self { own: shared(own?), ..known })
    }

    /// The known scopes, in their fixed order.
    pub fn known(&self) -> impl Iterator<Item = Scope> + use<> {
        let bits = self.known;
        Scope::ALL.into_iter().filter(move |scope| bits & scope.bit() != 0)
    }

    /// The operator's scopes, sorted.
    pub fn own(&self) -> &[ScopeName] {
        self.own.as_deref().unwrap_or_default()
    }

    /// Is this scope of the operator's in the set?
    pub fn has_own(&self, name: &ScopeName) -> bool {
        self.own().binary_search(name).is_ok()
    }

    /// All names: the known scopes in their order, then the operator's.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let own = self.own().iter().map(ScopeName::as_str);
        self.known().map(|scope| -> &str { scope.name() }).chain(own)
    }

    /// The set as bytes, for hashes and MACs: equal sets have equal bytes, and others have others.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.known];
        bytes.extend(self.own_text().into_bytes());
        bytes
    }
}

/// Sorts the names, drops repetitions, and shares the list.
fn shared(mut names: Vec<ScopeName>) -> Option<Arc<[ScopeName]>> {
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| names.into())
}

impl fmt::Display for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, name) in self.names().enumerate() {
            if position > 0 {
                f.write_str(" ")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

impl fmt::Debug for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScopeSet({self})")
    }
}

#[cfg(test)]
mod tests;
