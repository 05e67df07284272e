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
        (Reason::MissingSession, Kind::SessionGone),
        (Reason::UnknownClient, Kind::UnknownClient),
        (Reason::RedirectUri, Kind::ReturnAddress),
        (Reason::Signature, Kind::Signature),
        (Reason::Challenge, Kind::Challenge),
    ];
    for (reason, kind) in reasons {
        let sentence = reason.message();
        assert_eq!(Kind::of(&ApiError::because(Code::InvalidRequest, reason)), kind, "{sentence}");
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
    let title = Kind::SessionGone.key("title");
    assert_eq!(templates.text(Language::English, &title), "Your sign-in timed out");
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
