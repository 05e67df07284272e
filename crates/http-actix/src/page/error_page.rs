//! An error page: what the error means and what to do, in the user's language, and below it the exact English
//! sentence for developers.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::error::{OAuthErrorCode as Code, Reason};
use serde::Serialize;

use super::Pages;
use crate::error::ApiError;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::page::templates::fill;

/// Errors, by what a user can do about them. Each kind has its texts in `error.json`: what happened to the
/// person, and what to do. Below them the page shows the specification's sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorPageKind {
    /// The browser has no such request, or it has expired.
    SessionGone,
    /// The client is not registered.
    UnknownClient,
    /// The client's redirect URI is not registered.
    ReturnAddress,
    /// The signature is not valid.
    Signature,
    /// The signed text is not one of ours, has expired, or was used before.
    Challenge,
    /// A page of another site caused the request.
    ForeignSite,
    /// The form is from an older page, or from another browser.
    StaleForm,
    /// There is no such page.
    NotFound,
    /// The address exists, but cannot be opened in a browser.
    NotForReading,
    /// The address, the headers or the form are too long.
    TooLarge,
    /// Too many requests came from the user's address.
    TooMany,
    /// The server is temporarily unavailable.
    Unavailable,
    /// A bug of ours.
    Broken,
    /// The client made a mistake that only its developer can fix.
    Refused,
}

#[derive(Serialize)]
struct ErrorPage<'a> {
    status: u16,
    error: &'a str,
    description: &'a str,
    request_id: &'a str,
    title: &'a str,
    says: String,
    advice: &'a str,
    /// Are the details open from the beginning?
    for_developers: bool,
}

impl ErrorPageKind {
    pub(crate) fn of(error: &ApiError) -> Self {
        if let Some(reason) = error.error.reason {
            return match reason {
                Reason::MissingSession => Self::SessionGone,
                Reason::UnknownClient => Self::UnknownClient,
                Reason::RedirectUri => Self::ReturnAddress,
                Reason::Signature => Self::Signature,
                Reason::Challenge => Self::Challenge,
                Reason::ForeignForm => Self::StaleForm,
            };
        }
        match error.status {
            StatusCode::NOT_FOUND => Self::NotFound,
            StatusCode::METHOD_NOT_ALLOWED => Self::NotForReading,
            StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::URI_TOO_LONG
            | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => Self::TooLarge,
            StatusCode::TOO_MANY_REQUESTS => Self::TooMany,
            StatusCode::SERVICE_UNAVAILABLE => Self::Unavailable,
            status if status.is_server_error() => Self::Broken,
            _ if error.error.code == Code::ForeignOrigin => Self::ForeignSite,
            _ if error.error.code == Code::InvalidRequestUri => Self::SessionGone,
            _ => Self::Refused,
        }
    }

    /// Are the details what the reader needs: because only the app's developer can put it right, or because
    /// the operator needs the reference?
    const fn shows_details(self) -> bool {
        match self {
            Self::UnknownClient | Self::ReturnAddress | Self::Refused | Self::Signature | Self::Broken => {
                true
            }
            Self::SessionGone
            | Self::Challenge
            | Self::ForeignSite
            | Self::StaleForm
            | Self::NotFound
            | Self::NotForReading
            | Self::TooLarge
            | Self::TooMany
            | Self::Unavailable => false,
        }
    }

    /// The key of one of its texts: `title`, `says` or `advice`.
    pub(crate) fn key(self, part: &str) -> String {
        let kind = match self {
            Self::SessionGone => "session_gone",
            Self::UnknownClient => "unknown_client",
            Self::ReturnAddress => "return_address",
            Self::Signature => "signature",
            Self::Challenge => "challenge",
            Self::ForeignSite => "foreign_site",
            Self::StaleForm => "stale_form",
            Self::NotFound => "not_found",
            Self::NotForReading => "not_for_reading",
            Self::TooLarge => "too_large",
            Self::TooMany => "too_many",
            Self::Unavailable => "unavailable",
            Self::Broken => "broken",
            Self::Refused => "refused",
        };
        format!("error.{kind}.{part}")
    }
}

/// Shows an error, with its status and headers.
pub(crate) fn show(
    pages: &Pages,
    request: &HttpRequest,
    error: &ApiError,
    request_id: &str,
) -> Result<HttpResponse, ApiError> {
    let language = Language::of(request, None);
    let kind = ErrorPageKind::of(error);
    let [title, says, advice] = ["title", "says", "advice"].map(|part| kind.key(part));
    let seconds = || {
        let wait = error.headers().iter().find(|(name, _)| *name == header::RETRY_AFTER);
        wait.and_then(|(_, value)| value.to_str().ok()).map(str::to_owned)
    };
    let page = ErrorPage {
        status: error.status.as_u16(),
        error: error.error.code.name(),
        description: &error.error.description,
        request_id,
        title: pages.templates.text(language, &title),
        says: fill(pages.templates.text(language, &says), |place| seconds().filter(|_| place == "seconds")),
        advice: pages.templates.text(language, &advice),
        for_developers: kind.shows_details(),
    };
    let mut answer = pages.show(request, language, Name::Error, error.status, &page)?;
    for (name, value) in error.headers() {
        answer.headers_mut().insert(name.clone(), value.clone());
    }
    Ok(answer)
}

#[cfg(test)]
mod tests;
