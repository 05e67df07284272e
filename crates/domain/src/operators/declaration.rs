//! What the server remembers of a file that declared something: what, and which file. What a file says is not here.

use std::fmt;

use time::OffsetDateTime;

use crate::group::GroupName;
use crate::id::{ClientId, UserId};
use crate::subject::Subject;
use crate::wallet::WalletAccount;

/// A thing that a file can declare, by its kind and its name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeclaredThing {
    /// What it is.
    pub kind: DeclaredKind,
    /// Its name among those of its kind.
    pub key: String,
}

/// The kinds of things that a file can declare, by the word in storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeclaredKind {
    /// A client, by its id.
    Client,
    /// A group, by its name.
    Group,
    /// A member of a group.
    Member,
    /// The name of a user or a wallet.
    Person,
    /// A resource, by its URI.
    Resource,
}

/// A file declared a thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The thing.
    pub thing: DeclaredThing,
    /// The path of the file.
    pub source: String,
    /// When the thing was made; for a member, when its group was; for the name of a person always the same. A thing that
    /// got the same name later has another time, and was not declared.
    pub created_at: OffsetDateTime,
}

impl DeclaredKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Client, Self::Group, Self::Member, Self::Person, Self::Resource];

    /// The word in storage.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Group => "group",
            Self::Member => "member",
            Self::Person => "person",
            Self::Resource => "resource",
        }
    }

    /// Parses the word.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl DeclaredThing {
    /// A client.
    pub fn client(id: ClientId) -> Self {
        Self { kind: DeclaredKind::Client, key: id.to_string() }
    }

    /// A group.
    pub fn group(name: &GroupName) -> Self {
        Self { kind: DeclaredKind::Group, key: name.to_string() }
    }

    /// A resource.
    pub fn resource(uri: &str) -> Self {
        Self { kind: DeclaredKind::Resource, key: uri.to_owned() }
    }

    /// A user in a group.
    pub fn user_in(group: &GroupName, user: UserId) -> Self {
        Self { kind: DeclaredKind::Member, key: format!("{group} user {user}") }
    }

    /// A wallet in a group. The chain is not a part of it.
    pub fn wallet_in(group: &GroupName, wallet: &WalletAccount) -> Self {
        let WalletAccount { family, chain: _, address } = wallet;
        Self { kind: DeclaredKind::Member, key: format!("{group} wallet {family} {address}") }
    }

    /// The name of a user or a wallet. The chain is not a part of it.
    pub fn person(who: &Subject) -> Self {
        let key = match who {
            Subject::User(user) => format!("user {user}"),
            Subject::Wallet(WalletAccount { family, chain: _, address }) => {
                format!("wallet {family} {address}")
            }
        };
        Self { kind: DeclaredKind::Person, key }
    }

    /// A user or a wallet in a group.
    pub fn member_of(group: &GroupName, member: &Subject) -> Self {
        match member {
            Subject::User(user) => Self::user_in(group, *user),
            Subject::Wallet(wallet) => Self::wallet_in(group, wallet),
        }
    }

    /// Is it a member of this group?
    pub fn is_member_of(&self, group: &GroupName) -> bool {
        let rest = self.key.strip_prefix(group.as_str());
        self.kind == DeclaredKind::Member && rest.is_some_and(|rest| rest.starts_with(' '))
    }
}

impl fmt::Debug for DeclaredThing {
    /// Without the addresses of wallets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, key } = self;
        match kind {
            DeclaredKind::Client | DeclaredKind::Group | DeclaredKind::Resource => {
                write!(f, "DeclaredThing({} {key})", kind.name())
            }
            DeclaredKind::Person => f.write_str("DeclaredThing(person)"),
            DeclaredKind::Member => {
                let group = key.split(' ').next().unwrap_or_default();
                write!(f, "DeclaredThing({} of {group})", kind.name())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_as_it_is_written() {
        for kind in DeclaredKind::ALL {
            assert_eq!(DeclaredKind::parse(kind.name()), Some(kind));
        }
        assert_eq!(DeclaredKind::parse("gate"), None);
    }

    #[test]
    fn a_member_is_one_thing_whatever_chain_its_wallet_was_named_with() {
        let group = GroupName::parse("staff").unwrap();
        let wallet = |chain: &str| WalletAccount {
            family: "eip155".to_owned(),
            chain: chain.to_owned(),
            address: "0xab".to_owned(),
        };
        let one = DeclaredThing::wallet_in(&group, &wallet("eip155:1"));
        assert_eq!(one, DeclaredThing::wallet_in(&group, &wallet("eip155:8453")));
        assert_eq!(one.key, "staff wallet eip155 0xab");
        assert_eq!(format!("{one:?}"), "DeclaredThing(member of staff)");
        let other = GroupName::parse("staff2").unwrap();
        let user = DeclaredThing::user_in(&other, UserId::random([7; 16]));
        assert!(one.is_member_of(&group) && user.is_member_of(&other));
        assert!(!one.is_member_of(&other) && !user.is_member_of(&group));
    }
}
