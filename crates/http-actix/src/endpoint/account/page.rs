//! What the account page shows, in the form that its template takes.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::email::UserEmail;
use countersign_domain::identicon::wallet_picture;
use countersign_domain::login_session::LoginSession;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_ports::{CameBy, LinkedWallet, WalletVerifier};
use countersign_usecases::account::read_account::{AccountShown, ConsentShown, ConsentShownAt};
use countersign_usecases::context::resources::ShownScope;
use serde::Serialize;

use super::trouble::Trouble;
use crate::browser::forms::{Action, Forms};
use crate::endpoint::steps::done::Done;
use crate::error::ApiError;
use crate::page::language::Language;
use crate::page::moment::Moment;
use crate::page::name::Name;
use crate::page::sign_in::ScopeContext;
use crate::page::uri::ResourceContext;
use crate::state::AppState;

/// What the page shows besides the account.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step<'a> {
    pub(super) done: Option<Done>,
    pub(super) trouble: Option<Trouble>,
    /// The e-mail address that the person typed, so that they can correct it.
    pub(super) email: Option<&'a str>,
    /// The same for the name of a wallet.
    pub(super) wallet_name: Option<TypedName<'a>>,
    /// Is the person an operator, so that the page links to the desk?
    pub(super) desk: bool,
}

/// A name that the person typed for one of their wallets.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypedName<'a> {
    /// The wallet, in CAIP-10 form.
    pub(super) account: &'a str,
    pub(super) kind: Option<AccountKind>,
    pub(super) name: &'a str,
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
    mine: Vec<OwnWallet>,
    apps: Vec<AppContext>,
    sessions: Vec<SessionContext>,
    /// The invitations that they accepted.
    came_by: Vec<CameByContext>,
    email: Option<EmailContext>,
    typed_email: Option<&'a str>,
    sends_mail: bool,
    done: Option<Said>,
    trouble: Option<Said>,
    /// Does the page link to the desk?
    desk: bool,
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

#[derive(Serialize)]
struct WalletContext {
    /// In CAIP-10 form.
    account: String,
    address: String,
    short: String,
    chain: String,
    kind: String,
    /// What the person calls it.
    name: Option<String>,
    /// Its name, or else its kind.
    title: String,
    /// An image as SVG. It depends on the address, so that a wallet is known by more than its name.
    picture: String,
    /// `key` or `contract`, in wallet families that have both.
    signs: Option<&'static str>,
    linked: Option<Moment>,
    is_signed_in: bool,
    /// The name that the person typed and that was refused.
    typed: Option<String>,
    /// The secret of the form that renames it.
    form: String,
}

/// What the page's script needs to know of a wallet.
#[derive(Serialize)]
struct OwnWallet {
    account: String,
    address: String,
    short: String,
    chain: String,
    title: String,
    signs: Option<&'static str>,
    is_signed_in: bool,
}

#[derive(Serialize)]
struct AppContext {
    client_id: String,
    name: String,
    self_registered: bool,
    described_at: Option<String>,
    /// The key of the text about what it recognizes the person by: `wallet`, `id` or `pairwise`.
    knows: &'static str,
    /// What the person agreed to at this app, the last used first. The form revokes all of it at once.
    agreements: Vec<AgreementContext>,
    /// The secret of the form that revokes its access.
    form: String,
}

#[derive(Serialize)]
struct AgreementContext {
    destinations: Vec<String>,
    /// The keys of the scopes' texts.
    scopes: Vec<&'static str>,
    /// The scopes of resources, in the operator's words.
    own_scopes: Vec<OwnScopeContext>,
    /// The audiences of its access tokens, besides this server.
    resources: Vec<ResourceContext<String>>,
    granted: Moment,
    used: Moment,
}

#[derive(Serialize)]
struct OwnScopeContext {
    title: String,
    /// The host of its resource; none if the scope was deleted.
    host: Option<String>,
}

impl OwnScopeContext {
    fn of(scope: &ShownScope, language: Language) -> Self {
        let host = scope.declared.as_ref().map(|declared| declared.host.clone());
        Self { title: scope.title_in(language.tag()).to_owned(), host }
    }
}

#[derive(Serialize)]
struct SessionContext {
    id: String,
    browser: String,
    short: String,
    address: String,
    /// What the person calls the wallet that signed.
    wallet: Option<String>,
    signed_in: Moment,
    used: Moment,
    ends: Moment,
    is_this: bool,
    /// The secret of the form that ends the session.
    form: String,
}

#[derive(Serialize)]
struct CameByContext {
    group: String,
    /// Who invited: the operator's words, or our host.
    from: String,
    when: Moment,
}

impl CameByContext {
    fn of(state: &AppState, came: &CameBy) -> Self {
        let from = came.invitation.inviter_or_host(&state.context.policy.public_url);
        Self {
            group: came.invitation.group.to_string(),
            from: from.to_owned(),
            when: Moment::at(came.used.used_at),
        }
    }
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
    let of = |account: &WalletAccount, linked: Option<&LinkedWallet>| {
        let typed = step.wallet_name.filter(|typed| typed.is_for(account));
        WalletContext::of(wallets, account, linked, typed, shown, &forms)
    };
    let of_theirs: Vec<_> = shown.wallets.iter().map(|linked| of(&linked.account, Some(linked))).collect();
    let signed_in_as = shown.wallets.iter().find(|linked| is_same(&linked.account, &shown.signed_in_as));
    let page = AccountPage {
        user: shown.user.to_string(),
        created: Moment::at(shown.created_at),
        signed_in_as: of(&shown.signed_in_as, signed_in_as),
        signed_in_lately: shown.signed_in_lately,
        mine: of_theirs.iter().map(OwnWallet::of).collect(),
        wallets: of_theirs,
        apps: AppContext::list(state, language, &shown.consents, &forms),
        sessions: shown.sessions.iter().map(|session| SessionContext::of(session, shown, &forms)).collect(),
        came_by: shown.came_by.iter().map(|came| CameByContext::of(state, came)).collect(),
        email: shown.email.as_ref().map(EmailContext::of),
        typed_email: step.email,
        sends_mail: shown.sends_mail,
        done: done.map(|done| Said { name: done.name(), text: text(done.key()) }),
        trouble: step.trouble.map(|trouble| Said { name: trouble.name(), text: text(trouble.key()) }),
        desk: step.desk,
        forms: FormSecrets::of(&forms),
    };
    state.pages.show(request, language, Name::Account, status, &page)
}

/// What people call this kind of account, for example `Ethereum`.
pub fn kind_of(wallets: &dyn WalletVerifier, account: &WalletAccount) -> String {
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

/// The same family and address are the same wallet.
fn is_same(one: &WalletAccount, other: &WalletAccount) -> bool {
    one.family == other.family && one.address == other.address
}

impl TypedName<'_> {
    fn is_for(&self, account: &WalletAccount) -> bool {
        account.caip10() == self.account && self.kind.is_none_or(|kind| account.kind() == Some(kind))
    }
}

impl WalletContext {
    fn of(
        wallets: &dyn WalletVerifier,
        account: &WalletAccount,
        linked: Option<&LinkedWallet>,
        typed: Option<TypedName<'_>>,
        shown: &AccountShown,
        forms: &Forms<'_>,
    ) -> Self {
        let kind = kind_of(wallets, account);
        let name = linked.and_then(|linked| linked.name.as_ref()).map(ToString::to_string);
        let named = account.caip10();
        Self {
            form: forms.secret(&Action::RenameWallet { account: &named, kind: account.kind() }),
            account: named,
            address: account.address.clone(),
            short: account.shortened(),
            chain: account.chain.clone(),
            title: name.clone().unwrap_or_else(|| kind.clone()),
            kind,
            name,
            picture: wallet_picture(account),
            signs: account.kind().map(AccountKind::name),
            linked: linked.map(|linked| Moment::at(linked.linked_at)),
            is_signed_in: is_same(account, &shown.signed_in_as),
            typed: typed.map(|typed| typed.name.to_owned()),
        }
    }
}

impl OwnWallet {
    fn of(wallet: &WalletContext) -> Self {
        Self {
            account: wallet.account.clone(),
            address: wallet.address.clone(),
            short: wallet.short.clone(),
            chain: wallet.chain.clone(),
            title: wallet.title.clone(),
            signs: wallet.signs,
            is_signed_in: wallet.is_signed_in,
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
                Some(app) => {
                    app.agreements.push(agreement);
                    if shown.consent.scope.shows_wallet() {
                        app.knows = "wallet";
                    }
                }
                None => apps.push(Self {
                    form: forms.secret(&Action::RevokeAccess { client: &client_id }),
                    client_id,
                    name: shown.client.name.clone(),
                    self_registered: shown.client.self_registered,
                    described_at: shown.client.described_at.clone(),
                    knows: match shown.client.is_pairwise {
                        _ if shown.consent.scope.shows_wallet() => "wallet",
                        true => "pairwise",
                        false => "id",
                    },
                    agreements: vec![agreement],
                }),
            }
        }
        apps
    }
}

impl AgreementContext {
    fn of(state: &AppState, language: Language, shown: &ConsentShown) -> Self {
        let ConsentShown { consent, destination, own_scopes, resources, .. } = shown;
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
            scopes: ScopeContext::list(&consent.scope, None, shown.client.is_pairwise)
                .into_iter()
                .map(|scope| scope.words)
                .collect(),
            own_scopes: own_scopes.iter().map(|scope| OwnScopeContext::of(scope, language)).collect(),
            resources: resources.iter().map(|resource| ResourceContext::of(resource, |part| part)).collect(),
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
            wallet: shown
                .wallets
                .iter()
                .find(|linked| is_same(&linked.account, &session.account))
                .and_then(|linked| linked.name.as_ref())
                .map(ToString::to_string),
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
