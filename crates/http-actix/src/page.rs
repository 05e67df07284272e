//! The one way in which a page is answered: rendered in the person's language, with the menu to choose another, and with
//! the cookie that remembers a choice.

use std::hash::Hash;

use actix_web::http::header::{self, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;

use crate::error::ApiError;
use crate::headers;
use crate::language::Language;
use crate::state::AppState;
use crate::templates::{Name, Outlines, Shape, TemplateError, Values};

/// What of a page's query a change of language keeps: which request the page is about, that another wallet is wanted, what
/// was just done, the secret of a link that was mailed, and the code of a device.
const KEPT: [&str; 5] = ["request", "another", "done", "token", "user_code"];

/// Nothing that we write into a query is longer.
const MAX_KEPT: usize = 64;

/// The form that chooses a language.
#[derive(Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Menu {
    /// Where the form goes, if not to the page itself.
    action: Option<String>,
    keep: Vec<Field>,
}

#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
struct Field {
    name: String,
    value: String,
}

impl AppState {
    /// Renders and answers a page.
    pub(crate) fn page(
        &self,
        request: &HttpRequest,
        language: Language,
        name: Name,
        status: StatusCode,
        page: &impl Serialize,
    ) -> Result<HttpResponse, ApiError> {
        let menu = self.menu(request, name);
        let body = self.templates.render(language, name, menu.as_ref(), page);
        let mut answer = self.answer(request, status, body.map(String::into_bytes))?;
        if menu.is_none() && !name.has_forms() {
            let policy = HeaderValue::try_from(headers::policy_without_forms());
            let policy = policy.map_err(ApiError::server_error)?;
            answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        Ok(answer)
    }

    /// The same for a page that is remembered by its shapes.
    pub(crate) fn outlined_page<P: Serialize + Eq + Hash>(
        &self,
        request: &HttpRequest,
        language: Language,
        outlines: &Outlines<P>,
        status: StatusCode,
        page: P,
        values: &Values<'_>,
    ) -> Result<HttpResponse, ApiError> {
        let shape = Shape { language, menu: self.menu(request, outlines.name()), page };
        self.answer(request, status, outlines.write(&self.templates, shape, values))
    }

    fn menu(&self, request: &HttpRequest, name: Name) -> Option<Menu> {
        Menu::of(request, name, self.context.policy.public_url.path())
    }

    fn answer(
        &self,
        request: &HttpRequest,
        status: StatusCode,
        html: Result<Vec<u8>, TemplateError>,
    ) -> Result<HttpResponse, ApiError> {
        let html = html.map_err(ApiError::server_error)?;
        Ok(answer(request, status, html, self.context.policy.public_url.is_https()))
    }
}

fn answer(request: &HttpRequest, status: StatusCode, html: Vec<u8>, https: bool) -> HttpResponse {
    let mut answer = HttpResponse::build(status);
    answer.content_type("text/html; charset=utf-8");
    if let Some(chosen) = Language::chosen(request) {
        answer.cookie(chosen.cookie(https));
    }
    answer.body(html)
}

impl Menu {
    /// Does it send more than the choice?
    pub(crate) const fn keeps(&self) -> bool {
        !self.keep.is_empty()
    }

    /// The menu of a page, if its choice can lead back to the same page.
    pub(crate) fn of(request: &HttpRequest, name: Name, base: &str) -> Option<Self> {
        let is_read = [Method::GET, Method::HEAD].contains(request.method());
        let query = request.query_string();
        let can_be_read_again = match name {
            // The page also answers forms, and then its own address is another one.
            Name::Auth => true,
            // An answer is shown once.
            Name::FormPost | Name::Offer => false,
            // What was wrong is not repeated, and without it the error would be another; nor is what a client sent.
            Name::Error | Name::Logout => is_read && Language::is_all_of(query),
            Name::Account
            | Name::AccountEmail
            | Name::AccountWallet
            | Name::Continue
            | Name::Device
            | Name::DeviceDone
            | Name::Docs
            | Name::Home
            | Name::Playground
            | Name::SignedOut
            | Name::Verify => is_read,
        };
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        can_be_read_again.then(|| Self {
            action: (!is_read).then(|| format!("{base}/auth")),
            keep: pairs
                .filter(|(name, value)| KEPT.contains(&name.as_ref()) && value.len() <= MAX_KEPT)
                .take(KEPT.len())
                .map(|(name, value)| Field { name: name.into_owned(), value: value.into_owned() })
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests;
