use countersign_conformance::fixtures;
use countersign_domain::readable::is_hidden;
use countersign_domain::secret::{Secret, SecretHash};
use time::OffsetDateTime;

use super::*;

const EPOCH: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

fn shown(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn person_with(reason: &str) -> PersonListed {
    PersonListed {
        id: fixtures::user_id(),
        created_at: EPOCH,
        last_sign_in_at: None,
        wallets: vec![LinkedWallet { account: fixtures::wallet_account(), linked_at: EPOCH, name: None }],
        block: Some(Block { at: EPOCH, reason: Some(reason.to_owned()) }),
    }
}

fn read(listed: PersonListed) -> PersonRead {
    let client = fixtures::client();
    let session = LoginSession {
        id: fixtures::session_id(),
        user: listed.id,
        account: fixtures::wallet_account(),
        secret_hash: SecretHash::of(&Secret::new("a secret of a browser")),
        browser: "Fire\u{1b}[2Jfox\nid  x".to_owned(),
        authenticated_at: EPOCH,
        last_used_at: EPOCH,
        expires_at: EPOCH,
    };
    let clients = [(client.id, client)].into();
    let (memberships, blocked_wallets, consents) = (Vec::new(), Vec::new(), Vec::new());
    let person =
        countersign_ports::Person { listed, memberships, blocked_wallets, sessions: vec![session], consents };
    PersonRead { person, clients }
}

#[test]
fn nothing_that_somebody_wrote_reaches_the_terminal_as_it_is() {
    let read = read(person_with("evil\u{9b}2J\u{202e}"));
    for output in [Output::Table, Output::Json] {
        let text = shown(|out| person(&read, output, out));
        assert!(!text.chars().any(|character| character != '\n' && is_hidden(character)), "{text:?}");
    }
    let text = shown(|out| person(&read, Output::Table, out));
    assert!(!text.lines().any(|line| line.starts_with("id  x")), "{text}");
    let json: Value = serde_json::from_str(&shown(|out| person(&read, Output::Json, out))).unwrap();
    assert_eq!(json["blocked"]["reason"], "evil\u{9b}2J\u{202e}", "it is the same JSON");
}

#[test]
fn a_user_has_the_fields_that_scripts_lean_on() {
    let json: Value =
        serde_json::from_str(&shown(|out| person(&read(person_with("spam")), Output::Json, out))).unwrap();
    let mut names: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "blocked",
            "blocked_wallets",
            "created_at",
            "grants",
            "groups",
            "id",
            "last_sign_in_at",
            "sessions",
            "wallets"
        ]
    );
    assert_eq!(json["blocked"], json!({"at": "1970-01-01T00:00:00Z", "reason": "spam"}));
    assert!(json["wallets"][0].as_str().is_some_and(|name| name.starts_with("eip155:1:0x")), "{json}");
}

#[test]
fn a_contract_is_called_one() {
    let key = fixtures::wallet_account();
    let contract = WalletAccount {
        family: "eip155:1".to_owned(),
        chain: "eip155:1".to_owned(),
        address: key.address.clone(),
    };
    let of = |account| WalletListed { account, user: None, block: None };
    let text = shown(|out| wallets(&[of(contract.clone())], Output::Table, out));
    assert!(text.contains(&format!("eip155:1:{} (contract)", contract.address)), "{text}");
    assert_eq!(shown(|out| wallets(&[], Output::Table, out)), "no wallets\n");
    assert_eq!(shown(|out| wallets(&[], Output::Json, out)), "[]\n");
}

#[test]
fn what_ended_is_said_in_numbers() {
    let ended = Ended { sessions: 1, grants: 2, notices: Vec::new() };
    let client = fixtures::client_id();
    let notified = |notified: bool, not_notified: bool| {
        let of = |is_in: bool| is_in.then_some(client).into_iter().collect();
        ended_text(&ended, &Notified { notified: of(notified), not_notified: of(not_notified) })
    };
    assert_eq!(notified(false, false), "1 session and 2 grants ended");
    assert_eq!(notified(true, false), "1 session and 2 grants ended, 1 client notified");
    assert_eq!(notified(false, true), "1 session and 2 grants ended, 0 clients notified, 1 client not notified");
}
