//! Mail that a request causes. It goes out behind the answer: nobody waits for a mail server, and nobody can tell by the
//! time whether a mail was sent.

use actix_web::web::Data;
use countersign_ports::Mail;
use countersign_usecases::file_email::ConfirmationLink;

use crate::language::Language;
use crate::state::AppState;
use crate::templates::fill;

/// Mails the link that confirms an address.
pub(crate) fn send_link(state: &Data<AppState>, language: Language, link: Option<ConfirmationLink>) {
    let (Some(link), Some(mailer)) = (link, state.context.mailer.clone()) else { return };
    let url = link.url(&state.context);
    let write = |key| {
        fill(state.templates.text(language, key), |place| match place {
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
