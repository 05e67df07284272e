//! The answer to "would this wallet get in here?".

use countersign_domain::client::Client;
use countersign_domain::group::GroupName;
use countersign_domain::subject::Subject;
use countersign_http_actix::error::ApiError;
use countersign_operators::people::try_sign_in::{Tried, Verdict, try_sign_in};
use serde::Serialize;

use super::admit::Visit;
use super::view::{BlockView, WalletView, unavailable};

/// What would happen to a wallet at a client.
#[derive(Serialize)]
pub(super) struct TriedView {
    wallet: WalletView,
    /// The key of the sentence.
    says: &'static str,
    /// The groups that let it in, or would.
    groups: Vec<String>,
    block: Option<BlockView>,
}

impl TriedView {
    /// What would happen to this wallet, or to each wallet of this user.
    pub(super) async fn ask(visit: &Visit, client: &Client, who: &Subject) -> Result<Vec<Self>, ApiError> {
        let tried = try_sign_in(visit.management(), client, who).await.map_err(unavailable)?;
        Ok(tried.iter().map(|tried| Self::of(visit, tried)).collect())
    }

    fn of(visit: &Visit, tried: &Tried) -> Self {
        let names = |groups: &[GroupName]| groups.iter().map(ToString::to_string).collect();
        let (says, groups, block) = match &tried.verdict {
            Verdict::LetIn => ("let_in", Vec::new(), None),
            Verdict::LetInBy(groups) => ("let_in_by", names(groups), None),
            Verdict::Blocked(block) => ("blocked", Vec::new(), Some(BlockView::of(block))),
            Verdict::NoOne => ("no_one", Vec::new(), None),
            Verdict::InNoneOf(groups) => ("in_none_of", names(groups), None),
        };
        let wallet = WalletView::of(&*visit.state.context.wallets, &tried.account);
        Self { wallet, says, groups, block }
    }
}
