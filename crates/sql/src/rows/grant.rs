//! Rows of `grants`.

use countersign_domain::grant::{Grant, Holder};
use countersign_domain::id::{ClientId, SessionId, UserId};
use countersign_domain::particulars::Particulars;
use countersign_domain::pkce::CodeChallenge;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{CompleteLogin, IssueTokens};
use diesel::prelude::*;
use time::OffsetDateTime;

use crate::SqlError;
use crate::columns::{At, Binary, Id, Key, Moment, Nullable, Row, StoredId, StoredTime, Text};
use crate::schema::grants;
use crate::statement::row;

/// What the domain needs to judge a grant.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = grants)]
pub struct GrantRow {
    id: StoredId,
    client_id: StoredId,
    user_id: StoredId,
    family: String,
    chain: String,
    address: String,
    redirect_uri: String,
    scope: String,
    nonce: Option<String>,
    code_challenge: Option<Vec<u8>>,
    code_hash: Vec<u8>,
    authenticated_at: StoredTime,
    code_expires_at: StoredTime,
    redeemed_at: Option<StoredTime>,
    revoked_at: Option<StoredTime>,
    particulars: Option<String>,
    session_id: Option<StoredId>,
}

impl TryFrom<GrantRow> for Grant {
    type Error = SqlError;

    fn try_from(row: GrantRow) -> Result<Self, SqlError> {
        let at = Row { table: "grants", key: &row.id };
        let code_challenge = match &row.code_challenge {
            Some(bytes) => Some(CodeChallenge::from_bytes(at.bytes("code_challenge", bytes)?)),
            None => None,
        };
        let client = at.id("client_id", &row.client_id)?;
        let account = WalletAccount { family: row.family, chain: row.chain, address: row.address };
        let particulars =
            Particulars::parse(row.particulars.as_deref()).ok_or_else(|| at.impossible("particulars"))?;
        Ok(Self {
            id: at.id("id", &row.id)?,
            client,
            holder: holder(client, at.id("user_id", &row.user_id)?, account),
            redirect_uri: (!row.redirect_uri.is_empty()).then(|| RedirectUri::from_trusted(row.redirect_uri)),
            scope: at.scope("scope", &row.scope)?,
            nonce: row.nonce,
            code_challenge,
            particulars,
            session: at.optional_id("session_id", row.session_id.as_ref())?,
            code_hash: at.hash("code_hash", &row.code_hash)?,
            authenticated_at: at.time("authenticated_at", row.authenticated_at)?,
            code_expires_at: at.time("code_expires_at", row.code_expires_at)?,
            redeemed: row.redeemed_at.is_some(),
            revoked: row.revoked_at.is_some(),
        })
    }
}

row! {
    /// A grant as it is stored, except its user and its time of review, which the statements add.
    pub NewGrant<'a>, NewGrants {
        id: Id as Key,
        client_id: Id as Key,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        redirect_uri: &'a str as Text,
        scope: String as Text,
        nonce: Option<&'a str> as Nullable<Text>,
        code_challenge: Option<&'a [u8]> as Nullable<Binary>,
        code_hash: &'a [u8] as Binary,
        authenticated_at: At as Moment,
        code_expires_at: At as Moment,
        forget_after: At as Moment,
        particulars: Option<String> as Nullable<Text>,
        session_id: Option<Id> as Nullable<Key>,
    }
}

impl<'a> NewGrant<'a> {
    /// The grant of a login: its code is not redeemed yet.
    pub fn of_login(
        login: &'a CompleteLogin,
        session: Option<SessionId>,
        authenticated_at: OffsetDateTime,
    ) -> Self {
        Self {
            id: login.id.into(),
            client_id: login.client.into(),
            family: &login.account.family,
            chain: &login.account.chain,
            address: &login.account.address,
            redirect_uri: redirect_uri(login.redirect_uri.as_ref()),
            scope: login.scope.to_string(),
            nonce: login.nonce.as_deref(),
            code_challenge: login.code_challenge.as_ref().map(|challenge| challenge.as_bytes().as_slice()),
            code_hash: login.code_hash.as_bytes(),
            authenticated_at: At(authenticated_at),
            code_expires_at: At(login.code_expires_at),
            forget_after: At(login.forget_after),
            particulars: login.particulars.to_text(),
            session_id: session.map(Id::from),
        }
    }

    /// The grant of an operation that issues tokens at once, without a code.
    pub fn of_tokens(command: &'a IssueTokens, account: &'a WalletAccount) -> Self {
        let grant = &command.grant;
        Self {
            id: grant.id.into(),
            client_id: grant.client.into(),
            family: &account.family,
            chain: &account.chain,
            address: &account.address,
            redirect_uri: redirect_uri(grant.redirect_uri.as_ref()),
            scope: grant.scope.to_string(),
            nonce: grant.nonce.as_deref(),
            code_challenge: grant.code_challenge.as_ref().map(|challenge| challenge.as_bytes().as_slice()),
            code_hash: grant.code_hash.as_bytes(),
            authenticated_at: At(grant.authenticated_at),
            code_expires_at: At(grant.code_expires_at),
            forget_after: At(command.forget_after),
            particulars: grant.particulars.to_text(),
            session_id: grant.session.map(Id::from),
        }
    }
}

/// The value of a wallet's family in a grant that a client got for itself. No family has this name.
const OF_CLIENT: &str = "client";

/// Who holds the grant of this row. If a client got it for itself, the user is the client's own id.
pub fn holder(client: ClientId, user: UserId, account: WalletAccount) -> Holder {
    if user.as_uuid() == client.as_uuid() { Holder::Client } else { Holder::Person { user, account } }
}

/// The user and the wallet in the row of a grant. If its client holds it, both are the client.
pub fn user_and_wallet(grant: &Grant) -> (Id, WalletAccount) {
    match &grant.holder {
        Holder::Person { user, account } => ((*user).into(), account.clone()),
        Holder::Client => {
            let (family, address) = (OF_CLIENT.to_owned(), grant.client.to_string());
            (grant.client.into(), WalletAccount { family, chain: String::new(), address })
        }
    }
}

/// The redirect URI as the row has it: empty if no browser was sent anywhere.
fn redirect_uri(redirect_uri: Option<&RedirectUri>) -> &str {
    redirect_uri.map_or("", RedirectUri::as_str)
}
