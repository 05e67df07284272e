//! Reads bodies: forms and JSON, at most 64 KiB within 27 s, and never compressed.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header;
use actix_web::web::{Bytes, BytesMut};
use actix_web::{FromRequest, HttpRequest};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::number::whole;
use futures_util::StreamExt;
use serde::de::value::{self, MapDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use url::form_urlencoded;

use crate::error::ApiError;
use crate::extract::header_text;
use crate::limits::connection::Connection;

const MAX_BODY: usize = 64 * 1024;
const MAX_FIELDS: usize = 100;
const MAX_DEPTH: usize = 32;
/// How long a body may take. With the seconds after which a connection ends whose body is late, 30 s (B-079).
const BODY_TIMEOUT: Duration = Duration::from_secs(27);

/// The kind of a body, according to its `Content-Type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    Form,
    Json,
    Other,
}

/// A body that has arrived completely.
pub struct Body {
    pub kind: BodyKind,
    bytes: Bytes,
}

impl FromRequest for Body {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let kind = kind_of(request);
        let compressed =
            request.headers().get(header::CONTENT_ENCODING).is_some_and(|value| value != "identity");
        let announced = header_text(request.headers(), header::CONTENT_LENGTH);
        let is_announced_too_long =
            announced.and_then(whole::<usize>).is_some_and(|length| length > MAX_BODY);
        let mut payload = payload.take();
        let reading = Connection::reading(request);
        Box::pin(async move {
            if is_announced_too_long {
                return Err(too_long());
            }
            if compressed {
                return Err(ApiError::invalid_request("the body is compressed: send it as it is")
                    .with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
            }
            let read = async {
                let mut first = Bytes::new();
                let mut bytes = BytesMut::new();
                while let Some(chunk) = payload.next().await {
                    let chunk =
                        chunk.map_err(|_| ApiError::invalid_request("the body did not arrive whole"))?;
                    if first.len() + bytes.len() + chunk.len() > MAX_BODY {
                        return Err(too_long());
                    }
                    // Most bodies arrive in one piece, which does not need to be copied.
                    if first.is_empty() && bytes.is_empty() {
                        first = chunk;
                        continue;
                    }
                    bytes.extend_from_slice(&std::mem::take(&mut first));
                    bytes.extend_from_slice(&chunk);
                }
                Ok(if bytes.is_empty() { first } else { bytes.freeze() })
            };
            let late = |_| {
                ApiError::invalid_request("the body did not arrive in time")
                    .with_status(StatusCode::REQUEST_TIMEOUT)
            };
            let read = tokio::time::timeout(BODY_TIMEOUT, read).await;
            if let (Err(_), Some(reading)) = (&read, &reading) {
                reading.gives_up();
            }
            Ok(Self { kind, bytes: read.map_err(late)?? })
        })
    }
}

fn kind_of(request: &HttpRequest) -> BodyKind {
    let content_type = header_text(request.headers(), header::CONTENT_TYPE);
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        BodyKind::Form
    } else if essence.eq_ignore_ascii_case("application/json") {
        BodyKind::Json
    } else {
        BodyKind::Other
    }
}

impl Body {
    /// Reads the fields of a form. An empty value counts as missing. A name that occurs twice is refused.
    pub(crate) fn form<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        Self::fields(self.pairs()?)
    }

    /// Reads a form in which one name may occur several times. Its values are returned separately.
    pub(crate) fn form_with_several<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<(T, Vec<String>), ApiError> {
        let (several, pairs): (Vec<_>, Vec<_>) =
            self.pairs()?.into_iter().partition(|(found, _)| found == name);
        let values = several.into_iter().map(|(_, value)| value).filter(|value| !value.is_empty()).collect();
        Ok((Self::fields(pairs)?, values))
    }

    fn fields<T: DeserializeOwned>(mut pairs: Vec<(String, String)>) -> Result<T, ApiError> {
        if pairs.iter().any(|(_, value)| value.is_empty()) {
            // A name with a value and again with an empty one still occurs twice, and must be refused.
            from_pairs::<T>(pairs.clone())?;
            pairs.retain(|(_, value)| !value.is_empty());
        }
        from_pairs(pairs)
    }

    /// The names and values of a form.
    pub fn pairs(&self) -> Result<Vec<(String, String)>, ApiError> {
        let pairs: Vec<_> = match str::from_utf8(&self.bytes) {
            Ok(text) => {
                let pairs = text.split('&').filter(|pair| !pair.is_empty());
                pairs.take(MAX_FIELDS + 1).map(pair).collect()
            }
            Err(_) => form_urlencoded::parse(&self.bytes).take(MAX_FIELDS + 1).map(into_owned).collect(),
        };
        if pairs.len() > MAX_FIELDS {
            return Err(ApiError::invalid_request("the form has more than 100 fields"));
        }
        Ok(pairs)
    }

    /// Refuses a body whose `Content-Type` is not that of a form, with this code.
    pub fn require_form(&self, code: OAuthErrorCode) -> Result<(), ApiError> {
        match self.kind {
            BodyKind::Form => Ok(()),
            BodyKind::Json | BodyKind::Other => {
                Err(ApiError::new(code, "Content-Type must be application/x-www-form-urlencoded"))
            }
        }
    }

    /// The body as it was sent.
    pub const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Reads JSON. An error names the field.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        if depth(&self.bytes) > MAX_DEPTH {
            return Err(ApiError::invalid_request("JSON is nested too deeply"));
        }
        // serde would also accept a list as an object, with the fields by position.
        if self.bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Err(ApiError::invalid_request("JSON: an object is needed"));
        }
        let mut deserializer = serde_json::Deserializer::from_slice(&self.bytes);
        let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let place = error.path().to_string();
            let reason = plain(error.inner());
            ApiError::invalid_request(if matches!(place.as_str(), "." | "?") {
                format!("JSON: {reason}")
            } else {
                format!("{place}: {reason}")
            })
        })?;
        deserializer.end().map_err(|error| ApiError::invalid_request(format!("JSON: {}", plain(&error))))?;
        Ok(value)
    }

    /// Reads JSON or a form, depending on the `Content-Type`.
    pub(crate) fn either<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        match self.kind {
            BodyKind::Json => self.json(),
            BodyKind::Form => self.form(),
            BodyKind::Other => Err(ApiError::invalid_request(
                "Content-Type must be application/json or application/x-www-form-urlencoded",
            )),
        }
    }

    /// Reads JSON, and requires the `Content-Type` to say so.
    pub(crate) fn only_json<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        match self.kind {
            BodyKind::Json => self.json(),
            BodyKind::Form | BodyKind::Other => {
                Err(ApiError::invalid_request("Content-Type must be application/json"))
            }
        }
    }
}

/// Most pairs have nothing to decode. Decoding goes byte by byte.
fn pair(text: &str) -> (String, String) {
    let is_encoded = text.bytes().fold(false, |is, byte| is | (byte == b'%') | (byte == b'+'));
    if is_encoded {
        return form_urlencoded::parse(text.as_bytes()).next().map(into_owned).unwrap_or_default();
    }
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    (name.to_owned(), value.to_owned())
}

fn into_owned((name, value): (Cow<'_, str>, Cow<'_, str>)) -> (String, String) {
    (name.into_owned(), value.into_owned())
}

fn from_pairs<T: DeserializeOwned>(pairs: Vec<(String, String)>) -> Result<T, ApiError> {
    let fields = pairs.into_iter().map(|(name, value)| (name, FormValue(value)));
    T::deserialize(MapDeserializer::new(fields))
        .map_err(|error: value::Error| ApiError::invalid_request(format!("form: {}", plain(&error))))
}

/// A value of a form, for a field that is a text, is optional, or parses a text.
struct FormValue(String);

impl IntoDeserializer<'_> for FormValue {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for FormValue {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_string(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

fn too_long() -> ApiError {
    ApiError::invalid_request("the body is longer than 64 KiB").with_status(StatusCode::PAYLOAD_TOO_LARGE)
}

/// serde's message. If the type is wrong, it would repeat the value that was sent, so only the expected type
/// is kept.
fn plain(error: &dyn std::error::Error) -> String {
    let text = error.to_string();
    if text.starts_with("invalid type") {
        let expected = text.split("expected ").nth(1).unwrap_or("another type");
        return format!("expected {expected}");
    }
    text
}

/// How deeply objects and lists are nested, counted without parsing.
fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// In JSON, an empty text counts as missing, as it does in a form.
pub(crate) fn present(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// A required field.
pub(crate) fn required<T>(value: Option<T>, name: &'static str) -> Result<T, ApiError> {
    required_or(OAuthErrorCode::InvalidRequest, value, name)
}

/// A required field of a token request. The specification demands 422 if it is missing.
pub(crate) fn required_in_form<T>(value: Option<T>, name: &'static str) -> Result<T, ApiError> {
    required_or(OAuthErrorCode::IncompleteForm, value, name)
}

fn required_or<T>(code: OAuthErrorCode, value: Option<T>, name: &'static str) -> Result<T, ApiError> {
    value.ok_or_else(|| ApiError::new(code, format!("{name} is missing")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn body(bytes: &[u8]) -> Body {
        Body { kind: BodyKind::Form, bytes: Bytes::copy_from_slice(bytes) }
    }

    fn by_the_library(bytes: &[u8]) -> Vec<(String, String)> {
        form_urlencoded::parse(bytes).map(into_owned).collect()
    }

    proptest! {
        #[test]
        fn a_form_is_read_as_the_library_reads_it(form in "([a-z%+=&é\\x000-3]|%C3%A9|%ff|%2B){0,40}") {
            prop_assert_eq!(body(form.as_bytes()).pairs().unwrap(), by_the_library(form.as_bytes()));
        }

        #[test]
        fn so_is_whatever_else_arrives(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            prop_assert_eq!(body(&bytes).pairs().unwrap(), by_the_library(&bytes));
        }
    }
}
