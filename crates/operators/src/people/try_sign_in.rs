//! An operator asks whether a wallet would get in to a client, and why not. Nothing is stored.

use countersign_domain::admission::{AccessRule, Block};
use countersign_domain::client::Client;
use countersign_domain::group::GroupName;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;

use countersign_usecases::Management;

/// What would happen to a wallet at a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The wallet.
    pub account: WalletAccount,
    /// What would happen.
    pub verdict: Verdict,
}

/// Would it get in?
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Yes: everyone does.
    LetIn,
    /// Yes, because its user is in these of the rule's groups.
    LetInBy(Vec<GroupName>),
    /// No: it or its user is blocked.
    Blocked(Block),
    /// No: no one gets in.
    NoOne,
    /// No: its user is in none of the rule's groups.
    InNoneOf(Vec<GroupName>),
}

/// Asks for a wallet, or for each wallet of a user.
pub async fn try_sign_in(
    management: Management<'_>,
    client: &Client,
    who: &Subject,
) -> Result<Vec<Tried>, StoreError> {
    let accounts = match who {
        Subject::Wallet(account) => vec![account.clone()],
        Subject::User(user) => {
            let wallets = management.storage.wallets_of(*user).await?;
            wallets.into_iter().map(|wallet| wallet.account).collect()
        }
    };
    let rule = client.access.rule_or(&management.policy.default_access);
    let mut tried = Vec::with_capacity(accounts.len());
    for account in accounts {
        let standing = management.storage.standing_of(&account).await?;
        let verdict = match (standing.block, rule) {
            (Some(block), _) => Verdict::Blocked(block),
            (None, AccessRule::Everyone) => Verdict::LetIn,
            (None, AccessRule::Nobody) => Verdict::NoOne,
            (None, AccessRule::Groups(wanted)) => {
                let is_in = |group: &&GroupName| standing.groups.contains(*group);
                let by: Vec<_> = wanted.iter().filter(is_in).cloned().collect();
                if by.is_empty() { Verdict::InNoneOf(wanted.clone()) } else { Verdict::LetInBy(by) }
            }
        };
        tried.push(Tried { account, verdict });
    }
    Ok(tried)
}
