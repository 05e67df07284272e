//! Which events operators and programs read.

use countersign_domain::event::{Event, EventPerson, Pseudonym};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::AccountKind;
use countersign_ports::{EventFilter, EventPage, StoreError};
use countersign_usecases::Management;

use crate::people::find_who::{FindWhoError, find_who};

/// Some events, and whether there are more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventsListed {
    /// The events, in the order that was asked for.
    pub events: Vec<Event>,
    /// Do more events follow the last one?
    pub more: bool,
}

/// Lists a page of events.
pub async fn list_events(
    management: Management<'_>,
    filter: &EventFilter,
    page: EventPage,
) -> Result<EventsListed, StoreError> {
    // One more than is shown, to know whether there are more.
    let asked = EventPage { limit: page.limit.saturating_add(1), ..page };
    let mut events = management.storage.list_events(filter, asked).await?;
    let most = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let more = events.len() > most;
    events.truncate(most);
    Ok(EventsListed { events, more })
}

/// Whose events are asked for: those of a user's id, of a wallet, or of a deleted account. A wallet means the
/// user it belongs to now.
pub async fn find_subject(
    management: Management<'_>,
    text: &str,
    kind: Option<AccountKind>,
) -> Result<Subject<EventPerson>, FindWhoError> {
    if let Some(pseudonym) = Pseudonym::parse(text) {
        return Ok(Subject::User(EventPerson::Deleted(pseudonym)));
    }
    Ok(match find_who(management, text, kind).await? {
        Subject::User(user) => Subject::User(EventPerson::User(user)),
        Subject::Wallet(account) => match management.storage.find_owner(account.clone()).await? {
            Some(user) => Subject::User(EventPerson::User(user)),
            None => Subject::Wallet(account),
        },
    })
}
