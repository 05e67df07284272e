//! Identifiers: one type for each kind, so that they cannot be mixed up.

use std::fmt;

use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use uuid::Uuid;

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Makes an id that sorts by its time of creation (UUID version 7).
            pub fn at(now: OffsetDateTime, random: [u8; 10]) -> Self {
                let millis = now.unix_timestamp_nanos() / 1_000_000;
                let millis = u64::try_from(millis).unwrap_or(0);
                Self(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
            }

            /// Wraps an id from storage or from a token.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID, for storage and for the wire.
            pub const fn as_uuid(&self) -> Uuid {
                self.0
            }

            /// Parses the only spelling that we write: lower case with hyphens. The nil UUID and the highest
            /// one are never used as ids: lists begin and end there.
            pub fn parse(text: &str) -> Option<Self> {
                read_uuid(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0.hyphenated())
            }
        }
    };
}

/// The UUID that is spelled as we write it, and that can be an id.
pub(crate) fn read_uuid(text: &str) -> Option<Uuid> {
    let uuid = Uuid::try_parse(text).ok()?;
    let is_spelled = uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == text;
    (is_spelled && !uuid.is_nil() && !uuid.is_max()).then_some(uuid)
}

id_type! {
    /// A registered client.
    ClientId
}
id_type! {
    /// A person, whichever of their wallets signed.
    UserId
}
id_type! {
    /// One sign-in. Its challenge, its grant and its code all carry this id. An id can become a grant only
    /// once, and that makes a challenge single-use.
    GrantId
}
id_type! {
    /// One answer of the token endpoint. It is also the `jti` of the access token.
    TokenId
}

id_type! {
    /// An invitation. It is no secret.
    InvitationId
}

id_type! {
    /// A remembered sign-in of one browser.
    SessionId
}

id_type! {
    /// A person, as one client knows them: `sub`. At public clients it is the [`UserId`].
    SubjectId
}
id_type! {
    /// A remembered sign-in, as one client knows it: `sid`. At public clients it is the [`SessionId`].
    Sid
}

id_type! {
    /// An authorization request that a client pushed.
    PushedRequestId
}

id_type! {
    /// A key of the admin interface.
    AdminKeyId
}
id_type! {
    /// Something that happened, and when.
    EventId
}
id_type! {
    /// What began when a backup was restored.
    EpochId
}
id_type! {
    /// One time that a restore or a copy filled a database.
    FillingId
}

impl EventId {
    /// The id of an event that each replica records by itself: derived from its time and from what happened,
    /// so that together they store one.
    pub fn derived(at: OffsetDateTime, of: &str) -> Self {
        let mut bytes = [0; 10];
        bytes.copy_from_slice(&Sha256::digest(of)[..10]);
        Self::at(at, bytes)
    }

    /// When it happened, in whole milliseconds.
    pub fn at_time(&self) -> OffsetDateTime {
        let millis = self.0.as_u128() >> 80;
        let nanos = i128::try_from(millis).unwrap_or(0) * 1_000_000;
        OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }
}

impl ClientId {
    /// The id of the client described by the document at this URL. It is derived from the URL (UUID version
    /// 8), so no one can register it and no other client gets it.
    pub fn of_document(address: &str) -> Self {
        Self::derived(address)
    }

    /// The id of a client that a file declares by its name alone. It is derived from the name (UUID version 8),
    /// so it is the same in every database. No document's address begins like this, so no document has it.
    pub fn of_name(name: &str) -> Self {
        Self::derived(&format!("urn:countersign:client:{name}"))
    }

    fn derived(text: &str) -> Self {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&Sha256::digest(text)[..16]);
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// The id of the client with this `client_id`: the id that it was given, or the one derived from its
    /// document's URL.
    pub fn named(text: &str) -> Option<Self> {
        Self::parse(text).or_else(|| text.contains("://").then(|| Self::of_document(text)))
    }
}

impl GrantId {
    /// The end of the millisecond in which a challenge with this id was issued.
    pub fn issued_at(&self) -> OffsetDateTime {
        let (high, _) = self.0.as_u64_pair();
        let millis = i128::from(high >> 16);
        OffsetDateTime::from_unix_timestamp_nanos(millis * 1_000_000 + 999_999)
            .unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }
}

impl SubjectId {
    /// The name that clients get for a person: `User_` and the first eight characters of the id.
    ///
    /// This is why the id is random: a time-ordered id would share its first characters with everyone who
    /// signed in during the same minute.
    pub fn preferred_username(&self) -> String {
        let text = self.to_string();
        format!("User_{}", text.get(..8).unwrap_or(&text))
    }
}

impl UserId {
    /// The person as public clients know them.
    pub const fn as_public(&self) -> SubjectId {
        SubjectId(self.0)
    }

    /// Makes a user's id, which is entirely random (UUID version 4).
    pub fn random(random: [u8; 16]) -> Self {
        Self(uuid::Builder::from_random_bytes(random).into_uuid())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_made_later_sort_later() {
        let early = GrantId::at(OffsetDateTime::UNIX_EPOCH, [255; 10]);
        let late = GrantId::at(OffsetDateTime::UNIX_EPOCH + time::Duration::milliseconds(1), [0; 10]);
        assert!(early < late);
    }

    #[test]
    fn a_challenge_knows_when_it_was_issued() {
        let now = time::macros::datetime!(2026-11-21 10:00:00.123456 UTC);
        let issued_at = GrantId::at(now, [255; 10]).issued_at();
        assert!(issued_at >= now && issued_at - now < time::Duration::milliseconds(1), "{issued_at}");
    }

    #[test]
    fn only_the_spelling_that_we_write_is_read() {
        let id = ClientId::at(OffsetDateTime::UNIX_EPOCH, [0xab; 10]);
        assert_eq!(ClientId::parse(&id.to_string()), Some(id));
        assert_eq!(ClientId::parse(&id.to_string().to_uppercase()), None);
        assert_eq!(ClientId::parse(&format!("{{{id}}}")), None);
        assert_eq!(ClientId::parse(&id.to_string().replace('-', "")), None);
    }

    #[test]
    fn an_id_that_begins_or_ends_every_list_is_nobodys() {
        for uuid in [Uuid::nil(), Uuid::max()] {
            assert_eq!(ClientId::parse(&uuid.to_string()), None);
            assert_eq!(ClientId::named(&uuid.to_string()), None);
        }
        assert!(ClientId::parse("00000000-0000-0000-0000-000000000001").is_some());
    }

    #[test]
    fn a_name_gives_the_same_id_in_every_database() {
        let id = ClientId::of_name("Photo Album");
        assert_eq!(id.to_string(), "81408262-61e5-82f9-8b35-e96c08987f93");
        assert_eq!(
            id,
            ClientId::of_document("urn:countersign:client:Photo Album"),
            "the formula in docs/declared.md"
        );
        assert_ne!(id, ClientId::of_name("Photo album"));
    }

    #[test]
    fn the_username_is_the_prefix_of_the_id() {
        let user = UserId::random([0xab; 16]).as_public();
        assert_eq!(user.preferred_username(), "User_abababab");
    }
}
