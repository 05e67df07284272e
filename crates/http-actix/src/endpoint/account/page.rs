//! What the account page shows, in the form that its template takes.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::email::UserEmail;
use countersign_domain::login_session::LoginSession;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_ports::{LinkedWallet, WalletVerifier};
use countersign_usecases::account::read_account::{AccountShown, ConsentShown, ConsentShownAt};
use serde::Serialize;
use time::{OffsetDateTime, UtcOffset};

use super::trouble::Trouble;
use crate::browser::forms::{Action, Forms};
use crate::endpoint::steps::done::Done;
use crate::error::ApiError;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::state::AppState;

/// What the page shows besides the account.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step<'a> {
    pub(super) done: Option<Done>,
    pub(super) trouble: Option<Trouble>,
    /// The e-mail address that the person typed, so that they can correct it.
    pub(super) email: Option<&'a str>,
}

impl Step<'_> {
    pub(super) fn trouble(trouble: Trouble) -> Self {
        Self { trouble: Some(trouble), ..Self::default() }
    }
}

#[derive(Serialize)]
struct AccountPage<'a> {
    user: String,
    created: Moment,
    signed_in_as: WalletContext,
    signed_in_lately: bool,
    wallets: Vec<WalletContext>,
    apps: Vec<AppContext>,
    sessions: Vec<SessionContext>,
    email: Option<EmailContext>,
    typed_email: Option<&'a str>,
    sends_mail: bool,
    done: Option<Said>,
    trouble: Option<Said>,
    forms: FormSecrets,
}

/// The secrets of the forms that do not belong to an entry of a list.
#[derive(Serialize)]
struct FormSecrets {
    sign_out: String,
    sign_out_everywhere: String,
    sign_in_again: String,
    put_email: String,
    remove_email: String,
    download_data: String,
    delete_account: String,
    begin_wallet_change: String,
}

/// A notice: its text, and its name, by which the template knows where it belongs.
#[derive(Serialize)]
struct Said {
    name: &'static str,
    text: String,
}

/// A time for scripts (`iso`), and for people whose browser runs none (`text`).
#[derive(Serialize)]
struct Moment {
    iso: String,
    text: String,
}

#[derive(Serialize)]
struct WalletContext {
    /// In CAIP-10 form.
    account: String,
    address: String,
    short: String,
    chain: String,
    kind: String,
    /// `key` or `contract`, in wallet families that have both.
    signs: Option<&'static str>,
    linked: Option<Moment>,
    is_signed_in: bool,
}

#[derive(Serialize)]
struct AppContext {
    client_id: String,
    name: String,
    self_registered: bool,
    described_at: Option<String>,
    /// What the person agreed to at this app, the last used first. The form revokes all of it at once.
    agreements: Vec<AgreementContext>,
    /// The secret of the form that revokes its access.
    form: String,
}

#[derive(Serialize)]
struct AgreementContext {
    destinations: Vec<String>,
    scopes: Vec<&'static str>,
    /// The audiences of its access tokens, besides this server.
    resources: Vec<String>,
    granted: Moment,
    used: Moment,
}

#[derive(Serialize)]
struct SessionContext {
    id: String,
    browser: String,
    short: String,
    address: String,
    signed_in: Moment,
    used: Moment,
    ends: Moment,
    is_this: bool,
    /// The secret of the form that ends the session.
    form: String,
}

#[derive(Serialize)]
struct EmailContext {
    address: String,
    added: Moment,
    verified: Option<Moment>,
}

/// Shows the page of the person who is signed in.
pub(super) fn render(
    state: &AppState,
    request: &HttpRequest,
    shown: &AccountShown,
    step: Step<'_>,
    status: StatusCode,
) -> Result<HttpResponse, ApiError> {
    let wallets = &*state.context.wallets;
    let language = Language::of(request, None);
    let text = |key: String| state.pages.templates.text(language, &key).to_owned();
    let forms = state.forms(request);
    let done = step.done.filter(|done| done.may_leave_the_session());
    let page = AccountPage {
        user: shown.user.to_string(),
        created: Moment::at(shown.created_at),
        signed_in_as: WalletContext::of(wallets, &shown.signed_in_as, shown, None),
        signed_in_lately: shown.signed_in_lately,
        wallets: shown
            .wallets
            .iter()
            .map(|LinkedWallet { account, linked_at, .. }| {
                WalletContext::of(wallets, account, shown, Some(*linked_at))
            })
            .collect(),
        apps: AppContext::list(state, language, &shown.consents, &forms),
        sessions: shown.sessions.iter().map(|session| SessionContext::of(session, shown, &forms)).collect(),
        email: shown.email.as_ref().map(EmailContext::of),
        typed_email: step.email,
        sends_mail: shown.sends_mail,
        done: done.map(|done| Said { name: done.name(), text: text(done.key()) }),
        trouble: step.trouble.map(|trouble| Said { name: trouble.name(), text: text(trouble.key()) }),
        forms: FormSecrets::of(&forms),
    };
    state.pages.show(request, language, Name::Account, status, &page)
}

/// What people call this kind of account, for example `Ethereum`.
pub(crate) fn kind_of(wallets: &dyn WalletVerifier, account: &WalletAccount) -> String {
    let found = wallets.recognize(&account.address, Some(&account.chain));
    found.into_iter().next().map_or_else(|| account.chain.clone(), |found| found.kind.into_owned())
}

impl FormSecrets {
    fn of(forms: &Forms<'_>) -> Self {
        Self {
            sign_out: forms.secret(&Action::EndSessions { which: "this" }),
            sign_out_everywhere: forms.secret(&Action::EndSessions { which: "all" }),
            sign_in_again: forms.secret(&Action::SignInAgain),
            put_email: forms.secret(&Action::PutEmail),
            remove_email: forms.secret(&Action::RemoveEmail),
            download_data: forms.secret(&Action::DownloadData),
            delete_account: forms.secret(&Action::DeleteAccount),
            begin_wallet_change: forms.secret(&Action::BeginWalletChange),
        }
    }
}

impl Moment {
    fn at(time: OffsetDateTime) -> Self {
        let utc = time.to_offset(UtcOffset::UTC);
        let text = format!("{} {:02}:{:02} UTC", utc.date(), utc.hour(), utc.minute());
        Self { iso: iso8601(time), text }
    }
}

impl WalletContext {
    fn of(
        wallets: &dyn WalletVerifier,
        account: &WalletAccount,
        shown: &AccountShown,
        linked_at: Option<OffsetDateTime>,
    ) -> Self {
        let here = &shown.signed_in_as;
        Self {
            account: account.caip10(),
            address: account.address.clone(),
            short: account.shortened(),
            chain: account.chain.clone(),
            kind: kind_of(wallets, account),
            signs: account.kind().map(AccountKind::name),
            linked: linked_at.map(Moment::at),
            is_signed_in: account.family == here.family && account.address == here.address,
        }
    }
}

impl AppContext {
    /// Lists each app once, in the order of last use.
    fn list(state: &AppState, language: Language, consents: &[ConsentShown], forms: &Forms<'_>) -> Vec<Self> {
        let mut apps: Vec<Self> = Vec::new();
        for shown in consents {
            let agreement = AgreementContext::of(state, language, shown);
            let client_id = shown.consent.client.to_string();
            match apps.iter_mut().find(|app| app.client_id == client_id) {
                Some(app) => app.agreements.push(agreement),
                None => apps.push(Self {
                    form: forms.secret(&Action::RevokeAccess { client: &client_id }),
                    client_id,
                    name: shown.client.name.clone(),
                    self_registered: shown.client.self_registered,
                    described_at: shown.client.described_at.clone(),
                    agreements: vec![agreement],
                }),
            }
        }
        apps
    }
}

impl AgreementContext {
    fn of(state: &AppState, language: Language, shown: &ConsentShown) -> Self {
        let ConsentShown { consent, destination, .. } = shown;
        let templates = &state.pages.templates;
        let destinations = match destination {
            ConsentShownAt::Redirect(destination) => vec![templates.destination(language, destination)],
            ConsentShownAt::Device => vec![templates.text(language, "account.on_device").to_owned()],
            ConsentShownAt::Program => vec![templates.text(language, "account.in_program").to_owned()],
            ConsentShownAt::Unrecorded(places) => {
                places.iter().map(|place| templates.destination(language, place)).collect()
            }
        };
        Self {
            destinations,
            scopes: consent.scope.iter().map(|scope| scope.name()).collect(),
            resources: consent.terms.audiences.resources().map(ToOwned::to_owned).collect(),
            granted: Moment::at(consent.granted_at),
            used: Moment::at(consent.last_used_at),
        }
    }
}

impl SessionContext {
    fn of(session: &LoginSession, shown: &AccountShown, forms: &Forms<'_>) -> Self {
        Self {
            id: session.id.to_string(),
            browser: session.browser.clone(),
            short: session.account.shortened(),
            address: session.account.address.clone(),
            signed_in: Moment::at(session.authenticated_at),
            used: Moment::at(session.last_used_at),
            ends: Moment::at(session.expires_at),
            is_this: session.id == shown.this_session,
            form: forms.secret(&Action::EndSessions { which: &session.id.to_string() }),
        }
    }
}

impl EmailContext {
    fn of(email: &UserEmail) -> Self {
        Self {
            address: email.address.to_string(),
            added: Moment::at(email.added_at),
            verified: email.verified_at.map(Moment::at),
        }
    }
}

#[cfg(test)]
mod tests {
    use time::Date;

    use super::*;

    #[test]
    fn a_time_is_readable_without_scripts_and_exact_for_them() {
        let day = Date::from_calendar_date(2026, time::Month::March, 9).unwrap();
        let time = day.with_hms(7, 5, 59).unwrap().assume_offset(UtcOffset::from_hms(2, 0, 0).unwrap());
        let moment = Moment::at(time);
        assert_eq!(moment.text, "2026-03-09 05:05 UTC");
        assert_eq!(moment.iso, "2026-03-09T05:05:59Z");
    }
}
