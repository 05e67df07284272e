//! Mail that a request causes. It goes out behind the answer: nobody waits for a mail server, and nobody can tell by the
//! time whether a mail was sent.

use actix_web::HttpRequest;
use actix_web::web::Data;
use countersign_ports::Mail;
use countersign_usecases::steps::file_email::ConfirmationLink;

use crate::error::ApiError;
use crate::limits::rate_limit::Limited;
use crate::page::language::Language;
use crate::page::templates::fill;
use crate::state::AppState;

/// Counts the mail that a sign-in may cause by an address that comes with it.
pub(crate) fn admit_first_link(
    state: &AppState,
    request: &HttpRequest,
    email: Option<&str>,
) -> Result<(), ApiError> {
    email.map_or(Ok(()), |_| state.rate_limits.check(Limited::Mail, request))
}

/// Mails the link of an address that came with a sign-in, which does not fail with it: where the mailbox got too many already, the address is
/// on file without a mail, and its owner asks for one on the account page.
pub(crate) fn send_first_link(state: &Data<AppState>, language: Language, link: Option<ConfirmationLink>) {
    let is_one_too_many = link.as_ref().is_some_and(|link| state.admit_mail_to(&link.to).is_err());
    if is_one_too_many {
        tracing::info!("mail not sent: its mailbox got as many as it gets in an hour");
        return;
    }
    send_link(state, language, link);
}

/// Mails the link that confirms an address, to a mailbox that was counted.
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
