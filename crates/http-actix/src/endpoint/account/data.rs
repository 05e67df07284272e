//! `POST /account/data`: everything that the server knows about a person, as a JSON file; only what happened is
//! read elsewhere, at `/account/events`. It needs a recent signature, so that a browser that someone left open does
//! not give it all away.

pub(crate) mod description;

use actix_web::http::header;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::email::UserEmail;
use countersign_domain::login_session::LoginSession;
use countersign_domain::wallet::AccountKind;
use countersign_ports::{CameBy, LinkedWallet};
use countersign_usecases::account::read_account::{AccountShown, ConsentShown, download_account};
use paperclip::actix::Apiv2Schema;
use serde::Serialize;

use super::{PlainForm, refuse_change};
use crate::browser::forms::Action;
use crate::error::ApiError;
use crate::extract::body::Body;
use crate::state::AppState;

/// Everything that belongs to a user.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct AccountBody {
    /// The user's id; it never changes.
    sub: String,
    /// The name that clients get.
    preferred_username: String,
    /// When the user first signed in.
    created_at: String,
    /// The wallets, the longest linked first.
    wallets: Vec<WalletBody>,
    /// What the user agreed to, the last used first. There is one entry for each client, destination and set
    /// of audiences.
    apps: Vec<AppBody>,
    /// The invitations that the wallets came in by, the earliest first.
    invitations: Vec<InvitationBody>,
    /// The active sessions, the last used first.
    sessions: Vec<SessionBody>,
    /// The e-mail address, if one is on file.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<EmailBody>,
}

/// A wallet of the user.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct WalletBody {
    /// The account in CAIP-10 form. A key and a contract at the same address can have the same form.
    account: String,
    /// `key` or `contract`, in wallet families that have both.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// What the user calls it, if it has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// When it was linked to the user.
    linked_at: String,
}

/// What the user agreed to at a client.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct AppBody {
    /// The client.
    client_id: String,
    /// Its name.
    client_name: String,
    /// Its home page, if it named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_uri: Option<String>,
    /// Whether the client registered itself. The operator did not check such a client.
    self_registered: bool,
    /// For a client that its own document describes: the host and port of that document.
    #[serde(skip_serializing_if = "Option::is_none")]
    described_at: Option<String>,
    /// The user's id at this client: `sub`.
    sub: String,
    /// Whether the client gets the user's wallet with these scopes.
    knows_wallet: bool,
    /// Where the sign-in leads: the origin of a redirect URI, the scheme of an app, `device` or `program`.
    /// Left out if the user agreed before destinations were recorded; such an agreement does not continue a
    /// sign-in without a signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    destination: Option<String>,
    /// The audiences of its access tokens: this server's issuer, and resources.
    audiences: Vec<String>,
    /// The scopes, separated by spaces.
    scope: String,
    /// When the user first agreed.
    granted_at: String,
    /// When the user last signed in there.
    last_used_at: String,
}

/// An invitation that a wallet of the user came in by.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct InvitationBody {
    /// The group that it leads into.
    group: String,
    /// Who invited, if the invitation said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// The wallet, in CAIP-10 form.
    wallet_account: String,
    /// When the wallet came in.
    accepted_at: String,
}

impl From<&CameBy> for InvitationBody {
    fn from(came: &CameBy) -> Self {
        Self {
            group: came.invitation.group.to_string(),
            from: came.invitation.inviter.as_ref().map(ToString::to_string),
            wallet_account: came.used.wallet.caip10(),
            accepted_at: iso8601(came.used.used_at),
        }
    }
}

/// A browser that remembers a sign-in.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct SessionBody {
    /// Its id.
    id: String,
    /// The wallet that signed, in CAIP-10 form.
    wallet_account: String,
    /// The browser and its system, as the browser named itself.
    browser: String,
    /// When the wallet signed.
    authenticated_at: String,
    /// When the session was last used to sign in without a signature.
    last_used_at: String,
    /// When it ends.
    expires_at: String,
    /// Whether it is the session of this request.
    is_this_one: bool,
}

/// An e-mail address.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct EmailBody {
    /// The address.
    address: String,
    /// When it was added.
    added_at: String,
    /// When it was confirmed. Left out if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified_at: Option<String>,
}

/// Sends the file to the person who is signed in.
pub(crate) async fn download(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    PlainForm::read(&state, &request, &body, Action::DownloadData)?;
    let shown = match download_account(&state.context, &state.browser(&request)).await {
        Ok(shown) => shown,
        Err(error) => return refuse_change(&state, &request, error).await,
    };
    let issuer = state.context.policy.public_url.as_str();
    let body = serde_json::to_vec_pretty(&AccountBody::of(&shown, issuer)).map_err(ApiError::server_error)?;
    Ok(HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((header::CONTENT_DISPOSITION, "attachment; filename=\"account.json\""))
        .body(body))
}

impl AccountBody {
    fn of(shown: &AccountShown, issuer: &str) -> Self {
        let wallet = |LinkedWallet { account, linked_at, name }: &LinkedWallet| WalletBody {
            account: account.caip10(),
            kind: account.kind().map(AccountKind::name),
            name: name.as_ref().map(ToString::to_string),
            linked_at: iso8601(*linked_at),
        };
        let email = |UserEmail { address, added_at, verified_at, .. }: &UserEmail| EmailBody {
            address: address.to_string(),
            added_at: iso8601(*added_at),
            verified_at: verified_at.map(iso8601),
        };
        Self {
            sub: shown.user.to_string(),
            preferred_username: shown.user.as_public().preferred_username(),
            created_at: iso8601(shown.created_at),
            wallets: shown.wallets.iter().map(wallet).collect(),
            apps: shown.consents.iter().map(|consent| AppBody::of(consent, issuer)).collect(),
            invitations: shown.came_by.iter().map(InvitationBody::from).collect(),
            sessions: shown.sessions.iter().map(|session| SessionBody::of(session, shown)).collect(),
            email: shown.email.as_ref().map(email),
        }
    }
}

impl AppBody {
    fn of(ConsentShown { consent, client, subject, .. }: &ConsentShown, issuer: &str) -> Self {
        let audiences = &consent.terms.audiences;
        let this_server = audiences.hold_this_server().then_some(issuer);
        let destination = consent.terms.destination.to_text();
        Self {
            destination: Some(destination.to_owned()).filter(|text| !text.is_empty()),
            audiences: this_server.into_iter().chain(audiences.resources()).map(ToOwned::to_owned).collect(),
            client_id: consent.client.to_string(),
            client_name: client.name.clone(),
            client_uri: client.uri.clone(),
            self_registered: client.self_registered,
            described_at: client.described_at.clone(),
            sub: subject.to_string(),
            knows_wallet: consent.scope.shows_wallet(),
            scope: consent.scope.to_string(),
            granted_at: iso8601(consent.granted_at),
            last_used_at: iso8601(consent.last_used_at),
        }
    }
}

impl SessionBody {
    fn of(session: &LoginSession, shown: &AccountShown) -> Self {
        Self {
            id: session.id.to_string(),
            wallet_account: session.account.caip10(),
            browser: session.browser.clone(),
            authenticated_at: iso8601(session.authenticated_at),
            last_used_at: iso8601(session.last_used_at),
            expires_at: iso8601(session.expires_at),
            is_this_one: session.id == shown.this_session,
        }
    }
}
