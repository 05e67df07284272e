//! The settings of the desk: whom they make an operator, and what is wrong or doubtful about them.

use countersign_domain::desk::operators::{DeskPolicy, Quorum};
use countersign_domain::wallet::{AccountKind, WalletAccount};

use countersign_http_actix::DeskPlace;

use super::*;

const ANN: &str = "eip155:1:0x52908400098527886E0F7030069857D2E4169EE7";
const BOB: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
const CAT: &str = "bip122:000000000019d6689c085ae165831e93:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq";
const DAN: &str = "cosmos:cosmoshub-4:cosmos1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5lzv7xu";

fn desk(start: &Start) -> DeskPolicy {
    start.config().desk.unwrap().policy
}

fn admins(start: &Start) -> Vec<String> {
    desk(start).admins.iter().map(WalletAccount::caip10).collect()
}

#[test]
fn there_is_no_desk_unless_somebody_can_be_an_operator() {
    assert_eq!(start().config().desk, None);
    assert_eq!(start().variable("COUNTERSIGN_ADMINS", " ,\n").config().desk, None);
    let by_group = desk(&start().variable("COUNTERSIGN_ADMIN_GROUP", "operators"));
    assert_eq!((by_group.admins.len(), by_group.quorum), (0, Quorum::One));
    assert_eq!(by_group.group.unwrap().as_str(), "operators");
    let by_wallet = desk(&start().variable("COUNTERSIGN_ADMINS", ANN));
    assert_eq!(by_wallet.group, None);
}

#[test]
fn operators_are_wallets_of_every_family_in_one_text_or_in_a_list() {
    let variable = start().variable("COUNTERSIGN_ADMINS", &format!("{ANN}, {BOB},{CAT}"));
    assert_eq!(admins(&variable), [ANN, BOB, CAT]);
    let file = start().file(&format!("admins = ['{ANN}', '{BOB}', '{CAT}']\nadmin_quorum = 2\n"));
    assert_eq!(admins(&file), [ANN, BOB, CAT]);
    assert_eq!(desk(&file).quorum, Quorum::Two);
}

#[test]
fn a_wallet_in_two_spellings_is_one_operator() {
    let lower = ANN.to_lowercase();
    let elsewhere = ANN.replace("eip155:1:", "eip155:8453:");
    let start = start().variable("COUNTERSIGN_ADMINS", &format!("{ANN},{lower},{elsewhere}"));
    assert_eq!(admins(&start), [ANN]);
}

/// F-15
#[test]
fn a_contract_is_an_operator_only_if_it_is_called_one() {
    let contract = start()
        .variable("COUNTERSIGN_ADMINS", &format!("{ANN} contract"))
        .variable("COUNTERSIGN_ETHEREUM_RPC", "1=https://node.example");
    let account = desk(&contract).admins.remove(0);
    assert_eq!((account.family.as_str(), account.kind()), ("eip155:1", Some(AccountKind::Contract)));
    let both = contract.variable("COUNTERSIGN_ADMINS", &format!("{ANN},{ANN} contract"));
    assert_eq!(desk(&both).admins.len(), 2, "they are two accounts");
}

#[test]
fn a_mistake_names_the_entry_and_what_is_wrong_with_it() {
    let cases = [
        ("0x52908400098527886E0F7030069857D2E4169EE7", "it names no chain; write it by CAIP-10"),
        ("eip155:1:0x5290", "no wallet family knows this account"),
        ("eip155:1:0x52908400098527886E0F7030069857D2E4169Ee7", "no wallet family knows this account"),
        (BOB, "accounts of this chain are no contracts"),
        ("eip155:1:nobody.eth", "no wallet family knows this account"),
        ("ann", "it names no chain"),
    ];
    for (entry, reason) in cases {
        let text = if entry == BOB { format!("{BOB} contract") } else { entry.to_owned() };
        let line = about("COUNTERSIGN_ADMINS", &text);
        let expected = format!("COUNTERSIGN_ADMINS: {text:?}: {entry:?}: {reason}");
        assert!(line.starts_with(&expected), "{expected}\n{line}");
        assert!(line.contains("admins takes accounts by CAIP-10"), "{line}");
    }
    let elsewhere = about(
        "COUNTERSIGN_ADMINS",
        &CAT.replace("000000000019d6689c085ae165831e93", "12a765e31ffd4059bada1e25190f6e98"),
    );
    assert!(
        elsewhere.contains("the address does not belong to this chain; it could belong to bip122:"),
        "{elsewhere}"
    );
    let word = about("COUNTERSIGN_ADMINS", &format!("{ANN} key"));
    assert!(word.contains("only the word contract may follow the account"), "{word}");
    let second = about("COUNTERSIGN_ADMINS", &format!("{ANN},{DAN}x"));
    assert!(second.contains(&format!("{:?}: no wallet family", format!("{DAN}x"))), "{second}");
}

#[test]
fn each_setting_of_the_desk_says_what_it_takes() {
    let cases = [
        (
            "ADMIN_GROUP",
            "Operators",
            "it cannot be the name of a group; admin_group takes the name of a group",
        ),
        ("ADMIN_QUORUM", "3", "neither 1 nor 2; admin_quorum takes 1 or 2"),
        ("ADMIN_QUORUM", "0", "neither 1 nor 2; admin_quorum takes 1 or 2"),
        ("DESK", "off", "neither public nor private; desk takes public or private"),
    ];
    for (name, value, reason) in cases {
        let line = about(&format!("COUNTERSIGN_{name}"), value);
        assert!(line.contains(reason), "{reason}: {line}");
    }
}

#[test]
fn a_private_desk_needs_a_listener_of_its_own() {
    let private = start().variable("COUNTERSIGN_ADMINS", ANN).variable("COUNTERSIGN_DESK", "private");
    let mistakes = private.mistakes();
    assert!(
        mistakes.len() == 1
            && mistakes[0].contains("a private desk is served on admin_listen alone; set that too"),
        "{mistakes:?}"
    );
    let served = private.variable("COUNTERSIGN_ADMIN_LISTEN", "127.0.0.1:9091");
    assert_eq!(served.config().desk.map(|desk| desk.place), Some(DeskPlace::Private));
    let public = start().variable("COUNTERSIGN_ADMINS", ANN).config();
    assert_eq!(public.desk.map(|desk| desk.place), Some(DeskPlace::Public));
}

#[test]
fn a_desk_whose_signatures_nobody_keeps_is_a_mistake() {
    let start = start().variable("COUNTERSIGN_ADMINS", ANN).variable("COUNTERSIGN_EVENT_RETENTION", "0");
    let mistakes = start.mistakes();
    assert!(
        mistakes.len() == 1
            && mistakes[0].starts_with("COUNTERSIGN_EVENT_RETENTION: ")
            && mistakes[0].contains("nothing would prove a change"),
        "{mistakes:?}"
    );
}

#[test]
fn a_desk_that_nobody_or_everybody_could_use_is_told_of() {
    let warnings = |start: &Start| start.config().warnings;
    let one = || start().variable("COUNTERSIGN_ADMINS", ANN);
    assert_eq!(warnings(&one()), Vec::<String>::new());
    let alone = warnings(&one().variable("COUNTERSIGN_ADMIN_QUORUM", "2"));
    assert!(alone.len() == 1 && alone[0].starts_with("admin_quorum: 2 operators must sign"), "{alone:?}");
    let two = one().variable("COUNTERSIGN_ADMINS", &format!("{ANN},{BOB}"));
    assert_eq!(warnings(&two.variable("COUNTERSIGN_ADMIN_QUORUM", "2")), Vec::<String>::new());
    let group = || start().variable("COUNTERSIGN_ADMIN_GROUP", "operators");
    assert_eq!(warnings(&group().variable("COUNTERSIGN_ADMIN_QUORUM", "2")), Vec::<String>::new());
    let everybody = warnings(&group().variable("COUNTERSIGN_DEFAULT_ACCESS", "groups:staff,operators"));
    assert!(
        everybody.len() == 1 && everybody[0].contains("everyone you add to it is an operator too"),
        "{everybody:?}"
    );
    let unasked = warnings(&start().variable("COUNTERSIGN_ADMINS", &format!("{ANN} contract")));
    assert!(unasked.len() == 1 && unasked[0].contains("cannot sign in; name one"), "{unasked:?}");
}

#[test]
fn what_is_set_for_a_desk_that_does_not_exist_is_told_of() {
    for (name, value) in [("ADMIN_QUORUM", "2"), ("DESK", "public"), ("DESK", "private")] {
        let warnings = start().variable(&format!("COUNTERSIGN_{name}"), value).config().warnings;
        let told = format!("{}: there is no desk without admins or admin_group", name.to_lowercase());
        assert!(warnings.len() == 1 && warnings[0].starts_with(&told), "{warnings:?}");
    }
}
