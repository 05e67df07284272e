//! The page in each of its states.

use countersign_ports::VerifierError;

use super::*;
use crate::page::templates::{Site, Templates};

const TEXT: &str = "evil.example<b> wants you to sign in with your Toy account:\ntoy-ann\n\nHello <i>\n\n\
                    URI: https://evil.example\nVersion: 1\nChain ID: 1\nNonce: 1\nIssued At: then\n\
                    Expiration Time: soon\nNot Before: yesterday\nRequest ID: r\nResources:\n- urn:one\nColor: red";

fn account() -> WalletAccount {
    WalletAccount { family: "toy".to_owned(), chain: "toy:1".to_owned(), address: "toy-ann".to_owned() }
}

/// Renders the page for these findings, and checks that no markup from the text is in it.
fn page_of(signature: SignatureFound, writer: Writer, has_expired: Option<bool>) -> String {
    page_of_text(TEXT, signature, writer, has_expired)
}

fn page_of_text(text: &str, signature: SignatureFound, writer: Writer, has_expired: Option<bool>) -> String {
    let says = (writer != Writer::Unknown).then(|| ReadText::read(text).unwrap());
    let told = TextVerified { says, writer, has_expired, signature };
    let sent = VerifyRequest {
        text: Some(text.to_owned()),
        signature: Some("\"><script>".to_owned()),
        wallet_address: None,
        chain: None,
    };
    let page = rendered(&PageContext::of(&sent).with(&told, Site::EXAMPLE.host));
    for markup in ["<b>", "<i>", "<script>"] {
        assert!(!page.contains(markup), "A-003: {markup} in {page}");
    }
    let main = page.split_once("<main").unwrap().1;
    assert!(!main.contains(['{', '}']), "a place is not filled in {page}");
    page
}

fn chains() -> Vec<NamedChain> {
    ["toy:1", "toy:2"].map(|chain| NamedChain { chain: chain.to_owned(), kind: "Toy".into() }).to_vec()
}

#[test]
fn each_verdict_on_the_signature_has_its_sentence_and_the_field_to_put_right_is_marked() {
    let unclear = SignatureFound::Unclear;
    let invalid = SignatureFound::Invalid { account: account(), reason: "another key signed" };
    let undecided =
        SignatureFound::Undecided { account: account(), error: VerifierError::Unavailable("away".into()) };
    let pages = [
        (
            SignatureFound::Valid(account()),
            "The wallet <bdi>toy-ann</bdi> signed exactly this text.",
            "toy:1:toy-ann",
        ),
        (invalid, "another key signed", r#"aria-describedby="signature-hint invalid" aria-invalid="true""#),
        (undecided, "the chain <bdi>toy:1</bdi>", r#"<section class="card" aria-labelledby="result""#),
        (
            SignatureFound::NoAccount,
            "the text does not say whose it is",
            r#"<details id="which-wallet" open>"#,
        ),
        (SignatureFound::Absent, "There was no signature to check.", r#"<details id="which-wallet">"#),
        (
            unclear(RecognizeError::AddressUnknown),
            "not one of a wallet that this server knows",
            r#"aria-describedby="wallet-address-hint unclear" aria-invalid="true""#,
        ),
        (
            unclear(RecognizeError::ChainsDiffer(countersign_domain::wallet::ChainsDiffer)),
            "another one than the chain that is named separately",
            r#"aria-describedby="wallet-address-hint unclear" aria-invalid="true""#,
        ),
        (
            unclear(RecognizeError::ChainUnknown(chains())),
            "cannot belong to that chain",
            r#"<option value="toy:1">Toy (toy:1)</option>"#,
        ),
        (
            unclear(RecognizeError::Ambiguous(chains())),
            "can belong to several chains",
            r#"<option value="toy:2">Toy (toy:2)</option>"#,
        ),
    ];
    for (signature, sentence, markup) in pages {
        let page = page_of(signature, Writer::ThisServer, None);
        assert!(page.contains(sentence) && page.contains(markup), "{sentence} and {markup} in {page}");
    }
}

/// What a person reads first is one sentence, and the color of its message is not all that says it.
#[test]
fn one_verdict_comes_first_and_who_wrote_the_text_counts_more_than_its_signature() {
    let invalid = || SignatureFound::Invalid { account: account(), reason: "another key signed" };
    let unclear = || SignatureFound::Unclear(RecognizeError::AddressUnknown);
    let verdicts = [
        (
            SignatureFound::Valid(account()),
            Writer::ThisServer,
            "genuine",
            "This text and its signature are real",
        ),
        (SignatureFound::Absent, Writer::ThisServer, "ours", "This server wrote this text"),
        (unclear(), Writer::ThisServer, "unchecked", "We could not check the signature"),
        (SignatureFound::NoAccount, Writer::ThisServer, "unchecked", "We could not check the signature"),
        (invalid(), Writer::ThisServer, "bad_signature", "Do not trust this signature"),
        (
            SignatureFound::NamesAnother(account()),
            Writer::ThisServer,
            "bad_signature",
            "Do not trust this signature",
        ),
        (SignatureFound::Valid(account()), Writer::SomebodyInOurName, "made_up", "Do not trust this text"),
        (
            SignatureFound::Valid(account()),
            Writer::AnotherSite,
            "another_site",
            "This text is for another site",
        ),
        (SignatureFound::Valid(account()), Writer::Unknown, "unknown", "We do not know this text"),
    ];
    for (signature, writer, name, title) in verdicts {
        let page = page_of(signature, writer, None);
        assert!(page.contains(&format!("data-verdict=\"{name}\"")), "{name} in {page}");
        assert!(
            page.contains(&format!("<h1 id=\"result\" tabindex=\"-1\" autofocus>{title}</h1>")),
            "{page}"
        );
        assert_eq!(page.matches("class=\"message ").count(), 1, "one verdict: {page}");
    }
}

/// `auth.example` is ours here. Marks are markup of ours: what they mark is escaped.
#[test]
fn where_a_host_looks_like_ours_both_are_shown_and_the_letters_that_differ_are_marked() {
    let of =
        |host: &str| TEXT.replace("evil.example<b>", host).replace("https://evil.example", "https://x.test");
    let page = |host: &str| page_of_text(&of(host), SignatureFound::Absent, Writer::AnotherSite, None);
    let alike = page("auth.examp1e");
    assert!(alike.contains("data-verdict=\"look_alike\""), "{alike}");
    assert!(alike.contains("<bdi>auth.examp</bdi><mark>1</mark><bdi>e</bdi>"), "{alike}");
    assert!(alike.contains("<bdi>auth.examp</bdi><mark>l</mark><bdi>e</bdi>"), "{alike}");
    assert!(page("auth.ex\u{430}mple").contains("<mark>\u{430}</mark>"));
    assert!(page("auth.example\u{202E}").contains("<mark>U+202E</mark>"), "what nobody sees is spelled out");
    assert!(page("auth.example<b>").contains("<mark>&lt;b&gt;</mark>"));
    for other in ["shop.test", "eu.auth.example", "auth.example:8443"] {
        assert!(!page(other).contains("<mark>"), "{other}");
    }
}

#[test]
fn the_times_of_a_text_are_readable_and_exact_for_the_script() {
    let text = TEXT
        .replace("Issued At: then", "Issued At: 2026-03-09T07:05:59+02:00")
        .replace("Expiration Time: soon", "Expiration Time: 2026-03-09T05:10:00Z");
    let page = page_of_text(&text, SignatureFound::Absent, Writer::AnotherSite, Some(true));
    let issued = "<time datetime=\"2026-03-09T05:05:59Z\">2026-03-09 05:05 UTC</time>";
    assert!(page.contains(issued), "{page}");
    let until = "<li data-time=\"2026-03-09T05:10:00Z\">By its own words it was good until <bdi>2026-03-09 05:10 UTC</bdi>.";
    assert!(page.contains(until), "{page}");
    assert!(page.contains("<bdi>yesterday</bdi></dd>"), "what is no time stays as it is: {page}");
}

#[test]
fn each_writer_has_its_sentence() {
    let writers = [
        (Writer::ThisServer, "This server wrote this text, word for word."),
        (
            Writer::SomebodyInOurName,
            "This text names <bdi>auth.example</bdi>, but this server did not write it",
        ),
        (Writer::AnotherSite, "it names <bdi>evil.example&lt;b&gt;</bdi>. It cannot sign anyone in here."),
        (Writer::Unknown, "This is not a text to sign in with"),
    ];
    for (writer, sentence) in writers {
        let page = page_of(SignatureFound::Absent, writer, None);
        assert!(page.contains(sentence), "{page}");
        assert_eq!(page.contains("What the text says"), writer != Writer::Unknown, "{page}");
    }
}

#[test]
fn what_the_text_says_is_shown_line_by_line_with_its_own_time() {
    let page = page_of(SignatureFound::Absent, Writer::AnotherSite, Some(true));
    let values = [
        "Hello &lt;i&gt;",
        "https://evil.example",
        "then",
        "yesterday",
        "soon",
        "r",
        "urn:one",
        "Color: red",
    ];
    for value in values {
        assert!(page.contains(&format!("<bdi>{value}</bdi></dd>")), "{value} in {page}");
    }
    assert!(page.contains("it was good until <bdi>soon</bdi>. That is over."), "{page}");
    let page = page_of(SignatureFound::Absent, Writer::AnotherSite, Some(false));
    assert!(page.contains("it is good until <bdi>soon</bdi>."), "{page}");
    let page = page_of(SignatureFound::Absent, Writer::AnotherSite, None);
    assert!(!page.contains("By its own words"), "{page}");
}

fn rendered(page: &PageContext<'_>) -> String {
    let templates = Templates::load(None, Site::EXAMPLE, &[]).unwrap();
    templates.render(Language::English, Name::Verify, None, page).unwrap()
}
