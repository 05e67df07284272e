//! Rows of `proposals`.

use countersign_domain::desk::proposal::{Proposal, ProposalState};
use countersign_domain::event::ChangeSignature;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::field::{Row, from_lines, lines};
use crate::statement::row;

row! {
    /// A proposal as it is stored.
    NewProposal<'a> {
        id: Uuid as SqlUuid,
        user_id: Uuid as SqlUuid,
        wallets: String as Text,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        text: &'a str as Text,
        signature: &'a str as Text,
        second_user_id: Option<Uuid> as Nullable<SqlUuid>,
        second_family: Option<&'a str> as Nullable<Text>,
        second_chain: Option<&'a str> as Nullable<Text>,
        second_address: Option<&'a str> as Nullable<Text>,
        second_text: Option<&'a str> as Nullable<Text>,
        second_signature: Option<&'a str> as Nullable<Text>,
        taken_at: Option<OffsetDateTime> as Nullable<Timestamptz>,
        proposed_at: OffsetDateTime as Timestamptz,
        expires_at: OffsetDateTime as Timestamptz,
        state: &'static str as Text,
    }
}

impl<'a> NewProposal<'a> {
    pub(crate) fn of(proposal: &'a Proposal) -> Self {
        let Proposal { first, second, .. } = proposal;
        let account = second.as_ref().map(|(_, signed)| &signed.account);
        let wallets: Vec<String> = proposal.wallets.iter().map(words).collect();
        Self {
            id: proposal.id.as_uuid(),
            user_id: proposal.user.as_uuid(),
            wallets: lines(wallets.iter().map(String::as_str)),
            family: &first.account.family,
            chain: &first.account.chain,
            address: &first.account.address,
            text: &first.text,
            signature: &first.signature,
            second_user_id: second.as_ref().map(|(user, _)| user.as_uuid()),
            second_family: account.map(|account| &*account.family),
            second_chain: account.map(|account| &*account.chain),
            second_address: account.map(|account| &*account.address),
            second_text: second.as_ref().map(|(_, signed)| &*signed.text),
            second_signature: second.as_ref().map(|(_, signed)| &*signed.signature),
            taken_at: proposal.taken_at,
            proposed_at: proposal.proposed_at,
            expires_at: proposal.expires_at,
            state: proposal.state.name(),
        }
    }
}

/// The columns of [`ProposalRow`].
macro_rules! proposal_columns {
    () => {
        "id, user_id, wallets, family, chain, address, text, signature, second_user_id, second_family, \
        second_chain, second_address, second_text, second_signature, taken_at, proposed_at, \
        expires_at, state"
    };
}
pub(crate) use proposal_columns;

/// The SQL types of [`ProposalRow`].
pub(crate) type ProposalSql =
    (SqlUuid, SqlUuid, Text, FirstSql, SecondSql, Nullable<Timestamptz>, Timestamptz, Timestamptz, Text);

type FirstSql = (Text, Text, Text, Text, Text);

type SecondSql =
    (Nullable<SqlUuid>, Nullable<Text>, Nullable<Text>, Nullable<Text>, Nullable<Text>, Nullable<Text>);

/// A proposal as it was read.
#[derive(Queryable)]
pub(crate) struct ProposalRow {
    id: Uuid,
    user_id: Uuid,
    wallets: String,
    first: FirstRow,
    second: SecondRow,
    taken_at: Option<OffsetDateTime>,
    proposed_at: OffsetDateTime,
    expires_at: OffsetDateTime,
    state: String,
}

/// What was signed first.
#[derive(Queryable)]
pub(crate) struct FirstRow {
    family: String,
    chain: String,
    address: String,
    text: String,
    signature: String,
}

/// Who signed second, and what, if anybody did.
#[derive(Queryable)]
pub(crate) struct SecondRow {
    user_id: Option<Uuid>,
    family: Option<String>,
    chain: Option<String>,
    address: Option<String>,
    text: Option<String>,
    signature: Option<String>,
}

impl TryFrom<ProposalRow> for Proposal {
    type Error = StoreError;

    fn try_from(row: ProposalRow) -> Result<Self, StoreError> {
        let at = Row { table: "proposals", key: row.id };
        let wallet = |line: &str| account(line).ok_or_else(|| at.impossible("wallets"));
        let FirstRow { family, chain, address, text, signature } = row.first;
        let first = ChangeSignature { account: WalletAccount { family, chain, address }, text, signature };
        let SecondRow { user_id, family, chain, address, text, signature } = row.second;
        let second = match (user_id, family, chain, address, text, signature) {
            (None, None, None, None, None, None) => None,
            (Some(user), Some(family), Some(chain), Some(address), Some(text), Some(signature)) => {
                let account = WalletAccount { family, chain, address };
                Some((UserId::from_uuid(user), ChangeSignature { account, text, signature }))
            }
            (_, _, _, _, _, _) => return Err(at.impossible("second_user_id")),
        };
        Ok(Self {
            id: GrantId::from_uuid(row.id),
            user: UserId::from_uuid(row.user_id),
            wallets: from_lines(&row.wallets).map(wallet).collect::<Result<_, _>>()?,
            first,
            second,
            taken_at: row.taken_at,
            proposed_at: row.proposed_at,
            expires_at: row.expires_at,
            state: ProposalState::parse(&row.state).ok_or_else(|| at.impossible("state"))?,
        })
    }
}

/// An account as a line: no family has spaces in any of the three.
fn words(account: &WalletAccount) -> String {
    format!("{} {} {}", account.family, account.chain, account.address)
}

/// The account of such a line.
fn account(line: &str) -> Option<WalletAccount> {
    let mut words = line.split(' ').map(str::to_owned);
    let account = WalletAccount { family: words.next()?, chain: words.next()?, address: words.next()? };
    words.next().is_none().then_some(account)
}
