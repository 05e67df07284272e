//! Which error has which kind, and that the contract's sentences do not change.

use countersign_domain::error::OAuthError;

use super::*;
use crate::page::templates::{Site, Templates};

const KINDS: [Kind; 13] = [
    Kind::SessionGone,
    Kind::UnknownClient,
    Kind::ReturnAddress,
    Kind::Signature,
    Kind::Challenge,
    Kind::ForeignSite,
    Kind::NotFound,
    Kind::NotForReading,
    Kind::TooLarge,
    Kind::TooMany,
    Kind::Unavailable,
    Kind::Broken,
    Kind::Refused,
];

fn templates() -> Templates {
    Templates::load(None, Site::EXAMPLE, &[]).unwrap()
}

#[test]
fn each_kind_has_its_texts_and_english_says_the_contract_s_sentence() {
    let templates = templates();
    let text = |key: &str| templates.text(Language::English, key).to_owned();
    for kind in KINDS {
        for part in ["title", "says", "advice"] {
            let key = kind.key(part);
            assert_ne!(text(&key), key);
        }
    }
    let reasons = [
        Reason::MissingSession,
        Reason::UnknownClient,
        Reason::RedirectUri,
        Reason::Signature,
        Reason::Challenge,
    ];
    for (reason, kind) in reasons.into_iter().zip(KINDS) {
        let sentence = reason.message();
        assert_eq!(Kind::of(&ApiError::because(Code::InvalidRequest, reason)), kind, "{sentence}");
        assert!(text(&kind.key("says")).contains(sentence), "{sentence}");
    }
}

#[test]
fn an_error_without_a_sentence_of_its_own_is_known_by_its_status() {
    let of = |code| Kind::of(&ApiError::from_error(OAuthError::new(code, "x")));
    assert_eq!(Kind::of(&ApiError::not_found()), Kind::NotFound);
    assert_eq!(Kind::of(&ApiError::method_not_allowed("POST")), Kind::NotForReading);
    assert_eq!(Kind::of(&ApiError::too_many_requests(7)), Kind::TooMany);
    assert_eq!(
        Kind::of(&ApiError::invalid_request("x").with_status(StatusCode::URI_TOO_LONG)),
        Kind::TooLarge
    );
    assert_eq!(of(Code::TemporarilyUnavailable), Kind::Unavailable);
    assert_eq!(of(Code::ServerError), Kind::Broken);
    assert_eq!(of(Code::ForeignOrigin), Kind::ForeignSite);
    assert_eq!(of(Code::InvalidScope), Kind::Refused);
}
