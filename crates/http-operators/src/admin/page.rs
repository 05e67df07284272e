//! `/docs` and `/admin/api/v1/openapi.json`: the description, for people and for tools. It names no person
//! and no secret, so it needs no key; and the scripts and styles of the page.

use actix_web::Route;
use actix_web::http::header;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_http_actix::endpoint::site::assets;
use countersign_http_actix::openapi::page::contents;
use countersign_http_actix::page::language::Language;
use countersign_http_actix::page::name::Name;
use countersign_http_actix::page::templates::Asset;
use countersign_http_actix::server::routes::read;

use super::AdminState;
use super::description::document;
use super::problem::Problem;

/// Where the document is.
const DOCUMENT: &str = "/admin/api/v1/openapi.json";

/// The paths of the pages. Assets are where the pages of this server look for them.
pub(super) fn routes(base: &str) -> Vec<(String, Route)> {
    vec![
        (DOCUMENT.to_owned(), read().to(openapi)),
        ("/docs".to_owned(), read().to(docs)),
        (format!("{base}/assets/{{name}}"), read().to(asset)),
    ]
}

async fn openapi(state: Data<AdminState>, request: HttpRequest) -> HttpResponse {
    let made = || Asset::new("application/json", document().to_string().into());
    assets::answer(&request, state.openapi.get_or_init(made), "no-store")
}

async fn docs(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let language = Language::of(&request, None);
    let page = state.docs.get(language, || make(&state, language))?.ok_or_else(Problem::nothing_here)?;
    Ok(assets::encoded(&request, page, HttpResponse::Ok()))
}

async fn asset(
    state: Data<AdminState>,
    request: HttpRequest,
    name: Path<String>,
) -> Result<HttpResponse, Problem> {
    let asset = state.app.pages.templates.asset(&name).ok_or_else(Problem::nothing_here)?;
    let mut answer = assets::answer(&request, asset, "public, max-age=31536000, immutable");
    answer.headers_mut().remove(header::SET_COOKIE);
    Ok(answer)
}

fn make(state: &AdminState, language: Language) -> Result<Asset, Problem> {
    let (document, pages) = (document(), &state.app.pages);
    let contents = contents::contents(&document, &pages.templates, language, DOCUMENT, None);
    pages.for_everyone(language, Name::Docs, &contents).map_err(Problem::internal)
}
