//! Rows of `grants`.

use countersign_domain::grant::{Grant, Holder};
use countersign_domain::id::{ClientId, GrantId, SessionId, UserId};
use countersign_domain::particulars::Particulars;
use countersign_domain::pkce::CodeChallenge;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;
use diesel::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::rows::Place;
use crate::schema::grants;

/// What a grant's row says to those who read it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = grants, check_for_backend(diesel::pg::Pg))]
pub(crate) struct GrantRow {
    id: Uuid,
    client_id: Uuid,
    user_id: Uuid,
    family: String,
    chain: String,
    address: String,
    redirect_uri: String,
    scope: String,
    nonce: Option<String>,
    code_challenge: Option<Vec<u8>>,
    code_hash: Vec<u8>,
    authenticated_at: OffsetDateTime,
    code_expires_at: OffsetDateTime,
    redeemed_at: Option<OffsetDateTime>,
    revoked_at: Option<OffsetDateTime>,
    particulars: Option<String>,
    session_id: Option<Uuid>,
}

impl TryFrom<GrantRow> for Grant {
    type Error = StoreError;

    fn try_from(row: GrantRow) -> Result<Self, StoreError> {
        let place = Place { table: "grants", row: row.id };
        let code_challenge = row.code_challenge.map(|stored| place.bytes("code_challenge", &stored));
        let particulars = Particulars::parse(row.particulars.as_deref());
        let account = WalletAccount { family: row.family, chain: row.chain, address: row.address };
        Ok(Self {
            id: GrantId::from_uuid(row.id),
            client: ClientId::from_uuid(row.client_id),
            holder: holder(row.client_id, row.user_id, account),
            redirect_uri: (!row.redirect_uri.is_empty()).then(|| RedirectUri::from_trusted(row.redirect_uri)),
            scope: place.scopes("scope", &row.scope)?,
            nonce: row.nonce,
            code_challenge: code_challenge.transpose()?.map(CodeChallenge::from_bytes),
            particulars: particulars.ok_or_else(|| place.corrupt("particulars"))?,
            session: row.session_id.map(SessionId::from_uuid),
            code_hash: place.hash("code_hash", &row.code_hash)?,
            authenticated_at: row.authenticated_at,
            code_expires_at: row.code_expires_at,
            redeemed: row.redeemed_at.is_some(),
            revoked: row.revoked_at.is_some(),
        })
    }
}

/// What a grant says about its access tokens.
#[derive(Queryable, Selectable)]
#[diesel(table_name = grants, check_for_backend(diesel::pg::Pg))]
pub(crate) struct HolderRow {
    pub(super) client_id: Uuid,
    pub(super) user_id: Uuid,
    pub(super) family: String,
    pub(super) chain: String,
    pub(super) address: String,
    pub(super) revoked_at: Option<OffsetDateTime>,
}

/// What stands for a wallet's family in a grant that a client got for itself. No family is called so.
const OF_CLIENT: &str = "client";

/// Who holds the grant of this row. Where a client got it for itself, the user is the client's own id.
pub(super) fn holder(client: Uuid, user: Uuid, account: WalletAccount) -> Holder {
    if user == client { Holder::Client } else { Holder::Person { user: UserId::from_uuid(user), account } }
}

/// The user and the wallet that stand in the row of a grant: where its client holds it, the client for both.
pub(crate) fn user_and_wallet(grant: &Grant) -> (Uuid, WalletAccount) {
    match &grant.holder {
        Holder::Person { user, account } => (user.as_uuid(), account.clone()),
        Holder::Client => {
            let (family, address) = (OF_CLIENT.to_owned(), grant.client.to_string());
            (grant.client.as_uuid(), WalletAccount { family, chain: String::new(), address })
        }
    }
}

/// The redirect URI as the row has it: empty where no browser was sent anywhere.
pub(crate) fn redirect_uri(redirect_uri: Option<&RedirectUri>) -> &str {
    redirect_uri.map_or("", RedirectUri::as_str)
}
