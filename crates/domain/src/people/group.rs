//! Groups: names that an operator gives to sets of users and wallets.
//!
//! A user is in the groups that the operator put the user into, and in those of every wallet that is linked
//! to the user now. So a wallet can be in a group before anybody signs in with it. Clients learn the names
//! that the operator releases to them (`admission.rs`).

use std::fmt;

use time::OffsetDateTime;

use crate::readable::readable_text;
use crate::wallet::WalletAccount;

/// The longest name of a group, in characters.
const MAX_NAME_LENGTH: usize = 64;
/// The longest title of a group, in characters.
const MAX_TITLE_LENGTH: usize = 100;

/// The name of a group, as clients see it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupName(String);

/// Why a text is not the name of a group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not a name of a group: it takes 1 to {MAX_NAME_LENGTH} of a-z 0-9 _ . : - and begins with a letter"
)]
pub struct GroupNameRejected {
    /// The text.
    pub given: String,
}

impl GroupName {
    /// Checks a name.
    pub fn parse(text: &str) -> Result<Self, GroupNameRejected> {
        let begins_well = text.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.:-".contains(&byte);
        if begins_well && text.len() <= MAX_NAME_LENGTH && text.bytes().all(is_plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(GroupNameRejected { given: text.to_owned() })
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GroupName({self})")
    }
}

readable_text! {
    /// What an operator calls a group, for operators only.
    GroupTitle, MAX_TITLE_LENGTH
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: GroupName,
    /// What the operator calls it. A stored title that is not readable counts as none.
    pub title: Option<GroupTitle>,
    /// When it was created.
    pub created_at: OffsetDateTime,
}

/// How a user came into a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Through {
    /// The operator put the user into it.
    User,
    /// The operator put this wallet into it, which is linked to the user now.
    Wallet(WalletAccount),
}

/// One way in which a user is in a group. A user who is in a group by two ways has two memberships.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The group.
    pub group: GroupName,
    /// How the user came into it.
    pub through: Through,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readable::NameRejected;

    #[test]
    fn a_group_s_name_begins_with_a_letter_and_has_up_to_64_plain_characters() {
        for good in ["a", "staff", "eu:sales.team-2_x", &"a".repeat(64)] {
            assert_eq!(GroupName::parse(good).map(|name| name.to_string()), Ok(good.to_owned()));
        }
        let long = "a".repeat(65);
        for bad in ["", "Staff", "1st", "-a", ":a", "a b", "a,b", "é", "a\n", "a\0", "a/b", "ａ", &long] {
            assert_eq!(GroupName::parse(bad), Err(GroupNameRejected { given: bad.to_owned() }), "{bad:?}");
        }
    }

    #[test]
    fn a_title_can_be_read_by_its_operator() {
        assert_eq!(GroupTitle::parse(" Staff of the EU ").map(|t| t.0), Ok("Staff of the EU".to_owned()));
        assert_eq!(GroupTitle::parse("a\u{202E}b"), Err(NameRejected::Hidden));
        assert_eq!(GroupTitle::parse(&"a".repeat(101)), Err(NameRejected::Length { most: 100 }));
    }
}
