//! `POST /admin/changes`: a form asks for a change, and gets the text of it. `POST …/sign`: the text comes
//! back with its signature, and the change is made or waits for a second operator. The session alone changes
//! nothing (K-02): what is carried out is in the text, and the text was signed.

use actix_session::Session;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use countersign_domain::act::{Act, ActName, Takes, Topic};
use countersign_domain::challenge::ChallengeRejected;
use countersign_domain::desk::pending::{Fact, FactName, PendingChange};
use countersign_domain::error::OAuthErrorCode as Code;
use countersign_domain::id::ClientId;
use countersign_domain::refusal::RefusedFor;
use countersign_domain::secret::Secret;
use countersign_domain::wallet::WalletAccount;
use countersign_http_actix::browser::forms::Action;
use countersign_http_actix::browser::session::{self, MadeChange};
use countersign_http_actix::endpoint::sign_in::challenge::HowToSign;
use countersign_http_actix::endpoint::steps::back_channel;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::extract::body::Body;
use countersign_http_actix::extract::request_id::Reference;
use countersign_http_actix::limits::rate_limit::Limited;
use countersign_http_actix::page::language::Language;
use countersign_http_actix::page::moment::Moment;
use countersign_http_actix::page::name::DeskPage;
use countersign_operators::desk::Stale;
use countersign_operators::desk::begin_change::{
    BeginChangeError, ChangeText, Signing, begin_change, change_of_text, recall_change,
};
use countersign_operators::desk::complete_change::{CompleteChangeError, Completed, complete_change};
use countersign_operators::desk::overview::Counted;
use countersign_operators::desk::proposals::ProposalGone;
use countersign_operators::desk::review::{Affected, Becomes, BecomesName, review_change};
use countersign_operators::operate::Effect;
use countersign_operators::people::block::BlockedNow;
use countersign_operators::qr_code;
use countersign_ports::{OperatorSuspended, RotatedKeys};
use countersign_usecases::account::change_wallets::SignedText;
use countersign_usecases::act_refused::{ActRefused, Front};
use serde::Serialize;

use super::admit::Visit;
use super::asking::{APPLICATION, APPLICATION_URL, ONESELF, are_ticks};
use super::events;
use super::field::Input;
use super::forms::{Form, key_of};
use super::happened::Happened;
use super::hidden::{SecretView, Signed};
use super::mail;
use super::query::segment;
use super::sent::{Sent, Unfit, Wrong, written};
use super::show::{About, Here, Notice};
use super::view::{WalletView, unavailable, wallet_path};

/// The fields of a form that come back with the signature: they say which settings are shown with a new client, and
/// change nothing.
const KEPT: [Input; 2] = [APPLICATION, APPLICATION_URL];

/// How many events of a change are shown when it was made.
const MOST_SHOWN: u32 = 20;

const CLIENT_SECRET: &str = "client_secret";
/// The link of a new invitation.
const INVITATION_LINK: &str = "invitation_link";

/// Why a change is not made, as the pages say it.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    notice: Notice,
    logged_as: RefusedFor,
}

/// Which form asked for a text, so that it can be asked for once more.
pub(super) struct Again<'a> {
    path: &'static str,
    sent: &'a Sent,
}

pub(super) const fn again_at<'a>(sent: &'a Sent, path: &'static str) -> Again<'a> {
    Again { path, sent }
}

#[derive(Serialize)]
struct SignPage<'a> {
    key: String,
    words: String,
    becomes: Vec<BecomesView>,
    affects: Vec<AffectedView>,
    /// Does it take something away? Then what confirms it is red, here alone.
    takes: bool,
    needs_second: bool,
    is_second: bool,
    signer: WalletView,
    others: Vec<WalletView>,
    mine: Vec<OwnWallet<'a>>,
    again: Vec<Pair<'a>>,
    again_path: &'static str,
    text: &'a str,
    how_to_sign: Vec<HowToSign>,
    expires: Moment,
    path: &'static str,
    form: String,
    kept: Vec<Pair<'a>>,
    tries_left: Option<u8>,
    reference: Option<String>,
    back: String,
}

/// What the page's script needs to know of the wallet that signs.
#[derive(Serialize)]
struct OwnWallet<'a> {
    account: String,
    address: &'a str,
    chain: &'a str,
    signs: Option<&'static str>,
}

#[derive(Serialize)]
struct Pair<'a> {
    name: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct FactView {
    name: String,
    value: String,
    word: Option<Word>,
}

/// Words of the page, in the language of the reader.
#[derive(Serialize)]
struct Word {
    group: &'static str,
    key: String,
}

/// Something that becomes different.
#[derive(Serialize)]
struct BecomesView {
    label: Word,
    stays: Vec<FactView>,
    gone: Vec<FactView>,
    new: Vec<FactView>,
}

/// Who a change affects: the key of a text, and how many.
#[derive(Serialize)]
struct AffectedView {
    key: &'static str,
    count: String,
}

#[derive(Serialize)]
struct ChangedView {
    name: String,
    before: Option<FactView>,
    now: Option<FactView>,
}

#[derive(Serialize)]
struct RefusedPage {
    key: Option<String>,
    form: Option<Form>,
    /// All fields that cannot have their values.
    wrong: Vec<Wrong>,
    back: String,
}

#[derive(Serialize)]
struct StalePage {
    words: Option<String>,
    changed: Vec<ChangedView>,
    back: String,
}

#[derive(Default, Serialize)]
struct DonePage {
    key: String,
    words: String,
    /// The events that were recorded. The first says it as a whole.
    happened: Vec<Happened>,
    proposed: Option<String>,
    /// Was it made before this request?
    again: bool,
    counts: Vec<CountView>,
    still_in: Vec<String>,
    secrets: Vec<SecretView>,
    /// The QR code of a new link.
    qr: Option<String>,
    new_client: Option<NewClient>,
    settings: Option<SettingsView>,
    request: Option<String>,
    back: String,
}

#[derive(Serialize)]
struct CountView {
    key: &'static str,
    count: u64,
}

/// What the application of a new client asks for.
#[derive(Serialize)]
struct NewClient {
    id: String,
    issuer: String,
    discovery: String,
}

impl NewClient {
    fn of(visit: &Visit, id: &ClientId) -> Self {
        let issuer = visit.state.context.policy.public_url.as_str();
        Self {
            id: id.to_string(),
            issuer: issuer.to_owned(),
            discovery: format!("{issuer}/.well-known/openid-configuration"),
        }
    }
}

#[derive(Serialize)]
struct SettingsView {
    title: String,
    file: String,
    text: String,
}

/// Makes the text of a change.
pub(super) async fn begin(visit: Visit, session: Session, body: Body) -> Result<HttpResponse, ApiError> {
    visit.state.admit(&visit.request, Limited::Challenge)?;
    let sent = Sent::read(&body, are_ticks)?;
    visit.forms().require(&Action::BeginDeskChange, sent.one("form"))?;
    let asked = match sent.signer(&visit.operator.wallets) {
        Ok(signer) => {
            let change = sent.change(visit.management(), &*visit.settings.applications).await;
            change.map(|change| (change, signer))
        }
        Err(unfit) => Err(unfit),
    };
    let (change, signer) = match asked {
        Ok(asked) => asked,
        Err(Unfit::Store(error)) => return Err(unavailable(error)),
        Err(Unfit::NoChange) => return Err(ApiError::invalid_request("change names no change")),
        Err(Unfit::Unwritable) => {
            return ask_again(&visit, &sent, Refusal::of(&ActRefused::Unwritable), Vec::new()).await;
        }
        Err(Unfit::Fields(wrong)) => {
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, Notice::of("field"));
            return ask_again(&visit, &sent, refusal, wrong).await;
        }
    };
    let signing = Signing { signer: signer.as_ref(), word: sent.one(ONESELF.name) };
    match begin_change(visit.desk(), &visit.operator, change, signing).await {
        Ok((pending, shown)) => {
            ask_to_sign(&visit, &session, &pending, &shown, &again_at(&sent, "/changes")).await
        }
        Err(error) => {
            let mut wrong = Vec::new();
            if let BeginChangeError::Refused(ActRefused::Metadata(rejected)) = &error {
                wrong.push(Wrong { name: rejected.field(), why: rejected.to_string() });
            }
            ask_again(&visit, &sent, of_begin(error)?, wrong).await
        }
    }
}

/// Takes the signature of a text, which is a first or a second one.
pub(super) async fn sign(visit: Visit, session: Session, body: Body) -> Result<HttpResponse, ApiError> {
    visit.state.admit(&visit.request, Limited::Login)?;
    let sent = Sent::read(&body, are_ticks)?;
    let all = Signed::of(&sent);
    if let Some(made) = session::desk_change_made(&session)
        && let Some(text) = sent.one("challenge")
        && let Some(change) = change_of_text(visit.desk(), &made.id, text)
    {
        return made_before(&visit, &sent, &change, &all, made).await;
    }
    let mut pending = session::load_desk_change(&session)?;
    let action = Action::SignDeskChange { challenge: pending.challenge.id };
    visit.forms().with(&session).require(&action, sent.one("form"))?;
    let required = |name: &'static str| {
        sent.one(name)
            .map(str::to_owned)
            .ok_or_else(|| ApiError::invalid_request(format!("{name} is missing")))
    };
    let text = required("challenge")?;
    let signed = SignedText { text: text.clone(), signature: required("signature")?.trim().to_owned() };
    match complete_change(visit.desk(), &visit.operator, &mut pending, signed).await {
        Ok(completed) => done(&visit, &session, &sent, (&pending, &all), completed).await,
        Err(error) => not_made(&visit, &session, &sent, (&pending, &text), error).await,
    }
}

/// Shows the text of a change, and remembers in the session that it was issued.
pub(super) async fn ask_to_sign(
    visit: &Visit,
    session: &Session,
    pending: &PendingChange,
    shown: &ChangeText,
    again: &Again<'_>,
) -> Result<HttpResponse, ApiError> {
    let context = &visit.state.context;
    let forms = visit.forms().with_new(session, &*context.entropy)?;
    session::save_desk_change(session, pending, context.clock.now()).map_err(ApiError::server_error)?;
    let form = forms.secret(&Action::SignDeskChange { challenge: pending.challenge.id });
    sign_page(visit, pending, shown, form, again, None).await
}

async fn sign_page(
    visit: &Visit,
    pending: &PendingChange,
    shown: &ChangeText,
    form: String,
    again: &Again<'_>,
    refused: Option<Refusal>,
) -> Result<HttpResponse, ApiError> {
    let wallets = &*visit.state.context.wallets;
    let (here, back) = subject_of(&shown.change);
    let user = visit.operator.session.user;
    let review = review_change(visit.desk(), user, &shown.change).await.map_err(unavailable)?;
    let is_second = pending.proposal.is_some();
    let may_choose = !again.path.is_empty();
    let others = visit.operator.wallets.iter().filter(|wallet| may_choose && **wallet != shown.signer);
    let kept = |Input { name, .. }| again.sent.one(name).map(|value| Pair { name, value });
    let page = SignPage {
        key: key_of(shown.change.name()),
        words: shown.change.statement(),
        becomes: review.becomes.iter().map(BecomesView::of).collect(),
        affects: review.affects.iter().map(AffectedView::of).collect(),
        takes: shown.change.name().row().takes != Takes::Nothing,
        needs_second: shown.needs_second,
        is_second,
        signer: WalletView::of(wallets, &shown.signer),
        others: others.map(|wallet| WalletView::of(wallets, wallet)).collect(),
        mine: vec![OwnWallet::of(&shown.signer)],
        again: again.sent.to_repeat().map(|(name, value)| Pair { name, value }).collect(),
        again_path: again.path,
        text: &shown.text.text,
        how_to_sign: HowToSign::list(shown.text.signing_hints.clone()),
        expires: Moment::at(shown.expires_at),
        path: if is_second { "/proposals/sign" } else { "/changes/sign" },
        form,
        kept: KEPT.into_iter().filter_map(kept).collect(),
        tries_left: refused.as_ref().map(|_| pending.challenge.tries_left()),
        reference: refused.as_ref().and_then(|_| Reference::of(&visit.request)),
        back,
    };
    let status = refused.as_ref().map_or(StatusCode::OK, |refused| refused.status);
    let notice = refused.map(|refused| refused.notice);
    let about = About { state: Some("sign"), notice, ..About::default() };
    visit.show(DeskPage::Change, here, about, status, &page).await
}

/// Shows the form once more, with what was typed and why it was refused.
async fn ask_again(
    visit: &Visit,
    sent: &Sent,
    refusal: Refusal,
    wrong: Vec<Wrong>,
) -> Result<HttpResponse, ApiError> {
    let name = sent.name();
    let asks_for_word = refusal.notice.key == Refusal::ONESELF.notice.key || sent.one(ONESELF.name).is_some();
    let word = asks_for_word.then_some(ONESELF);
    let form = name.map(|name| visit.desk_forms().form_again(name, sent, word, &wrong));
    let (here, back) = page_of(sent);
    refuse(visit, refusal, here, RefusedPage { key: name.map(key_of), form, wrong, back }).await
}

/// Says why nothing was changed.
pub(super) async fn refused(
    visit: &Visit,
    refusal: Refusal,
    here: Here,
    back: &str,
) -> Result<HttpResponse, ApiError> {
    refuse(
        visit,
        refusal,
        here,
        RefusedPage { key: None, form: None, wrong: Vec::new(), back: back.to_owned() },
    )
    .await
}

async fn refuse(
    visit: &Visit,
    refusal: Refusal,
    here: Here,
    page: RefusedPage,
) -> Result<HttpResponse, ApiError> {
    visit.log_because(&refusal, &page.wrong);
    let Refusal { status, notice, .. } = refusal;
    let about = About { state: Some("refused"), notice: Some(notice), ..About::default() };
    visit.show(DeskPage::Refused, here, about, status, &page).await
}

/// Says what changed since the operator began.
pub(super) async fn stale(
    visit: &Visit,
    change: Option<&Act>,
    stale: &Stale,
    here: Here,
    back: &str,
) -> Result<HttpResponse, ApiError> {
    visit.log(&Refusal::new(
        StatusCode::CONFLICT,
        Notice::because("refused", "the subject changed meanwhile"),
    ));
    let changed = stale.changed.iter().map(|changed| ChangedView {
        name: fact_key(changed.name.name()),
        before: changed.before.as_ref().map(|value| FactView::of(&Fact::new(changed.name, value))),
        now: changed.now.as_ref().map(|value| FactView::of(&Fact::new(changed.name, value))),
    });
    let page =
        StalePage { words: change.map(Act::statement), changed: changed.collect(), back: back.to_owned() };
    let about = About { state: Some("stale"), ..About::default() };
    visit.show(DeskPage::Stale, here, about, StatusCode::CONFLICT, &page).await
}

/// Why there is no text. Failures of the store are separate.
pub(super) fn of_begin(error: BeginChangeError) -> Result<Refusal, ApiError> {
    Ok(match error {
        BeginChangeError::Refused(refused) => Refusal::of(&refused),
        BeginChangeError::NotOperator => Refusal::NOT_OPERATOR,
        BeginChangeError::AboutOneself => Refusal::ONESELF,
        BeginChangeError::Store(error) => return Err(unavailable(error)),
    })
}

async fn not_made(
    visit: &Visit,
    session: &Session,
    sent: &Sent,
    (pending, text): (&PendingChange, &str),
    error: CompleteChangeError,
) -> Result<HttpResponse, ApiError> {
    let recalled = recall_change(visit.desk(), pending, text);
    let (here, back) = recalled
        .as_ref()
        .map_or_else(|| (Here::Overview, String::new()), |recalled| subject_of(&recalled.change));
    let refusal = match error {
        CompleteChangeError::Stale(what) => {
            session::forget_desk_change(session);
            let change = recalled.as_ref().map(|recalled| &recalled.change);
            return stale(visit, change, &what, here, &back).await;
        }
        error @ (CompleteChangeError::Signature(_) | CompleteChangeError::Verifier(_)) => {
            let is_wrong = matches!(error, CompleteChangeError::Signature(_));
            let refusal = if is_wrong { Refusal::SIGNATURE } else { Refusal::UNVERIFIED };
            // A wrong signature is counted in the session.
            session::save_desk_change(session, pending, visit.state.context.clock.now())
                .map_err(ApiError::server_error)?;
            if let Some(recalled) = recalled {
                visit.log(&refusal);
                let action = Action::SignDeskChange { challenge: pending.challenge.id };
                let form = visit.forms().with(session).secret(&action);
                return sign_page(visit, pending, &recalled, form, &again_at(sent, ""), Some(refusal)).await;
            }
            if is_wrong { Refusal::EXHAUSTED } else { Refusal::CHALLENGE }
        }
        CompleteChangeError::Challenge(ChallengeRejected::Exhausted) => Refusal::EXHAUSTED,
        CompleteChangeError::Challenge(ChallengeRejected::Unknown | ChallengeRejected::Expired) => {
            Refusal::CHALLENGE
        }
        CompleteChangeError::Spent => Refusal::SPENT,
        error @ CompleteChangeError::OtherHost { .. } => {
            Refusal::new(StatusCode::CONFLICT, Notice::because("refused", error))
        }
        CompleteChangeError::NotOperator => Refusal::NOT_OPERATOR,
        // From now on, the desk does not exist for them.
        CompleteChangeError::Suspended => return Err(ApiError::not_found()),
        CompleteChangeError::SamePerson => Refusal::SAME_PERSON,
        CompleteChangeError::PersonUnknown => Refusal::PERSON_UNKNOWN,
        CompleteChangeError::ProposalGone(gone) => Refusal::gone(&gone),
        CompleteChangeError::Refused(refused) => Refusal::of(&refused),
        CompleteChangeError::Store(error) => return Err(unavailable(error)),
    };
    refused(visit, refusal, here, &back).await
}

async fn done(
    visit: &Visit,
    session: &Session,
    sent: &Sent,
    (pending, signed): (&PendingChange, &Signed<'_>),
    completed: Completed,
) -> Result<HttpResponse, ApiError> {
    let (change, effect, proposed) = match completed {
        Completed::Done { change, effect } => (change, Some(effect), None),
        Completed::Proposed { proposal, change } => {
            mail::tell_others(&visit.state, Language::of(&visit.request, None), &proposal, &change);
            (change, None, Some(proposal.id.to_string()))
        }
    };
    let (here, back) = where_it_is(&change, effect.as_ref());
    let mut page = DonePage::of(&change, back);
    if let Some(effect) = effect {
        page.tell(visit, effect);
    }
    page.request = Reference::of(&visit.request);
    page.proposed = proposed;
    let made = MadeChange {
        id: pending.challenge.id.to_string(),
        proposed: page.proposed.is_some(),
        request: page.request.clone(),
        secrets: signed.hide(&page.secrets),
        until: pending.challenge.expires_at.unix_timestamp(),
    };
    session::note_desk_change_made(session, &made)?;
    page.show(visit, sent, &change, here, StatusCode::OK).await
}

/// Shows once more a change that was made, when its page is loaded again. It is refused, because its text was used
/// already. Who sends all that was sent sees its secrets again until the text would have expired.
async fn made_before(
    visit: &Visit,
    sent: &Sent,
    change: &Act,
    signed: &Signed<'_>,
    made: MadeChange,
) -> Result<HttpResponse, ApiError> {
    let (here, back) = where_it_is(change, None);
    let is_soon = visit.state.context.clock.now().unix_timestamp() < made.until;
    let secrets = made.secrets.filter(|_| is_soon).and_then(|hidden| signed.reveal(&hidden));
    let page = DonePage {
        proposed: made.proposed.then_some(made.id),
        request: made.request,
        secrets: secrets.unwrap_or_default(),
        again: true,
        ..DonePage::of(change, back)
    };
    visit.log(&Refusal::SPENT);
    page.show(visit, sent, change, here, Refusal::SPENT.status).await
}

impl DonePage {
    fn of(change: &Act, back: String) -> Self {
        Self { key: key_of(change.name()), words: change.statement(), back, ..Self::default() }
    }

    /// Adds what was recorded and what an application needs to know, and shows the page.
    async fn show(
        mut self,
        visit: &Visit,
        sent: &Sent,
        change: &Act,
        here: Here,
        status: StatusCode,
    ) -> Result<HttpResponse, ApiError> {
        if self.proposed.is_none()
            && let Some(request) = &self.request
        {
            self.happened = events::happened(visit, request, change.name(), MOST_SHOWN).await?;
        }
        if let (Act::RegisterClient { id: Some(id), .. }, None) = (change, &self.proposed) {
            let client = NewClient::of(visit, id);
            let secret = self.secrets.iter().find(|secret| secret.name == CLIENT_SECRET);
            let secret = secret.map(|secret| secret.value.as_str()).unwrap_or_default();
            self.settings = SettingsView::of(visit, sent, &client.id, secret);
            self.back = format!("/clients/{id}");
            self.new_client = Some(client);
        }
        let link = self.secrets.iter().find(|secret| secret.name == INVITATION_LINK);
        self.qr = link.and_then(|link| qr_code::svg(&link.value));
        let state = if self.proposed.is_some() { "proposed" } else { "done" };
        let about = About { state: Some(state), ..About::default() };
        visit.show(DeskPage::Done, here, about, status, &self).await
    }

    /// Says what a change did, and notifies the clients whose people it signed out.
    fn tell(&mut self, visit: &Visit, effect: Effect) {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let secret = |secret: &Secret| secret.expose().to_owned();
        if let Effect::Removed(_, removed) = &effect {
            let still = removed.iter().flat_map(|removed| &removed.still);
            self.still_in = still.map(ToString::to_string).collect();
        }
        if let Effect::Blocked(_, BlockedNow { ended, .. }) | Effect::SignedOut(_, _, ended) = &effect {
            self.counts.push(CountView { key: "sessions", count: ended.sessions });
            self.counts.push(CountView { key: "grants", count: ended.grants });
        }
        if let Effect::OperatorSuspended(_, OperatorSuspended::Suspended { proposals }) = &effect {
            self.counts.push(CountView { key: "proposals_ended", count: *proposals });
        }
        if let Effect::Registered(registered) = &effect {
            visit.state.metrics.clients_registered.count();
            let client_secret = registered.secret.as_ref().map(secret);
            self.secrets.extend(client_secret.map(|value| SecretView::of(CLIENT_SECRET, value)));
            let value = secret(&registered.registration_token);
            self.secrets.push(SecretView::of("registration_access_token", value));
        }
        if let Effect::Rotated(_, rotated) = &effect {
            self.secrets.push(SecretView::of(CLIENT_SECRET, secret(&rotated.secret)));
        }
        if let Effect::InvitationCreated(created) = &effect {
            self.secrets.push(SecretView::of(INVITATION_LINK, secret(&created.link)));
        }
        if let Effect::AdminKeyCreated(created) = &effect {
            self.secrets.push(SecretView::of("admin_key", secret(&created.text)));
        }
        if let Effect::Keys(RotatedKeys { made, withdrawn }) = &effect {
            self.counts.push(CountView { key: "keys_made", count: number(made.len()) });
            self.counts.push(CountView { key: "keys_withdrawn", count: number(withdrawn.len()) });
        }
        if let Some(notices) = effect.into_notices() {
            self.counts.push(CountView { key: "notices", count: number(notices.len()) });
            back_channel::tell(&visit.state, notices);
        }
    }
}

impl SettingsView {
    /// The settings of the application that was chosen with the form.
    fn of(visit: &Visit, sent: &Sent, id: &str, secret: &str) -> Option<Self> {
        let (name, at) = sent.application().ok().flatten()?;
        let applications = &visit.settings.applications;
        let filled = applications.settings(name, &at, id, secret)?;
        let title = applications.list().into_iter().find(|(known, _)| known == name)?.1;
        Some(Self { title, file: filled.file, text: filled.text })
    }
}

impl Visit {
    /// Writes a refusal into the log.
    fn log(&self, refusal: &Refusal) {
        self.log_because(refusal, &[]);
    }

    fn log_because(&self, refusal: &Refusal, wrong: &[Wrong]) {
        let detail = refusal.notice.detail.clone().or((!wrong.is_empty()).then(|| written(wrong)));
        let sentence = detail.unwrap_or_else(|| refusal.notice.key.to_owned());
        let error = ApiError::new(Code::InvalidRequest, sentence).with_status(refusal.status);
        self.state.log_refusal(&self.request, &error.logged_as(refusal.logged_as), None);
    }
}

impl Refusal {
    pub(super) const SAME_PERSON: Self = Self::plain(StatusCode::FORBIDDEN, "same_person");
    pub(super) const PERSON_UNKNOWN: Self = Self::plain(StatusCode::FORBIDDEN, "person_unknown");
    /// The change would take the desk away from the operator who asks for it.
    const ONESELF: Self = Self::plain(StatusCode::CONFLICT, "oneself");
    const NOT_OPERATOR: Self = Self::plain(StatusCode::FORBIDDEN, "not_operator");
    const SPENT: Self = Self::plain(StatusCode::CONFLICT, "spent");
    const CHALLENGE: Self = Self::plain(StatusCode::UNAUTHORIZED, "challenge");
    const EXHAUSTED: Self = Self::plain(StatusCode::UNAUTHORIZED, "exhausted");
    pub(super) const UNVERIFIED: Self = Self::plain(StatusCode::SERVICE_UNAVAILABLE, "unavailable");
    const SIGNATURE: Self = Self {
        status: StatusCode::UNAUTHORIZED,
        notice: Notice::of("signature"),
        logged_as: RefusedFor::Signature,
    };

    const fn plain(status: StatusCode, key: &'static str) -> Self {
        Self { status, notice: Notice::of(key), logged_as: RefusedFor::Other }
    }

    fn new(status: StatusCode, notice: Notice) -> Self {
        Self { status, notice, logged_as: RefusedFor::Other }
    }

    fn of(refused: &ActRefused) -> Self {
        Self::new(StatusCode::CONFLICT, Notice::because("refused", refused.words(Front::Desk)))
    }

    pub(super) fn gone(gone: &ProposalGone) -> Self {
        Self::new(StatusCode::CONFLICT, Notice::because("gone", gone))
    }
}

impl FactView {
    fn of(fact: &Fact) -> Self {
        let Fact { name, value } = fact;
        let value = Fact::without_mark(value);
        let groups = value.strip_prefix("groups:").filter(|_| *name == FactName::Rule);
        let shown = groups.unwrap_or(value);
        Self { name: fact_key(name.name()), value: shown.to_owned(), word: word_for(*name, value) }
    }

    /// What a client registered is shown as it is.
    fn plain(value: &str) -> Self {
        Self { name: String::new(), value: value.to_owned(), word: None }
    }
}

impl BecomesView {
    fn of(becomes: &Becomes) -> Self {
        let Becomes { name, stays, gone, new } = becomes;
        let label = match name {
            BecomesName::Fact(name) => Word { group: "facts", key: fact_key(name.name()) },
            BecomesName::Field(field) => Word { group: "fields", key: field.name().to_owned() },
        };
        let view = |value: &String| match name {
            BecomesName::Fact(name) => FactView::of(&Fact::new(*name, value)),
            BecomesName::Field(_) => FactView::plain(value),
        };
        let all = |values: &[String]| values.iter().map(view).collect();
        Self { label, stays: all(stays), gone: all(gone), new: all(new) }
    }
}

impl AffectedView {
    fn of((affected, counted): &(Affected, Counted)) -> Self {
        Self { key: affected.name(), count: counted.to_string() }
    }
}

impl<'a> OwnWallet<'a> {
    fn of(account: &'a WalletAccount) -> Self {
        let signs = account.kind().map(countersign_domain::wallet::AccountKind::name);
        Self { account: account.caip10(), address: &account.address, chain: &account.chain, signs }
    }
}

/// The words for a value. What people wrote is shown as it is.
fn word_for(name: FactName, value: &str) -> Option<Word> {
    let (group, keys): (_, &[&str]) = match name {
        FactName::Exists
        | FactName::InGroup
        | FactName::Revoked
        | FactName::Blocked
        | FactName::Suspended
        | FactName::Owner
        | FactName::Expires => ("answers", &["yes", "no"]),
        FactName::Rule => ("options", &["default", "everyone", "nobody"]),
        FactName::OpenTo => ("options", &["everyone", "named"]),
        FactName::Release if value == "rule" => {
            return Some(Word { group: "options", key: "release_rule".to_owned() });
        }
        // They are known by their marks, which no one reads.
        FactName::Secret | FactName::Metadata => {
            return Some(Word { group: "answers", key: "changed".to_owned() });
        }
        FactName::Release => ("options", &["all"]),
        FactName::RegisteredBy => ("registered_by", &["operator", "self", "document"]),
        FactName::Proposal => {
            ("proposal_states", &["waiting", "taken", "done", "failed", "withdrawn", "refused", "suspended"])
        }
        FactName::Wallets
        | FactName::OtherWallets
        | FactName::Groups
        | FactName::Title
        | FactName::Users
        | FactName::Members
        | FactName::NotInGroup
        | FactName::StillIn
        | FactName::UsedBy
        | FactName::Name
        | FactName::RedirectUris
        | FactName::Scopes
        | FactName::GrantTypes
        | FactName::Authentication
        | FactName::Resources
        | FactName::Keys
        | FactName::Uses
        | FactName::ValidFor
        | FactName::Inviter
        | FactName::LeadsTo
        | FactName::AdminScopes => return None,
    };
    keys.iter().find(|key| **key == value).map(|&key| Word { group, key: key.to_owned() })
}

/// The key of a fact's text.
fn fact_key(name: &str) -> String {
    name.replace('-', "_")
}

/// The page of what an act is about.
fn subject_of(act: &Act) -> (Here, String) {
    let list = |here: Here| (here, here.path().to_owned());
    match act.about() {
        Topic::User(user) => (Here::People, format!("/people/{}", user.id)),
        Topic::Wallet(account) => (Here::Wallets, wallet_path(account)),
        // There is no page of it yet.
        Topic::Group(_) if act.name() == ActName::CreateGroup => list(Here::Groups),
        Topic::Group(group) => (Here::Groups, format!("/groups/{}", segment(group.as_str()))),
        Topic::Invitation(id) => (Here::Invitations, format!("/invitations/{id}")),
        Topic::NewClient(_) => list(Here::Clients),
        Topic::Client(client) => (Here::Clients, format!("/clients/{}", client.id)),
        Topic::Resource(_) => list(Here::Resources),
        Topic::Keys(_) => list(Here::Keys),
        Topic::AdminKey(_) => list(Here::AdminKeys),
        Topic::Proposal(proposal) => (Here::Proposals, format!("/proposals/{proposal}")),
    }
}

/// Where to look at what was done: its subject, unless it is gone.
fn where_it_is(act: &Act, effect: Option<&Effect>) -> (Here, String) {
    let (here, path) = subject_of(act);
    match (act.about(), effect) {
        _ if act.name().row().takes == Takes::Subject => (here, here.path().to_owned()),
        (Topic::Group(group), _) => (here, format!("/groups/{}", segment(group.as_str()))),
        (_, Some(Effect::Registered(registered))) => (here, format!("/clients/{}", registered.client.id)),
        _ => (here, path),
    }
}

/// The page of what a form is about that asks for no change.
fn page_of(sent: &Sent) -> (Here, String) {
    let word = sent.one("change").unwrap_or_default();
    let of = |here: Here, name: &str| match sent.one(name) {
        Some(value) => (here, format!("{}/{}", here.path(), segment(value))),
        None => (here, here.path().to_owned()),
    };
    match word.split('-').next().unwrap_or_default() {
        "user" => of(Here::People, "user"),
        "operator" => (Here::People, Here::People.path().to_owned()),
        "wallet" => (Here::Wallets, Here::Wallets.path().to_owned()),
        "group" if word == "group-create" => (Here::Groups, Here::Groups.path().to_owned()),
        "group" | "member" => of(Here::Groups, "group"),
        "invitation" => of(Here::Invitations, "invitation"),
        "client" => of(Here::Clients, "client"),
        "resource" => (Here::Resources, Here::Resources.path().to_owned()),
        "keys" | "key" => (Here::Keys, Here::Keys.path().to_owned()),
        "admin" => (Here::AdminKeys, Here::AdminKeys.path().to_owned()),
        "proposal" => of(Here::Proposals, "proposal"),
        _ => (Here::Overview, String::new()),
    }
}
