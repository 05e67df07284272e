use std::collections::HashSet;

use time::OffsetDateTime;

use super::*;
use crate::id::ClientId;

fn known_in(sector: &Sector) -> KnownAs {
    KnownAs::Pairwise(Box::new(PairwiseKey::new([1; 32]).keys_of(sector)))
}

fn host(name: &str) -> Sector {
    Sector::Host(name.to_owned())
}

/// Computed independently, with OpenSSL and Python. A version with other values would give every person another `sub`.
#[test]
fn a_sub_stays_the_same_for_ever() {
    let user = UserId::random([7; 16]);
    let photos = known_in(&host("photos.example"));
    assert_eq!(photos.subject(user).to_string(), "0d5c535a-2c21-491f-9ae4-8d137ad21233");
    let session = SessionId::at(OffsetDateTime::UNIX_EPOCH, [7; 10]);
    assert_eq!(photos.sid(session).to_string(), "60c27955-6c80-9061-dc5c-817f623853d5");
}

#[test]
fn a_sub_leads_back_to_its_user_in_its_sector_alone() {
    let (photos, pics) = (known_in(&host("photos.example")), known_in(&host("pics.example")));
    let mut seen = HashSet::new();
    for number in 0..2_000_u128 {
        let user = UserId::random(number.to_be_bytes());
        let (one, other) = (photos.subject(user), pics.subject(user));
        assert_eq!(photos.user(one), user);
        assert_ne!(photos.user(other), user);
        assert_eq!(one.as_uuid().get_version_num(), 4, "as libraries expect");
        assert!(seen.insert(one) && seen.insert(other) && seen.insert(user.as_public()));
    }
}

#[test]
fn an_id_of_another_form_has_a_pseudonym_too() {
    let photos = known_in(&host("photos.example"));
    let user = UserId::at(OffsetDateTime::UNIX_EPOCH, [9; 10]);
    assert_eq!(photos.user(photos.subject(user)), user);
    assert_ne!(photos.subject(user), user.as_public());
}

#[test]
fn keys_differ_by_sector_kind_purpose_and_secret() {
    let client = ClientId::at(OffsetDateTime::UNIX_EPOCH, [7; 10]);
    let sectors = [host("photos.example"), host(&client.to_string()), Sector::Client(client)];
    let keys = [[1; 32], [2; 32]].map(PairwiseKey::new);
    let of = |key: &PairwiseKey| {
        sectors.clone().map(|sector| ["sub", "sid"].map(|what| key.derive(what, &sector)))
    };
    let all: HashSet<_> = keys.iter().flat_map(of).flatten().collect();
    assert_eq!(all.len(), 12);
}

#[test]
fn a_public_client_gets_the_ids_themselves() {
    let (user, session) = (UserId::random([7; 16]), SessionId::at(OffsetDateTime::UNIX_EPOCH, [7; 10]));
    assert_eq!(KnownAs::Public.subject(user).as_uuid(), user.as_uuid());
    assert_eq!(KnownAs::Public.user(user.as_public()), user);
    assert_eq!(KnownAs::Public.sid(session).as_uuid(), session.as_uuid());
}
