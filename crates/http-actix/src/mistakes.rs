//! Mistakes that people make with OAuth, made on purpose against the real handlers: what each of them gets,
//! and what to change. docs/reports/mistakes.md is written from it, and the test fails if an answer differs
//! from that page.
//!
//! Each mistake is made twice: at a public issuer, and at one on loopback, where a developer hears the exact
//! cause. Most come from the questions that people ask about other servers under "invalid_grant",
//! "redirect_uri mismatch" and "invalid_client".

mod authorizing;
mod clients;
mod exchanging;
mod sheet;
mod tokens;

use std::fmt::Write;
use std::{env, fs};

use actix_web::test::TestRequest;
use sheet::{Entry, Sheet};

use crate::site::{Kind, Site};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reports/mistakes.md");
const FRAME: &str = include_str!("mistakes/page.txt");

/// At least so many are on the page.
const AT_LEAST: usize = 50;

async fn every_mistake_at(issuer: &'static str) -> Vec<Entry> {
    let mut sheet = Sheet::new(issuer).await;
    authorizing::mistakes(&mut sheet).await;
    exchanging::mistakes(&mut sheet).await;
    clients::mistakes(&mut sheet).await;
    tokens::mistakes(&mut sheet).await;
    sheet.entries
}

fn page(public: &[Entry], loopback: &[Entry]) -> String {
    let mut tables = String::new();
    let mut chapter = "";
    for (entry, here) in public.iter().zip(loopback) {
        assert_eq!((entry.mistake, entry.status), (here.mistake, here.status), "the same mistake");
        if entry.chapter != chapter {
            chapter = entry.chapter;
            let _ = write!(
                tables,
                "\n## {chapter}\n\n| mistake | answer | what it says | what to change |\n|---|---|---|---|\n"
            );
        }
        let more =
            if here.says == entry.says { String::new() } else { format!("<br>on loopback: {}", here.says) };
        let Entry { mistake, status, error, says, change, .. } = entry;
        let _ = writeln!(tables, "| {mistake} | {status} `{error}` | {says}{more} | {change} |");
    }
    FRAME.replace("{{tables}}\n", tables.trim_start()).replace("{{count}}", &public.len().to_string())
}

/// Two issuers, because a developer on loopback hears more than a stranger.
#[actix_web::test]
async fn whoever_makes_a_mistake_reads_what_to_change_and_docs_mistakes_md_says_it_too() {
    let (public, loopback) =
        (every_mistake_at("https://auth.example.com").await, every_mistake_at("http://localhost:8080").await);
    assert!(public.len() >= AT_LEAST, "{} mistakes", public.len());
    let page = page(&public, &loopback);
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(PAGE, &page).unwrap();
    }
    let written = fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        written == page,
        "docs/reports/mistakes.md is out of date; \
         run UPDATE_DOCS=1 cargo test -p countersign-http-actix mistakes"
    );
}

/// Anyone can write a link to this server with a redirect URI of their own in it.
#[actix_web::test]
async fn what_a_stranger_writes_into_a_redirect_uri_is_shown_as_text_without_its_values_and_is_no_link() {
    let site = Site::new().await;
    let client = site.clients.iter().find(|client| client.kind == Kind::Operator).unwrap();
    let sent = "https%3A%2F%2Fevil.example%2F%27%26lt%3Bscript%26gt%3B%3Fcode%3Ds3cret";
    let target = format!("/oauth/authorize?client_id={}&redirect_uri={sent}&response_type=code", client.id);
    let page = site.send(TestRequest::get().uri(&target).insert_header(("Accept", "text/html"))).await;
    assert_eq!((page.status, &page.location), (400, &None));
    assert!(page.body.contains("evil.example") && page.body.contains("op2.example"), "{}", page.body);
    for never in ["&lt;script", "<script>", "s3cret", "href=\"https://evil", "href=\"https:&#x2F;&#x2F;evil"]
    {
        assert!(!page.body.contains(never), "{never} in {}", page.body);
    }
}
