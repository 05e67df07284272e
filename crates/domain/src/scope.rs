//! Scopes: what a client can ask for (RFC 6749 section 3.3).

use std::fmt;

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

    fn parse(name: &str) -> Option<Self> {
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

const MAX_LENGTH: usize = 512;

/// A set of scopes, without order and without duplicates.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct ScopeSet(u8);

impl ScopeSet {
    /// Parses scopes separated by spaces. Extra spaces are tolerated.
    pub fn parse(text: &str) -> Result<Self, ScopeRejected> {
        if text.len() > MAX_LENGTH {
            return Err(ScopeRejected::TooLong);
        }
        Self::from_names(text.split(' ').filter(|name| !name.is_empty()))
    }

    /// Makes a set from a list of names.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, ScopeRejected> {
        let mut set = Self::default();
        for name in names {
            set.0 |= Scope::parse(name).ok_or(ScopeRejected::Unknown)?.bit();
        }
        if set.0 == 0 { Err(ScopeRejected::Empty) } else { Ok(set) }
    }

    /// Makes a set of known scopes.
    pub fn of(scopes: &[Scope]) -> Self {
        Self(scopes.iter().fold(0, |bits, scope| bits | scope.bit()))
    }

    /// Does the set contain this scope?
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Is every scope of this set in the other one?
    pub const fn is_subset_of(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The scopes of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The scopes of this set that are not in the other one.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Is the set empty?
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// One bit for each index in [`Scope::ALL`], for storage.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Makes a set from the bits in storage; `None` if a bit belongs to no scope.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits >> Scope::ALL.len() == 0 { Some(Self(bits)) } else { None }
    }

    /// The scopes, in their fixed order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }
}

impl fmt::Display for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, scope) in self.iter().enumerate() {
            if position > 0 {
                f.write_str(" ")?;
            }
            f.write_str(scope.name())?;
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
mod tests {
    use super::*;

    #[test]
    fn order_and_repetition_do_not_matter() {
        assert_eq!(ScopeSet::parse("email profile"), ScopeSet::parse("profile  email profile"));
        assert_eq!(
            ScopeSet::parse("email profile").map(|set| set.to_string()),
            Ok("profile email".to_owned())
        );
    }

    #[test]
    fn the_bits_that_storage_keeps_never_change_their_meaning() {
        let bits: Vec<u8> = Scope::ALL.iter().map(|scope| ScopeSet::of(&[*scope]).bits()).collect();
        assert_eq!(bits, [1, 2, 4, 8, 16, 32, 64]);
        assert_eq!(
            Scope::ALL.map(Scope::name),
            ["openid", "profile", "email", "offline_access", "wallets", "wallet_proof", "groups"]
        );
        assert_eq!(ScopeSet::from_bits(127), Some(ScopeSet::of(&Scope::ALL)));
        assert_eq!(ScopeSet::from_bits(128), None);
    }

    #[test]
    fn what_is_new_is_what_the_other_set_lacks() {
        let both = ScopeSet::of(&[Scope::Profile, Scope::Email]);
        let one = ScopeSet::of(&[Scope::Email]);
        assert_eq!(both.without(one), ScopeSet::of(&[Scope::Profile]));
        assert!(one.without(both).is_empty());
        assert_eq!(one.union(both), both);
    }

    #[test]
    fn a_set_knows_its_subsets() {
        let both = ScopeSet::of(&[Scope::Profile, Scope::Email]);
        let one = ScopeSet::of(&[Scope::Email]);
        assert!(one.is_subset_of(both));
        assert!(!both.is_subset_of(one));
    }
}
