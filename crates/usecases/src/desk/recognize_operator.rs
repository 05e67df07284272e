//! Who is an operator. It is looked up anew for each request, so that nobody stays one by a remembered sign-in.

use countersign_domain::id::UserId;
use countersign_domain::login_session::LoginSession;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;

use crate::Context;
use crate::steps::login::{Browser, find_login};

/// An operator who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// The remembered sign-in.
    pub session: LoginSession,
    /// The wallets that may sign for the operator, the session's own first.
    pub wallets: Vec<WalletAccount>,
}

impl Operator {
    /// May this wallet sign for the operator?
    pub fn may_sign(&self, wallet: &WalletAccount) -> bool {
        self.wallets.contains(wallet)
    }
}

/// Finds the operator of a browser. `None` if there is no desk, nobody is signed in, or whoever is signed in is no
/// operator; all of that looks alike from outside.
pub async fn recognize_operator(
    context: &Context,
    browser: &Browser,
) -> Result<Option<Operator>, StoreError> {
    if context.policy.desk.is_none() {
        return Ok(None);
    }
    let Some(session) = find_login(context, browser.login.as_ref()).await? else { return Ok(None) };
    let linked = context.storage.wallets_of(session.user).await?;
    let mut wallets = Vec::with_capacity(linked.len());
    for wallet in linked {
        if is_operators(context, session.user, &wallet.account).await? {
            wallets.push(wallet.account);
        }
    }
    wallets.sort_by_key(|wallet| {
        (&wallet.family, &wallet.address) != (&session.account.family, &session.account.address)
    });
    Ok(if wallets.is_empty() { None } else { Some(Operator { session, wallets }) })
}

/// Is this wallet one of this user's, and an operator's, and is neither kept out?
pub(super) async fn is_operators(
    context: &Context,
    user: UserId,
    wallet: &WalletAccount,
) -> Result<bool, StoreError> {
    let Some(policy) = &context.policy.desk else { return Ok(false) };
    let standing = context.storage.standing_of(wallet).await?;
    let is_theirs = standing.user == Some(user) && standing.block.is_none();
    Ok(is_theirs && policy.names(wallet, &standing.groups))
}
