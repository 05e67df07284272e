//! Which error has which kind, and that the contract's sentences do not change.

use countersign_domain::error::OAuthError;

use super::*;
use crate::page::templates::{Site, Templates};

const KINDS: [ErrorPageKind; 13] = [
    ErrorPageKind::SessionGone,
    ErrorPageKind::UnknownClient,
    ErrorPageKind::ReturnAddress,
    ErrorPageKind::Signature,
    ErrorPageKind::Challenge,
    ErrorPageKind::ForeignSite,
    ErrorPageKind::NotFound,
    ErrorPageKind::NotForReading,
    ErrorPageKind::TooLarge,
    ErrorPageKind::TooMany,
    ErrorPageKind::Unavailable,
    ErrorPageKind::Broken,
    ErrorPageKind::Refused,
];

fn templates() -> Templates {
    Templates::load(None, Site::EXAMPLE, &[]).unwrap()
}

#[test]
fn each_kind_has_its_texts_in_every_language() {
    let templates = templates();
    for language in Language::ALL {
        for kind in KINDS {
            for part in ["title", "says", "advice"] {
                let key = kind.key(part);
                assert_ne!(templates.text(language, &key), key);
            }
        }
    }
}

/// What a person reads says nothing of sessions and parameters. The sentence that programs and the
/// specification know stands below it, in every language, and nobody has to open anything to see it.
#[test]
fn a_person_reads_what_happened_to_them_and_below_it_stands_the_contract_s_sentence() {
    let templates = templates();
    let reasons = [
        (Reason::MissingSession, ErrorPageKind::SessionGone),
        (Reason::UnknownClient, ErrorPageKind::UnknownClient),
        (Reason::RedirectUri, ErrorPageKind::ReturnAddress),
        (Reason::Signature, ErrorPageKind::Signature),
        (Reason::Challenge, ErrorPageKind::Challenge),
    ];
    for (reason, kind) in reasons {
        let sentence = reason.message();
        assert_eq!(ErrorPageKind::of(&ApiError::because(Code::InvalidRequest, reason)), kind, "{sentence}");
        for language in Language::ALL {
            let keys = ["title", "says", "advice"].map(|part| kind.key(part));
            let [title, says, advice] = keys.each_ref().map(|key| templates.text(language, key));
            for text in [title, says, advice] {
                for word in ["OAuth", "client_id", "redirect_uri", "challenge"] {
                    assert!(!text.contains(word), "{word} in {text}");
                }
            }
            let page = ErrorPage {
                status: 400,
                error: "invalid_request",
                description: sentence,
                request_id: "r",
                title,
                says: says.to_owned(),
                advice,
                for_developers: false,
            };
            let html = templates.render(language, Name::Error, None, &page).unwrap();
            let (shown, _) = html.split_once("<details").unwrap();
            assert!(shown.contains(&format!("<bdi id=\"description\">{sentence}</bdi>")), "{html}");
        }
    }
    let title = ErrorPageKind::SessionGone.key("title");
    assert_eq!(templates.text(Language::English, &title), "Your sign-in timed out");
}

#[test]
fn an_error_without_a_sentence_of_its_own_is_known_by_its_status() {
    let of = |code| ErrorPageKind::of(&ApiError::from_error(OAuthError::new(code, "x")));
    assert_eq!(ErrorPageKind::of(&ApiError::not_found()), ErrorPageKind::NotFound);
    assert_eq!(ErrorPageKind::of(&ApiError::method_not_allowed("POST")), ErrorPageKind::NotForReading);
    assert_eq!(ErrorPageKind::of(&ApiError::too_many_requests(7)), ErrorPageKind::TooMany);
    assert_eq!(
        ErrorPageKind::of(&ApiError::invalid_request("x").with_status(StatusCode::URI_TOO_LONG)),
        ErrorPageKind::TooLarge
    );
    assert_eq!(of(Code::TemporarilyUnavailable), ErrorPageKind::Unavailable);
    assert_eq!(of(Code::ServerError), ErrorPageKind::Broken);
    assert_eq!(of(Code::ForeignOrigin), ErrorPageKind::ForeignSite);
    assert_eq!(of(Code::InvalidScope), ErrorPageKind::Refused);
}
