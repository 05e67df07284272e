//! Events as operators, programs and receivers read them: one form for all.

use countersign_domain::event::{Event, EventPerson};
use countersign_domain::wallet::WalletAccount;
use serde::Serialize;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// An event as JSON. The names are fixed.
#[derive(Debug, Serialize)]
pub struct EventView {
    /// Its id.
    pub id: String,
    /// When it happened, in UTC to the millisecond.
    pub at: String,
    /// What happened.
    pub kind: &'static str,
    /// Who did it.
    pub actor: String,
    /// The user, or `deleted:…` if the account was deleted.
    pub user: Option<String>,
    /// The wallet (CAIP-10).
    pub wallet: Option<String>,
    /// The client.
    pub client: Option<String>,
    /// Where the request came from.
    pub address: Option<String>,
    /// The id of the request.
    pub request: Option<String>,
    /// What else is known.
    pub details: Value,
    /// What operators signed to have it done, if it was done at the desk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed: Option<Value>,
}

impl EventView {
    /// What an event shows.
    pub fn of(event: &Event) -> Self {
        Self {
            id: event.id.to_string(),
            at: written(event.id.at_time()),
            kind: event.kind.name(),
            actor: event.actor.to_string(),
            user: event.person.as_ref().map(EventPerson::to_string),
            wallet: event.wallet.as_ref().map(WalletAccount::caip10),
            client: event.client.map(|client| client.to_string()),
            address: event.address.map(|address| address.to_string()),
            request: event.request.clone(),
            details: stored(event.details.as_str()),
            signed: event.signed.as_ref().map(|signed| stored(signed.as_str())),
        }
    }
}

/// A stored text that is not JSON is shown as a text.
fn stored(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

fn written(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).unwrap_or_default()
}
