//! Who the operators are, and how many of them a dangerous change takes.

use time::OffsetDateTime;

use crate::group::GroupName;
use crate::wallet::WalletAccount;

/// The operator's settings for the desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeskPolicy {
    /// The wallets of operators.
    pub admins: Vec<WalletAccount>,
    /// The members of this group are operators too.
    pub group: Option<GroupName>,
    /// How many operators must sign what is dangerous.
    pub quorum: Quorum,
}

/// How many operators must sign what is dangerous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quorum {
    /// One, as for everything else.
    #[default]
    One,
    /// Two different persons.
    Two,
}

/// An operator is suspended: the desk does not exist for them, and nothing that they sign counts. It says nothing of
/// their sign-ins to applications, which a [block](crate::admission::Block) ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspension {
    /// Since when.
    pub at: OffsetDateTime,
    /// Why, for operators only. It is judged as that of a block.
    pub reason: Option<String>,
}

impl DeskPolicy {
    /// Is this an operator's wallet? `groups` are those of the user it belongs to, or its own.
    pub fn names(&self, wallet: &WalletAccount, groups: &[GroupName]) -> bool {
        let is_named = self.admins.iter().any(|admin| admin.is_same(wallet));
        is_named || self.group.as_ref().is_some_and(|group| groups.contains(group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wallet(family: &str, chain: &str) -> WalletAccount {
        WalletAccount { family: family.to_owned(), chain: chain.to_owned(), address: "0xab".to_owned() }
    }

    #[test]
    fn a_key_is_an_operator_on_every_chain_and_the_contract_at_its_address_is_none() {
        let admins = vec![wallet("eip155", "eip155:1")];
        let policy = DeskPolicy { admins, group: None, quorum: Quorum::One };
        assert!(policy.names(&wallet("eip155", "eip155:10"), &[]));
        assert!(!policy.names(&wallet("eip155:1", "eip155:1"), &[]));
    }

    #[test]
    fn a_member_of_the_group_is_an_operator_and_a_member_of_another_is_none() {
        let name = |text| GroupName::parse(text).unwrap();
        let policy = DeskPolicy { admins: Vec::new(), group: Some(name("ops")), quorum: Quorum::One };
        assert!(policy.names(&wallet("eip155", "eip155:1"), &[name("a"), name("ops")]));
        assert!(!policy.names(&wallet("eip155", "eip155:1"), &[name("op"), name("opss")]));
        assert!(!DeskPolicy { group: None, ..policy }.names(&wallet("eip155", "eip155:1"), &[name("ops")]));
    }
}
