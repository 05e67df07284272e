//! `/admin/proposals`: changes that wait for a second operator, and what became of them.

use actix_session::Session;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use countersign_domain::act::written::WrittenChange;
use countersign_domain::act::{Act, ActField, ActName};
use countersign_domain::challenge::ReadText;
use countersign_domain::desk::proposal::ProposalState;
use countersign_domain::event::ChangeSignature;
use countersign_domain::id::GrantId;
use countersign_http_actix::browser::forms::Action;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::extract::body::Body;
use countersign_http_actix::limits::rate_limit::Limited;
use countersign_http_actix::page::moment::Moment;
use countersign_http_actix::page::name::DeskPage;
use countersign_operators::desk::begin_change::Signing;
use countersign_operators::desk::oneself::is_about_oneself;
use countersign_operators::desk::proposals::{
    BeginCountersignError, MaySign, ProposalRead, begin_countersign, list_proposals, read_proposal,
};
use serde::Serialize;

use super::admit::Visit;
use super::asking::{ONESELF, are_ticks};
use super::changes::{self, Refusal, again_at};
use super::events::{SignatureView, refusal_of};
use super::field::Field;
use super::forms::{Form, key_of};
use super::names::NameOf;
use super::query::{Pager, Query, wrong_row};
use super::sent::{Sent, Unfit, written};
use super::show::{About, Here};
use super::view::{WalletView, unavailable};

#[derive(Serialize)]
struct Proposals {
    proposals: Vec<ProposalRow>,
    /// How many rows cannot be read.
    unreadable: usize,
    pager: Pager,
}

#[derive(Serialize)]
struct ProposalRow {
    id: String,
    key: Option<String>,
    words: String,
    by: WalletView,
    proposed: Moment,
    expires: Moment,
    state: &'static str,
}

#[derive(Serialize)]
struct ProposalPage {
    #[serde(flatten)]
    row: ProposalRow,
    text: String,
    signature: String,
    /// What another operator signed: the second signature, or that they refuse.
    second: Option<SignatureView>,
    /// Why another operator refused it.
    refused_for: Option<String>,
    may_sign: bool,
    /// Asks for the word if the change takes the desk away from who would sign it.
    word: Option<Field>,
    is_same_person: bool,
    is_person_unknown: bool,
    /// Takes it back, or refuses it.
    form: Option<Form>,
}

pub(super) async fn list(visit: Visit) -> Result<HttpResponse, ApiError> {
    let query = Query::of(&visit.request, &["limit", "after"]);
    let after = query.after().map(|after| GrantId::parse(after).ok_or_else(wrong_row)).transpose()?;
    let listed = list_proposals(visit.desk(), &visit.operator, after, query.limit()?).await;
    let listed = listed.map_err(unavailable)?;
    let next = listed.last.filter(|_| listed.more).map(|last| last.to_string());
    let page = Proposals {
        proposals: listed.proposals.iter().map(|read| ProposalRow::of(&visit, read)).collect(),
        unreadable: listed.unreadable,
        pager: query.pager(next),
    };
    visit.page(DeskPage::Proposals, Here::Proposals, &page).await
}

pub(super) async fn show(visit: Visit, id: Path<String>) -> Result<HttpResponse, ApiError> {
    let id = GrantId::parse(&id).ok_or_else(ApiError::not_found)?;
    let read = read_proposal(visit.desk(), &visit.operator, id).await.map_err(unavailable)?;
    let read = read.ok_or_else(ApiError::not_found)?;
    let ChangeSignature { text, signature, .. } = read.proposal.first.clone();
    let is_same_person = read.may_sign == MaySign::SamePerson;
    let known = Sent::default().with(ActField::Proposal, [id]);
    let second = match (read.state, &read.proposal.second) {
        (ProposalState::Refused, _) => refusal_of(&visit, id, read.proposal.proposed_at).await?,
        (_, second) => second.as_ref().map(|(_, signed)| SignatureView {
            by: signed.account.caip10(),
            name: NameOf::wallet(&signed.account),
            text: signed.text.clone(),
            signature: signed.signature.clone(),
        }),
    };
    let refused_for = second.as_ref().filter(|_| read.state == ProposalState::Refused);
    let refused_for = refused_for.and_then(|signed| reason_in(&signed.text));
    let change = match (is_same_person, read.state) {
        (true, _) => Some(ActName::WithdrawProposal),
        (false, ProposalState::Waiting) if read.may_sign != MaySign::Over => Some(ActName::RefuseProposal),
        (false, _) => None,
    };
    let may_sign = read.may_sign == MaySign::Yes;
    let user = visit.operator.session.user;
    let is_about_oneself = match read.change.as_ref().filter(|_| may_sign) {
        Some(change) => is_about_oneself(&visit.state.context, user, change).await.map_err(unavailable)?,
        None => false,
    };
    let page = ProposalPage {
        row: ProposalRow::of(&visit, &read),
        text,
        signature,
        second,
        refused_for,
        may_sign,
        word: is_about_oneself.then(|| Field::of(ONESELF, &Sent::default(), &*visit.settings.applications)),
        is_same_person,
        is_person_unknown: read.may_sign == MaySign::PersonUnknown,
        form: change.map(|change| visit.make_form(change, &known)),
    };
    let subject = id.to_string();
    let about = About { subject: Some(NameOf::text(subject)), ..About::default() };
    visit.show(DeskPage::Proposal, Here::Proposals, about, StatusCode::OK, &page).await
}

/// Why a text refuses a proposal, if it says so.
fn reason_in(text: &str) -> Option<String> {
    let change = WrittenChange::of(&ReadText::read(text)?).ok()?.change;
    if let Act::RefuseProposal { reason, .. } = change { reason } else { None }
}

/// Makes the text that a second operator signs.
pub(super) async fn begin(visit: Visit, session: Session, body: Body) -> Result<HttpResponse, ApiError> {
    visit.state.admit(&visit.request, Limited::Challenge)?;
    let sent = Sent::read(&body, are_ticks)?;
    visit.forms().require(&Action::BeginDeskChange, sent.one("form"))?;
    let asked = || Ok((sent.proposal()?, sent.signer(&visit.operator.wallets)?));
    let (id, signer) = asked().map_err(|unfit| match unfit {
        Unfit::Store(error) => unavailable(error),
        Unfit::Fields(wrong) => ApiError::invalid_request(written(&wrong)),
        Unfit::NoChange | Unfit::Unwritable => ApiError::invalid_request("proposal is missing"),
    })?;
    let signing = Signing { signer: signer.as_ref(), word: sent.one(ONESELF.name) };
    let begun = begin_countersign(visit.desk(), &visit.operator, id, signing).await;
    let back = format!("/proposals/{id}");
    let refused = async |refusal| changes::refused(&visit, refusal, Here::Proposals, &back).await;
    let (pending, shown) = match begun {
        Ok(begun) => begun,
        Err(BeginCountersignError::Gone(gone)) => return refused(Refusal::gone(&gone)).await,
        Err(BeginCountersignError::SamePerson) => return refused(Refusal::SAME_PERSON).await,
        Err(BeginCountersignError::PersonUnknown) => return refused(Refusal::PERSON_UNKNOWN).await,
        Err(BeginCountersignError::Stale(stale)) => {
            let read = read_proposal(visit.desk(), &visit.operator, id).await.map_err(unavailable)?;
            let change = read.and_then(|read| read.change);
            return changes::stale(&visit, change.as_ref(), &stale, Here::Proposals, &back).await;
        }
        Err(BeginCountersignError::Verifier(_)) => return refused(Refusal::UNVERIFIED).await,
        Err(BeginCountersignError::Begin(error)) => return refused(changes::of_begin(error)?).await,
    };
    changes::ask_to_sign(&visit, &session, &pending, &shown, &again_at(&sent, "/proposals/begin")).await
}

impl ProposalRow {
    fn of(visit: &Visit, read: &ProposalRead) -> Self {
        let proposal = &read.proposal;
        let state = match read.state {
            ProposalState::Waiting if read.may_sign == MaySign::Over => "over",
            state @ (ProposalState::Waiting
            | ProposalState::Taken
            | ProposalState::Done
            | ProposalState::Failed
            | ProposalState::Withdrawn
            | ProposalState::Refused
            | ProposalState::Suspended) => state.name(),
        };
        Self {
            id: proposal.id.to_string(),
            key: read.change.as_ref().map(|change| key_of(change.name())),
            words: read.change.as_ref().map(Act::statement).unwrap_or_else(|| proposal.id.to_string()),
            by: WalletView::of(&*visit.state.context.wallets, &proposal.first.account),
            proposed: Moment::at(proposal.proposed_at),
            expires: Moment::at(proposal.expires_at),
            state,
        }
    }
}
