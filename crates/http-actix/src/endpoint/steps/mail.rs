//! Mail that a request causes. It is sent after the answer: no one waits for a mail server, and no one can
//! tell from the timing whether a mail was sent.

use actix_web::HttpRequest;
use actix_web::web::Data;
use countersign_ports::Mail;
use countersign_usecases::steps::file_email::ConfirmationLink;

use crate::error::ApiError;
use crate::limits::rate_limit::Limited;
use crate::page::language::Language;
use crate::page::templates::fill;
use crate::state::AppState;

/// Counts the mail that a sign-in causes if it comes with an address.
pub(crate) fn admit_first_link(
    state: &AppState,
    request: &HttpRequest,
    email: Option<&str>,
) -> Result<(), ApiError> {
    email.map_or(Ok(()), |_| state.rate_limits.check(Limited::Mail, request))
}

/// Sends the link for an address that came with a sign-in. If the mailbox already got too many, the sign-in
/// succeeds all the same: the address is on file, no mail is sent, and the owner can ask for one on the
/// account page.
pub(crate) fn send_first_link(state: &Data<AppState>, language: Language, link: Option<ConfirmationLink>) {
    let is_one_too_many = link.as_ref().is_some_and(|link| state.admit_mail_to(&link.to).is_err());
    if is_one_too_many {
        tracing::info!("mail not sent: the mailbox reached its hourly limit");
        return;
    }
    send_link(state, language, link);
}

/// Sends the link that confirms an address. The caller has already counted the mail for this mailbox.
pub(crate) fn send_link(state: &Data<AppState>, language: Language, link: Option<ConfirmationLink>) {
    let (Some(link), Some(mailer)) = (link, state.context.mailer.clone()) else { return };
    let url = link.url(&state.context);
    let write = |key| {
        fill(state.pages.templates.text(language, key), |place| match place {
            "host" => Some(state.context.policy.public_url.authority().to_owned()),
            "link" => Some(url.clone()),
            _ => None,
        })
    };
    let mail = Mail {
        to: link.to.to_string(),
        subject: write("mail.confirm_subject"),
        text: write("mail.confirm_text"),
    };
    actix_web::rt::spawn(async move {
        match mailer.send(mail).await {
            Ok(()) => tracing::info!("mail sent"),
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "mail could not be sent"),
        }
    });
}
