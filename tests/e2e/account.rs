//! `/account` over HTTP: what users see of their own data, and every form of the page. No user can reach
//! another user's data, and an irreversible change requires a fresh signature.

use countersign_tests::jose::claims_of;
use countersign_tests::{Browser, Client, Parameters, Request, Response, Site, Tokens, Wallet, on_both};
use serde_json::json;

/// The account page's own client.
const ITSELF: &str = "00000000-0000-0000-0000-000000000000";

fn authorization(site: &Site) -> Parameters {
    let page = format!("{}/account", site.public_url);
    Parameters::of(&[("client_id", ITSELF), ("redirect_uri", &page)])
}

/// A user opens their account page, signs in, and is redirected back to it.
pub(crate) fn sign_in(site: &Site, wallet: &Wallet) -> Browser {
    let mut browser = site.browser();
    sign_in_with(&mut browser, wallet);
    browser
}

fn sign_in_with(browser: &mut Browser, wallet: &Wallet) {
    let authorization = authorization(&browser.site);
    let asked = browser.send(Request::get("/account")).expect(302);
    assert!(asked.location().starts_with("/auth"), "{asked:?}");
    let challenge = browser.challenge(&authorization, wallet);
    let signed = Browser::login_body(&authorization, wallet, &challenge);
    let arrived = browser.login(&signed).expect(303);
    assert_eq!(arrived.location(), authorization.get("redirect_uri"));
}

/// The client and the user agree, and the client gets its tokens.
fn tokens(site: &Site, client: &Client, wallet: &Wallet) -> Tokens {
    Tokens::of(site.exchange(client, &site.browser().sign_in(client, wallet)))
}

/// A form of the page, as a browser sends it.
pub(crate) fn form(path: &str, fields: &[(&str, &str)]) -> Request {
    Request::form(path, &Parameters::of(fields)).header("Accept", "text/html")
}

/// Where the response to a form redirects to.
fn done(response: Response) -> String {
    response.expect(303).location().to_owned()
}

pub(crate) fn page(browser: &mut Browser, path: &str) -> String {
    browser.send(Request::get(path).header("Accept", "text/html")).expect(200).text()
}

fn ids_of(page: &str, attribute: &str) -> Vec<String> {
    let pattern = format!("{attribute}=\"");
    page.split(&pattern).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// The value of a hidden field, or a text of the page, with the template's escapes undone.
fn between(page: &str, start: &str, end: &str) -> String {
    let (_, rest) = page.split_once(start).unwrap_or_else(|| panic!("{start} in {page}"));
    let escaped = rest.split_once(end).unwrap().0;
    let plain =
        escaped.replace("&quot;", "\"").replace("&#x27;", "'").replace("&#39;", "'").replace("&#x2F;", "/");
    plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Requests the texts for a change of wallets with the page's form.
pub(crate) fn texts(browser: &mut Browser, change: &str, signer: &Wallet, other: &Wallet) -> Response {
    let fields = [
        ("change", change),
        ("wallet_address", &format!("eip155:1:{}", signer.address())),
        ("other_wallet_address", &format!("  {} ", other.address())),
    ];
    browser.press(form("/account/wallets/challenge", &fields))
}

fn account_of(wallet: &Wallet) -> String {
    format!("eip155:1:{}", wallet.address())
}

pub(crate) fn text_of(page: &str, whose: &str) -> String {
    between(page, &format!("id=\"{whose}-text\">"), "</pre>")
}

/// How a browser sends a text in a form.
fn typed(text: &str) -> String {
    text.replace('\n', "\r\n")
}

on_both! {
    fn a_person_sees_what_is_theirs_and_nothing_else(database) {
        let server = database.start();
        let (client, other_client) = (server.register(), server.register_at("https://other.example/cb"));
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        tokens(&server, &client, &ann);
        tokens(&server, &other_client, &bob);
        let mut browser = sign_in(&server, &ann);
        let page = page(&mut browser, "/account");
        assert!(page.contains(&ann.address()), "{page}");
        assert!(page.contains("Photo Album") && page.contains("client.example"), "{page}");
        assert!(page.contains("Unverified"), "nobody has verified this client");
        assert_eq!(ids_of(&page, "data-client"), [client.id.as_str()]);
        assert_eq!(ids_of(&page, "data-session").len(), 1, "a sign-in for a client is not remembered unless the user asks for it");
        assert!(!page.contains(&bob.address()) && !page.contains("other.example"), "{page}");
        assert!(page.contains("This is your only wallet"), "{page}");
    }

    fn the_file_says_what_the_page_says(database) {
        let server = database.start();
        let (client, wallet) = (server.register(), Wallet::fresh());
        let sub = server.userinfo(&tokens(&server, &client, &wallet).access).field("sub");
        let mut browser = sign_in(&server, &wallet);
        browser.press(form("/account/email", &[("email", "Ada@Example.com")])).expect(303);
        let file = browser.press(form("/account/data", &[])).expect(200);
        assert_eq!(file.header("Content-Disposition"), Some("attachment; filename=\"account.json\""));
        let data = file.json();
        assert_eq!(data["sub"], sub.as_str());
        assert_eq!(data["wallets"][0]["account"], format!("eip155:1:{}", wallet.address()));
        assert_eq!(data["apps"][0]["client_id"], client.id.as_str());
        assert_eq!(data["apps"][0]["scope"], "profile");
        assert_eq!(data["sessions"][0]["is_this_one"], true);
        assert_eq!(data["email"]["address"], "Ada@example.com");
        assert_eq!(data["email"].get("verified_at"), None);
    }

    fn whoever_is_not_signed_in_is_led_to_the_sign_in_or_told_so(database) {
        let server = database.start();
        let forms = [
            ("/account/apps/revoke", json!({"client_id": "0197c2a4-6f00-7d3e-9b1a-4f6c2f0e8d12"})),
            ("/account/sessions/end", json!({"session": "all"})),
            ("/account/email", json!({"email": "ada@example.com"})),
            ("/account/email/remove", json!({})),
            ("/account/delete", json!({"confirm": "yes"})),
            ("/account/wallets/rename", json!({"wallet_account": "eip155:1:0xA", "name": "Savings"})),
        ];
        for (path, body) in &forms {
            assert_eq!(server.send(&Request::json(path, body)).verdict(), "401 access_denied", "{path}");
            let by_browser = Request::json(path, body).header("Accept", "text/html");
            assert_eq!(done(server.send(&by_browser)), "/account", "{path}");
        }
        assert_eq!(server.send(&Request::json("/account/data", &json!({}))).verdict(), "401 access_denied");
        let mut stranger = server.browser();
        stranger.cookies.insert("countersign_login".to_owned(), "A".repeat(64));
        assert_eq!(stranger.send(Request::get("/account")).expect(302).location(), "/auth");
    }

    /// The name that a wallet gives itself is a claim, and the person's own name for it is theirs: it is on
    /// their page and in their file, and nowhere else.
    fn a_wallet_has_a_name_that_nobody_but_its_user_gets_to_know(database) {
        let server = database.start();
        let client = server.register_with(&json!({"scopes": ["openid", "profile", "wallets"]}));
        let wallet = Wallet::fresh();
        let mut browser = server.browser();
        let authorization = client.authorization().with("scope", "openid profile wallets");
        let signed = browser.prepare_with(&authorization, &wallet).with("wallet_name", "Foxglove <b>Wallet</b>");
        assert!(!signed.get("challenge").contains("Foxglove"), "{signed:?}");
        let code = browser.login(&signed).expect(303).answer("code").unwrap();
        let tokens = server.exchange(&client, &code).expect(200);
        let mut browser = sign_in(&server, &wallet);
        let shown = page(&mut browser, "/account");
        assert!(shown.contains("<bdi>Foxglove &lt;b&gt;Wallet") && !shown.contains("<b>"), "{shown}");
        let account = account_of(&wallet);
        let rename = |name| form("/account/wallets/rename", &[("wallet_account", &account), ("kind", "key"), ("name", name)]);
        assert_eq!(done(browser.press(rename("My savings"))), "/account?done=wallet_renamed");
        let shown = page(&mut browser, "/account?done=wallet_renamed");
        assert!(shown.contains("<bdi>My savings</bdi>") && shown.contains("The wallet has its new name."), "{shown}");
        assert!(!shown.contains("Foxglove"), "{shown}");
        let file = browser.press(form("/account/data", &[])).expect(200).json();
        assert_eq!(file["wallets"][0]["name"], "My savings");
        let info = server.userinfo(&tokens.field("access_token")).expect(200).text();
        let claims = claims_of(&tokens.field("id_token")).to_string();
        for told in [tokens.text(), info, claims] {
            assert!(!told.contains("savings") && !told.contains("Foxglove"), "{told}");
        }
    }

    /// What a person may not name a wallet is said beside the field, and what they typed stays.
    fn a_name_that_hides_something_is_refused_where_it_was_typed(database) {
        let server = database.start();
        let wallet = Wallet::fresh();
        let mut browser = sign_in(&server, &wallet);
        let account = account_of(&wallet);
        let rename = |name| form("/account/wallets/rename", &[("wallet_account", &account), ("kind", "key"), ("name", name)]);
        let long = "x".repeat(61);
        for name in ["Led\u{202E}ger", "Led\u{200B}ger", &long] {
            let page = browser.press(rename(name)).expect(400).text();
            assert!(page.contains("data-trouble=\"bad_wallet_name\""), "{page}");
            assert!(page.contains("aria-invalid=\"true\" aria-describedby=\"name-1-hint trouble\""), "{page}");
            assert!(page.contains(&format!("value=\"{name}\"")), "{page}");
        }
        assert_eq!(database.number("SELECT count(*) FROM wallets WHERE name IS NOT NULL"), 0);
        browser.press(rename("Ledger")).expect(303);
        browser.press(rename(" ")).expect(303);
        assert_eq!(database.number("SELECT count(*) FROM wallets WHERE name IS NOT NULL"), 0);
    }

    /// A-056, B-056
    fn a_page_of_another_site_changes_nothing(database) {
        let server = database.start();
        let (client, wallet) = (server.register(), Wallet::fresh());
        let tokens = tokens(&server, &client, &wallet);
        let mut browser = sign_in(&server, &wallet);
        let account = account_of(&wallet);
        let forms: [(&str, &[(&str, &str)]); 9] = [
            ("/account/sign-in", &[]),
            ("/account/apps/revoke", &[("client_id", &client.id)]),
            ("/account/sessions/end", &[("session", "all")]),
            ("/account/email", &[("email", "eve@example.com")]),
            ("/account/email/remove", &[]),
            ("/account/email/confirm", &[("token", "x")]),
            ("/account/delete", &[("confirm", "yes")]),
            ("/account/wallets/challenge", &[("change", "unlink")]),
            ("/account/wallets/rename", &[("wallet_account", &account), ("kind", "key"), ("name", "Evil")]),
        ];
        for (path, fields) in forms {
            for (name, value) in [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "same-site")] {
                browser.press(form(path, fields).header(name, value)).expect(403);
            }
        }
        server.userinfo(&tokens.access).expect(200);
        assert!(page(&mut browser, "/account").contains("data-state=\"account\""));
        assert_eq!(database.number("SELECT count(*) FROM login_sessions"), 1);
    }

    /// D-15: what one replica revoked is revoked on every other.
    fn an_app_that_lost_its_access_has_no_tokens_and_asks_for_a_signature(database) {
        let server = database.start();
        let replica = server.replica();
        let (client, wallet) = (server.register(), Wallet::fresh());
        let first = tokens(&server, &client, &wallet);
        let mut browser = sign_in(&server, &wallet);
        let revoke = form("/account/apps/revoke", &[("client_id", &client.id)]);
        let revoke = browser.filled(revoke);
        assert_eq!(done(browser.send(revoke.clone())), "/account?done=access_revoked");
        assert_eq!(replica.site().userinfo(&first.access).status, 401);
        assert_eq!(replica.site().refresh(&client, &first.refresh).verdict(), "400 invalid_grant");
        let page = page(&mut browser, "/account?done=access_revoked");
        assert!(page.contains("The app has no access any more."), "{page}");
        assert_eq!(ids_of(&page, "data-client"), <[&str; 0]>::default());
        assert_eq!(done(browser.send(revoke)), "/account?done=access_revoked", "a second time changes nothing");
        tokens(&server, &client, &wallet);
    }

    /// B-061: an id in a form is only looked up among the user's own rows.
    fn the_ids_in_the_forms_reach_nobody_elses_sessions_and_apps(database) {
        let server = database.start();
        let (client, ann, bob) = (server.register(), Wallet::fresh(), Wallet::fresh());
        let ours = tokens(&server, &client, &ann);
        let mut victim = sign_in(&server, &ann);
        let anns = account_of(&ann);
        let rename = [("wallet_account", anns.as_str()), ("kind", "key"), ("name", "Evil")];
        let session = ids_of(&page(&mut victim, "/account"), "data-session").remove(0);
        let mut thief = sign_in(&server, &bob);
        thief.press(form("/account/sessions/end", &[("session", &session)])).expect(403);
        thief.press(form("/account/wallets/rename", &rename)).expect(403);
        thief.press(form("/account/apps/revoke", &[("client_id", &client.id)])).expect(403);
        thief.press(form("/account/sessions/end", &[("session", "all")])).expect(303);
        server.userinfo(&ours.access).expect(200);
        assert_eq!(ids_of(&page(&mut victim, "/account"), "data-session"), [session]);
    }

    fn a_person_signs_out_here_elsewhere_or_everywhere(database) {
        let server = database.start();
        let wallet = Wallet::fresh();
        let (mut laptop, mut phone, mut desk) =
            (sign_in(&server, &wallet), sign_in(&server, &wallet), sign_in(&server, &wallet));
        let sessions = ids_of(&page(&mut laptop, "/account"), "data-session");
        assert_eq!(sessions.len(), 3);
        let end = |which: &str| form("/account/sessions/end", &[("session", which)]);
        let of_phone = phone.press(form("/account/data", &[])).json()["sessions"].as_array().unwrap().iter()
            .find(|session| session["is_this_one"] == true).unwrap()["id"].as_str().unwrap().to_owned();
        assert_eq!(done(laptop.press(end(&of_phone))), "/account?done=session_ended");
        assert_eq!(phone.send(Request::get("/account")).status, 302, "the phone is signed out");
        assert_eq!(done(desk.press(end("this"))), "/account?done=signed_out");
        assert!(!desk.cookies.contains_key("countersign_login"), "the browser forgets it too");
        let out = page(&mut desk, "/account?done=signed_out");
        assert!(out.contains("data-state=\"signed-out\""), "{out}");
        assert!(out.contains("Your wallet may still list this site as connected"), "{out}");
        assert_eq!(done(laptop.press(end("all"))), "/account?done=signed_out_everywhere");
        assert_eq!(database.number("SELECT count(*) FROM login_sessions"), 0);
        for wrong in ["", "none", "../all", ITSELF] {
            let mut browser = sign_in(&server, &wallet);
            browser.press(end(wrong)).expect(if wrong.is_empty() { 400 } else { 403 });
            assert!(page(&mut browser, "/account").contains("data-state=\"account\""), "{wrong}");
        }
    }

    fn an_e_mail_address_comes_changes_and_goes(database) {
        let server = database.start();
        let mut browser = sign_in(&server, &Wallet::fresh());
        let put = |address: &str| form("/account/email", &[("email", address)]);
        assert_eq!(done(browser.press(put("ada@example.com"))), "/account?done=email_added");
        assert!(page(&mut browser, "/account").contains("<bdi id=\"email-address\">ada@example.com</bdi>"));
        assert_eq!(done(browser.press(put("lovelace@example.com"))), "/account?done=email_added");
        assert!(page(&mut browser, "/account").contains("lovelace@example.com"));
        for wrong in ["", "ada", "ada@example.com\r\nBcc: eve@example.com", "<b>@example.com"] {
            let refused = browser.press(put(wrong)).expect(400).text();
            assert!(refused.contains("data-trouble=\"bad_email\"") && !refused.contains("<b>@"), "{refused}");
            let program = Request::json("/account/email", &json!({"email": wrong}));
            assert_eq!(browser.press(program).verdict(), "400 invalid_request");
        }
        assert!(page(&mut browser, "/account").contains("lovelace@example.com"), "invalid input changes nothing");
        assert_eq!(done(browser.press(form("/account/email/remove", &[]))), "/account?done=email_removed");
        assert!(!page(&mut browser, "/account").contains("lovelace@example.com"));
    }

    fn a_link_that_is_not_ours_confirms_nothing(database) {
        let server = database.start();
        let wallet = Wallet::fresh();
        let mut browser = sign_in(&server, &wallet);
        browser.press(form("/account/email", &[("email", "ada@example.com")])).expect(303);
        let secret = browser.cookies["countersign_login"].clone();
        let asked = format!("/account/email/confirm?token={secret}");
        let asked = browser.send(Request::get(&asked)).expect(400).text();
        assert!(asked.contains("data-state=\"email-invalid\""), "{asked}");
        for wrong in [secret.as_str(), "x"] {
            browser.press(form("/account/email/confirm", &[("token", wrong)])).expect(403);
            let program = Request::json("/account/email/confirm", &json!({"token": wrong}));
            assert_eq!(browser.press(program).verdict(), "403 invalid_request");
            let nobody = Request::json("/account/email/confirm", &json!({"token": wrong}));
            assert_eq!(server.send(&nobody).verdict(), "400 invalid_request", "without a cookie, only the token is checked");
        }
        for (path, why) in [
            ("/account/email/confirm", "not valid any more"),
            ("/account/email/confirm?token=x", "not valid any more"),
            ("/account/email/confirm?token=x&token=y", "more than once"),
        ] {
            assert!(browser.send(Request::get(path)).expect(400).text().contains(why), "{path}");
        }
        assert_eq!(database.number("SELECT count(*) FROM emails WHERE verified_at IS NOT NULL"), 0);
    }

    fn an_account_goes_with_everything_and_its_wallet_starts_anew(database) {
        let server = database.start();
        let (client, wallet) = (server.register(), Wallet::fresh());
        let old = tokens(&server, &client, &wallet);
        let sub = server.userinfo(&old.access).field("sub");
        let mut browser = sign_in(&server, &wallet);
        let unsaid = browser.press(form("/account/delete", &[])).expect(400).text();
        assert!(unsaid.contains("data-trouble=\"not_confirmed\""), "{unsaid}");
        server.userinfo(&old.access).expect(200);
        let gone = browser.press(form("/account/delete", &[("confirm", "yes")]));
        assert_eq!(done(gone), "/account?done=account_deleted");
        assert!(page(&mut browser, "/account?done=account_deleted").contains("Your account is deleted"));
        assert_eq!(server.userinfo(&old.access).status, 401);
        assert_eq!(server.refresh(&client, &old.refresh).verdict(), "400 invalid_grant");
        assert_eq!(database.number("SELECT count(*) FROM users"), 0);
        let again = server.userinfo(&tokens(&server, &client, &wallet).access).field("sub");
        assert_ne!(again, sub);
    }

    /// B-064: being remembered by a browser does not prove who the user is.
    fn an_old_signature_deletes_nothing_and_a_new_one_does(database) {
        let server = database.start();
        let wallet = Wallet::fresh();
        let mut browser = sign_in(&server, &wallet);
        let delete = || form("/account/delete", &[("confirm", "yes")]);
        let waiting = browser.filled(delete());
        let older = if database.is_postgres() { "interval '10 minutes'" } else { "600000000" };
        database.change(&format!("UPDATE login_sessions SET authenticated_at = authenticated_at - {older}"));
        let shown = page(&mut browser, "/account");
        assert!(shown.contains("id=\"sign-in-again\"") && !shown.contains("id=\"delete-button\""), "{shown}");
        let refused = browser.send(waiting).expect(401).text();
        assert!(refused.contains("data-trouble=\"signed_in_long_ago\""), "{refused}");
        assert_eq!(database.number("SELECT count(*) FROM users"), 1);
        let again = browser.press(form("/account/sign-in", &[])).expect(303);
        assert!(again.location().starts_with("/auth"), "{again:?}");
        let authorization = authorization(&server);
        let challenge = browser.challenge(&authorization, &wallet);
        browser.login(&Browser::login_body(&authorization, &wallet, &challenge)).expect(303);
        browser.press(delete()).expect(303);
        assert_eq!(database.number("SELECT count(*) FROM users"), 0);
    }

    fn forms_link_a_wallet_and_unlink_it(database) {
        let server = database.start();
        let (mine, other) = (Wallet::fresh(), Wallet::fresh());
        let mut browser = sign_in(&server, &mine);
        let asked = texts(&mut browser, "link", &mine, &other).expect(200).text();
        let (for_mine, for_other) = (text_of(&asked, "signer"), text_of(&asked, "other"));
        let finish = form(
            "/account/wallets/link",
            &[
                ("challenge", &typed(&for_mine)),
                ("signature", &format!(" {}\r\n", mine.sign(&for_mine))),
                ("other_challenge", &typed(&for_other)),
                ("other_signature", &other.sign(&for_other)),
            ],
        );
        assert_eq!(done(browser.press_on(&asked, finish)), "/account?done=wallet_linked");
        let shown = page(&mut browser, "/account?done=wallet_linked");
        assert!(shown.contains(&other.address()) && shown.contains("The wallet is linked."), "{shown}");
        let asked = texts(&mut browser, "unlink", &mine, &other).expect(200).text();
        let text = text_of(&asked, "signer");
        let finish = form("/account/wallets/unlink", &[("challenge", &typed(&text)), ("signature", &mine.sign(&text))]);
        assert_eq!(done(browser.press_on(&asked, finish)), "/account?done=wallet_unlinked");
        assert!(!page(&mut browser, "/account").contains(&other.address()));
    }

    /// B-022, A-050: the page asks for the signatures again, five times.
    fn a_form_with_a_wrong_signature_is_shown_again_with_its_texts(database) {
        let server = database.start();
        let (mine, other, eve) = (Wallet::fresh(), Wallet::fresh(), Wallet::fresh());
        let mut browser = sign_in(&server, &mine);
        let asked = texts(&mut browser, "link", &mine, &other).expect(200).text();
        let (for_mine, for_other) = (text_of(&asked, "signer"), text_of(&asked, "other"));
        let signed = |mine: &Wallet, other: &Wallet| {
            form(
                "/account/wallets/link",
                &[
                    ("challenge", &for_mine),
                    ("signature", &mine.sign(&for_mine)),
                    ("other_challenge", &for_other),
                    ("other_signature", &other.sign(&for_other)),
                ],
            )
        };
        for (request, why) in [
            (signed(&eve, &other), "Failed to verify signature of your wallet"),
            (signed(&mine, &eve), "Failed to verify signature of the new wallet"),
        ] {
            let shown = browser.press_on(&asked, request).expect(401).text();
            assert!(shown.contains(why), "{shown}");
            assert_eq!(text_of(&shown, "signer"), for_mine);
            assert_eq!(text_of(&shown, "other"), for_other);
        }
        for _ in 0..3 {
            browser.press_on(&asked, signed(&eve, &eve)).expect(401);
        }
        let exhausted = browser.press_on(&asked, signed(&mine, &other)).expect(401).text();
        assert!(exhausted.contains("Challenge is not valid or has expired"), "{exhausted}");
        assert!(exhausted.contains("id=\"address-form\"") && exhausted.contains(&other.address()), "{exhausted}");
    }

    fn a_form_that_cannot_be_followed_says_why(database) {
        let server = database.start();
        let (mine, bobs) = (Wallet::fresh(), Wallet::fresh());
        sign_in(&server, &bobs);
        let mut browser = sign_in(&server, &mine);
        let same = texts(&mut browser, "link", &mine, &mine).expect(400).text();
        assert!(same.contains("This wallet is the one that signs for you"), "{same}");
        let fields = [("change", "link"), ("wallet_address", &mine.address()), ("other_wallet_address", "<script>")];
        let nothing = browser.press(form("/account/wallets/challenge", &fields)).expect(400).text();
        assert!(nothing.contains("not an address of a wallet") && !nothing.contains("<script>\""), "{nothing}");
        browser.press(form("/account/wallets/challenge", &[("change", "steal")])).expect(400);
        // Before anybody signs.
        let refused = texts(&mut browser, "link", &mine, &bobs).expect(409).text();
        assert!(refused.contains("This wallet belongs to another account here"), "{refused}");
        let asked = texts(&mut browser, "unlink", &mine, &mine).expect(200).text();
        let text = text_of(&asked, "signer");
        let last = form("/account/wallets/unlink", &[("challenge", &text), ("signature", &mine.sign(&text))]);
        let refused = browser.press_on(&asked, last).expect(409).text();
        assert!(refused.contains("It cannot be unlinked"), "{refused}");
        let unknown = form("/account/wallets/unlink", &[("challenge", "x"), ("signature", "y")]);
        assert_eq!(server.browser().send(unknown).status, 400, "no session has this text");
    }

    /// A user who unlinks the wallet that they signed in with is signed out, and is told why.
    fn the_wallet_that_signed_in_takes_its_session_along(database) {
        let server = database.start();
        let (mine, other) = (Wallet::fresh(), Wallet::fresh());
        let mut browser = sign_in(&server, &mine);
        let asked = texts(&mut browser, "link", &mine, &other).expect(200).text();
        let (for_mine, for_other) = (text_of(&asked, "signer"), text_of(&asked, "other"));
        let link = json!({
            "challenge": for_mine,
            "signature": mine.sign(&for_mine),
            "other_challenge": for_other,
            "other_signature": other.sign(&for_other),
        });
        browser.press_on(&asked, Request::json("/account/wallets/link", &link)).expect(200);
        let asked = texts(&mut browser, "unlink", &mine, &mine).expect(200).text();
        let text = text_of(&asked, "signer");
        let finish = form("/account/wallets/unlink", &[("challenge", &text), ("signature", &mine.sign(&text))]);
        let leads_to = done(browser.press_on(&asked, finish));
        let out = page(&mut browser, &leads_to);
        assert!(out.contains("You were signed in with it, so you are signed out here."), "{out}");
        let account = page(&mut sign_in(&server, &other), "/account");
        assert!(account.contains(&other.address()) && !account.contains(&mine.address()));
    }
}

#[test]
fn what_is_mailed_is_counted() {
    let database = countersign_tests::Database::sqlite();
    let server = database.server().with_env("COUNTERSIGN_RATE_LIMIT", "on").start();
    let mut browser = sign_in(&server, &Wallet::fresh());
    let put = || form("/account/email", &[("email", "ada@example.com")]);
    for _ in 0..6 {
        browser.press(put()).expect(303);
    }
    let refused = browser.press(put()).expect(429);
    assert!(refused.header("Retry-After").is_some(), "{refused:?}");
}

#[test]
fn where_no_sign_in_is_remembered_the_account_page_works_all_the_same() {
    let database = countersign_tests::Database::sqlite();
    let server = database.server().with_env("COUNTERSIGN_LOGIN_TTL", "0").start();
    let mut browser = sign_in(&server, &Wallet::fresh());
    assert!(page(&mut browser, "/account").contains("data-state=\"account\""));
}
