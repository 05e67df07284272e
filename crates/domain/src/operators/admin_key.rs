//! Admin keys: what a program presents at the admin interface, and what it may do there.
//!
//! A key is 256 random bits behind a prefix that secret scanners recognize. Its name says in the events who acted,
//! so no two keys ever have the same one, even if the first was revoked.

use std::fmt;

use time::OffsetDateTime;

use crate::id::AdminKeyId;
use crate::secret::{Secret, SecretHash};

/// The beginning of every admin key.
const PREFIX: &str = "csak_";
/// The longest name of a key, in characters.
const MAX_NAME_LENGTH: usize = 64;

/// The name of an admin key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AdminKeyName(String);

/// Why a text is not the name of an admin key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not a name of an admin key: it takes 1 to {MAX_NAME_LENGTH} of A-Z a-z 0-9 _ . - and begins with a letter"
)]
pub struct AdminKeyNameRejected {
    /// The text.
    pub given: String,
}

impl AdminKeyName {
    /// Checks a name. It cannot be mistaken for an id, because it begins with a letter and an id has a fixed form.
    pub fn parse(text: &str) -> Result<Self, AdminKeyNameRejected> {
        let begins_well = text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        let is_id = AdminKeyId::parse(&text.to_ascii_lowercase()).is_some();
        if begins_well && !is_id && text.len() <= MAX_NAME_LENGTH && text.bytes().all(is_plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(AdminKeyNameRejected { given: text.to_owned() })
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AdminKeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AdminKeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AdminKeyName({self})")
    }
}

/// What an admin key is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdminArea {
    /// Clients, who can sign in to them, and resources.
    Clients,
    /// Users and wallets.
    Users,
    /// Groups and their members.
    Groups,
    /// Events.
    Events,
    /// Signing keys.
    Keys,
}

impl AdminArea {
    /// All areas, in the order of the documentation.
    pub const ALL: [Self; 5] = [Self::Clients, Self::Users, Self::Groups, Self::Events, Self::Keys];

    /// The word before the colon.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clients => "clients",
            Self::Users => "users",
            Self::Groups => "groups",
            Self::Events => "events",
            Self::Keys => "keys",
        }
    }
}

/// What an admin key may do in an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdminRight {
    /// Read.
    Read,
    /// Read and change.
    Write,
}

impl AdminRight {
    /// The word after the colon.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// One scope of an admin key, such as `clients:write`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AdminScope {
    /// What it is about.
    pub area: AdminArea,
    /// What may be done.
    pub right: AdminRight,
}

/// Why a text is not a scope of an admin key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not a scope of an admin key: it is clients, users, groups, events or keys, then :read or :write"
)]
pub struct AdminScopeRejected {
    /// The text.
    pub given: String,
}

impl AdminScope {
    /// Parses `clients:write`.
    pub fn parse(text: &str) -> Result<Self, AdminScopeRejected> {
        let rights = [AdminRight::Read, AdminRight::Write];
        let mut all = AdminArea::ALL.into_iter().flat_map(|area| rights.map(|right| Self { area, right }));
        all.find(|scope| scope.to_string() == text)
            .ok_or_else(|| AdminScopeRejected { given: text.to_owned() })
    }
}

impl fmt::Display for AdminScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.area.name(), self.right.name())
    }
}

/// The scopes of an admin key: at most one for each area, in the order of the areas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdminScopes(Vec<AdminScope>);

impl AdminScopes {
    /// Collects scopes. Of two for one area the more powerful one stays.
    pub fn of(scopes: impl IntoIterator<Item = AdminScope>) -> Self {
        let mut kept: Vec<AdminScope> = scopes.into_iter().collect();
        kept.sort_by(|one, other| one.area.cmp(&other.area).then(other.right.cmp(&one.right)));
        kept.dedup_by_key(|scope| scope.area);
        Self(kept)
    }

    /// Reads scopes as they are stored: separated by spaces.
    pub fn from_stored(text: &str) -> Result<Self, AdminScopeRejected> {
        let names = text.split(' ').filter(|name| !name.is_empty());
        Ok(Self::of(names.map(AdminScope::parse).collect::<Result<Vec<_>, _>>()?))
    }

    /// Are there none?
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Do these scopes allow this? Writing includes reading.
    pub fn allow(&self, needed: AdminScope) -> bool {
        self.0.iter().any(|scope| scope.area == needed.area && scope.right >= needed.right)
    }

    /// The scopes.
    pub fn iter(&self) -> impl Iterator<Item = AdminScope> {
        self.0.iter().copied()
    }
}

/// As they are stored.
impl fmt::Display for AdminScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(|scope| scope.to_string()).collect();
        f.write_str(&names.join(" "))
    }
}

/// An admin key, without the key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminKey {
    /// Its id, which is part of the key.
    pub id: AdminKeyId,
    /// What operators call it.
    pub name: AdminKeyName,
    /// What it may do.
    pub scopes: AdminScopes,
    /// The hash of the key.
    pub hash: SecretHash,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// From this moment on it is refused; `None` if it does not expire.
    pub expires_at: Option<OffsetDateTime>,
    /// When it was revoked; `None` if it was not.
    pub revoked_at: Option<OffsetDateTime>,
    /// When it was last used, to the minute; `None` if never.
    pub last_used_at: Option<OffsetDateTime>,
}

/// Why a key that is known is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdminKeyRefused {
    /// The rest of the key was made up or cut off.
    #[error("the admin key is not known")]
    Other,
    /// An operator revoked it.
    #[error("the admin key was revoked")]
    Revoked,
    /// It has expired.
    #[error("the admin key has expired")]
    Expired,
}

impl AdminKey {
    /// Is the presented key this one, and is it still good? The comparison takes the same time for every key.
    pub fn judge(&self, now: OffsetDateTime, presented: &Secret) -> Result<(), AdminKeyRefused> {
        if !self.hash.admits(presented) {
            return Err(AdminKeyRefused::Other);
        }
        if self.revoked_at.is_some() {
            return Err(AdminKeyRefused::Revoked);
        }
        if self.expires_at.is_some_and(|expires_at| expires_at <= now) {
            return Err(AdminKeyRefused::Expired);
        }
        Ok(())
    }

    /// Does it still open anything?
    pub fn is_live(&self, now: OffsetDateTime) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expires_at| now < expires_at)
    }
}

/// Makes the text of a key from its id and 256 random bits.
pub fn key_text(id: AdminKeyId, random: [u8; 32]) -> Secret {
    Secret::new(format!("{PREFIX}{}", Secret::with_id(id.as_uuid(), random).expose()))
}

/// Reads the id from a key; `None` if it cannot be one.
pub fn id_in(key: &Secret) -> Option<AdminKeyId> {
    let rest = key.expose().strip_prefix(PREFIX)?;
    Secret::new(rest).id().map(AdminKeyId::from_uuid)
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn key(text: &Secret) -> AdminKey {
        AdminKey {
            id: AdminKeyId::at(NOW, [7; 10]),
            name: AdminKeyName::parse("CI").unwrap(),
            scopes: AdminScopes::default(),
            hash: SecretHash::of(text),
            created_at: NOW,
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
        }
    }

    #[test]
    fn a_key_names_its_id_and_a_scanner_finds_it_by_its_prefix() {
        let id = AdminKeyId::at(NOW, [7; 10]);
        let text = key_text(id, [9; 32]);
        assert_eq!((text.expose().len(), id_in(&text)), (69, Some(id)));
        assert!(text.expose().starts_with("csak_"));
        for other in [&text.expose()[5..], &text.expose()[..68], &format!("{}A", text.expose()), "csak_", ""]
        {
            assert_eq!(id_in(&Secret::new(other)), None, "{other}");
        }
    }

    #[test]
    fn a_key_is_refused_when_it_is_another_one_revoked_or_expired() {
        let [text, other] = [1, 2].map(|byte| key_text(AdminKeyId::at(NOW, [7; 10]), [byte; 32]));
        let good = key(&text);
        assert_eq!(good.judge(NOW, &text), Ok(()));
        assert_eq!(good.judge(NOW, &other), Err(AdminKeyRefused::Other));
        let revoked = AdminKey { revoked_at: Some(NOW), ..good.clone() };
        assert_eq!(revoked.judge(NOW, &text), Err(AdminKeyRefused::Revoked));
        assert_eq!(revoked.judge(NOW, &other), Err(AdminKeyRefused::Other), "only its holder learns that");
        let expiring = AdminKey { expires_at: Some(NOW + Duration::SECOND), ..good };
        assert_eq!(expiring.judge(NOW, &text), Ok(()));
        assert_eq!(expiring.judge(NOW + Duration::SECOND, &text), Err(AdminKeyRefused::Expired));
    }

    #[test]
    fn writing_includes_reading_and_no_area_opens_another() {
        let scope = |text: &str| AdminScope::parse(text).unwrap();
        let scopes =
            AdminScopes::of(["users:read", "clients:read", "clients:write", "users:read"].map(scope));
        assert_eq!(scopes.to_string(), "clients:write users:read");
        assert_eq!(AdminScopes::from_stored(&scopes.to_string()), Ok(scopes.clone()));
        for (needed, is_allowed) in [
            ("clients:read", true),
            ("clients:write", true),
            ("users:read", true),
            ("users:write", false),
            ("groups:read", false),
            ("keys:read", false),
        ] {
            assert_eq!(scopes.allow(scope(needed)), is_allowed, "{needed}");
        }
        for bad in ["", "clients", "clients:", "Clients:read", "clients:delete", "all:read", "clients:read "]
        {
            assert!(AdminScope::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_name_is_one_plain_word_and_no_id() {
        for good in ["CI", "a", "terraform-2.x_y", &"a".repeat(64)] {
            assert_eq!(AdminKeyName::parse(good).unwrap().as_str(), good);
        }
        let id = AdminKeyId::from_uuid(uuid::Uuid::from_u128(0xabcd_ef01 << 96)).to_string();
        for bad in ["", "1st", "a b", "a\n", "é", "a/b", "a:b", "\u{202e}a", &id, &"a".repeat(65)] {
            assert!(AdminKeyName::parse(bad).is_err(), "{bad:?}");
        }
    }
}
