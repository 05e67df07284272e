//! Invitations from outside: an operator makes a link, people open it and sign, and the application lets them in.

use std::env;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use countersign_tests::site::REDIRECT_URI;
use countersign_tests::{
    Browser, Client, Database, Parameters, Request, Response, Site, Tokens, Wallet, on_both,
};
use serde_json::Value;

const SCOPES: &str = "openid profile groups";
const HOME: &str = "https://photos.example/start";
/// The client of the sign-in page's own request.
const ACCOUNT: &str = "00000000-0000-0000-0000-000000000000";
/// Browsers that want the same invitation at once.
const BROWSERS: usize = 64;

/// An application that only members of the group `staff` can use.
fn application(database: &Database) -> Client {
    database.operate(&["group", "create", "staff"]);
    let registered =
        database.create_client(&["--redirect-uri", REDIRECT_URI, "--scope", SCOPES, "--client-uri", HOME]);
    let client = Client::of(&registered);
    database.operate(&["access", "set", &client.id, "groups:staff", "--release", "all"]);
    client
}

fn invite(database: &Database, arguments: &[&str]) -> Value {
    database.operate(&[&["invite", "create", "--group", "staff"], arguments].concat())
}

/// What the link leads to on this replica.
fn link(invitation: &Value) -> String {
    let link = invitation["link"].as_str().unwrap();
    link[link.find("/join/").unwrap()..].to_owned()
}

fn open(browser: &mut Browser, path: &str) -> Response {
    browser.send(Request::get(path).header("Accept", "text/html"))
}

fn shown(database: &Database, invitation: &Value) -> Value {
    database.operate(&["invite", "show", invitation["id"].as_str().unwrap()])
}

/// How many members the only group has. Operators see at most a thousand.
fn members(database: &Database) -> usize {
    let counted =
        database.number("SELECT (SELECT count(*) FROM group_users) + (SELECT count(*) FROM group_wallets)");
    usize::try_from(counted).unwrap()
}

fn groups_of(site: &Site, client: &Client, code: &str) -> Value {
    let tokens = Tokens::of(site.exchange(client, code));
    site.userinfo(&tokens.access).expect(200).json()["groups"].clone()
}

/// The fields of a request of the account page.
fn of_account(site: &Site) -> Parameters {
    let page = format!("{}/account", site.public_url);
    Parameters::of(&[("client_id", ACCOUNT), ("redirect_uri", &page)])
}

on_both! {
    fn one_signature_brings_a_stranger_into_the_group_and_to_its_application(database) {
        let first = database.start();
        let second = first.replica();
        let client = application(database);
        let invitation = invite(database, &["--for", &client.id, "--name", "Ann", "--from", "The \"Millers\" & co", "--expires", "2d"]);
        assert!(invitation["qr"].as_str().unwrap().starts_with("<svg"), "{invitation}");
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let mut browser = first.browser();
        let page = open(&mut browser, &link(&invitation)).expect(200).text();
        for words in ["The &quot;Millers&quot; &amp; co", "staff", "Photo Album", "Ann", HOME] {
            assert!(page.contains(words), "{words} is missing in {page}");
        }
        // The application sends the person here, to another replica.
        browser.site = second.site();
        let authorization = client.authorization().with("scope", SCOPES);
        browser.authorize(&authorization).expect(302);
        let page = open(&mut browser, "/auth").expect(200).text();
        assert!(page.contains("id=\"invitation\"") && page.contains("The &quot;Millers&quot;"), "{page}");
        let challenge = browser.challenge(&authorization, &ann);
        assert!(challenge.contains("Join the group staff by invitation."), "{challenge}");
        assert!(challenge.contains(invitation["id"].as_str().unwrap()), "{challenge}");
        assert_eq!(members(database), 0, "nothing is spent before the signature");
        let body = Browser::login_body(&authorization, &ann, &challenge);
        let code = browser.login(&body).expect(303).answer("code").unwrap();
        assert_eq!(groups_of(&second, &client, &code), serde_json::json!(["staff"]));
        let after = shown(database, &invitation);
        assert_eq!((after["state"].as_str(), after["used"].as_u64()), (Some("used"), Some(1)));
        assert_eq!(after["wallets"][0]["name"], "Ann");

        // It does not stay in the browser, and a forwarded link says that it was used.
        let again = client.authorization().with("scope", SCOPES);
        browser.authorize(&again).expect(302);
        assert!(!open(&mut browser, "/auth").text().contains("id=\"invitation\""));
        let gone = open(&mut second.browser(), &link(&invitation)).expect(410);
        assert!(gone.text().contains("already used"), "{}", gone.text());
        let refused = first.browser();
        let mut refused = refused;
        let body = refused.prepare_with(&client.authorization(), &bob);
        refused.login(&body).expect(403);
    }

    /// Without an application, the sign-in page itself says what the link is.
    fn an_invitation_without_an_application_leads_to_the_account(database) {
        let server = database.start();
        application(database);
        let invitation = invite(database, &["--uses", "2", "--from", "The Millers"]);
        let (wallet, mut browser) = (Wallet::fresh(), server.browser());
        let to = open(&mut browser, &link(&invitation)).expect(303).location().to_owned();
        let label = to.split_once("/auth").unwrap().1;
        let page = open(&mut browser, &format!("/auth{label}")).expect(200).text();
        assert!(page.contains("id=\"invitation\"") && page.contains("The Millers"), "{page}");
        assert!(!page.contains(&link(&invitation)), "the link is not in the page that follows");
        let fields = of_account(&server);
        let challenge = browser.challenge(&fields, &wallet);
        assert!(challenge.contains("Sign in to my account here. Join the group staff by invitation."));
        let body = Browser::login_body(&fields, &wallet, &challenge);
        assert!(browser.login(&body).expect(303).location().ends_with("/account"));
        assert_eq!(members(database), 1);
        let account = open(&mut browser, "/account").expect(200).text();
        assert!(account.contains("id=\"came-by\"") && account.contains("The Millers"), "{account}");
        // Members spend nothing.
        let mut browser = server.browser();
        open(&mut browser, &link(&invitation)).expect(303);
        let challenge = browser.challenge(&fields, &wallet);
        browser.login(&Browser::login_body(&fields, &wallet, &challenge)).expect(303);
        assert_eq!(shown(database, &invitation)["used"], 1);
        // Who does not want it signs in without it.
        let (stranger, mut browser) = (Wallet::fresh(), server.browser());
        open(&mut browser, &link(&invitation)).expect(303);
        let page = open(&mut browser, "/auth?uninvited=1").expect(200).text();
        assert!(!page.contains("id=\"invitation\""), "{page}");
        let challenge = browser.challenge(&fields, &stranger);
        assert!(!challenge.contains("staff"), "{challenge}");
        browser.login(&Browser::login_body(&fields, &stranger, &challenge)).expect(303);
        assert_eq!(members(database), 1);
    }

    fn a_link_that_is_not_good_lets_no_one_in_and_says_why(database) {
        let server = database.start();
        let client = application(database);
        let page = |path: &str| open(&mut server.browser(), path);
        let [revoked, expired, open_one] = [(); 3].map(|()| invite(database, &["--for", &client.id]));
        let id = |invitation: &Value| invitation["id"].as_str().unwrap().to_owned();
        database.operate(&["invite", "revoke", &id(&revoked)]);
        assert!(page(&link(&revoked)).expect(410).text().contains("withdrawn"));
        let past = if database.is_postgres() { "now() - interval '1 minute'" } else { "1" };
        let hex = id(&expired).replace('-', "");
        let this = if database.is_postgres() { format!("id = '{}'", id(&expired)) } else { format!("hex(id) = upper('{hex}')") };
        database.change(&format!("UPDATE invitations SET expires_at = {past} WHERE {this}"));
        assert!(page(&link(&expired)).expect(410).text().contains("expired"));
        let good = link(&open_one);
        let flipped = if good.ends_with('A') { "B" } else { "A" };
        for altered in [
            "/join/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned(),
            format!("{}{flipped}", &good[..good.len() - 1]),
            format!("{good}A"),
            good[..good.len() - 1].to_owned(),
            "/join/x".to_owned(),
            format!("/join/{}", id(&open_one)),
            "/join/%00%ff".to_owned(),
        ] {
            let answer = page(&altered);
            assert!([400, 404].contains(&answer.status), "{altered}: {}", answer.status);
        }
        server.send(&Request::form(&good, &Parameters::default())).expect(405);
        // No page of another site can show it in a frame, and it is kept by no one.
        let answer = page(&good).expect(200);
        let policy = answer.header("Content-Security-Policy").unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(answer.header("Cache-Control").unwrap().contains("no-store"));
        assert_eq!(answer.header("Referrer-Policy"), Some("no-referrer"));
        // What ended between the page and the signature spends nothing, and the person can go on without it.
        let (wallet, mut browser) = (Wallet::fresh(), server.browser());
        open(&mut browser, &good).expect(200);
        let authorization = client.authorization();
        browser.authorize(&authorization).expect(302);
        let challenge = browser.challenge(&authorization, &wallet);
        database.operate(&["invite", "revoke", &id(&open_one)]);
        let body = Browser::login_body(&authorization, &wallet, &challenge);
        let refused = browser.login(&body).expect(403);
        assert_eq!(refused.error(), "access_denied");
        assert!(refused.text().contains("invitation is revoked"), "{}", refused.text());
        assert!(open(&mut browser, "/auth").text().contains("no longer valid"));
        assert_eq!(members(database), 0);
    }

    fn an_invitation_is_no_way_around_a_block(database) {
        let server = database.start();
        let client = application(database);
        let invitation = invite(database, &["--for", &client.id, "--uses", "5"]);
        let blocked = Wallet::fresh();
        database.operate(&["wallet", "block", &blocked.address(), "--reason", "spam"]);
        let (mut browser, authorization) = (server.browser(), client.authorization());
        open(&mut browser, &link(&invitation)).expect(200);
        browser.authorize(&authorization).expect(302);
        let challenge = browser.challenge(&authorization, &blocked);
        browser.login(&Browser::login_body(&authorization, &blocked, &challenge)).expect(403);
        assert_eq!((shown(database, &invitation)["used"].as_u64(), members(database)), (Some(0), 0));
        // The same browser with another wallet: the invitation is still there.
        let other = Wallet::fresh();
        let challenge = browser.challenge(&authorization, &other);
        browser.login(&Browser::login_body(&authorization, &other, &challenge)).expect(303);
        assert_eq!(members(database), 1);
    }

    /// Many browsers on two replicas want the only use. `INVITATION_ROUNDS` sets the number of rounds.
    fn uses_are_exact_when_many_browsers_sign_at_once(database) {
        let rounds = env::var("INVITATION_ROUNDS").map_or(3, |rounds| rounds.parse().unwrap());
        let first = database.start();
        let second = first.replica();
        application(database);
        for round in 0..rounds {
            let uses = if round % 3 == 2 { 7 } else { 1 };
            let before = members(database);
            let invitation = invite(database, &["--uses", &uses.to_string()]);
            let sites = [first.site(), second.site()];
            let ready: Vec<(Browser, Parameters)> = thread::scope(|scope| {
                let opened = (0..BROWSERS).map(|number| {
                    let (site, path) = (&sites[number % 2], link(&invitation));
                    scope.spawn(move || {
                        let (mut browser, wallet) = (site.browser(), Wallet::fresh());
                        open(&mut browser, &path).expect(303);
                        let fields = of_account(site);
                        let challenge = browser.challenge(&fields, &wallet);
                        let body = Browser::login_body(&fields, &wallet, &challenge);
                        (browser, body)
                    })
                });
                let opened: Vec<_> = opened.collect();
                opened.into_iter().map(|one| one.join().unwrap()).collect()
            });
            let start = Barrier::new(BROWSERS);
            let answers: Vec<u16> = thread::scope(|scope| {
                let racing = ready.into_iter().map(|(mut browser, body)| {
                    let start = &start;
                    scope.spawn(move || {
                        start.wait();
                        browser.login(&body).status
                    })
                });
                let racing: Vec<_> = racing.collect();
                racing.into_iter().map(|one| one.join().unwrap()).collect()
            });
            let joined = answers.iter().filter(|status| **status == 303).count();
            let refused = answers.iter().filter(|status| **status == 403).count();
            assert_eq!((joined, refused), (uses, BROWSERS - uses), "round {round}: {answers:?}");
            assert_eq!(members(database), before + uses, "round {round}");
            assert_eq!(shown(database, &invitation)["used"].as_u64(), u64::try_from(uses).ok());
        }
    }

    /// `kill -9` while people come in: what is spent and who is a member never differ.
    fn a_use_and_its_member_are_one_commit(database) {
        let mut server = database.start();
        application(database);
        let invitation = invite(database, &["--uses", "10000"]);
        for _ in 0..3 {
            let site = server.site();
            let path = link(&invitation);
            let crowd: Vec<_> = (0..8)
                .map(|_| {
                    let (site, path) = (site.clone(), path.clone());
                    thread::spawn(move || {
                        let mut came = 0;
                        loop {
                            let (mut browser, wallet) = (site.browser(), Wallet::fresh());
                            let go = |browser: &mut Browser, request: Request| {
                                let sent = browser.site.try_send(&browser.with_cookies(request)).ok()?;
                                browser.keep(&sent);
                                Some(sent)
                            };
                            let Some(_) = go(&mut browser, Request::get(&path)) else { return came };
                            let fields = of_account(&site);
                            let request = Browser::challenge_request(&fields, &wallet.address());
                            let Some(issued) = go(&mut browser, request) else { return came };
                            let body = Browser::login_body(&fields, &wallet, &issued.field("challenge"));
                            let Some(answer) = go(&mut browser, Request::json("/oauth/login", &body.json())) else {
                                return came;
                            };
                            assert_eq!(answer.status, 303, "{answer:?}");
                            came += 1;
                        }
                    })
                })
                .collect();
            thread::sleep(Duration::from_millis(1_500));
            server.kill9();
            let came: u64 = crowd.into_iter().map(|one| one.join().unwrap()).sum();
            server.restart();
            let used = shown(database, &invitation)["used"].as_u64().unwrap();
            let members = u64::try_from(database.number("SELECT count(*) FROM group_wallets")).unwrap();
            let listed = u64::try_from(database.number("SELECT count(*) FROM invitation_uses")).unwrap();
            assert_eq!((used, used), (members, listed));
            assert!(came > 0 && used >= came, "{came} people read that they came in, and {used} uses are spent");
        }
    }

    fn the_operator_reads_what_is_wrong(database) {
        let client = application(database);
        let said = |arguments: &[&str]| {
            let refused = database.operator(arguments).output().unwrap();
            assert!(!refused.status.success(), "{arguments:?}");
            (refused.status.code(), String::from_utf8_lossy(&refused.stderr).into_owned())
        };
        let create = |more: &[&str]| said(&[&["invite", "create"], more].concat());
        let board = Client::of(&database.operate(&["client", "create", "--name", "Board", "--redirect-uri", REDIRECT_URI]));
        database.operate(&["group", "create", "board"]);
        database.operate(&["access", "set", &board.id, "groups:board"]);
        for (arguments, status, words) in [
            (&["--group", "stuff"][..], 1, "did you mean staff?"),
            (&["--group", "staff", "--uses", "0"], 2, "an invitation is for 1 to 10000 people"),
            (&["--group", "staff", "--uses", "10001"], 2, "an invitation is for 1 to 10000 people"),
            (&["--group", "staff", "--expires", "1s"], 2, "it takes a time such as 7d"),
            (&["--group", "staff", "--expires", "2y"], 2, "it takes a time such as 7d"),
            (&["--group", "staff", "--uses", "2", "--name", "Ann"], 2, "a name is for one person"),
            (&["--group", "staff", "--name", "A\u{202e}nn"], 2, "name"),
            (&["--group", "staff", "--for", "Nothing"], 1, "Nothing"),
            (&["--group", "staff", "--for", &board.id], 1, "does not let members of staff in"),
        ] {
            let (code, said) = create(arguments);
            assert!(code == Some(status) && said.contains(words), "{arguments:?}: {code:?} {said}");
        }
        let invitation = invite(database, &["--for", &client.id]);
        let id = invitation["id"].as_str().unwrap();
        assert_eq!(database.operate(&["invite", "list", "--group", "staff"])[0]["id"], id);
        assert_eq!(database.operate(&["invite", "revoke", id])["state"], "revoked");
        assert_eq!(database.operate(&["invite", "list"])[0].get("link"), None);
        let (code, again) = said(&["invite", "revoke", id]);
        assert!(code == Some(1) && again.contains("revoked already"), "{again}");
        let (code, none) = said(&["invite", "show", "01a1fd8c-0000-7000-8000-000000000001"]);
        assert!(code == Some(1) && none.contains("there is no invitation"), "{none}");
        assert_eq!(said(&["invite", "show", "abc"]).0, Some(2));
        let printed = database.operator(&["invite", "create", "--group", "staff"]).output().unwrap();
        let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
        assert!(printed.contains("▄") && printed.contains("/join/") && printed.contains("only once"), "{printed}");
    }
}
