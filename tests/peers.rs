//! Other people's code as judges of the running server and of its command line: wallets, sign-in parsers, an
//! API tester, a browser. The judges are in `tests/peers` and are installed by `make test`. Each prints one
//! line for each of its checks.

use std::ffi::OsStr;
use std::process::Command;

use countersign_tests::server::{Settings, binary, free_port, project};
use countersign_tests::{Database, Judges, Request, Server};

/// The page and the endpoints, checked with npm `siwe`, MetaMask's own rules and ethers (B-002 to B-005,
/// B-011, B-014, B-016, B-021 to B-025, B-030).
#[test]
fn ethers_siwe_and_metamask_agree_with_the_sign_in() {
    judge("siwe.mjs", node());
}

/// A real Ethereum virtual machine runs contract wallets, and ethers signs for them (B-045 to B-054, D-25,
/// E-10).
#[test]
fn anvil_solc_and_ethers_agree_on_contract_wallets() {
    let port = free_port();
    let node_at = format!("http://127.0.0.1:{port}");
    let server = Database::sqlite()
        .server()
        .with_env("COUNTERSIGN_ETHEREUM_RPC", &format!("31337={node_at},1={node_at}"))
        .start();
    examine("evm.mjs", node(), &[server.public_url.as_ref(), port.to_string().as_ref()]);
}

/// The same with Python's siwe and eth-account, which makes signatures that we refuse (B-021, B-022).
#[test]
fn eth_account_and_its_siwe_agree_with_the_sign_in() {
    judge("sign_with_eth_account.py", python());
}

/// Every endpoint does what `/openapi.json` says, for requests that the description allows and for requests
/// that it does not.
#[test]
fn schemathesis_finds_no_mismatch_between_description_and_server() {
    judge("schemathesis_run.py", python());
}

/// The same for the admin interface, with a key that may do everything.
#[test]
fn schemathesis_finds_no_mismatch_between_the_admin_interface_and_its_description() {
    let address = format!("127.0.0.1:{}", countersign_tests::server::free_port());
    let server = Database::sqlite().server().with_env("COUNTERSIGN_ADMIN_LISTEN", &address).start();
    let key = key_for_everything(&server);
    examine("schemathesis_admin.py", python(), &[format!("http://{address}").as_ref(), key.as_ref()]);
}

/// A new key of the admin interface.
#[track_caller]
fn key_for_everything(server: &Server) -> String {
    let scopes = ["clients:write", "users:write", "groups:write", "events:write", "keys:write"];
    let scopes = scopes.iter().flat_map(|scope| ["--scope", scope]);
    let create: Vec<&str> = ["admin-key", "create", "--name", "judge"].into_iter().chain(scopes).collect();
    let created = server.database().operate(&create);
    let key = created["key"].as_str().unwrap_or_default();
    assert!(!key.is_empty(), "{created}");
    key.to_owned()
}

/// Prometheus' own parser reads the page of metrics, and finds every metric that the table in docs/metrics.md
/// lists.
#[test]
fn prometheus_reads_the_metrics_that_the_table_names() {
    judge("metrics.py", python());
}

/// Pushed events are checked with npm `jose` and the server's published keys (RFC 8417, RFC 8935).
#[test]
fn jose_verifies_the_events_that_are_pushed() {
    let port = free_port();
    let database = Database::sqlite();
    let url = format!("http://127.0.0.1:{port}/events");
    let server = database.server().with_env("COUNTERSIGN_EVENT_PUSH_URL", &url).start();
    while database.number("SELECT count(*) FROM event_pushes") == 0 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    for number in 0..20 {
        database.change(&format!(
            "INSERT INTO fresh_events (id, kind, actor, user_id, details) VALUES \
             (x'018f000000007000800000000000{number:04x}', 'sign_in', 'person', x'018f0000000070008000000000000001', '{{}}')"
        ));
    }
    examine("events.mjs", node(), &[server.public_url.as_ref(), port.to_string().as_ref(), "20".as_ref()]);
}

/// The page in Chromium: wallets, manual signing, no JavaScript, Deny, framing, hostile names (A-058, B-014,
/// B-020, B-065, B-066).
#[test]
fn a_browser_signs_in_on_the_page_and_nothing_else_happens() {
    judge("browser.mjs", node());
}

/// The API documentation in Chromium: one operation at a time, its search, requests and their curl commands, the
/// authorization that is entered once, without scripts, on paper, and axe-core.
#[test]
fn a_developer_finds_and_tries_every_operation_in_the_documentation() {
    judge("docs.mjs", node());
}

/// Each state of the page, at four widths, light and dark: its words, its focus, and axe-core in all of
/// them.
#[test]
fn every_state_of_the_page_is_told_in_words_and_axe_finds_nothing_wrong() {
    judge("states.mjs", node());
}

/// Somebody who is not let in, in Chromium: the card in eight languages, light and dark, with the keyboard, with
/// scripts and without; what the client and the device hear; and that nothing tells why.
#[test]
fn somebody_who_is_not_let_in_is_told_so_and_not_why() {
    let server = Database::sqlite()
        .server()
        .with_env("COUNTERSIGN_DEFAULT_ACCESS", "nobody")
        .with_env("COUNTERSIGN_CONTACT", CONTACT)
        .start();
    examine("turned-away.mjs", node(), &[server.public_url.as_ref(), CONTACT.as_ref()]);
}

/// Five walks of people who never read about wallets, with what each takes in clicks, words and screens: no
/// more than before the page was written for them (docs/pages.md).
#[test]
fn people_whom_a_shop_sent_click_and_read_no_more_than_they_did() {
    let link = "Test Wallet=https://wallet.example/open?url={url}";
    let server = Database::sqlite().server().with_env("COUNTERSIGN_WALLET_LINKS", link).start();
    let shop = ["--redirect-uri", "https://client.example/cb", "--client-uri", "https://client.example/"];
    let shop =
        server.database().create_client(&[&shop[..], &["--scope", "profile email"]].concat()).to_string();
    examine("walks.mjs", node(), &[server.public_url.as_ref(), shop.as_ref()]);
}

/// The page on another host: copied, and with proxies in front that rewrite what passes. The first line of the
/// page differs, and nothing is signed that the server accepts (B-014, B-016).
#[test]
fn on_another_host_the_first_line_of_the_page_says_not_to_sign() {
    judge("copies.mjs", node());
}

/// What wallets return, and what users paste, reaches the server unchanged: white space inside is kept.
#[test]
fn the_page_hands_on_what_a_wallet_of_an_unknown_family_answered() {
    judge("as-given.mjs", node());
}

/// Deny, Back, reload, two tabs, a second browser and another site, in Chromium, with and without scripts.
/// Also where the page's forms go, and hostile clients on every page that mentions them (B-020, B-057, B-061
/// to B-066).
#[test]
fn whatever_people_do_with_tabs_and_browsers_nothing_is_lost_and_nothing_leaks() {
    judge("tabs.mjs", node());
}

/// Forms, scripts, frames and frames without an origin, from other sites and from a sibling domain whose
/// requests carry both cookies, try every change that a cookie authorizes. Also our own page that posts
/// responses (F-02, A-056, B-056, B-063).
#[test]
fn other_sites_have_a_browser_with_both_cookies_change_nothing() {
    judge("foreign.mjs", node());
}

/// Signing out in Chromium: responses that the browser posts, with and without scripts, and the page that
/// asks whether to sign out, with axe-core (A-104, B-058, E-27).
#[test]
fn a_browser_posts_answers_to_the_client_and_signs_out_at_its_wish() {
    judge("answers.mjs", node());
}

/// The account page in Chromium: wallets of two families linked and unlinked, every form, also without
/// JavaScript, and axe-core on each of its states.
#[test]
fn a_browser_sees_and_changes_what_is_a_person_s_on_the_account_page() {
    judge("account.mjs", node());
}

/// The desk in Chromium: each change of the list, signed by wallets of five families, declined, overtaken and sent again;
/// with scripts and without; axe-core in the states of a change (K-01, K-02, K-04, K-05).
#[test]
fn operators_make_each_change_of_the_desk_by_a_signature_and_in_no_other_way() {
    judge_desk("desk.mjs", "1");
}

/// The desk's pages in Chromium: each in every language, with axe-core; clicks, charts, and nothing for strangers.
#[test]
fn operators_read_every_page_of_the_desk_in_their_language() {
    judge_desk("desk-pages.mjs", "1");
}

/// People whom an operator invites, in Chromium: with scripts and without, on a phone and a laptop, in each language, with
/// axe-core; and how many clicks and seconds it takes.
#[test]
fn people_come_in_by_an_invitation_with_one_signature() {
    judge_desk("invitations.mjs", "1");
}

/// Two operators in Chromium, on a server where what is dangerous needs both (K-07, K-08).
#[test]
fn two_operators_sign_what_is_dangerous() {
    judge_desk("desk-two.mjs", "2");
}

/// Twelve tasks of a day at the desk take at most half of the clicks and signatures that they took (desk-day.mjs).
#[test]
fn a_day_at_the_desk_takes_half_of_what_it_took() {
    judge_desk("desk-day.mjs", "2");
}

/// An operator whose wallet is a contract on a chain that anvil runs (B-045, K-02).
#[test]
fn a_contract_wallet_signs_a_change_at_the_desk() {
    let port = free_port();
    let settings = Database::sqlite()
        .server()
        .with_env("COUNTERSIGN_ETHEREUM_RPC", &format!("31337=http://127.0.0.1:{port}"));
    judge_desk_of(settings, "desk-contract.mjs", "1", &[port.to_string().as_ref()]);
}

/// Runs one judge against a server whose operators are the members of a group.
#[track_caller]
fn judge_desk(script: &str, quorum: &str) {
    judge_desk_of(Database::sqlite().server(), script, quorum, &[]);
}

#[track_caller]
fn judge_desk_of(settings: Settings, script: &str, quorum: &str, more: &[&OsStr]) {
    let admin = format!("127.0.0.1:{}", free_port());
    let server = settings
        .with_env("COUNTERSIGN_ADMIN_GROUP", "operators")
        .with_env("COUNTERSIGN_ADMIN_QUORUM", quorum)
        .with_env("COUNTERSIGN_ADMIN_LISTEN", &admin)
        .start();
    let key = key_for_everything(&server);
    let (binary, database, admin) = (binary(), server.database().url(), format!("http://{admin}"));
    let objects =
        [server.public_url.as_ref(), binary.as_os_str(), database.as_ref(), admin.as_ref(), key.as_ref()];
    examine(script, node(), &[&objects[..], more].concat());
}

/// The playground in Chromium: its throw-away wallet compared with ethers, the whole walkthrough, every way
/// to go wrong, and axe-core.
#[test]
fn a_developer_walks_through_the_playground_and_sees_every_error() {
    judge("playground.mjs", node());
}

/// The snippets that the playground offers for curl and for client libraries run unchanged.
#[test]
fn the_code_on_the_playground_signs_in() {
    judge("playground-code.mjs", node());
}

/// Signatures by ethers, bitcoinjs, bip322-js, tweetnacl, Solana's own library, tronweb and cosmjs are valid
/// for their address. They are not valid after any change or for another address (B-022, B-035 to B-037,
/// B-041, P-07).
#[test]
fn what_javascript_wallets_sign_is_valid_and_nothing_near_it() {
    examine("signers.mjs", node(), &[binary().as_os_str()]);
}

/// The same for eth-account, btclib and PyNaCl.
#[test]
fn what_python_wallets_sign_is_valid_and_nothing_near_it() {
    examine("signers.py", python(), &[binary().as_os_str()]);
}

/// The settings that `client create --for` prints can be read by the programs that they are for. They contain
/// the issuer, the client and its secret.
#[test]
fn the_settings_of_known_applications_are_read_by_what_reads_such_files() {
    examine("configurations.py", python(), &[binary().as_os_str()]);
}

/// Vector's own language reads the same of refusals in both formats, by the rule that operators copy.
#[test]
fn vector_reads_the_same_of_a_refusal_in_both_formats() {
    let folder = tempfile::tempdir().unwrap();
    let logs = ["json", "pretty"].map(|format| {
        let mut server = Database::sqlite()
            .server()
            .with_env("COUNTERSIGN_TRUSTED_PROXIES", "127.0.0.1/32")
            .with_env("COUNTERSIGN_LOG_ADDRESSES", "full")
            .with_env("COUNTERSIGN_LOG_FORMAT", format)
            .start();
        let client = server.register();
        let guess = Request::form("/oauth/token", &client.exchange_form("c").with("client_secret", "guess"));
        let requests = [
            (guess, "203.0.113.7"),
            (Request::get("/oauth/userinfo").bearer("x"), "2001:db8::7"),
            (Request::get("/}:\"address=6.6.6.6"), "203.0.113.7"),
        ];
        for ((request, from), turn) in requests.into_iter().zip(1..) {
            let request = request.header("X-Forwarded-For", from);
            server.send(&request.header("X-Request-Id", &format!("case-{turn}")));
        }
        assert!(server.terminate().success());
        let log = folder.path().join(format!("{format}.log"));
        std::fs::write(&log, server.log()).unwrap();
        log
    });
    let rule = project().join("contrib/vector/countersign.vrl");
    examine("vector.py", python(), &[rule.as_ref(), logs[0].as_ref(), logs[1].as_ref()]);
}

/// Whom people are to ask on the server that lets nobody in.
const CONTACT: &str = "help@example.com";

/// Runs one judge against a new server.
#[track_caller]
fn judge(script: &str, program: Command) {
    examine(script, program, &[Server::sqlite().public_url.as_ref()]);
}

/// Runs one judge with these arguments.
#[track_caller]
fn examine(script: &str, program: Command, objects: &[&OsStr]) {
    Judges::of("peers").examine(script, program, objects);
}

fn node() -> Command {
    Judges::of("peers").node()
}

fn python() -> Command {
    Judges::of("peers").python()
}
