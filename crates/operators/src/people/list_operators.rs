//! An operator lists the operators: those that the settings name, the members of their group, and those who are suspended.

use countersign_domain::desk::operators::Suspension;
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;
use countersign_usecases::Management;

/// An operator in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorListed {
    /// The user or wallet, as the settings, the group or the suspension name it.
    pub who: Subject,
    /// The user it is or belongs to.
    pub user: Option<UserId>,
    /// What makes an operator of them.
    pub through: Through,
    /// Their suspension, if they are suspended.
    pub suspension: Option<Suspension>,
}

impl OperatorListed {
    /// The user that a wallet belongs to.
    pub const fn owner(&self) -> Option<UserId> {
        match self.who {
            Subject::User(_) => None,
            Subject::Wallet(_) => self.user,
        }
    }
}

/// What makes an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// The setting `admins`.
    Settings,
    /// The group of the setting `admin_group`.
    Group,
    /// Nothing any more, and the suspension stays.
    Nothing,
}

impl Through {
    /// The word in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Settings => "admins",
            Self::Group => "admin_group",
            Self::Nothing => "nothing",
        }
    }
}

/// The operators that were found, and whether there are more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operators {
    /// The operators: of the settings first, then of the group, then others who are suspended.
    pub operators: Vec<OperatorListed>,
    /// Does the group have more members, or are more wallets suspended?
    pub more: bool,
}

/// How many operators are listed. No server has more.
pub const MOST_OPERATORS: u32 = 1_000;

/// Lists the operators. At most `limit` members of the group, and as many suspended wallets, are looked at.
pub async fn list_operators(management: Management<'_>, limit: u32) -> Result<Operators, StoreError> {
    let storage = management.storage;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut found: Vec<(Subject, Option<UserId>, Through)> = Vec::new();
    let mut more = false;
    if let Some(policy) = &management.policy.desk {
        for wallet in &policy.admins {
            let user = storage.find_owner(wallet.clone()).await?;
            found.push((Subject::Wallet(wallet.clone()), user, Through::Settings));
        }
        if let Some(group) = &policy.group {
            let members = storage.list_members(group, None, limit.saturating_add(1)).await?;
            more |= members.len() > most;
            let members = members.into_iter().take(most);
            found.extend(members.map(|member| (member.member, member.user, Through::Group)));
        }
    }
    let suspended = storage.suspended_wallets(None, limit.saturating_add(1)).await?;
    more |= suspended.len() > most;
    for wallet in suspended.into_iter().take(most) {
        let is_listed = found.iter().any(|(who, user, _)| {
            is_wallet(who, &wallet.account) || (user.is_some() && *user == wallet.user)
        });
        if !is_listed {
            found.push((Subject::Wallet(wallet.account), wallet.user, Through::Nothing));
        }
    }
    let who = found.iter().map(|(who, ..)| who.clone()).collect();
    let suspensions = storage.suspensions_of(who).await?;
    let operators = found.into_iter().zip(suspensions);
    let operators = operators
        .map(|((who, user, through), suspension)| OperatorListed { who, user, through, suspension })
        .collect();
    Ok(Operators { operators, more })
}

fn is_wallet(who: &Subject, wallet: &WalletAccount) -> bool {
    who.is_same(&Subject::Wallet(wallet.clone()))
}
