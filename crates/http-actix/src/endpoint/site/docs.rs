//! `GET /docs`: the page where people read and try out the API. All that there is to read is in the HTML, made
//! from the document of `openapi`. A script adds the forms that try it out.

mod contents;
pub(crate) mod description;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};

use super::assets;
use crate::error::ApiError;
use crate::openapi;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::page::templates::Asset;
use crate::state::AppState;

/// The page in each language, made on the first request. Unlike other pages, it contains no secret and nothing
/// from the request. So it may be compressed, which would tell secrets of the others (BREACH).
pub(crate) struct DocsPages(BTreeMap<Language, OnceLock<Asset>>);

impl Default for DocsPages {
    fn default() -> Self {
        Self(Language::ALL.into_iter().map(|language| (language, OnceLock::new())).collect())
    }
}

pub(crate) async fn page(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let language = Language::of(&request, None);
    let place = state.docs.0.get(&language).ok_or_else(ApiError::not_found)?;
    let page = match place.get() {
        Some(page) => page,
        None => {
            let page = make(&state, language)?;
            place.get_or_init(|| page)
        }
    };
    let mut answer = HttpResponse::Ok();
    if let Some(chosen) = Language::chosen(&request) {
        answer.cookie(chosen.cookie(state.context.policy.public_url.is_https()));
    }
    Ok(assets::encoded(&request, page, answer))
}

fn make(state: &AppState, language: Language) -> Result<Asset, ApiError> {
    let document = openapi::document(&state.context.policy.public_url);
    let contents = contents::contents(&document, &state.pages.templates, language);
    state.pages.for_everyone(language, Name::Docs, &contents).map_err(ApiError::server_error)
}
