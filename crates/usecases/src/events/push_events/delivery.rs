//! One event is made a Security Event Token and posted, and the answer is judged (RFC 8935 section 2).

use countersign_domain::event::{Event, EventPerson};
use countersign_ports::{Post, SecurityEventClaims};
use serde_json::Value;

use super::EventReceiver;
use crate::Context;
use crate::events::event_view::EventView;

/// The longest error code that is written to the log.
const MAX_CODE: usize = 64;

/// What the receiver did.
pub(super) enum Delivery {
    /// It has the event.
    Taken,
    /// It says that it will never take this event.
    Refused,
    /// It did not take the event now, for this reason.
    Failed(String),
}

/// Sends an event once.
pub(super) async fn deliver(context: &Context, receiver: &EventReceiver, event: &Event) -> Delivery {
    let claims = claims(context, receiver, event);
    let body = match context.signer.sign_security_event(&claims).await {
        Ok(body) => body,
        Err(error) => return Delivery::Failed(error.to_string()),
    };
    let posted = context.fetcher.post(Post {
        url: &receiver.url,
        content_type: "application/secevent+jwt",
        accept: "application/json",
        bearer: receiver.secret.as_ref(),
        body: &body,
    });
    match posted.await {
        Err(error) => Delivery::Failed(error.to_string()),
        Ok(answer) if (200..300).contains(&answer.status) => Delivery::Taken,
        Ok(answer) => match code(answer.status, &answer.reason) {
            Some(code) if !is_about_the_sender(&code) => {
                let (id, kind) = (event.id, event.kind.name());
                tracing::error!(event.id = %id, event.kind = kind, err = code, "event refused by its receiver");
                Delivery::Refused
            }
            Some(code) => Delivery::Failed(format!("it answered with the error {code}")),
            None => Delivery::Failed(format!("it answered with HTTP status {}", answer.status)),
        },
    }
}

/// The claims (RFC 8417 section 2.2). What they say is not repeated in the event.
fn claims(context: &Context, receiver: &EventReceiver, event: &Event) -> SecurityEventClaims {
    let mut view = serde_json::to_value(EventView::of(event)).unwrap_or_default();
    let subject = match event.person {
        Some(EventPerson::User(user)) => Some(user),
        Some(EventPerson::Deleted(_)) | None => None,
    };
    if let Value::Object(view) = &mut view {
        for name in ["id", "at", "kind", "request"] {
            view.remove(name);
        }
        if subject.is_some() {
            view.remove("user");
        }
    }
    SecurityEventClaims {
        issuer: context.policy.public_url.as_str().to_owned(),
        audience: receiver.url.clone(),
        issued_at: context.clock.now(),
        id: event.id,
        subject,
        transaction: event.request.clone(),
        kind: format!("urn:countersign:event:{}", event.kind.name()),
        details: view.to_string(),
    }
}

/// The error code of RFC 8935 section 2.3. A receiver can write anything there, so a text that cannot be a
/// code counts as none.
fn code(status: u16, reason: &[u8]) -> Option<String> {
    if status != 400 {
        return None;
    }
    let answer: Value = serde_json::from_slice(reason).ok()?;
    let code = answer.get("err")?.as_str()?;
    let is_code = !code.is_empty()
        && code.len() <= MAX_CODE
        && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    is_code.then(|| code.to_owned())
}

/// Would any event be refused for this reason? Then it is as if the status were 401 or 403.
fn is_about_the_sender(code: &str) -> bool {
    ["authentication_failed", "access_denied"].contains(&code)
}
