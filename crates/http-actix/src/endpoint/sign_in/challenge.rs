//! `POST /oauth/challenge`: the sign-in page asks for a text to sign, or a program without a browser does.

pub(crate) mod description;

use std::fmt;

use actix_session::Session;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::resource::with_audience;
use countersign_domain::wallet::{AccountKind, AccountName};
use countersign_ports::SigningHint;
use countersign_usecases::sign_in::issue_challenge::{Challenge, issue_challenge};
use countersign_usecases::steps::recognize_account::{NamedChain, RecognizeError};
use countersign_usecases::tokens::sign_in_program::{ProgramChallenge, issue_program_challenge};
use paperclip::actix::Apiv2Schema;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::browser::session::Pendings;
use crate::endpoint::sign_in::auth_page::{self, Notice, Step};
use crate::error::ApiError;
use crate::extract::body::{Body, BodyKind, required};
use crate::limits::rate_limit::Limited;
use crate::state::AppState;

/// The wallet that wants to sign, and which of several pending requests it signs for.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct ChallengeRequest {
    /// The wallet's address, alone or after its chain (CAIP-10).
    wallet_address: Option<String>,
    /// The chain in CAIP-2 form. Needed only if several chains have addresses of this form, or for a contract
    /// wallet.
    chain: Option<String>,
    /// `key` or `contract`, if the address can be either. Then only that kind is accepted, and the text names
    /// it. Without it, the signature shows which it is.
    kind: Option<String>,
    /// The client of the pending request; without it, the newest request is meant. For a program, which has
    /// no session: its client.
    client_id: Option<String>,
    /// Its redirect URI.
    redirect_uri: Option<String>,
    /// Its state.
    state: Option<String>,
    /// The scopes that a program asks for, separated by spaces. By default all that its client registered.
    scope: Option<String>,
    /// The resources that a program's access tokens are meant for: a list, or a string if there is only one.
    #[serde(default, deserialize_with = "one_or_several")]
    resource: Vec<String>,
    /// Another word for `resource`, with one value.
    audience: Option<String>,
}

/// Reads a string or a list of strings.
fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Texts;

    impl<'de> Visitor<'de> for Texts {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string or a list of strings")
        }

        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok(vec![text.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut texts = Vec::new();
            while let Some(text) = list.next_element()? {
                texts.push(text);
            }
            Ok(texts)
        }
    }

    deserializer.deserialize_any(Texts)
}

impl ChallengeRequest {
    /// Does this come from a program without a browser? A request with a redirect URI or a state means a
    /// pending request of a session.
    const fn is_of_program(&self) -> bool {
        self.client_id.is_some() && self.redirect_uri.is_none() && self.state.is_none()
    }
}

/// A text to sign.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct ChallengeAnswer {
    /// The exact text.
    challenge: String,
    /// The address in its canonical form.
    wallet_address: String,
    /// The chain in CAIP-2 form.
    chain: String,
    /// When the text expires.
    expires_at: String,
    /// How to sign the text by hand.
    how_to_sign: Vec<HowToSign>,
}

/// One way to sign by hand.
#[derive(Debug, Serialize, Apiv2Schema)]
pub struct HowToSign {
    /// The tool.
    tool: String,
    /// The command, or the steps in its menus. The text is in the file `sign-in.txt`.
    how: String,
}

impl HowToSign {
    /// Turns the hints of a wallet family into their JSON form.
    pub fn list(hints: Vec<SigningHint>) -> Vec<Self> {
        hints.into_iter().map(|hint| Self { tool: hint.tool.to_owned(), how: hint.how }).collect()
    }
}

/// Issues a challenge for one of the session's pending requests, or for a program.
pub(crate) async fn issue(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let context = &state.context;
    state.admit(&request, Limited::Challenge)?;
    let asked: ChallengeRequest = body.either()?;
    let mut pendings = match Pendings::require(&session, context.clock.now()) {
        Err(_) if body.kind == BodyKind::Json && asked.is_of_program() => {
            return issue_to_program(&state, asked).await;
        }
        found => found?,
    };
    let pending = pendings.named_or_newest(
        asked.client_id.as_deref(),
        asked.redirect_uri.as_deref(),
        asked.state.as_deref(),
    )?;
    let wallet_address = required(asked.wallet_address, "wallet_address")?;
    let address = if body.kind == BodyKind::Form { wallet_address.trim() } else { &wallet_address };
    let chain = asked.chain.as_deref().map(str::trim).filter(|chain| !chain.is_empty());
    let kind = kind_named(asked.kind.as_deref(), "kind")?;
    let issued = AccountName::read(address, chain)
        .map_err(RecognizeError::from)
        .and_then(|name| issue_challenge(context, pending, name.of_kind(kind)));
    let challenge = match issued {
        Ok(challenge) => challenge,
        Err(error) if body.kind == BodyKind::Form => {
            let notice = Some(Notice::of_address(&error));
            let chains = chains_of(error);
            // The chain that the person chooses from the list must be the only one: drop the one before the
            // address.
            let bare = AccountName::read(address, None).map_or(address, |name| name.address);
            let address = Some(if chains.is_empty() { address } else { bare }.to_owned());
            let step = Step { notice, address, chains, ..Step::default() };
            return auth_page::render(&state, (&request, &session), pending, step, StatusCode::BAD_REQUEST)
                .await;
        }
        Err(error) => return Err(error.into()),
    };
    state.metrics.challenges.count();
    let pending = pending.clone();
    pendings.save(&session).map_err(ApiError::server_error)?;
    if body.kind == BodyKind::Form {
        let step = Step { challenge: Some(challenge), ..Step::default() };
        return auth_page::render(&state, (&request, &session), &pending, step, StatusCode::OK).await;
    }
    Ok(HttpResponse::Ok().json(ChallengeAnswer::from(challenge)))
}

/// Issues a challenge whose signature goes to the token endpoint.
async fn issue_to_program(state: &AppState, asked: ChallengeRequest) -> Result<HttpResponse, ApiError> {
    if asked.kind.is_some() {
        return Err(ApiError::invalid_request("kind is only for a request with a session"));
    }
    let client_id = required(asked.client_id, "client_id")?;
    let wallet_address = required(asked.wallet_address, "wallet_address")?;
    let name = AccountName::read(&wallet_address, asked.chain.as_deref()).map_err(RecognizeError::from)?;
    let resources = with_audience(asked.resource, asked.audience.as_deref()).map_err(ApiError::from_error)?;
    let scope = asked.scope.as_deref();
    let asked = ProgramChallenge { client_id: &client_id, name, scope, resources: &resources };
    let challenge = issue_program_challenge(&state.context, asked).await?;
    state.metrics.challenges.count();
    Ok(HttpResponse::Ok().json(ChallengeAnswer::from(challenge)))
}

impl From<Challenge> for ChallengeAnswer {
    fn from(challenge: Challenge) -> Self {
        Self {
            challenge: challenge.text,
            wallet_address: challenge.account.address,
            chain: challenge.account.chain,
            expires_at: iso8601(challenge.expires_at),
            how_to_sign: HowToSign::list(challenge.signing_hints),
        }
    }
}

/// Reads the kind of an account, if it is named. A form sends an empty field if it is not.
pub(crate) fn kind_named(text: Option<&str>, field: &'static str) -> Result<Option<AccountKind>, ApiError> {
    match text {
        None | Some("") => Ok(None),
        Some(text) => match AccountKind::parse(text) {
            Some(kind) => Ok(Some(kind)),
            None => Err(ApiError::invalid_request(format!("{field} must be key or contract"))),
        },
    }
}

/// The chains that the person can choose from, if only the choice of a chain is missing.
pub(crate) fn chains_of(error: RecognizeError) -> Vec<NamedChain> {
    match error {
        RecognizeError::Ambiguous(chains) | RecognizeError::ChainUnknown(chains) => chains,
        RecognizeError::AddressUnknown
        | RecognizeError::ChainsDiffer(_)
        | RecognizeError::KindUnknown(_)
        | RecognizeError::KindMissing => Vec::new(),
    }
}
