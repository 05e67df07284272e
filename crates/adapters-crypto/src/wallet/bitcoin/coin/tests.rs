//! Descriptions of coins by operators, right and wrong.

use super::*;

const NAMECOIN: &str = r#"name=Namecoin chain=bip122:000000000062b72c5e2ceb45fbc8587e magic="Namecoin Signed Message:\n" p2pkh=52 p2sh=13 hrp=nc"#;

fn refused(text: &str) -> String {
    Coin::parse(text).unwrap_err().to_string()
}

#[test]
fn a_coin_is_read_as_an_operator_writes_it() {
    let coin = Coin::parse(NAMECOIN).unwrap();
    assert_eq!((coin.name(), coin.chain()), ("Namecoin", "bip122:000000000062b72c5e2ceb45fbc8587e"));
    assert_eq!(coin.chain_reference(), "000000000062b72c5e2ceb45fbc8587e");
    assert_eq!((coin.magic(), coin.cli()), ("Namecoin Signed Message:\n", "namecoin-cli"));
    assert_eq!((coin.p2pkh_versions(), coin.p2sh_versions()), ([52].as_slice(), [13].as_slice()));
    assert_eq!((coin.hrp(), coin.signs_by_bip322()), (Some(Hrp::parse_unchecked("nc")), false));
}

#[test]
fn the_coins_of_this_build_can_be_written_the_same_way() {
    let written = [
        r#"chain=bip122:000000000019d6689c085ae165831e93 magic="Bitcoin Signed Message:\n" p2pkh=0 p2sh=5 hrp=bc bip322=yes name=Bitcoin"#,
        r#"p2sh=50 legacy_p2sh=5 p2pkh=48 hrp=ltc name="Litecoin" chain=bip122:12a765e31ffd4059bada1e25190f6e98 magic="Litecoin Signed Message:\n""#,
        "  name=Dogecoin\tchain=bip122:1a91e3dace36e2be3bf030a65679fe82\nmagic=\"Dogecoin Signed Message:\\n\" p2pkh=30 p2sh=22 bip322=no ",
        r#"name=Ravencoin chain=bip122:0000006b444bc2f2ffe627be9d9e7e7a magic="Raven Signed Message:\n" p2pkh=60 p2sh=122 cli=raven-cli"#,
        r#"name=Evrmore chain=bip122:0000007b11d0481b2420a7c656ef7677 magic="Evrmore Signed Message:\n" p2pkh=33 p2sh=92"#,
    ];
    assert_eq!(written.map(|text| Coin::parse(text).unwrap()), Coin::standard());
}

#[test]
fn what_is_wrong_is_named() {
    let with = |more: &str| refused(&format!("{NAMECOIN} {more}"));
    assert_eq!(with("alone"), "`alone` is not of the form key=value");
    assert_eq!(with("p2pkh=3"), "`p2pkh` is given twice");
    assert!(with("colour=red").starts_with("there is no key `colour`; the keys are name, chain,"));
    assert_eq!(
        with("cli=\"open"),
        "the value of `cli` must be closed by a quotation mark and followed by a space"
    );
    assert_eq!(
        with("cli=\"a\"b"),
        "the value of `cli` must be closed by a quotation mark and followed by a space"
    );
    assert!(with(r#"cli="\t""#).starts_with("the value of `cli` has a backslash that is not followed"));
    assert_eq!(with("legacy_p2sh=13"), "the version 13 is given twice");
    assert_eq!(with("bip322=true"), "`bip322` must be yes or no, not `true`");
    assert_eq!(refused(""), "`name` is missing");
    assert_eq!(refused(&NAMECOIN.replace("p2pkh=52 ", "")), "`p2pkh` is missing");
    assert_eq!(refused(&NAMECOIN.replace("p2sh=13", "legacy_p2sh=13")), "`p2sh` is missing");
    assert_eq!(refused(&NAMECOIN.replace("p2sh=13", "p2sh=52")), "the version 52 is given twice");
}

#[test]
fn every_value_has_its_range() {
    let wrong = [
        ("name=Namecoin", "name=", "`name` must be 1 to 40 letters"),
        ("name=Namecoin", "name=\" Namecoin\"", "`name` must be"),
        ("name=Namecoin", "name=Name\u{441}oin", "`name` must be"),
        ("name=Namecoin", "name=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "`name` must be"),
        ("chain=bip122:", "chain=", "`chain` must be a CAIP-2 chain id"),
        ("chain=bip122:", "chain=BIP122:", "`chain` must be"),
        ("chain=bip122:", "chain=bip122:0", "`chain` must be"),
        ("magic=\"Namecoin", "magic=\"N\u{e4}mecoin", "`magic` must be 1 to 80 printable"),
        ("Namecoin Signed Message:\\n", "", "`magic` must be"),
        ("p2pkh=52", "p2pkh=256", "`p2pkh` must be a number from 0 to 255"),
        ("p2pkh=52", "p2pkh=", "`p2pkh` must be"),
        ("p2pkh=52", "p2pkh=+52", "`p2pkh` must be"),
        ("p2pkh=52", "p2pkh=52,", "`p2pkh` must be"),
        ("hrp=nc", "hrp=", "`hrp` must be 1 to 20 lower-case letters and digits"),
        ("hrp=nc", "hrp=NC", "`hrp` must be"),
        ("hrp=nc", "hrp=nc cli=$(id)", "`cli` must be 1 to 44"),
    ];
    for (right, wrong, reason) in wrong {
        assert!(NAMECOIN.contains(right), "{right}");
        let answer = refused(&NAMECOIN.replace(right, wrong));
        assert!(answer.starts_with(reason), "{wrong}: {answer}");
    }
    assert_eq!(Coin::parse(&NAMECOIN.replace("52", "52,7")).unwrap().p2pkh_versions(), [52, 7]);
}
