//! What a request says besides its path: a body, parameters, and the headers about repeating and changing.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{FromRequest, HttpRequest, HttpResponse};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::number::whole;
use countersign_domain::repeat_key::mark_of;
use countersign_http_actix::extract::body::{Body, BodyKind};
use countersign_operators::admin_keys::begin_repeatable::{
    BeginRepeatableError, Repeatable, begin_repeatable,
};
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::AdminState;
use super::admit::Caller;
use super::problem::Problem;

/// The most rows of a list.
const MAX_LIMIT: u32 = 500;
/// How many rows a list has by default.
const USUAL_LIMIT: u32 = 100;
/// The longest idempotency key, in bytes.
const MAX_IDEMPOTENCY_KEY: usize = 255;

/// A body of JSON.
pub(super) struct Json<T> {
    pub(super) value: T,
    /// The same, as it was sent.
    pub(super) fields: Map<String, Value>,
    sent: Vec<u8>,
}

impl<T: DeserializeOwned + 'static> FromRequest for Json<T> {
    type Error = Problem;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Problem>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = Body::from_request(request, payload);
        Box::pin(async move {
            let body = body.await?;
            match body.kind {
                BodyKind::Json => {}
                BodyKind::Form | BodyKind::Other => {
                    let detail = "Content-Type must be application/json";
                    let problem = Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail);
                    return Err(problem.about("Content-Type"));
                }
            }
            let value = body.json::<T>().map_err(|error| {
                // The JSON parser says where before it says what.
                let text = error.error.description.into_owned();
                match text.split_once(": ") {
                    Some((place, reason)) if place != "JSON" => Problem::invalid(place, reason.to_owned()),
                    Some(_) | None => Problem::new(StatusCode::BAD_REQUEST, text),
                }
            })?;
            let fields = body.json::<Map<String, Value>>()?;
            Ok(Self { value, fields, sent: body.bytes().to_vec() })
        })
    }
}

/// The parameters of the query. Each is known to the operation and given once.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads the query of a request that takes these parameters.
    pub(super) fn of(request: &HttpRequest, known: &[&str]) -> Result<Self, Problem> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (name, value) in url::form_urlencoded::parse(request.query_string().as_bytes()) {
            if !known.contains(&&*name) {
                let detail = match known {
                    [] => "this operation takes no parameters".to_owned(),
                    known => format!("this operation takes {}", known.join(", ")),
                };
                return Err(Problem::invalid(name.chars().take(100).collect::<String>(), detail));
            }
            if pairs.iter().any(|(given, _)| *given == name) {
                return Err(Problem::invalid(name, "it is given more than once"));
            }
            pairs.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(pairs))
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// `true` or `false`; false if it is not given.
    pub(super) fn is_true(&self, name: &str) -> Result<bool, Problem> {
        match self.text(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(Problem::invalid(name, "it takes true or false")),
        }
    }

    pub(super) fn limit(&self) -> Result<u32, Problem> {
        let Some(text) = self.text("limit") else { return Ok(USUAL_LIMIT) };
        let limit = whole(text).filter(|limit| (1..=MAX_LIMIT).contains(limit));
        limit.ok_or_else(|| Problem::invalid("limit", format!("it takes a number, 1 to {MAX_LIMIT}")))
    }
}

/// Makes the cursor that names a row.
pub(super) fn cursor(parts: &[&str]) -> String {
    URL_SAFE_NO_PAD.encode(parts.join("\n"))
}

/// Reads a cursor of so many parts.
pub(super) fn from_cursor<const N: usize>(text: &str) -> Result<[String; N], Problem> {
    let wrong = || Problem::invalid("after", "it is not what `next` of the list before said");
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong())?;
    let text = String::from_utf8(bytes).map_err(|_| wrong())?;
    let parts: Vec<String> = text.split('\n').map(str::to_owned).collect();
    parts.try_into().map_err(|_| wrong())
}

/// What the caller knows of the thing that it changes.
pub(super) enum IfMatch {
    /// It did not say.
    Unsaid,
    /// Whatever it is, it must be there.
    Any,
    /// It is one of these.
    Tags(Vec<String>),
}

impl IfMatch {
    pub(super) fn of(request: &HttpRequest) -> Result<Self, Problem> {
        let mut tags = Vec::new();
        let mut is_said = false;
        for value in request.headers().get_all(header::IF_MATCH) {
            is_said = true;
            let text = value.to_str().map_err(|_| Problem::invalid("If-Match", "it takes ETags"))?.trim();
            if text == "*" {
                return Ok(Self::Any);
            }
            tags.extend(text.split(',').map(|tag| tag.trim().to_owned()));
        }
        Ok(if is_said { Self::Tags(tags) } else { Self::Unsaid })
    }

    /// Compares what the caller knows with what is there. Answers whether the change must be of exactly this.
    pub(super) fn judge(&self, shown: &impl Serialize) -> Result<bool, Problem> {
        match self {
            Self::Unsaid | Self::Any => Ok(false),
            Self::Tags(tags) => {
                let tag = etag(&json(shown)?);
                if tags.contains(&tag) { Ok(true) } else { Err(Problem::changed_meanwhile()) }
            }
        }
    }

    /// For things without an ETag: no tag can be theirs.
    pub(super) fn refuse_tags(&self) -> Result<(), Problem> {
        match self {
            Self::Unsaid | Self::Any => Ok(()),
            Self::Tags(_) => {
                let detail = "what is shown of a user changes with every sign-in, so it has no ETag";
                Err(Problem::new(StatusCode::PRECONDITION_FAILED, detail).about("If-Match"))
            }
        }
    }
}

/// Answers with one thing, and with its ETag.
pub(super) fn one(shown: &impl Serialize) -> Result<HttpResponse, Problem> {
    let body = json(shown)?;
    let mut answer = HttpResponse::Ok();
    if let Ok(tag) = HeaderValue::from_str(&etag(&body)) {
        answer.insert_header((header::ETAG, tag));
    }
    Ok(answer.content_type("application/json").body(body))
}

fn json(shown: &impl Serialize) -> Result<String, Problem> {
    serde_json::to_string(shown).map_err(Problem::internal)
}

fn etag(body: &str) -> String {
    format!("\"{}\"", mark_of(body.as_bytes()))
}

/// Creates something. If its sender named the request, that happens once, and a repeat gets the same answer.
pub(super) async fn creating<T, B>(
    state: &AdminState,
    caller: &Caller,
    request: &HttpRequest,
    body: &Json<B>,
    create: impl AsyncFn(Management<'_>) -> Result<T, ActRefused>,
) -> Result<T, Problem> {
    loop {
        let repeat = repeatable(state, caller, request, body).await?;
        let management = state.management_for(caller);
        let management = repeat.as_ref().map_or(management, |repeat| repeat.of(management));
        match create(management).await {
            Ok(created) => return Ok(created),
            // Another attempt was faster, and a repeat of that one finds what it made.
            Err(ActRefused::MadeBefore) if repeat.is_some_and(|repeat| !repeat.was_made()) => {}
            Err(refused) => return Err(refused.into()),
        }
    }
}

/// Begins a request, if its sender named it.
async fn repeatable<'a, T>(
    state: &'a AdminState,
    caller: &Caller,
    request: &HttpRequest,
    body: &Json<T>,
) -> Result<Option<Repeatable<'a>>, Problem> {
    const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
    let mut given = request.headers().get_all(HEADER);
    let Some(name) = given.next() else { return Ok(None) };
    let name = name.to_str().ok().filter(|name| (1..=MAX_IDEMPOTENCY_KEY).contains(&name.len()));
    let Some(name) = name.filter(|_| given.next().is_none()) else {
        let detail = format!("it takes 1 to {MAX_IDEMPOTENCY_KEY} visible characters, once");
        return Err(Problem::invalid("Idempotency-Key", detail));
    };
    let asked = [request.method().as_str().as_bytes(), request.path().as_bytes(), &body.sent].join(&b'\n');
    let management: Management<'a> = state.management();
    let begun = begin_repeatable(management, &state.settings.repeat_key, caller.id, name, &asked).await;
    begun.map(Some).map_err(|error| match error {
        BeginRepeatableError::AskedOtherwise => {
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()).about("Idempotency-Key")
        }
        BeginRepeatableError::Store(error) => error.into(),
    })
}
