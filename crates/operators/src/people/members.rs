//! What the changes of members have in common: a change for each, and one text for all of them.

use countersign_domain::event::{Details, Event, EventKind};
use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_ports::{ChangeMember, StoreError};
use countersign_usecases::Management;
use time::OffsetDateTime;

/// A change for each of these, with its event.
pub(super) fn changes_of(
    management: Management<'_>,
    now: OffsetDateTime,
    kind: EventKind,
    group: &GroupName,
    members: &[Subject],
) -> Vec<ChangeMember> {
    let change_of = |member: &Subject| {
        let event = management.event(now, kind, |event| {
            member.tell(event);
            event.details = Details::default().text("group", group);
        });
        ChangeMember { group: group.clone(), member: member.clone(), now, event }
    };
    members.iter().map(change_of).collect()
}

/// The event of a text that an operator signed for all of these events, which name it from then on. Each of them is about
/// one person, and the text names several: so the text can go with any of them. `None` if no one signed, or if there is
/// one event, which has the text itself.
pub(super) fn share_text<'a>(
    management: Management<'_>,
    now: OffsetDateTime,
    group: &GroupName,
    events: impl Iterator<Item = &'a mut Event>,
) -> Option<Box<Event>> {
    let mut events: Vec<&mut Event> = events.collect();
    if management.cause.signed.is_none() || events.len() < 2 {
        return None;
    }
    let mut text = management.event(now, EventKind::ChangeSigned, |event| {
        event.details = Details::default().text("group", group);
    })?;
    // The text comes first in the record.
    if let Some(first) = events.iter_mut().min_by_key(|event| event.id)
        && first.id < text.id
    {
        std::mem::swap(&mut first.id, &mut text.id);
    }
    for event in events {
        event.name_text(text.id);
    }
    Some(text)
}

/// The events of these changes.
pub(super) fn events_of(changes: &mut [ChangeMember]) -> impl Iterator<Item = &mut Event> {
    changes.iter_mut().filter_map(|change| change.event.as_deref_mut())
}

/// The user a wallet belongs to now, or the user's own id.
pub(super) async fn user_of(
    management: Management<'_>,
    member: &Subject,
) -> Result<Option<UserId>, StoreError> {
    match member {
        Subject::User(user) => Ok(Some(*user)),
        Subject::Wallet(account) => management.storage.find_owner(account.clone()).await,
    }
}
