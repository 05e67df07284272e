//! Other people's code as judges of the running server: wallets, sign-in parsers, an API tester, a browser. The judges live
//! in `tests/peers` and are installed by `make test`; each prints one line for each of its checks.

use std::path::PathBuf;
use std::process::Command;

use countersign_tests::Server;
use countersign_tests::server::project;

/// What the page and the endpoints look like to npm `siwe`, MetaMask's own rules and ethers (B-002 to B-005, B-011, B-014,
/// B-016, B-021 to B-025, B-030).
#[test]
fn ethers_siwe_and_metamask_agree_with_the_sign_in() {
    judge("siwe.mjs", node());
}

/// The same for Python's siwe and eth-account, which makes signatures that we refuse (B-021, B-022).
#[test]
fn eth_account_and_its_siwe_agree_with_the_sign_in() {
    judge("sign_with_eth_account.py", python());
}

/// Every endpoint does what `/openapi.json` says, for requests that the description allows and for such that it does not.
#[test]
fn schemathesis_finds_no_mismatch_between_description_and_server() {
    judge("schemathesis_run.py", python());
}

/// The page in Chromium: wallets, by hand, without JavaScript, Deny, framing, hostile names (B-014, B-020, B-065, B-066).
#[test]
fn a_browser_signs_in_on_the_page_and_nothing_else_happens() {
    judge("browser.mjs", node());
}

/// Runs one judge against a server of its own; what it printed is the message when it finds something.
#[track_caller]
fn judge(script: &str, mut program: Command) {
    let server = Server::sqlite();
    let output = program
        .arg(peers().join(script))
        .arg(&server.public_url)
        .current_dir(peers())
        .output()
        .unwrap_or_else(|error| {
            panic!("{script} cannot be run ({error}): run `make test`, which installs what it needs")
        });
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {}\n{said}\n{complained}", output.status);
    println_of(&said);
}

/// Shown when the runner shows the output of tests that passed.
#[expect(clippy::print_stdout, reason = "the count of each judge belongs into the runner's record")]
fn println_of(said: &str) {
    println!("{said}");
}

fn node() -> Command {
    installed("node_modules/.installed");
    Command::new("node")
}

fn python() -> Command {
    installed(".venv/.installed");
    Command::new(peers().join(".venv/bin/python"))
}

#[track_caller]
fn installed(stamp: &str) {
    assert!(peers().join(stamp).is_file(), "the judges in tests/peers are not installed: run `make test`");
}

fn peers() -> PathBuf {
    project().join("tests/peers")
}
