//! Applications that `client create --for` registers: users are redirected to where the applications'
//! settings say.

use std::fs;

use countersign_tests::server::project;
use countersign_tests::{Client, Wallet, on_both};
use serde_json::Value;

on_both! {
    fn people_sign_in_to_every_known_application(database) {
        let server = database.start();
        let known = fs::read_to_string(project().join("tests/clients/registrations.json")).unwrap();
        let known: Value = serde_json::from_str(&known).unwrap();
        for name in known.as_object().unwrap().keys() {
            let created = database.create_client(&["--for", name, "--url", "https://app.example"]);
            let client = Client::of(&created);
            assert!(client.redirect_uri.starts_with("https://app.example/"), "{created}");
            let authorization = client.authorization().with("scope", "openid profile");
            let code = server.browser().sign_in_with(&authorization, &Wallet::fresh());
            let form = client.exchange_form(&code).without("client_id").without("client_secret");
            let request = countersign_tests::Request::form("/oauth/token", &form);
            let (id, secret) = (&client.id, client.secret.as_deref().unwrap());
            let answer = match created["token_endpoint_auth_method"].as_str().unwrap() {
                "client_secret_basic" => server.send(&request.basic(id, secret)),
                _ => server.exchange(&client, &code),
            };
            assert!(!answer.expect(200).field("id_token").is_empty(), "{name}");
        }
    }
}
