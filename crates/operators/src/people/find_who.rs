//! An operator names a person: with the user's id, an address, or CAIP-10.

use std::collections::BTreeSet;

use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::{AccountKind, AccountName, WalletAccount};
use countersign_ports::StoreError;

use countersign_usecases::Management;
use countersign_usecases::steps::recognize_account::{RecognizeError, recognize_account};

/// Why it is not clear who is meant.
#[derive(Debug, thiserror::Error)]
pub enum FindWhoError {
    /// It is neither a user's id nor the address of exactly one account.
    #[error(transparent)]
    Unrecognized(#[from] RecognizeError),
    /// A key's account and contracts have this address, and several of them are known here.
    #[error("several accounts with this address are known here")]
    SeveralKnown(Vec<WalletAccount>),
    /// A contract is an account of one chain, and none was named.
    #[error("a contract is an account of one chain, and none is named")]
    ContractNowhere,
    /// The storage could not be asked.
    #[error("account could not be looked up")]
    Store(#[from] StoreError),
}

/// Why there is no such user.
#[derive(Debug, thiserror::Error)]
pub enum FindUserError {
    /// It is not clear who is meant.
    #[error(transparent)]
    Who(#[from] FindWhoError),
    /// The wallet belongs to no one.
    #[error("no one has signed in with this wallet")]
    NobodyYet(WalletAccount),
}

/// Finds who is meant by a text: a user's id, an address, or an account by CAIP-10. The kind can be named
/// where a key's account and a contract have the same address.
pub async fn find_who(
    management: Management<'_>,
    text: &str,
    kind: Option<AccountKind>,
) -> Result<Subject, FindWhoError> {
    if let Some(user) = UserId::parse(&text.to_ascii_lowercase()) {
        return Ok(Subject::User(user));
    }
    let name = AccountName::read(text, None).map_err(RecognizeError::from)?.of_kind(kind);
    find_account(management, name).await.map(Subject::Wallet)
}

/// Finds the user that a text means. A wallet means the user it belongs to.
pub async fn find_user(
    management: Management<'_>,
    text: &str,
    kind: Option<AccountKind>,
) -> Result<UserId, FindUserError> {
    match find_who(management, text, kind).await? {
        Subject::User(user) => Ok(user),
        Subject::Wallet(account) => {
            let owner = management.storage.find_owner(account.clone()).await.map_err(FindWhoError::from)?;
            owner.ok_or(FindUserError::NobodyYet(account))
        }
    }
}

/// Finds the one account that is meant. A contract can have the address of a key's account, and both have the
/// same name by CAIP-10, but they are two accounts (F-15): a block of the one does not keep out the other. So
/// the one that is known here is meant. If none is, an address alone is a key's, and on a chain whose
/// contracts can sign in the operator must say which of the two it is.
async fn find_account(
    management: Management<'_>,
    name: AccountName<'_>,
) -> Result<WalletAccount, FindWhoError> {
    if name.kind == Some(AccountKind::Contract) && name.chain.is_none() {
        return Err(FindWhoError::ContractNowhere);
    }
    let key = recognize_account(management.wallets, name)?.account;
    if name.kind.is_some() || key.kind() != Some(AccountKind::Key) {
        return Ok(key);
    }
    let can_sign: BTreeSet<String> =
        management.wallets.contract_chains().into_iter().map(|known| known.chain).collect();
    let chains = match name.chain {
        Some(chain) => BTreeSet::from([chain.to_owned()]),
        None => can_sign.clone(),
    };
    let contracts = chains
        .iter()
        .flat_map(|chain| management.wallets.recognize_as(AccountKind::Contract, name.address, Some(chain)));
    let mut known = Vec::new();
    for account in std::iter::once(key.clone()).chain(contracts.map(|contract| contract.account)) {
        let standing = management.storage.standing_of(&account).await?;
        // A wallet of a blocked user has the block of its user.
        if standing.user.is_some() || standing.block.is_some() || !standing.groups.is_empty() {
            known.push(account);
        }
    }
    match (known.pop(), known.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            known.push(last);
            Err(FindWhoError::SeveralKnown(known))
        }
        (None, _) if name.chain.is_some_and(|chain| can_sign.contains(chain)) => {
            Err(RecognizeError::KindMissing.into())
        }
        (None, _) => Ok(key),
    }
}
