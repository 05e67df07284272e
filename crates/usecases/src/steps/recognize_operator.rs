//! Who is an operator. It is looked up for each request, so that a remembered sign-in does not keep anyone an
//! operator.

use countersign_domain::admission::UserStanding;
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

/// Returns the operator who is signed in on this browser, or `None` if there is no desk, no one is signed in, or the
/// person is not an operator or is suspended. From outside, these cases look the same: the same is read in each of them, in two steps
/// however many wallets there are. Only a browser that presents no session saves them.
pub async fn recognize_operator(
    context: &Context,
    browser: &Browser,
) -> Result<Option<Operator>, StoreError> {
    let Some(session) = find_login(context, browser.login.as_ref()).await? else { return Ok(None) };
    let mut wallets = operators_wallets(context, session.user).await?;
    wallets.sort_by_key(|wallet| {
        (&wallet.family, &wallet.address) != (&session.account.family, &session.account.address)
    });
    Ok(if wallets.is_empty() { None } else { Some(Operator { session, wallets }) })
}

/// Is this wallet one of this user's, and an operator's, and is neither kept out nor suspended?
pub async fn is_operators(
    context: &Context,
    user: UserId,
    wallet: &WalletAccount,
) -> Result<bool, StoreError> {
    Ok(operators_wallets(context, user).await?.iter().any(|theirs| theirs.is_same(wallet)))
}

/// The wallets of a user that make an operator of them. None if the user is suspended.
async fn operators_wallets(context: &Context, user: UserId) -> Result<Vec<WalletAccount>, StoreError> {
    let policy = context.policy.desk.as_ref();
    let UserStanding { mut wallets, groups, is_suspended } = context.storage.standing_of_user(user).await?;
    let names = |wallet: &WalletAccount| policy.is_some_and(|policy| policy.names(wallet, &groups));
    wallets.retain(|wallet| names(wallet) && !is_suspended);
    Ok(wallets)
}
