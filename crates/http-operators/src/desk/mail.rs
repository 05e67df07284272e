//! Mail to the other operators about a change that waits for one of them. It is sent after the answer.

use std::error::Error;

use actix_web::web::Data;
use countersign_domain::act::Act;
use countersign_domain::challenge::iso8601;
use countersign_domain::desk::proposal::Proposal;
use countersign_operators::desk::proposals::operators_with_mail;
use countersign_ports::Mail;

use countersign_http_actix::page::language::Language;
use countersign_http_actix::page::templates::fill;
use countersign_http_actix::state::AppState;

/// The most operators who get a mail. More than these share a mailbox, or look at the desk.
const AT_MOST: u32 = 20;

/// Notifies the other operators whose address is confirmed, if the server sends mail. Their language is not
/// known, so it is that of the operator who asks them. Mails are counted for each mailbox (F-11); one that
/// has got too many is left out.
pub(crate) fn tell_others(state: &Data<AppState>, language: Language, proposal: &Proposal, change: &Act) {
    let Some(mailer) = state.context.mailer.clone() else { return };
    let public_url = &state.context.policy.public_url;
    let link = public_url.join(&format!("/admin/proposals/{}", proposal.id));
    let write = |key| {
        fill(state.pages.templates.text(language, key), |place| match place {
            "host" => Some(public_url.authority().to_owned()),
            "account" => Some(proposal.first.account.caip10()),
            "change" => Some(change.statement()),
            "time" => Some(iso8601(proposal.expires_at)),
            "link" => Some(link.clone()),
            _ => None,
        })
    };
    let (subject, text) = (write("mail.proposal_subject"), write("mail.proposal_text"));
    let (state, first) = (Data::clone(state), proposal.user);
    actix_web::rt::spawn(async move {
        let others = match operators_with_mail(&state.context, first, AT_MOST).await {
            Ok(others) => others,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "the other operators could not be notified by mail"
                );
                return;
            }
        };
        for (_, address) in others {
            if state.admit_mail_to(&address).is_err() {
                tracing::info!("mail not sent: the mailbox reached its hourly limit");
                continue;
            }
            let mail = Mail { to: address.to_string(), subject: subject.clone(), text: text.clone() };
            match mailer.send(mail).await {
                Ok(()) => tracing::info!("mail sent"),
                Err(error) => tracing::warn!(error = &error as &dyn Error, "mail could not be sent"),
            }
        }
    });
}
