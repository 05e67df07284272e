//! The page for someone who is signed out.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use countersign_usecases::sign_in::sign_out::Back;
use serde::Serialize;

use super::done::Done;
use crate::error::ApiError;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::state::AppState;

#[derive(Serialize)]
struct SignedOutPage<'a> {
    done: &'static str,
    back: Option<BackContext<'a>>,
}

#[derive(Serialize)]
struct BackContext<'a> {
    target: &'a str,
    destination: String,
    leads: bool,
}

/// What the page says: what was done, and where the person came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Farewell<'a> {
    pub(crate) done: Done,
    back: Option<&'a Back>,
    leads: bool,
}

impl Default for Farewell<'_> {
    fn default() -> Self {
        Self { done: Done::SignedOut, back: None, leads: false }
    }
}

impl<'a> Farewell<'a> {
    /// The page has a link to where the person came from.
    pub(crate) fn linked(back: Option<&'a Back>) -> Self {
        Self { back, ..Self::default() }
    }

    /// The page takes the person there by itself.
    pub(crate) fn leading(back: Option<&'a Back>) -> Self {
        Self { leads: true, ..Self::linked(back) }
    }

    pub(crate) fn of(done: Done) -> Self {
        Self { done, ..Self::default() }
    }
}

/// Shows that no one is signed in anymore.
pub(crate) fn signed_out(
    state: &AppState,
    request: &HttpRequest,
    language: Language,
    farewell: Farewell<'_>,
) -> Result<HttpResponse, ApiError> {
    let Farewell { done, back, leads } = farewell;
    let back = back.map(|Back { uri, address }| BackContext {
        target: address,
        destination: state.pages.templates.destination(language, &uri.destination()),
        leads,
    });
    let page = SignedOutPage { done: done.name(), back };
    state.pages.show(request, language, Name::SignedOut, StatusCode::OK, &page)
}
