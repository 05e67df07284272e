//! A client sends a person to us, and the request is judged. A pushed request is used up. Otherwise something
//! is written only if the client wants an answer without a page and a login session can give one.

use countersign_domain::authorization::{self, Judged, Rules};
use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::error::{OAuthError, OAuthErrorCode, Reason};
use countersign_domain::id::PushedRequestId;
use countersign_domain::parameters::Parameters;
use countersign_domain::pending::{PendingAuthorization, Requester};
use countersign_domain::pushed_request;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::response_mode::ResponseMode;
use countersign_domain::secret::SecretHash;
use countersign_ports::{StoreError, TakePushedRequest};
use time::OffsetDateTime;

use crate::Context;
use crate::clients::client_document::{DocumentRejected, FindClientError, find_client};
use crate::context::cause::Cause;
use crate::sign_in::continue_session::{self, ContinueSessionError};
use crate::steps::answer;
use crate::steps::answer::{Addressee, ClientAnswer};
use crate::steps::choose_resources::{ResourcesRejected, refuse_clients};
use crate::steps::hints::read_hints;
use crate::steps::login::{Browser, find_login};
use crate::steps::token_access::nothing_is_left;

/// Why an authorization does not begin. The variants say who learns of it: the person or the client.
#[derive(Debug, thiserror::Error)]
pub enum BeginAuthorizationError {
    /// The client or the redirect URI may be wrong: the person sees the error, and nothing is redirected.
    #[error("authorization request cannot be answered by a redirect")]
    ShowPage(#[source] OAuthError),
    /// The same, because the document that should describe the client is refused.
    #[error("document of a client is refused")]
    Document(#[source] DocumentRejected),
    /// Everything else: the client gets the error.
    #[error("authorization request is refused")]
    Redirect {
        /// The answer, with `error`, `error_description`, `state` and `iss`.
        to: Box<ClientAnswer>,
        /// Does the browser go there by itself?
        way: Way,
        /// The error in the answer.
        #[source]
        error: OAuthError,
    },
    /// The client could not be looked up.
    #[error("client could not be read")]
    Store(#[from] StoreError),
}

/// How a browser gets to a client before the person has done anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By itself, because the client is registered here.
    AtOnce,
    /// By a link that the person sees and follows. No one at this server knows the client, so a redirect
    /// would let anyone send people anywhere from our address (RFC 9700 section 4.11.2).
    ByLink,
}

impl Way {
    /// The way to a client of this origin.
    pub const fn to(origin: ClientOrigin) -> Self {
        match origin {
            ClientOrigin::Operator | ClientOrigin::SelfRegistered => Self::AtOnce,
            ClientOrigin::Document => Self::ByLink,
        }
    }
}

/// What follows a valid request.
#[derive(Debug)]
pub enum Begun {
    /// A page asks the person.
    Ask(Box<PendingAuthorization>),
    /// The client is answered at once, with a code.
    Answered {
        /// The answer.
        to: ClientAnswer,
    },
}

/// Judges an authorization request. The cause is asked for only if it is granted at once.
pub async fn begin_authorization(
    context: &Context,
    cause: impl Fn() -> Cause,
    parameters: &Parameters,
    browser: &Browser,
) -> Result<Begun, BeginAuthorizationError> {
    let now = context.clock.now();
    let name = authorization::find_client(parameters).map_err(BeginAuthorizationError::ShowPage)?;
    let client = find_client(context, name).await.map_err(|error| match error {
        FindClientError::Unknown => BeginAuthorizationError::ShowPage(authorization::unknown_client()),
        FindClientError::Document(rejected) => BeginAuthorizationError::Document(rejected),
        FindClientError::Store(error) => error.into(),
    })?;
    let pushed = take_pushed(context, now, parameters, &client).await?;
    let (parameters, is_pushed) = (pushed.as_ref().unwrap_or(parameters), pushed.is_some());
    let redirect_uri =
        find_redirect_uri(context, parameters, &client).map_err(BeginAuthorizationError::ShowPage)?;
    let way = Way::to(client.origin);
    let judged = if client.metadata.requires_pushed_requests && !is_pushed {
        Err(authorization::must_be_pushed())
    } else {
        judge(context, now, parameters, &client, redirect_uri.clone()).await?
    };
    let Judged { pending, silent } = judged.map_err(|error| {
        let state = authorization::state(parameters);
        let mode = authorization::response_mode(parameters).unwrap_or_default();
        let to = Addressee { redirect_uri: &redirect_uri, state: state.as_deref(), mode };
        BeginAuthorizationError::Redirect {
            to: Box::new(answer::with_error(&context.policy, to, &error)),
            way,
            error,
        }
    })?;
    if !silent {
        return Ok(Begun::Ask(Box::new(pending)));
    }
    let Some(session) = find_login(context, browser.login.as_ref()).await? else {
        return Err(refuse(context, &pending, authorization::login_required()));
    };
    // Anyone can register or describe a client, with any name. So people always see it before it learns who
    // they are.
    if client.origin != ClientOrigin::Operator {
        return Err(refuse(context, &pending, authorization::consent_required()));
    }
    match continue_session::grant(context, &cause(), &pending, session).await {
        Ok(to) => Ok(Begun::Answered { to }),
        Err(ContinueSessionError::Store(error)) => Err(error.into()),
        Err(ContinueSessionError::ScopesWithheld) => Err(refuse(context, &pending, nothing_is_left())),
        Err(ContinueSessionError::NotAdmitted(not_admitted)) => {
            tracing::info!(client.id = %client.id, why = not_admitted.why(), "not admitted");
            Err(refuse(context, &pending, not_admitted.refusal()))
        }
        Err(ContinueSessionError::ConsentMissing | ContinueSessionError::Client(_)) => {
            Err(refuse(context, &pending, authorization::consent_required()))
        }
        Err(
            ContinueSessionError::SessionEnded
            | ContinueSessionError::RequestSpent
            | ContinueSessionError::Email(_),
        ) => Err(refuse(context, &pending, authorization::login_required())),
    }
}

/// Finds the redirect URI of a request. The playground's page takes no form posts.
pub(crate) fn find_redirect_uri(
    context: &Context,
    parameters: &Parameters,
    client: &Client,
) -> Result<RedirectUri, OAuthError> {
    let own_origin = context.policy.own_origin();
    let found = authorization::find_redirect_uri(parameters, client, own_origin)?;
    let by_form = authorization::response_mode(parameters) == Ok(ResponseMode::FormPost);
    if by_form && own_origin.is_playground(found.as_str()) {
        return Err(OAuthError::because(OAuthErrorCode::InvalidRequest, Reason::RedirectUri));
    }
    Ok(found)
}

/// Judges everything except the client and the redirect URI.
pub(crate) async fn judge(
    context: &Context,
    now: OffsetDateTime,
    parameters: &Parameters,
    client: &Client,
    redirect_uri: RedirectUri,
) -> Result<Result<Judged, OAuthError>, StoreError> {
    let resources = context.resource_rules(authorization::names_resources(parameters, client)).await?;
    let rules = Rules { lifetimes: &context.policy.lifetimes, resources: &resources };
    let hints = read_hints(context, parameters, client);
    let judged = match authorization::judge(now, parameters, client, redirect_uri, hints, rules) {
        Ok(judged) => judged,
        Err(error) => return Ok(Err(error)),
    };
    let resources = judged.pending.access().map_or(&[][..], |access| &access.resources);
    match refuse_clients(context, resources).await {
        Ok(()) => Ok(Ok(judged)),
        Err(ResourcesRejected::Refused(error)) => Ok(Err(error)),
        Err(ResourcesRejected::Store(error)) => Err(error),
    }
}

/// Takes the pushed parameters behind a `request_uri` of ours. They replace all others (RFC 9101 section
/// 6.3).
async fn take_pushed(
    context: &Context,
    now: OffsetDateTime,
    parameters: &Parameters,
    client: &Client,
) -> Result<Option<Parameters>, BeginAuthorizationError> {
    let request_uri = parameters.once("request_uri").ok().flatten();
    let Some(secret) = request_uri.and_then(pushed_request::secret_in) else { return Ok(None) };
    let taken = match secret.id().map(PushedRequestId::from_uuid) {
        Some(id) => {
            let secret_hash = SecretHash::of(&secret);
            let command = TakePushedRequest { id, client: client.id, secret_hash, now };
            context.storage.take_pushed_request(command).await?
        }
        None => None,
    };
    match taken {
        Some(form) => Ok(Some(Parameters::from_form(&form))),
        None => Err(BeginAuthorizationError::ShowPage(pushed_request::not_there())),
    }
}

/// Refuses a request that was found valid but cannot be kept. The client gets the error; if no client asks,
/// the person does.
pub fn refuse(
    context: &Context,
    pending: &PendingAuthorization,
    error: OAuthError,
) -> BeginAuthorizationError {
    match &pending.requester {
        Requester::Client(request) => {
            let to = Box::new(answer::with_error(&context.policy, request, &error));
            let way = if request.access.document.is_some() { Way::ByLink } else { Way::AtOnce };
            BeginAuthorizationError::Redirect { to, way, error }
        }
        Requester::AccountPage { .. } | Requester::Device(_) => BeginAuthorizationError::ShowPage(error),
    }
}
