//! Shared step, and the only owner of the judgement: who can sign in to a client, or to `/account`.
//!
//! Each door asks twice. `kept_out` comes before anything is stored, so nothing is stored about a person who
//! is turned away. `kept_out_since` comes after the commit. A block may have been stored in between, and if
//! so either the block's second step ended what was committed, or the door sees the block and ends it itself
//! ([`Blocks`](crate::context::blocks::Blocks)). Making tokens asks by `groups_of_admitted`, because rules
//! and groups may have changed since the sign-in.
//!
//! No one outside learns why. The texts, the statuses and the work up to the decision are the same for a
//! block, for a missing group and for an unknown wallet.

use countersign_domain::admission::{AccessRule, Standing};
use countersign_domain::client::Client;
use countersign_domain::error::{OAuthError, OAuthErrorCode};
use countersign_domain::grant::RevocationReason;
use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_domain::refusal::RefusedFor;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;
use time::OffsetDateTime;

use crate::context::cause::Cause;
use crate::steps::end_grant::{EndingGrant, end_grant};
use crate::{Context, Policy};

/// A person proved a wallet and is turned away.
#[derive(Clone, Debug, thiserror::Error)]
#[error("wallet is not admitted")]
pub struct NotAdmitted {
    /// The wallet that signed, or that the browser is signed in with.
    pub account: WalletAccount,
    door: Door,
    /// Why, for the operator's log.
    #[source]
    why: KeptOut,
}

/// What the person wanted to sign in to.
#[derive(Clone, Copy, Debug)]
enum Door {
    /// A client, in the browser or on a device.
    Client,
    /// The account page of this server.
    Account,
}

/// Why a person is turned away. Only the operator's log says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeptOut {
    /// The user or the wallet is blocked.
    #[error("user or wallet is blocked")]
    Blocked,
    /// The client's rule does not let the user in.
    #[error("rule of access does not let the user in")]
    ByRule,
}

impl KeptOut {
    /// What the log calls it.
    pub(crate) const fn refused_for(self) -> RefusedFor {
        match self {
            Self::Blocked => RefusedFor::Blocked,
            Self::ByRule => RefusedFor::NotAdmitted,
        }
    }
}

impl NotAdmitted {
    /// A person is turned away from a client or, without one, from the account page.
    pub(crate) const fn of(client: Option<&Client>, account: WalletAccount, why: KeptOut) -> Self {
        let door = if client.is_some() { Door::Client } else { Door::Account };
        Self { account, door, why }
    }

    /// Why, for the operator's log.
    pub(crate) fn why(&self) -> String {
        self.why.to_string()
    }

    /// What callers hear of it.
    pub(crate) fn refusal(&self) -> OAuthError {
        let answer = match self.door {
            Door::Client => refused_by_client(),
            Door::Account => refused_by_server(),
        };
        answer.logged_as(self.why.refused_for())
    }
}

/// What is heard of a client that does not let a wallet in.
pub(crate) fn refused_by_client() -> OAuthError {
    OAuthError::new(OAuthErrorCode::NotAdmitted, "the application does not admit this wallet")
}

/// The same where no client is involved.
pub(crate) fn refused_by_server() -> OAuthError {
    OAuthError::new(OAuthErrorCode::NotAdmitted, "this server does not admit this wallet")
}

/// Why a wallet is kept out of a client or, without one, of the account page; `None` if it is let in. One
/// read, which is skipped if everyone is let in and no one is blocked.
///
/// A wallet that a session was signed in with is judged like one that signs. If it went to another user in the
/// meantime, its session has ended, and storage refuses.
pub(crate) async fn kept_out(
    context: &Context,
    client: Option<&Client>,
    account: &WalletAccount,
) -> Result<Option<KeptOut>, StoreError> {
    let rule = client.map_or(&AccessRule::Everyone, |client| rule_of(&context.policy, client));
    if *rule == AccessRule::Everyone && !context.blocks.are_there_any().await? {
        return Ok(None);
    }
    let standing = context.storage.standing_of(account).await?;
    Ok(judge(rule, &standing))
}

/// The same for a wallet that is about to come into a group.
pub(crate) async fn kept_out_of(
    context: &Context,
    client: Option<&Client>,
    account: &WalletAccount,
    joining: &GroupName,
) -> Result<Option<KeptOut>, StoreError> {
    let rule = client.map_or(&AccessRule::Everyone, |client| rule_of(&context.policy, client));
    let mut standing = context.storage.standing_of(account).await?;
    standing.groups.push(joining.clone());
    Ok(judge(rule, &standing))
}

/// Was the user or the wallet blocked while a door stored what it gives? If no one is blocked, this costs a
/// look at the clock.
pub(crate) async fn kept_out_since(
    context: &Context,
    account: &WalletAccount,
) -> Result<Option<KeptOut>, StoreError> {
    if !context.blocks.are_there_any().await? {
        return Ok(None);
    }
    let standing = context.storage.standing_of(account).await?;
    Ok(judge(&AccessRule::Everyone, &standing))
}

/// Takes back a grant whose user was blocked while it was stored.
pub(crate) async fn take_back(
    context: &Context,
    cause: &Cause,
    now: OffsetDateTime,
    grant: EndingGrant,
) -> Result<(), StoreError> {
    let reason = RevocationReason::Blocked;
    end_grant(context, &cause.by_server(), now, grant, reason).await?;
    tracing::info!(grant.id = %grant.id, reason = reason.name(), "grant revoked");
    Ok(())
}

/// The groups of a user who gets tokens, or why the client's rule does not let the user in any more. Blocks
/// are not looked for, because the grants of a blocked user are revoked. The groups are read only if the rule
/// names groups or the tokens tell them; otherwise there are none.
pub(crate) async fn groups_of_admitted(
    context: &Context,
    client: &Client,
    user: UserId,
    are_told: bool,
) -> Result<Result<Vec<GroupName>, KeptOut>, StoreError> {
    let rule = rule_of(&context.policy, client);
    let groups = if are_told || !rule.groups().is_empty() {
        context.storage.groups_of(user).await?
    } else {
        Vec::new()
    };
    let standing = Standing { user: Some(user), block: None, groups };
    Ok(match judge(rule, &standing) {
        None => Ok(standing.groups),
        Some(why) => Err(why),
    })
}

fn rule_of<'a>(policy: &'a Policy, client: &'a Client) -> &'a AccessRule {
    client.access.rule_or(&policy.default_access)
}

fn judge(rule: &AccessRule, standing: &Standing) -> Option<KeptOut> {
    if rule.admits(standing) {
        None
    } else if standing.block.is_some() {
        Some(KeptOut::Blocked)
    } else {
        Some(KeptOut::ByRule)
    }
}
