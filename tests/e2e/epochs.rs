//! What becomes of what was handed out when a backup is restored (D-26). The rows are the contract's business
//! (`conformance/src/storage/epochs.rs`); here is what no table knows.

use std::time::Duration;

use countersign_tests::{Browser, Database, Parameters, Request, Wallet, on_both};
use serde_json::json;

const WALLET_SIGNATURE: &str = "urn:countersign:params:oauth:grant-type:wallet-signature";

on_both! {
    /// A text for a browser, a cookie with a request, a form of a page, and a text for a program. All of them survive a restart.
    fn d_26_what_is_sealed_ends_when_a_backup_is_restored(database) {
        let mut server = database.start();
        let client = server.register();
        let program = server.register_with(
            &json!({"grant_types": [WALLET_SIGNATURE], "redirect_uris": [], "scope": "openid profile"}),
        );
        let wallet = Wallet::fresh();
        let signed = |browser: &mut Browser| {
            let authorization = client.authorization();
            browser.authorize(&authorization).expect(302);
            let challenge = browser.challenge(&authorization, &wallet);
            Browser::login_body(&authorization, &wallet, &challenge)
        };
        let asked = json!({"client_id": program.id, "wallet_address": wallet.address()});
        let mut answers = Vec::new();
        for restored in [false, true] {
            let [mut login, mut begun] = [(); 2].map(|()| server.browser());
            let body = signed(&mut login);
            let authorization = client.authorization();
            begun.authorize(&authorization).expect(302);
            let text = server.send(&Request::json("/oauth/challenge", &asked)).expect(200).field("challenge");
            let form = Parameters::of(&[("grant_type", WALLET_SIGNATURE), ("challenge", &text)])
                .with("signature", &wallet.sign(&text))
                .with("client_id", &program.id)
                .with("client_secret", program.secret.as_deref().unwrap());
            server.terminate();
            if restored {
                restore(database);
            }
            server.restart();
            answers.push([
                login.login(&body).status,
                begun.send(Browser::challenge_request(&authorization, &wallet.address())).status,
                server.token(&form).status,
            ]);
        }
        assert_eq!(answers[0], [303, 200, 200], "a restart");
        assert!(answers[1].iter().all(|status| (400..500).contains(status)), "a restore: {:?}", answers[1]);
        // Who signs anew is let in.
        let mut browser = server.browser();
        let body = signed(&mut browser);
        browser.login(&body).expect(303);
    }

    /// `restore` cannot see a server that stood still. That server must not go on with the keys of before.
    fn a_server_under_which_a_backup_is_restored_stops(database) {
        let mut server = database.start();
        restore(database);
        assert!(server.ends_within(Duration::from_secs(20)), "the server goes on");
        let log = String::from_utf8_lossy(&server.log()).into_owned();
        assert!(log.contains("a backup was restored into the database"), "{log}");
    }
}

/// An epoch begins, as in the last commit of a restore. Each has another id.
fn restore(database: &Database) {
    database.change(if database.is_postgres() {
        "INSERT INTO epochs (number, id, raised_at) \
        SELECT COALESCE(max(number), 0) + 1, gen_random_uuid(), now() FROM epochs"
    } else {
        "INSERT INTO epochs (number, id, raised_at) \
        SELECT COALESCE(max(number), 0) + 1, randomblob(16), CAST(strftime('%s', 'now') AS INTEGER) * 1000000 FROM epochs"
    });
}
