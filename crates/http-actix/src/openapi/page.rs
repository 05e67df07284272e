//! `GET /docs`: the page where people read and try out the API. All that there is to read is in the HTML, made
//! from the document. A script adds the forms that try it out.

pub mod contents;
pub(crate) mod description;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};

use crate::endpoint::site::assets;
use crate::error::ApiError;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::page::templates::Asset;
use crate::state::AppState;

pub(crate) async fn show(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let language = Language::of(&request, None);
    let page = state.docs.get(language, || make(&state, language))?.ok_or_else(ApiError::not_found)?;
    let mut answer = HttpResponse::Ok();
    if let Some(chosen) = Language::chosen(&request) {
        answer.cookie(chosen.cookie(state.context.policy.public_url.is_https()));
    }
    Ok(assets::encoded(&request, page, answer))
}

fn make(state: &AppState, language: Language) -> Result<Asset, ApiError> {
    let document = super::document(&state.context.policy.public_url);
    let base = state.context.policy.public_url.path();
    let (document_path, metadata_path) =
        (format!("{base}/openapi.json"), format!("{base}/.well-known/oauth-authorization-server"));
    let mut contents =
        contents::contents(&document, &state.pages.templates, language, &document_path, Some(&metadata_path));
    contents.documentation = state.documentation.as_deref();
    state.pages.for_everyone(language, Name::Docs, &contents).map_err(ApiError::server_error)
}
