//! The only way to respond with a page: rendered in the user's language, with the menu to choose another, and
//! with the cookie that remembers the choice.

pub(crate) mod error_page;
pub mod in_each_language;
pub mod language;
mod menu;
pub mod moment;
pub mod name;
pub mod policy;
pub(crate) mod sign_in;
pub mod templates;
pub(crate) mod uri;

use std::hash::Hash;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::public_url::PublicUrl;
use serde::Serialize;

use crate::error::ApiError;
use language::Language;
use menu::Menu;
use name::Name;
use templates::{Asset, Outlines, Shape, TemplateError, Templates, Values};

/// The pages of one server.
pub struct Pages {
    pub templates: Templates,
    /// The path of the public URL. All our paths begin with it.
    base: String,
    https: bool,
}

impl Pages {
    pub(crate) fn new(templates: Templates, public_url: &PublicUrl) -> Self {
        Self { templates, base: public_url.path().to_owned(), https: public_url.is_https() }
    }

    /// Renders a page, and responds with it.
    pub fn show(
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
            let policy = HeaderValue::try_from(policy::policy_without_forms());
            let policy = policy.map_err(ApiError::server_error)?;
            answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        Ok(answer)
    }

    /// Renders a page that is the same for everyone who uses the language. It will be compressed, so it must not
    /// contain a secret.
    pub fn for_everyone(
        &self,
        language: Language,
        name: Name,
        page: &impl Serialize,
    ) -> Result<Asset, TemplateError> {
        let html = self.templates.render(language, name, Some(&Menu::default()), page)?;
        Ok(Asset::new("text/html; charset=utf-8", html.into()))
    }

    /// Like [`Self::show`], for a page whose outlines are remembered.
    pub(crate) fn show_outlined<P: Serialize + Eq + Hash>(
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
        Menu::of(request, name, &self.base)
    }

    fn answer(
        &self,
        request: &HttpRequest,
        status: StatusCode,
        html: Result<Vec<u8>, TemplateError>,
    ) -> Result<HttpResponse, ApiError> {
        let html = html.map_err(ApiError::server_error)?;
        Ok(answer(request, status, html, self.https))
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

#[cfg(test)]
mod tests;
