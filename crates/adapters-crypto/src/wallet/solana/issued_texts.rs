//! Compares the rules of Solana's grammar with the texts that our server writes.
//!
//! Sign-in never parses a text: the server verifies the one that it issued, and remembers its fingerprint. So
//! vectors for parsers cannot be run against a parser of ours. Two other things are checked. First, the
//! writer of the Wallet Standard, rebuilt here and proved with its own vectors, would write our text from our
//! fields, so wallets read it as a sign-in. Second, our writer can never have written a text that a parser
//! should refuse.

use countersign_domain::challenge::{ChallengeText, Purpose, TextKey, iso8601};
use countersign_domain::id::{ClientId, GrantId};
use countersign_domain::public_url::PublicUrl;
use countersign_domain::redirect_uri::{RedirectUri, UriOwner};
use countersign_domain::scope::ScopeSet;
use countersign_ports::WalletVerifier;
use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::SolanaVerifier;
use crate::wallet::testing::{cases, ran, text};

const ADDRESS: &str = "2EZEiBdw47VHT6SpZSW9VnuSvBe7DxuYHBTxj19gxvv8";

/// A text as the server issues it at a public URL.
fn issued(public_url: &str) -> String {
    let recognized = SolanaVerifier.recognize(ADDRESS, None).remove(0);
    let issued_at = OffsetDateTime::from_unix_timestamp(1_767_225_600).unwrap();
    ChallengeText {
        public_url: &PublicUrl::parse(public_url).unwrap(),
        account: &recognized.account,
        account_kind: &recognized.kind,
        chain_id: &recognized.chain_id,
        signer_kind: None,
        purpose: Purpose::SignIn {
            redirect_uri: &RedirectUri::parse("https://app.example/callback", UriOwner::Registered).unwrap(),
            client: ClientId::parse("0197a2b4-dd20-7a41-b6f2-90c1e3d5a784").unwrap(),
            scope: &ScopeSet::from_stored("profile email").unwrap(),
            resources: &[],
        },
        invitation: None,
        key: &TextKey::new([7; 32]),
        random: *b"twelve bytes",
        id: GrantId::at(issued_at, [7; 10]),
        issued_at,
        expires_at: issued_at + Duration::minutes(5),
    }
    .render()
}

/// The fields of the Wallet Standard's `SolanaSignInInput` that have a line, in the order of the grammar.
const LINES: [(&str, &str); 7] = [
    ("uri", "URI"),
    ("version", "Version"),
    ("chainId", "Chain ID"),
    ("nonce", "Nonce"),
    ("issuedAt", "Issued At"),
    ("expirationTime", "Expiration Time"),
    ("requestId", "Request ID"),
];

/// Writes a text as wallets do, from the fields that a page gives them.
fn written_by_a_wallet(fields: &Value) -> String {
    let (domain, address) = (text(fields, "domain"), text(fields, "address"));
    let mut written = format!("{domain} wants you to sign in with your Solana account:\n{address}");
    if let Some(statement) = fields["statement"].as_str() {
        written += &format!("\n\n{statement}");
    }
    let mut lines: Vec<String> = LINES
        .into_iter()
        .filter_map(|(field, line)| Some(format!("{line}: {}", fields[field].as_str()?)))
        .collect();
    if let Some(resources) = fields["resources"].as_array() {
        lines.push("Resources:".to_owned());
        lines.extend(resources.iter().map(|resource| format!("- {}", resource.as_str().unwrap())));
    }
    if !lines.is_empty() {
        written += &format!("\n\n{}", lines.join("\n"));
    }
    written
}

/// True if our writer can have written this text for a Solana account. Compares line by line; only the values
/// are free.
fn could_be_ours(message: &str) -> bool {
    let lines: Vec<&str> = message.split('\n').collect();
    let value = |line: usize, before: &str, after: &str| {
        lines.get(line)?.strip_prefix(before)?.strip_suffix(after).map(ToOwned::to_owned)
    };
    let time = |line, before| OffsetDateTime::parse(&value(line, before, "")?, &Rfc3339).ok();
    let read = || {
        let domain = value(0, "", " wants you to sign in with your Solana account:")?;
        let uri = PublicUrl::parse(&value(5, "URI: ", "/oauth/login")?).ok()?;
        let nonce = value(8, "Nonce: ", "")?;
        let (issued_at, expires_at) = (time(9, "Issued At: ")?, time(10, "Expiration Time: ")?);
        let holds = uri.authority() == domain
            && SolanaVerifier.recognize(lines.get(1)?, None).len() == 1
            && lines.get(2)?.is_empty()
            && !value(3, "Sign in to ", ". This costs nothing and cannot move funds.")?.is_empty()
            && lines.get(4)?.is_empty()
            && value(6, "Version: 1", "")?.is_empty()
            && value(7, "Chain ID: mainnet", "")?.is_empty()
            && hex::decode(nonce).is_ok_and(|nonce| nonce.len() == 28)
            && issued_at < expires_at
            && value(9, "Issued At: ", "")? == iso8601(issued_at)
            && value(10, "Expiration Time: ", "")? == iso8601(expires_at)
            && GrantId::parse(&value(11, "Request ID: ", "")?).is_some()
            && value(12, "Resources:", "")?.is_empty()
            && lines.get(13..)?.iter().all(|line| line.starts_with("- "));
        Some(holds)
    };
    read().unwrap_or(false)
}

#[test]
fn b_043_a_wallet_would_write_the_text_that_we_issue() {
    for public_url in ["https://auth.example", "http://localhost:8080", "https://auth.example/sign-in"] {
        let message = issued(public_url);
        let line = |number: usize| message.lines().nth(number).unwrap();
        let after = |number: usize, before: &str| line(number).strip_prefix(before).unwrap().to_owned();
        let fields = json!({
            "domain": line(0).split(' ').next(),
            "address": ADDRESS,
            "statement": line(3),
            "uri": after(5, "URI: "),
            "version": "1",
            "chainId": "mainnet",
            "nonce": after(8, "Nonce: "),
            "issuedAt": after(9, "Issued At: "),
            "expirationTime": after(10, "Expiration Time: "),
            "requestId": after(11, "Request ID: "),
            "resources": message.lines().skip(13).map(|line| &line[2..]).collect::<Vec<_>>(),
        });
        assert_eq!(message, written_by_a_wallet(&fields));
        assert!(could_be_ours(&message), "{message}");
    }
}

#[test]
fn the_wallet_standards_writer_is_the_published_one() {
    let cases = cases(include_str!("../../../../../tests/vectors/solana/siws_wallet_standard_text.json"));
    for case in &cases {
        assert_eq!(written_by_a_wallet(&case["parsed"]), text(case, "text"), "{case}");
        // These have no nonce and no times; ours always do.
        assert!(!could_be_ours(text(case, "text")), "{case}");
    }
    ran("siws_wallet_standard_text", cases.len());
}

/// Among the reasons, the one about the address leads to a refusal before any text is written. The domain is
/// the operator's setting and comes from no request.
#[test]
fn b_043_no_text_that_a_parser_refuses_can_be_ours() {
    let cases = cases(include_str!("../../../../../tests/vectors/solana/supabase_siws_parse_negative.json"));
    for case in &cases {
        let message = text(case, "message");
        assert!(!could_be_ours(message), "{case}");
        if text(case, "reason") == "ErrInvalidAddress" {
            let address = message.lines().nth(1).unwrap();
            assert_eq!(SolanaVerifier.recognize(address, None), [], "{case}");
        }
    }
    ran("supabase_siws_parse_negative", cases.len());
}

/// That parser accepts the lines in any order, and any chain; our texts have one order and one chain. The
/// parts that both share are valid.
#[test]
fn the_parts_of_a_text_that_a_parser_takes_are_parts_that_we_take() {
    let cases = cases(include_str!("../../../../../tests/vectors/solana/supabase_siws_parse_positive.json"));
    for case in &cases {
        let message = text(case, "message");
        let (domain, _) = message.split_once(' ').unwrap();
        assert!(PublicUrl::parse(&format!("https://{domain}")).is_ok(), "{case}");
        assert_eq!(SolanaVerifier.recognize(message.lines().nth(1).unwrap(), None).len(), 1, "{case}");
        assert!(!could_be_ours(message), "{case}");
    }
    ran("supabase_siws_parse_positive", cases.len());
}

#[test]
fn b_043_a_statement_of_several_lines_is_never_ours() {
    let cases = cases(include_str!("../../../../../tests/vectors/solana/login_signature_forms.json"));
    let forged: Vec<_> =
        cases.iter().filter(|case| text(case, "name").starts_with("statement carries forged")).collect();
    for case in &forged {
        assert!(!could_be_ours(text(case, "message")), "{case}");
    }
    ran("login_signature_forms with a statement of several lines", forged.len());
    let ours = issued("https://auth.example");
    let forged = ours.replacen(". This costs", "\n\nURI: https://evil.example\nVersion: 1\n. This costs", 1);
    assert!(could_be_ours(&ours) && !could_be_ours(&forged));
}
