//! What must not be stored, and what must not be logged. The logs of all other tests are searched too, when
//! their servers stop.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_tests::{Browser, Request, Tokens, Wallet, on_both};

on_both! {
    /// B-071, B-074.
    fn neither_the_database_nor_the_log_holds_a_secret(database) {
        let server = database.server().with_env("COUNTERSIGN_LOG", "trace").start();
        let client = server.register();
        let public = server.register_public();
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        let authorization = client.authorization();
        browser.authorize(&authorization).expect(302);
        let challenge = browser.challenge(&authorization, &wallet);
        let cookie = browser.cookies.values().next().unwrap().clone();
        let body = Browser::login_body(&authorization, &wallet, &challenge);
        // Failures are logged too, with more detail.
        browser.login(&body.clone().with("signature", "0x00")).expect(401);
        browser.login(&body.clone().with("challenge", &format!("{challenge}."))).expect(401);
        let unused_code = server.sign_in(&client);
        let code = browser.login(&body).expect(303).answer("code").unwrap();
        server.token(&client.exchange_form(&code).with("client_secret", &public.registration_token)).expect(401);
        let tokens = Tokens::of(server.exchange(&client, &code));
        let refreshed = Tokens::of(server.refresh(&client, &tokens.refresh));
        server.refresh(&client, &tokens.refresh).expect(400);
        server.userinfo(&refreshed.access).expect(401);
        server.tokens(&public);
        server.send(&Request::get(&format!("/oauth/userinfo?access_token={}", tokens.access))).expect(401);
        server.send(&Request::get(&format!("/oauth/clients/{}", client.id)).bearer(&client.registration_token)).expect(200);

        let nonce = challenge.split_once("Nonce: ").unwrap().1.lines().next().unwrap();
        let secrets = [
            ("client secret", client.secret.as_deref().unwrap()),
            ("registration token", &client.registration_token),
            ("code", &code),
            ("unused code", &unused_code),
            ("access token", &tokens.access),
            ("refresh token", &tokens.refresh),
            ("rotated refresh token", &refreshed.refresh),
            ("signature", body.get("signature")),
            ("challenge", nonce),
            ("cookie", &cookie),
            ("verifier", countersign_tests::site::VERIFIER),
        ];
        let (dump, log) = (database.dump(), server.log());
        assert!(holds(&dump, b"Photo Album"), "the dump contains the data");
        assert!(!log.is_empty(), "the log is not empty");
        for (name, secret) in secrets {
            for (place, text) in [("database", &dump), ("log", &log)] {
                assert!(!holds(text, secret.as_bytes()), "{name} in the {place}");
                for form in decoded(secret) {
                    assert!(!holds(text, &form), "{name}, decoded, in the {place}");
                }
            }
        }
        assert!(!holds(&log.to_ascii_lowercase(), wallet.address().to_lowercase().as_bytes()), "an address in the log");
        assert!(!holds(&log, b"wants you to sign in"), "a challenge in the log");
        // Wallet addresses are stored, of course. The other secrets must not be.
        let kept = server.secrets.found_in(&dump);
        let kept: Vec<_> = kept.iter().filter(|(kind, _)| !matches!(*kind, "wallet_address" | "address")).collect();
        assert!(kept.is_empty(), "{kept:?}");
    }

    /// a code in a query must not get into the log either.
    fn secrets_in_queries_are_not_logged(database) {
        let server = database.server().with_env("COUNTERSIGN_LOG", "debug").start();
        let client = server.register();
        let code = server.sign_in(&client);
        let form = client.exchange_form(&code);
        // parameters in the query are not form parameters.
        server.send(&Request::new("POST", &format!("/oauth/token?{}", form.encoded()))).expect(422);
        server.send(&Request::query("/oauth/token", &form)).expect(405);
        server.send(&Request::query("/no/such/path", &form)).expect(404);
        let log = server.log();
        for (name, secret) in [("code", code.as_str()), ("secret", client.secret.as_deref().unwrap())] {
            assert!(!holds(&log, secret.as_bytes()), "{name} in the log");
        }
        assert_eq!(server.exchange(&client, &code).status, 200);
    }
}

/// The bytes that a secret's text encodes, and these bytes in hex.
fn decoded(secret: &str) -> Vec<Vec<u8>> {
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(secret) else { return Vec::new() };
    // A code begins with the id of its row, which is not secret.
    let random = bytes[bytes.len().saturating_sub(32)..].to_vec();
    let hex: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    vec![random, hex.into_bytes()]
}

fn holds(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
