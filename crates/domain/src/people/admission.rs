//! Admission: who can sign in to a client, and which of their groups it gets.
//!
//! The operator decides both for each client. A client without a rule of its own follows the setting
//! `default_access`.

use std::fmt;

use time::OffsetDateTime;

use crate::group::{GroupName, GroupNameRejected};
use crate::id::UserId;
use crate::readable::{NameRejected, judge_name_of};
use crate::wallet::WalletAccount;

/// The most bytes of group names in one token, with a quote, a quote and a comma each. A token travels in
/// headers, and many servers refuse headers of 8 KB.
pub const MAX_GROUPS_IN_TOKEN: usize = 4_096;

/// The longest reason of a block, in characters.
const MAX_REASON_LENGTH: usize = 200;

/// Who can sign in to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessRule {
    /// Everyone who is not blocked.
    Everyone,
    /// No one.
    Nobody,
    /// Everyone in one of these groups. They are sorted, and there is at least one.
    Groups(Vec<GroupName>),
}

/// Why a text is not a rule of access.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessRuleRejected {
    /// It begins like none of the rules.
    #[error("it is everyone, nobody, groups:NAME,NAME, or default")]
    Unknown,
    /// One of the groups cannot be one.
    #[error(transparent)]
    Group(#[from] GroupNameRejected),
}

impl AccessRule {
    /// Parses `everyone`, `nobody` or `groups:a,b`.
    pub fn parse(text: &str) -> Result<Self, AccessRuleRejected> {
        match text {
            "everyone" => Ok(Self::Everyone),
            "nobody" => Ok(Self::Nobody),
            other => match other.strip_prefix("groups:") {
                Some(names) => Ok(Self::Groups(parse_names(names)?)),
                None => Err(AccessRuleRejected::Unknown),
            },
        }
    }

    /// Does the rule let in members of this group, if they are not blocked?
    pub fn lets_in(&self, group: &GroupName) -> bool {
        *self == Self::Everyone || self.groups().contains(group)
    }

    /// Does the rule let this person in? A blocked one never comes in.
    pub fn admits(&self, standing: &Standing) -> bool {
        let is_let_in = match self {
            Self::Everyone => true,
            Self::Nobody => false,
            Self::Groups(groups) => groups.iter().any(|group| standing.groups.contains(group)),
        };
        is_let_in && standing.block.is_none()
    }

    /// The groups that it names.
    pub fn groups(&self) -> &[GroupName] {
        match self {
            Self::Everyone | Self::Nobody => &[],
            Self::Groups(groups) => groups,
        }
    }
}

impl fmt::Display for AccessRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everyone => f.write_str("everyone"),
            Self::Nobody => f.write_str("nobody"),
            Self::Groups(groups) => write!(f, "groups:{}", joined(groups)),
        }
    }
}

/// Which groups of a person a client gets, in the claim `groups`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Release {
    /// Those that its rule names.
    #[default]
    OfRule,
    /// All of them.
    All,
    /// These. They are sorted.
    Groups(Vec<GroupName>),
}

impl Release {
    /// Parses `all` or `a,b`.
    pub fn parse(text: &str) -> Result<Self, GroupNameRejected> {
        if text == "all" { Ok(Self::All) } else { Ok(Self::Groups(parse_names(text)?)) }
    }
}

/// `all` or `a,b`; empty if the rule decides, which no other release is.
impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfRule => Ok(()),
            Self::All => f.write_str("all"),
            Self::Groups(groups) => f.write_str(&joined(groups)),
        }
    }
}

/// The wallets of a user that are let in, and the groups of the user by all ways.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserStanding {
    /// Those that are not blocked, oldest link first; none if the user is blocked.
    pub wallets: Vec<WalletAccount>,
    /// The user's groups. Empty if there is no such wallet.
    pub groups: Vec<GroupName>,
    /// Is the user suspended as an operator? Not if there is no such wallet.
    pub is_suspended: bool,
}

/// What the operator decided about a client's people. Neither a registration nor a document sets it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientAccess {
    /// The client's own rule; `None` if it follows the setting `default_access`.
    pub rule: Option<AccessRule>,
    /// Which groups of a person it gets.
    pub release: Release,
}

impl ClientAccess {
    /// The rule that counts.
    pub fn rule_or<'a>(&'a self, default: &'a AccessRule) -> &'a AccessRule {
        self.rule.as_ref().unwrap_or(default)
    }

    /// The groups that the client gets, out of those that the person is in. The order stays.
    pub fn released(&self, default: &AccessRule, groups: &[GroupName]) -> Vec<GroupName> {
        let is_told = |group: &&GroupName| match &self.release {
            Release::OfRule => self.rule_or(default).groups().contains(*group),
            Release::All => true,
            Release::Groups(released) => released.contains(*group),
        };
        groups.iter().filter(is_told).cloned().collect()
    }
}

/// What is known about a wallet, and the user it belongs to, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The user; `None` if the wallet belongs to no one yet.
    pub user: Option<UserId>,
    /// The block of the user or else of the wallet.
    pub block: Option<Block>,
    /// The user's groups, or those of the wallet if it belongs to no one. Sorted, without duplicates.
    pub groups: Vec<GroupName>,
}

/// A user or a wallet is kept out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Since when.
    pub at: OffsetDateTime,
    /// Why, for operators only.
    pub reason: Option<String>,
}

impl Block {
    /// Checks a reason by the rules for the names of clients, and drops the spaces around it.
    pub fn judge_reason(text: &str) -> Result<String, NameRejected> {
        judge_name_of(text, MAX_REASON_LENGTH).map(str::to_owned)
    }
}

/// How much of a token these names take.
pub fn size_in_token(groups: &[GroupName]) -> usize {
    groups.iter().map(|group| group.as_str().len() + "\"\",".len()).sum()
}

fn parse_names(text: &str) -> Result<Vec<GroupName>, GroupNameRejected> {
    let mut names = text.split(',').map(GroupName::parse).collect::<Result<Vec<_>, _>>()?;
    names.sort();
    names.dedup();
    Ok(names)
}

fn joined(groups: &[GroupName]) -> String {
    let names: Vec<&str> = groups.iter().map(GroupName::as_str).collect();
    names.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(names: &[&str]) -> Vec<GroupName> {
        names.iter().map(|name| GroupName::parse(name).unwrap()).collect()
    }

    fn standing(names: &[&str]) -> Standing {
        Standing { groups: groups(names), ..Standing::default() }
    }

    #[test]
    fn a_rule_is_read_as_it_is_written() {
        for text in ["everyone", "nobody", "groups:a", "groups:a,b"] {
            assert_eq!(AccessRule::parse(text).map(|rule| rule.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(AccessRule::parse("groups:b,a,b"), AccessRule::parse("groups:a,b"));
        for text in ["", "Everyone", "groups", "groups:", "groups:a,", "groups:a b", "group:a", "a"] {
            assert!(AccessRule::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn one_of_the_rule_s_groups_suffices_and_no_group_outweighs_a_block() {
        let rule = AccessRule::parse("groups:a,b").unwrap();
        assert!(rule.admits(&standing(&["b", "c"])));
        assert!(!rule.admits(&standing(&["c"])));
        assert!(!rule.admits(&standing(&[])));
        assert!(AccessRule::Everyone.admits(&standing(&[])));
        assert!(!AccessRule::Nobody.admits(&standing(&["a"])));
        let block = Some(Block { at: OffsetDateTime::UNIX_EPOCH, reason: None });
        for rule in [AccessRule::Everyone, rule] {
            assert!(!rule.admits(&Standing { block: block.clone(), ..standing(&["a"]) }), "{rule}");
        }
    }

    #[test]
    fn a_client_is_told_the_groups_of_its_rule_unless_the_operator_releases_others() {
        let told = |rule: Option<&str>, release: Release| {
            let rule = rule.map(|rule| AccessRule::parse(rule).unwrap());
            let access = ClientAccess { rule, release };
            access.released(&AccessRule::parse("groups:d").unwrap(), &groups(&["a", "b", "c", "d"]))
        };
        assert_eq!(told(Some("groups:b,x"), Release::OfRule), groups(&["b"]));
        assert_eq!(told(Some("everyone"), Release::OfRule), groups(&[]));
        assert_eq!(told(None, Release::OfRule), groups(&["d"]));
        assert_eq!(told(Some("everyone"), Release::All), groups(&["a", "b", "c", "d"]));
        assert_eq!(told(Some("groups:a"), Release::parse("c,a,y").unwrap()), groups(&["a", "c"]));
    }

    #[test]
    fn a_reason_is_one_readable_line() {
        assert_eq!(Block::judge_reason(" lost phone, ticket 7 "), Ok("lost phone, ticket 7".to_owned()));
        assert_eq!(Block::judge_reason(&"é".repeat(200)), Ok("é".repeat(200)));
        for bad in ["", " ", "two\nlines", "\u{1b}[2J", "a\u{202e}b", &"é".repeat(201)] {
            assert!(Block::judge_reason(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_release_is_read_as_it_is_written() {
        for text in ["all", "a", "a,b"] {
            assert_eq!(Release::parse(text).map(|release| release.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(Release::default().to_string(), "");
        assert!(Release::parse("").is_err() && Release::parse("a, b").is_err());
    }
}
