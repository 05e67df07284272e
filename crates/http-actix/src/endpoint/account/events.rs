//! `GET /account/events`: where a person signed in, and what else happened to their account lately; as a page,
//! and as JSON for programs. It shows, and changes nothing.

pub(crate) mod description;

use actix_session::Session;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::id::EventId;
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::wallet::WalletAccount;
use countersign_domain::wallet_name::WalletName;
use countersign_usecases::account::read_events::{
    EventClient, Happened, OwnEvent, OwnEvents, OwnEventsPage, read_events,
};
use countersign_usecases::sign_in::describe_sign_in::ClientShown;
use countersign_usecases::steps::login::AccountError;
use paperclip::actix::Apiv2Schema;
use serde::Serialize;

use super::page::kind_of;
use super::sign_in;
use crate::error::ApiError;
use crate::extract::accept::prefers_html;
use crate::extract::query_value;
use crate::page::language::Language;
use crate::page::moment::Moment;
use crate::page::name::Name;
use crate::state::AppState;

/// What happened to an account.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct OwnEventsBody {
    /// Whether this server keeps a record of what happens. If not, there are never any events.
    kept: bool,
    /// The earliest time of which events are shown. Left out if none are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    /// The events, the newest first; at most 50.
    events: Vec<OwnEventBody>,
    /// If older events follow: the value of `after` that gets them.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Something that happened.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct OwnEventBody {
    /// Its id.
    id: String,
    /// When it happened.
    at: String,
    /// What happened.
    what: &'static str,
    /// The client that it is about. Left out if it is about the account page, or about no client.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    /// The client's name now. Left out if the client was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_name: Option<String>,
    /// The wallet that signed, or that it is about, in CAIP-10 form.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet_account: Option<String>,
    /// What the user calls that wallet, if it is linked and has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet_name: Option<String>,
    /// Where the user's request came from: a network, or a whole address if the operator keeps those.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
}

#[derive(Serialize)]
struct EventsPage {
    kept: bool,
    since: Option<Moment>,
    events: Vec<EventContext>,
    /// The event after which older ones follow.
    older: Option<String>,
    /// Does the page begin with the newest event?
    is_first: bool,
}

#[derive(Serialize)]
struct EventContext {
    what: &'static str,
    at: Moment,
    app: Option<EventAppContext>,
    wallet: Option<EventWalletContext>,
    address: Option<String>,
}

#[derive(Serialize)]
struct EventAppContext {
    /// None if the app was deleted.
    name: Option<String>,
    /// Is it unvetted?
    unverified: bool,
}

#[derive(Serialize)]
struct EventWalletContext {
    /// What the person calls it, or else its kind.
    title: String,
    address: String,
    short: String,
}

/// Shows the events of the person who is signed in.
pub(crate) async fn show(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
) -> Result<HttpResponse, ApiError> {
    let after = after(&request)?;
    let found = match read_events(&state.context, &state.browser(&request), after).await {
        Ok(found) => found,
        Err(AccountError::SignedOut) if prefers_html(&request) => {
            return sign_in(&state, &session, None, StatusCode::FOUND);
        }
        Err(error) => return Err(error.into()),
    };
    if !prefers_html(&request) {
        return Ok(HttpResponse::Ok().json(OwnEventsBody::of(&found)));
    }
    let page = EventsPage::of(&state, &found, after.is_none());
    state.pages.show(&request, Language::of(&request, None), Name::AccountEvents, StatusCode::OK, &page)
}

/// After which event the page begins. It need not be an event of this person's, or one at all: it only says where
/// in time to begin.
fn after(request: &HttpRequest) -> Result<Option<EventId>, ApiError> {
    let Some(named) = query_value(request, "after")? else { return Ok(None) };
    let id = EventId::parse(&named).ok_or_else(|| ApiError::invalid_request("after is not an id"))?;
    Ok(Some(id))
}

impl OwnEventsBody {
    fn of(found: &OwnEvents) -> Self {
        match found {
            OwnEvents::NotKept => Self { kept: false, since: None, events: Vec::new(), next: None },
            OwnEvents::Kept(OwnEventsPage { since, events, older }) => Self {
                kept: true,
                since: Some(iso8601(*since)),
                events: events.iter().map(OwnEventBody::of).collect(),
                next: older.map(|id| id.to_string()),
            },
        }
    }
}

impl OwnEventBody {
    /// The names of everything that can have happened.
    pub(crate) fn whats() -> Vec<&'static str> {
        Happened::ALL.iter().map(|happened| happened.name()).collect()
    }

    fn of(event: &OwnEvent) -> Self {
        let (client_id, client_name) = match &event.client {
            Some(EventClient::Known(id, shown)) => (Some(id), Some(shown.name.clone())),
            Some(EventClient::Gone(id)) => (Some(id), None),
            None => (None, None),
        };
        Self {
            id: event.id.to_string(),
            at: iso8601(event.id.at_time()),
            what: event.happened.name(),
            client_id: client_id.map(ToString::to_string),
            client_name,
            wallet_account: event.wallet.as_ref().map(WalletAccount::caip10),
            wallet_name: event.wallet_name.as_ref().map(WalletName::to_string),
            address: event.address.as_ref().map(PeerAddress::to_string),
        }
    }
}

impl EventsPage {
    fn of(state: &AppState, found: &OwnEvents, is_first: bool) -> Self {
        match found {
            OwnEvents::NotKept => {
                Self { kept: false, since: None, events: Vec::new(), older: None, is_first: true }
            }
            OwnEvents::Kept(OwnEventsPage { since, events, older }) => Self {
                kept: true,
                since: Some(Moment::at(*since)),
                events: events.iter().map(|event| EventContext::of(state, event)).collect(),
                older: older.map(|id| id.to_string()),
                is_first,
            },
        }
    }
}

impl EventContext {
    fn of(state: &AppState, event: &OwnEvent) -> Self {
        let app = event.client.as_ref().map(|client| match client {
            EventClient::Known(_, ClientShown { name, self_registered, described_at, .. }) => {
                EventAppContext {
                    name: Some(name.clone()),
                    unverified: *self_registered || described_at.is_some(),
                }
            }
            EventClient::Gone(_) => EventAppContext { name: None, unverified: false },
        });
        let wallet = event.wallet.as_ref().map(|account| EventWalletContext {
            title: match &event.wallet_name {
                Some(name) => name.to_string(),
                None => kind_of(&*state.context.wallets, account),
            },
            address: account.address.clone(),
            short: account.shortened(),
        });
        Self {
            what: event.happened.name(),
            at: Moment::at(event.id.at_time()),
            app,
            wallet,
            address: event.address.as_ref().map(PeerAddress::to_string),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    const TEXTS: &str = include_str!("../../../../../templates/locales/en/account.json");

    /// The other languages have the texts that English has.
    #[test]
    fn whatever_can_have_happened_has_a_text_and_no_text_is_left_over() {
        let texts: Value = serde_json::from_str(TEXTS).unwrap();
        let texts = texts["events"]["what"].as_object().unwrap();
        let texts: BTreeSet<&str> = texts.keys().map(String::as_str).collect();
        assert_eq!(texts, OwnEventBody::whats().into_iter().collect());
    }
}
