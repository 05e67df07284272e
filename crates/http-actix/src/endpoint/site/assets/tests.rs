//! Browsers that accept compressed answers, and browsers that do not.

use actix_web::body::to_bytes;
use actix_web::test::TestRequest;
use actix_web::web::Bytes;

use super::*;

const LONG: &str = "p { color: red } p { color: red } p { color: red } p { color: red } p { color: red }";

fn asset(text: &'static str) -> Asset {
    Asset::new("text/css; charset=utf-8", text.into())
}

fn asked(accepted: &str, asset: &Asset) -> (Option<String>, Option<String>, Bytes) {
    let request = TestRequest::default().insert_header((header::ACCEPT_ENCODING, accepted)).to_http_request();
    let answer = answer(&request, asset, "public");
    let header = |name| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    let (encoding, vary) = (header(header::CONTENT_ENCODING), header(header::VARY));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    (encoding, vary, runtime.block_on(to_bytes(answer.into_body())).unwrap())
}

#[test]
fn an_asset_is_compressed_only_for_those_who_take_it_and_caches_are_told() {
    let (long, short) = (asset(LONG), asset("p {}"));
    let (gzip, vary) = (Some("gzip".to_owned()), Some("Accept-Encoding".to_owned()));
    let compressed = long.gzip().unwrap().clone();
    assert_eq!(asked("br, gzip;q=0.5", &long), (gzip, vary.clone(), compressed));
    for accepted in ["", "identity", "br", "gzip;q=0", "gzipped"] {
        assert_eq!(asked(accepted, &long), (None, vary.clone(), LONG.into()), "{accepted}");
    }
    assert_eq!(asked("gzip", &short), (None, None, "p {}".into()), "it would not get smaller");
}

#[test]
fn a_picture_that_is_opened_by_itself_runs_no_script() {
    let policy = |kind: &'static str| {
        let answer =
            answer(&TestRequest::default().to_http_request(), &Asset::new(kind, "x".into()), "public");
        answer
            .headers()
            .get(header::CONTENT_SECURITY_POLICY)
            .map(|policy| policy.to_str().unwrap().to_owned())
    };
    assert!(policy(SVG).unwrap().starts_with("default-src 'none'"));
    assert_eq!(policy("text/css; charset=utf-8"), None);
}
