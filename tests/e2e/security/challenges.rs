//! The life of a challenge, over HTTP (B-001 to B-012, A-048 to A-055).

use countersign_tests::{Browser, Client, Parameters, Request, Server, Wallet, on_both};

on_both! {
    /// B-001, D-27: in the same session, in another session, for another client, after a restart, on another
    /// replica.
    fn b_001_a_used_challenge_is_refused_everywhere(database) {
        let mut server = database.start();
        let (client, other) = (server.register(), server.register());
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        let authorization = client.authorization();
        let body = browser.prepare_with(&authorization, &wallet);
        let before = browser.clone();
        browser.login(&body).expect(303);

        refused(before.clone(), &body, "the session as it was before");
        let mut same = browser.clone();
        same.authorize(&authorization).expect(302);
        refused(same, &body, "the same session, the same request again");
        let mut another = server.browser();
        another.authorize(&authorization).expect(302);
        refused(another, &body, "another session");
        let mut elsewhere = server.browser();
        elsewhere.authorize(&other.authorization()).expect(302);
        let foreign = body.clone().with("client_id", &other.id).with("state", "any");
        assert_eq!(elsewhere.login(&foreign).status, 400);
        if database.is_postgres() {
            let replica = server.replica();
            let mut there = before.clone();
            there.site = replica.site();
            refused(there, &body, "another replica");
        }
        server.kill9();
        server.restart();
        refused(before, &body, "after a restart");
    }

    /// B-012, A-050: each of several texts can be signed. When there is a sixth, the oldest is dropped.
    fn b_012_an_older_challenge_is_good_while_it_lives(database) {
        let server = database.start();
        let client = server.register();
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        let authorization = client.authorization();
        browser.authorize(&authorization).expect(302);
        let texts: Vec<String> = (0..6).map(|_| browser.challenge(&authorization, &wallet)).collect();
        refused(browser.clone(), &Browser::login_body(&authorization, &wallet, &texts[0]), "the first of six");
        browser.clone().login(&Browser::login_body(&authorization, &wallet, &texts[1])).expect(303);
        // Each is a separate sign-in, so a second text can be used as long as the copy of the session still
        // contains it.
        browser.login(&Browser::login_body(&authorization, &wallet, &texts[5])).expect(303);
    }
}

fn refused(mut browser: Browser, body: &Parameters, where_it_came: &str) {
    let answer = browser.login(body);
    assert_eq!(answer.verdict(), "401 access_denied", "{where_it_came}: {answer:?}");
    assert_eq!(answer.field("error_description"), "Challenge is not valid or has expired", "{where_it_came}");
    assert_eq!(answer.header("Location"), None);
}

/// A server, a client, and a browser with a challenge for a wallet.
struct Scene {
    server: Server,
    client: Client,
    browser: Browser,
    wallet: Wallet,
    authorization: Parameters,
    challenge: String,
}

fn scene() -> Scene {
    let server = Server::sqlite();
    let client = server.register();
    let (mut browser, wallet) = (server.browser(), Wallet::fresh());
    let authorization = client.authorization();
    browser.authorize(&authorization).expect(302);
    let challenge = browser.challenge(&authorization, &wallet);
    Scene { server, client, browser, wallet, authorization, challenge }
}

/// B-002: the verifier looks up the text that it issued and does not trust the one in the request.
#[test]
fn b_002_a_text_that_we_did_not_issue_is_refused_however_well_it_is_signed() {
    let mut scene = scene();
    let ours = scene.challenge.clone();
    let nonce = ours.split_once("Nonce: ").unwrap().1.lines().next().unwrap().to_owned();
    let forged = [
        "I agree".to_owned(),
        String::from("."),
        ours.replace("localhost", "evil.example"),
        ours.replace("client.example", "evil.example"),
        ours.replace("Version: 1", "Version: 2"),
        ours.replace("Chain ID: 1", "Chain ID: 137"),
        ours.replace("Expiration Time: 20", "Expiration Time: 30"),
        ours.replace('\n', "\r\n"),
        format!("{ours}\n"),
        format!(" {ours}"),
        format!("{ours}\n- https://evil.example"),
        // B-006: our nonce, in another place.
        ours.replacen("Sign in to", &format!("Nonce: {nonce} Sign in to"), 1),
        format!(
            "evil.example wants you to sign in with your Ethereum account:\n{}\n\nNonce: {nonce}",
            scene.wallet.address()
        ),
        ours.replacen(&nonce, &nonce.chars().rev().collect::<String>(), 1),
    ];
    for text in forged {
        assert_ne!(text, ours, "the forgery differs from our text");
        let body = Browser::login_body(&scene.authorization, &scene.wallet, &text);
        refused(scene.browser.clone(), &body, &text);
    }
    scene.browser.login(&Browser::login_body(&scene.authorization, &scene.wallet, &ours)).expect(303);
}

/// B-003: a text only works in its own session.
#[test]
fn b_003_a_challenge_of_one_session_is_refused_in_another_and_stays_good_in_its_own() {
    let mut scene = scene();
    let body = Browser::login_body(&scene.authorization, &scene.wallet, &scene.challenge);
    let mut other = scene.server.browser();
    other.authorize(&scene.authorization).expect(302);
    refused(other, &body, "another session with the same request");
    scene.browser.login(&body).expect(303);
}

/// B-004: the text contains the client and the redirect URI.
#[test]
fn b_004_a_challenge_for_one_client_is_refused_for_another() {
    let mut scene = scene();
    let other = scene.server.register_at("https://evil.example/cb");
    let swapped = other.authorization();
    scene.browser.authorize(&swapped).expect(302);
    let body = Browser::login_body(&swapped, &scene.wallet, &scene.challenge);
    refused(scene.browser, &body, "the other client's request");
    for named in ["https://client.example", &scene.client.id, "urn:countersign:scope:profile"] {
        assert!(scene.challenge.contains(named), "{named} in {}", scene.challenge);
    }
}

/// B-005, in both directions.
#[test]
fn b_005_a_challenge_for_one_address_is_refused_from_another() {
    let scene = scene();
    let thief = Wallet::fresh();
    let signed_by_thief = scene.authorization.clone().without("scope").without("response_type");
    let signed_by_thief =
        signed_by_thief.with("challenge", &scene.challenge).with("signature", &thief.sign(&scene.challenge));
    refused(
        scene.browser.clone(),
        &signed_by_thief.clone().with("wallet_address", &thief.address()),
        "as the thief",
    );
    let as_the_owner =
        scene.browser.clone().login(&signed_by_thief.with("wallet_address", &scene.wallet.address()));
    assert_eq!(as_the_owner.field("error_description"), "Failed to verify signature");
    assert_eq!(as_the_owner.status, 401);
}

/// B-008: the time of issue decides.
#[test]
fn b_008_an_expired_challenge_is_refused() {
    let server =
        countersign_tests::Database::sqlite().server().with_env("COUNTERSIGN_CHALLENGE_TTL", "1").start();
    let client = server.register();
    let mut browser = server.browser();
    let body = browser.prepare(&client, &Wallet::fresh());
    std::thread::sleep(std::time::Duration::from_millis(1200));
    refused(browser, &body, "after its time");
}

/// B-016: what every issued text contains. None of its words come from the client.
#[test]
fn a_049_the_text_says_who_asks_for_what_until_when() {
    let server = Server::sqlite();
    let client = server.register_with(&serde_json::json!({"client_name": "日本語 Bank"}));
    let (mut browser, wallet) = (server.browser(), Wallet::fresh());
    let authorization = client.authorization();
    browser.authorize(&authorization).expect(302);
    let issued = browser.send(Browser::challenge_request(&authorization, &wallet.address())).expect(200);
    let text = issued.field("challenge");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], format!("{} wants you to sign in with your Ethereum account:", server.authority()));
    assert_eq!(lines[1], wallet.address());
    let tags =
        ["URI", "Version", "Chain ID", "Nonce", "Issued At", "Expiration Time", "Request ID", "Resources"];
    let places: Vec<usize> = tags
        .iter()
        .map(|tag| lines.iter().position(|line| line.starts_with(&format!("{tag}:"))).unwrap())
        .collect();
    assert!(places.is_sorted(), "ERC-4361's order: {text}");
    assert!(lines[places[0]].starts_with(&format!("URI: {}/", server.public_url)));
    let nonce = lines[places[3]].trim_start_matches("Nonce: ");
    assert!(nonce.len() >= 24 && nonce.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{nonce}");
    assert_eq!(lines[places[5]], format!("Expiration Time: {}", issued.field("expires_at")), "A-008");
    assert!(issued.field("expires_at").ends_with('Z'));
    assert!(
        text.len() <= 1500 && text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')),
        "A-055: {text}"
    );
    assert!(!text.contains("Bank") && !text.ends_with('\n'), "A-021: {text}");
    let next = browser.challenge(&authorization, &wallet);
    assert!(!next.contains(nonce), "every text has its own nonce");
}

/// the response does not reveal whether an address is known.
#[test]
fn a_048_known_and_unknown_addresses_get_the_same_answer() {
    let mut scene = scene();
    let known = Wallet::fresh();
    scene.server.browser().sign_in(&scene.client, &known);
    let shape = |browser: &mut Browser, wallet: &Wallet| {
        let issued =
            browser.send(Browser::challenge_request(&scene.authorization, &wallet.address())).expect(200);
        let names: Vec<String> = issued.json().as_object().unwrap().keys().cloned().collect();
        (names, issued.field("challenge").len())
    };
    let (first, second) = (shape(&mut scene.browser, &known), shape(&mut scene.browser, &Wallet::fresh()));
    assert_eq!(first, second);
}

/// B-031, A-048: the address is checked first.
#[test]
fn b_031_what_is_no_address_gets_no_text() {
    let scene = scene();
    let address = scene.wallet.address();
    let wrong_case: String = address
        .chars()
        .enumerate()
        .map(|(place, letter)| if place > 20 { letter.to_ascii_uppercase() } else { letter })
        .collect();
    for text in [
        "",
        "0x",
        "0x0",
        "name.eth",
        &address[..41],
        &format!("{address}0"),
        &format!(" {address}"),
        &format!("{address}\n"),
        &format!("{address}\0"),
        &format!("\u{feff}{address}"),
        &address.replace('0', "０"),
        &address.replace("0x", "0X"),
        &format!("eip155:0:{address}"),
        &format!("eip155:01:{address}"),
        &format!("solana:1:{address}"),
        &format!("eip155:1:eip155:1:{address}"),
        &wrong_case,
        &"0x".repeat(10_000),
    ] {
        let answer = scene.browser.clone().send(Browser::challenge_request(&scene.authorization, text));
        assert_eq!(answer.verdict(), "400 invalid_request", "{text:.60}");
    }
}

/// A-050, P-09: after five wrong signatures, the right one is too late.
#[test]
fn a_050_a_challenge_takes_five_wrong_signatures_and_no_more() {
    let mut scene = scene();
    let good = Browser::login_body(&scene.authorization, &scene.wallet, &scene.challenge);
    let bad = good.clone().with("signature", &Wallet::fresh().sign(&scene.challenge));
    for turn in 1..=4 {
        let answer = scene.browser.login(&bad);
        assert_eq!(answer.field("error_description"), "Failed to verify signature", "{turn}");
    }
    let mut after_four = scene.browser.clone();
    after_four.login(&good).expect(303);
    scene.browser.login(&bad).expect(401);
    refused(scene.browser, &good, "after five wrong signatures");
}

/// A-054, B-024: all malformed signatures get the same response.
#[test]
fn a_054_every_bad_signature_gets_the_same_answer() {
    let scene = scene();
    let good = Browser::login_body(&scene.authorization, &scene.wallet, &scene.challenge);
    let signature = good.get("signature").to_owned();
    let flipped = format!("{}{}", &signature[..130], if signature.ends_with("1b") { "1c" } else { "1b" });
    for wrong in [
        "0x",
        "0x00",
        &signature[..131],
        &signature[..130],
        &format!("{signature}00"),
        &format!("0x{signature}"),
        &signature.replace("0x", "0X"),
        &format!(" {signature}"),
        &format!("{signature}\n"),
        &flipped,
        &format!("{}25", &signature[..130]),
        &format!("0x{}", "0".repeat(130)),
        &format!("0x{}", "f".repeat(130)),
        "é",
        &"A".repeat(30_000),
    ] {
        let answer = scene.browser.clone().login(&good.clone().with("signature", wrong));
        assert_eq!(answer.verdict(), "401 access_denied", "{wrong:.80}");
        assert_eq!(answer.field("error_description"), "Failed to verify signature", "{wrong:.80}");
    }
}

/// Accepted encodings of a signature: hex with or without `0x`, base64, base64url.
#[test]
fn a_signature_is_taken_in_every_spelling_that_wallets_use() {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    let scene = scene();
    let good = Browser::login_body(&scene.authorization, &scene.wallet, &scene.challenge);
    let hex = good.get("signature")[2..].to_owned();
    let bytes: Vec<u8> =
        (0..65).map(|place| u8::from_str_radix(&hex[2 * place..2 * place + 2], 16).unwrap()).collect();
    for (spelling, signature) in [
        ("hex", hex.clone()),
        ("upper-case hex", format!("0x{}", hex.to_uppercase())),
        ("base64", STANDARD.encode(&bytes)),
        ("base64url", URL_SAFE_NO_PAD.encode(&bytes)),
    ] {
        let mut browser = scene.server.browser();
        browser.authorize(&scene.authorization).expect(302);
        let answer = scene.browser.clone().login(&good.clone().with("signature", &signature));
        // A challenge works once. Only the first spelling can succeed; the others are verified and then
        // refused.
        match answer.status {
            303 => {}
            _ => assert_eq!(
                answer.field("error_description"),
                "Challenge is not valid or has expired",
                "{spelling}"
            ),
        }
    }
    let json = Request::json("/oauth/login", &good.json());
    assert_eq!(
        scene.browser.clone().send(json).verdict(),
        "401 access_denied",
        "one of them was already accepted"
    );
}
