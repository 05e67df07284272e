//! Sets of known scopes, of the operator's, and of both.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::resource::Catalog;

const NONE: &Catalog = &Catalog::NONE;

fn own(names: &[&str]) -> ScopeSet {
    ScopeSet::of_own(names.iter().map(|name| ScopeName::parse(name).unwrap()))
}

#[test]
fn order_and_repetition_do_not_matter() {
    assert_eq!(ScopeSet::parse("email profile", NONE), ScopeSet::parse("profile  email profile", NONE));
    assert_eq!(
        ScopeSet::parse("email profile", NONE).map(|set| set.to_string()),
        Ok("profile email".to_owned())
    );
    assert_eq!(own(&["b", "a", "b"]), own(&["a", "b"]));
    assert_eq!(ScopeSet::from_stored("b  email a b").unwrap().to_string(), "email a b");
}

#[test]
fn the_bits_that_storage_keeps_never_change_their_meaning() {
    let bits: Vec<u8> = Scope::ALL.iter().map(|scope| ScopeSet::of(&[*scope]).bits()).collect();
    assert_eq!(bits, [1, 2, 4, 8, 16, 32, 64]);
    assert_eq!(
        Scope::ALL.map(Scope::name),
        ["openid", "profile", "email", "offline_access", "wallets", "wallet_proof", "groups"]
    );
    assert_eq!(ScopeSet::from_bits(127), Some(ScopeSet::of(&Scope::ALL)));
    assert_eq!(ScopeSet::from_bits(128), None);
}

#[test]
fn what_is_new_is_what_the_other_set_lacks() {
    let both = ScopeSet::of(&[Scope::Profile, Scope::Email]);
    let one = ScopeSet::of(&[Scope::Email]);
    assert_eq!(both.without(&one), ScopeSet::of(&[Scope::Profile]));
    assert!(one.without(&both).is_empty());
    assert_eq!(one.union(&both), both);
}

#[test]
fn a_set_knows_its_subsets() {
    let both = ScopeSet::of(&[Scope::Profile, Scope::Email]);
    let one = ScopeSet::of(&[Scope::Email]);
    assert!(one.is_subset_of(&both));
    assert!(!both.is_subset_of(&one));
    assert!(!own(&["a"]).is_subset_of(&both) && !both.is_subset_of(&own(&["a"])));
}

#[test]
fn what_is_not_declared_is_unknown_to_whoever_asks() {
    for text in
        ["photos.read", "profile photos.read", "OpenID", "openid\u{a0}", "openid\u{200b}", "\"", "a\\b"]
    {
        assert_eq!(ScopeSet::parse(text, NONE), Err(ScopeRejected::Unknown), "{text:?}");
    }
    assert_eq!(ScopeSet::parse("  ", NONE), Err(ScopeRejected::Empty));
    assert_eq!(ScopeSet::parse(&"a ".repeat(300), NONE), Err(ScopeRejected::TooLong));
}

#[test]
fn a_name_of_the_operators_has_characters_that_a_uri_has_too() {
    let long = "a".repeat(MAX_SCOPE_NAME + 1);
    for good in ["photos.read", "read", "https://api.example/photos", "a:b-c_d~e+f/G", "7", &long[1..]] {
        assert_eq!(ScopeName::parse(good).map(|name| name.to_string()), Ok(good.to_owned()));
    }
    for bad in
        ["", " ", "a b", "a\n", "a\"b", "a\\b", "é", "\u{202e}a", "a=b", ".a", "<a>", "a\0", "ｏpenid", &long]
    {
        assert_eq!(ScopeName::parse(bad), Err(ScopeNameRejected::Form), "{bad:?}");
    }
}

#[test]
fn no_name_of_the_operators_is_or_looks_like_one_of_ours() {
    for scope in Scope::ALL {
        assert_eq!(ScopeName::parse(scope.name()), Err(ScopeNameRejected::Reserved));
    }
    let alike = [
        "OpenID",
        "open.id",
        "0penid",
        "open-id",
        "Profile",
        "profi1e",
        "prof.ile",
        "e-mail",
        "EMAIL",
        "emai1",
        "offline.access",
        "offlineaccess",
        "wa11ets",
        "wallet-proof",
        "vvallets",
        "groups",
        "GROUPS",
        "address",
        "phone",
        "ens",
    ];
    for name in alike {
        assert_eq!(ScopeName::parse(name), Err(ScopeNameRejected::Reserved), "{name}");
    }
    for other in ["wallet", "profile.read", "email:send", "openid2", "group"] {
        assert!(ScopeName::parse(other).is_ok(), "{other}");
    }
}

/// The same set as plain names, to compare with.
fn plain(set: &ScopeSet) -> BTreeSet<String> {
    set.names().map(ToOwned::to_owned).collect()
}

fn sets() -> impl Strategy<Value = ScopeSet> {
    let own = prop::collection::vec("[a-e]", 0..6);
    (0_u8..128, own).prop_map(|(bits, own)| ScopeSet::from_bits_and_own(bits, &own.join(" ")).unwrap())
}

proptest! {
    #[test]
    fn sets_with_the_operators_scopes_behave_like_sets(one in sets(), other in sets()) {
        let (a, b) = (plain(&one), plain(&other));
        prop_assert_eq!(plain(&one.union(&other)), &a | &b);
        prop_assert_eq!(plain(&one.without(&other)), &a - &b);
        prop_assert_eq!(one.is_subset_of(&other), a.is_subset(&b));
        prop_assert_eq!(one == other, a == b);
        prop_assert_eq!(one.is_empty(), a.is_empty());
        prop_assert_eq!(one.len(), a.len());
        prop_assert_eq!(one.to_bytes() == other.to_bytes(), a == b);
        prop_assert_eq!(one.only_own(|_| true), one.clone());
        prop_assert_eq!(one.only_own(|_| false), one.only_known());
        prop_assert!(one.own().iter().all(|name| one.has_own(name)));
    }

    #[test]
    fn a_set_is_read_as_it_was_written(set in sets()) {
        let (bits, own) = (set.bits(), set.own_text());
        prop_assert_eq!(ScopeSet::from_bits_and_own(bits, &own), Some(set.clone()));
        prop_assert_eq!(ScopeSet::from_stored(&set.to_string()).unwrap_or_default(), set);
    }

    #[test]
    fn whatever_strangers_send_is_a_set_of_known_scopes_or_refused(text in ".{0,80}") {
        if let Ok(set) = ScopeSet::parse(&text, NONE) {
            prop_assert!(set.own().is_empty());
            prop_assert!(text.split(' ').filter(|name| !name.is_empty()).all(|name| set.names().any(|known| known == name)));
        }
        let _ = ScopeSet::from_stored(&text);
    }
}
