//! Rows of `proposals`.

use countersign_domain::desk::proposal::{Proposal, ProposalState};
use countersign_domain::event::ChangeSignature;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::ProposalAt;
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{At, Id, Key, Moment, Nullable, Row, StoredId, StoredTime, Text, from_lines, lines};
use crate::statement::row;

row! {
    /// A proposal as it is stored.
    pub NewProposal<'a> {
        id: Id as Key,
        user_id: Id as Key,
        wallets: String as Text,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        text: &'a str as Text,
        signature: &'a str as Text,
        second_user_id: Option<Id> as Nullable<Key>,
        second_family: Option<&'a str> as Nullable<Text>,
        second_chain: Option<&'a str> as Nullable<Text>,
        second_address: Option<&'a str> as Nullable<Text>,
        second_text: Option<&'a str> as Nullable<Text>,
        second_signature: Option<&'a str> as Nullable<Text>,
        taken_at: Option<At> as Nullable<Moment>,
        proposed_at: At as Moment,
        expires_at: At as Moment,
        state: &'a str as Text,
    }
}

impl<'a> NewProposal<'a> {
    /// The row of a proposal.
    pub fn of(proposal: &'a Proposal) -> Self {
        let Proposal { first, second, .. } = proposal;
        let account = second.as_ref().map(|(_, signed)| &signed.account);
        let wallets: Vec<String> = proposal.wallets.iter().map(words).collect();
        Self {
            id: proposal.id.into(),
            user_id: proposal.user.into(),
            wallets: lines(wallets.iter().map(String::as_str)),
            family: &first.account.family,
            chain: &first.account.chain,
            address: &first.account.address,
            text: &first.text,
            signature: &first.signature,
            second_user_id: second.as_ref().map(|(user, _)| (*user).into()),
            second_family: account.map(|account| &*account.family),
            second_chain: account.map(|account| &*account.chain),
            second_address: account.map(|account| &*account.address),
            second_text: second.as_ref().map(|(_, signed)| &*signed.text),
            second_signature: second.as_ref().map(|(_, signed)| &*signed.signature),
            taken_at: proposal.taken_at.map(At),
            proposed_at: At(proposal.proposed_at),
            expires_at: At(proposal.expires_at),
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
pub type ProposalSql = (Key, Key, Text, FirstSql, SecondSql, Nullable<Moment>, Moment, Moment, Text);

/// The SQL types of [`FirstRow`].
pub type FirstSql = (Text, Text, Text, Text, Text);

/// The SQL types of [`SecondRow`].
pub type SecondSql =
    (Nullable<Key>, Nullable<Text>, Nullable<Text>, Nullable<Text>, Nullable<Text>, Nullable<Text>);

/// A proposal as it was read.
#[derive(Debug, Queryable)]
pub struct ProposalRow {
    id: StoredId,
    user_id: StoredId,
    wallets: String,
    first: FirstRow,
    second: SecondRow,
    taken_at: Option<StoredTime>,
    proposed_at: StoredTime,
    expires_at: StoredTime,
    state: String,
}

/// What was signed first.
#[derive(Debug, Queryable)]
pub struct FirstRow {
    family: String,
    chain: String,
    address: String,
    text: String,
    signature: String,
}

/// Who signed second, and what, if anybody did.
#[derive(Debug, Queryable)]
pub struct SecondRow {
    user_id: Option<StoredId>,
    family: Option<String>,
    chain: Option<String>,
    address: Option<String>,
    text: Option<String>,
    signature: Option<String>,
}

impl TryFrom<ProposalRow> for Proposal {
    type Error = SqlError;

    fn try_from(row: ProposalRow) -> Result<Self, SqlError> {
        let at = Row { table: "proposals", key: &row.id };
        let wallet = |line: &str| account(line).ok_or_else(|| at.impossible("wallets"));
        let FirstRow { family, chain, address, text, signature } = row.first;
        let first = ChangeSignature { account: WalletAccount { family, chain, address }, text, signature };
        let SecondRow { user_id, family, chain, address, text, signature } = row.second;
        let second = match (user_id, family, chain, address, text, signature) {
            (None, None, None, None, None, None) => None,
            (Some(user), Some(family), Some(chain), Some(address), Some(text), Some(signature)) => {
                let account = WalletAccount { family, chain, address };
                Some((at.id("second_user_id", &user)?, ChangeSignature { account, text, signature }))
            }
            (_, _, _, _, _, _) => return Err(at.impossible("second_user_id")),
        };
        Ok(Self {
            id: at.id("id", &row.id)?,
            user: at.id("user_id", &row.user_id)?,
            wallets: from_lines(&row.wallets).map(wallet).collect::<Result<_, _>>()?,
            first,
            second,
            taken_at: at.optional_time("taken_at", row.taken_at)?,
            proposed_at: at.time("proposed_at", row.proposed_at)?,
            expires_at: at.time("expires_at", row.expires_at)?,
            state: ProposalState::parse(&row.state).ok_or_else(|| at.impossible("state"))?,
        })
    }
}

impl From<ProposalRow> for ProposalAt {
    fn from(row: ProposalRow) -> Self {
        let id = Row { table: "proposals", key: &row.id }.id("id", &row.id).ok();
        match Proposal::try_from(row) {
            Ok(proposal) => Self::Proposal(Box::new(proposal)),
            Err(error) => Self::Unreadable { id, problem: error.to_string() },
        }
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
