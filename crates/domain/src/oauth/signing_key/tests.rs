//! What each key is used for, when the next one is created, and when one can be deleted.

use super::*;

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH.saturating_add(Duration::days(20_000));
const ROTATION: Option<Duration> = Some(Duration::days(90));
const ES256: SigningAlgorithm = SigningAlgorithm::Es256;

fn key(kid: &str, begins: Duration) -> SealedKey {
    SealedKey {
        kid: kid.to_owned(),
        algorithm: "ES256".to_owned(),
        sealed: Vec::new(),
        created_at: NOW,
        active_from: NOW + begins,
        withdrawn_at: None,
    }
}

fn states(keys: &[SealedKey]) -> Vec<(&str, KeyState)> {
    standing_keys(keys, ES256, NOW).into_iter().map(|key| (key.key.kid.as_str(), key.state)).collect()
}

#[test]
fn the_newest_key_that_has_begun_signs_and_the_list_begins_with_it() {
    let withdrawn = SealedKey { withdrawn_at: Some(NOW), ..key("withdrawn", -Duration::days(1)) };
    let other = SealedKey { algorithm: "RS256".to_owned(), ..key("other", Duration::ZERO) };
    let keys = [
        key("oldest", -Duration::days(200)),
        withdrawn,
        key("next", Duration::hours(24)),
        other,
        key("old", -Duration::days(100)),
        key("now", Duration::ZERO),
    ];
    let expected = [
        ("now", KeyState::Active),
        ("next", KeyState::Announced),
        ("old", KeyState::Retired),
        ("oldest", KeyState::Retired),
        ("withdrawn", KeyState::Withdrawn),
    ];
    assert_eq!(states(&keys), expected);
}

#[test]
fn where_no_key_has_begun_the_first_to_begin_signs() {
    let keys = [key("later", Duration::hours(2)), key("sooner", Duration::seconds(3))];
    assert_eq!(states(&keys), [("sooner", KeyState::Active), ("later", KeyState::Announced)]);
    assert_eq!(states(&[]), []);
}

#[test]
fn where_the_active_key_is_withdrawn_the_one_before_it_signs_again() {
    let withdrawn = SealedKey { withdrawn_at: Some(NOW), ..key("new", -Duration::days(1)) };
    let keys = [key("old", -Duration::days(50)), withdrawn];
    assert_eq!(states(&keys), [("old", KeyState::Active), ("new", KeyState::Withdrawn)]);
}

#[test]
fn of_two_that_begin_at_once_all_replicas_take_the_same() {
    let (a, b) = (key("a", Duration::ZERO), key("b", Duration::ZERO));
    assert_eq!(states(&[a.clone(), b.clone()]), states(&[b, a]));
}

#[test]
fn only_withdrawn_keys_are_not_published() {
    let published = [KeyState::Active, KeyState::Announced, KeyState::Retired];
    assert!(published.into_iter().all(KeyState::is_published) && !KeyState::Withdrawn.is_published());
}

#[test]
fn a_key_is_forgotten_when_the_last_of_its_tokens_has_expired_everywhere() {
    let withdrawn = SealedKey { withdrawn_at: Some(NOW), ..key("withdrawn", -Duration::days(1)) };
    let keys = [
        key("active", -Duration::hours(3)),
        key("next", Duration::hours(1)),
        key("old", -Duration::days(50)),
        key("oldest", -Duration::days(90)),
        withdrawn,
    ];
    let stopped = |after: Duration| Some(NOW + after + Duration::hours(25));
    let expected = [
        ("active", None),
        ("next", None),
        ("old", stopped(-Duration::hours(3))),
        ("oldest", stopped(-Duration::days(50))),
        ("withdrawn", stopped(Duration::ZERO)),
    ];
    let standing = standing_keys(&keys, ES256, NOW);
    let found: Vec<_> = standing.iter().map(|key| (key.key.kid.as_str(), key.forget_after)).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_first_key_signs_at_once_and_so_does_one_after_all_were_withdrawn() {
    let first = KeyWanted { active_from: NOW, unless_after: OffsetDateTime::UNIX_EPOCH };
    assert_eq!(key_due(&[], ES256, NOW, None), Some(first));
    assert_eq!(key_due(&[key("a", Duration::ZERO)], SigningAlgorithm::EdDsa, NOW, ROTATION), Some(first));
    let withdrawn = SealedKey { withdrawn_at: Some(NOW), ..key("a", -Duration::days(1)) };
    assert_eq!(key_due(&[withdrawn], ES256, NOW, ROTATION), Some(first));
}

#[test]
fn the_next_key_is_made_a_day_before_the_active_ones_age_ends_and_once() {
    let aged = |days: i64, hours: i64| key("a", -Duration::days(days) - Duration::hours(hours));
    assert_eq!(key_due(&[aged(88, 23)], ES256, NOW, ROTATION), None);
    let due = aged(89, 0);
    let wanted = KeyWanted { active_from: NOW + Duration::hours(24), unless_after: due.active_from };
    assert_eq!(key_due(std::slice::from_ref(&due), ES256, NOW, ROTATION), Some(wanted));
    assert_eq!(key_due(&[due, key("b", Duration::hours(24))], ES256, NOW, ROTATION), None);
    assert_eq!(key_due(&[aged(10_000, 0)], ES256, NOW, None), None, "only the operator rotates");
    let overdue = key_due(&[aged(10_000, 0)], ES256, NOW, ROTATION).unwrap();
    assert_eq!(overdue.active_from, NOW + Duration::hours(24), "it is still announced for a day");
}

#[test]
fn whoever_asks_gets_a_next_key_of_any_age_if_there_is_none_yet() {
    let young = key("a", -Duration::seconds(1));
    let wanted = KeyWanted { active_from: NOW + Duration::hours(24), unless_after: young.active_from };
    assert_eq!(key_wanted(std::slice::from_ref(&young), ES256, NOW), Some(wanted));
    assert_eq!(key_wanted(&[young, key("b", Duration::hours(1))], ES256, NOW), None);
}

#[test]
fn a_key_that_is_wanted_at_once_is_added_beside_a_next_one() {
    let keys = [key("a", -Duration::days(1)), key("b", Duration::hours(1))];
    let wanted = KeyWanted { active_from: NOW, unless_after: NOW + Duration::hours(1) };
    assert_eq!(key_wanted_at_once(&keys, ES256, NOW), wanted);
    let withdrawn = SealedKey { withdrawn_at: Some(NOW), ..key("c", Duration::hours(9)) };
    let wanted = KeyWanted { active_from: NOW, unless_after: OffsetDateTime::UNIX_EPOCH };
    assert_eq!(key_wanted_at_once(&[withdrawn], ES256, NOW), wanted);
}

#[test]
fn times_at_the_edge_of_what_can_be_written_are_judged_too() {
    for active_from in [OffsetDateTime::UNIX_EPOCH - Duration::days(365_000), NOW + Duration::days(2_900_000)]
    {
        let keys = [SealedKey { active_from, ..key("a", Duration::ZERO) }, key("b", Duration::ZERO)];
        assert_eq!(standing_keys(&keys, ES256, NOW).len(), 2);
        key_due(&keys, ES256, NOW, Some(Duration::MAX));
    }
}
