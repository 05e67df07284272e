//! Keys of the admin interface, and requests that are repeated.

use countersign_domain::admin_key::{AdminKeyName, AdminKeyRefused, AdminScopes};
use countersign_domain::event::EventKind;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::repeat_key::RepeatKey;
use countersign_domain::secret::Secret;
use countersign_ports::{EventFilter, EventOrder, EventPage};
use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::clients::delete_client::remove_client;
use countersign_usecases::clients::register_client::{
    Given, RegisterClientError, RegisteredClient, register_declared,
};
use time::Duration;

use crate::admin_keys::admit_admin_key::{AdmitAdminKeyError, admit_admin_key};
use crate::admin_keys::begin_repeatable::{BeginRepeatableError, begin_repeatable};
use crate::admin_keys::create_admin_key::{CreatedAdminKey, create_admin_key};
use crate::admin_keys::list_admin_keys::list_admin_keys;
use crate::admin_keys::revoke_admin_key::revoke_admin_key;
use crate::tests::world::World;

async fn create(world: &World, name: &str, lives: Option<Duration>) -> Result<CreatedAdminKey, ActRefused> {
    let scopes = AdminScopes::from_stored("clients:write").unwrap();
    create_admin_key(world.context.management(), AdminKeyName::parse(name).unwrap(), scopes, lives).await
}

async fn why(world: &World, key: &Secret) -> Option<AdminKeyRefused> {
    match admit_admin_key(world.context.management(), key).await {
        Ok(_) => None,
        Err(AdmitAdminKeyError::Refused { why, .. }) => Some(why),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_key_opens_until_it_expires_or_is_revoked_and_its_use_is_known_to_the_minute() {
    let world = World::new();
    let created = create(&world, "CI", Some(Duration::hours(1))).await.unwrap();
    let management = world.context.management();
    assert_eq!(list_admin_keys(management).await.unwrap(), std::slice::from_ref(&created.key));
    assert_eq!(why(&world, &created.text).await, None);
    let used = list_admin_keys(management).await.unwrap()[0].last_used_at.unwrap();
    assert_eq!((used.second(), used.nanosecond()), (0, 0));
    world.clock.advance(Duration::minutes(2));
    assert_eq!(why(&world, &created.text).await, None);
    let again = list_admin_keys(management).await.unwrap()[0].last_used_at.unwrap();
    assert_eq!(again - used, Duration::minutes(2));
    world.clock.advance(Duration::hours(1));
    assert_eq!(why(&world, &created.text).await, Some(AdminKeyRefused::Expired));
    let other = create(&world, "other", None).await.unwrap();
    world.clock.advance(Duration::days(4_000));
    assert_eq!(why(&world, &other.text).await, None);
    for named in ["other", "other", "nobody"] {
        let revoked = revoke_admin_key(management, named).await;
        match (named, revoked) {
            ("other", Ok(key)) => assert_eq!(key.id, other.key.id),
            ("other", Err(ActRefused::AdminKeyRevoked)) => {}
            ("nobody", Err(ActRefused::AdminKeyUnknown(_))) => {}
            (named, revoked) => panic!("{named}: {revoked:?}"),
        }
    }
    assert_eq!(why(&world, &other.text).await, Some(AdminKeyRefused::Revoked));
    assert!(matches!(create(&world, "other", None).await, Err(ActRefused::AdminKeyTaken)));
    let name = AdminKeyName::parse("none").unwrap();
    let bare = create_admin_key(management, name, AdminScopes::default(), None).await;
    assert!(matches!(bare, Err(ActRefused::NoScope)));
}

#[tokio::test]
async fn creating_and_revoking_a_key_leaves_an_event_and_a_refusal_leaves_none() {
    let world = World::new();
    let created = create(&world, "CI", None).await.unwrap();
    create(&world, "CI", None).await.unwrap_err();
    world.clock.advance(Duration::SECOND);
    let management = world.context.management();
    revoke_admin_key(management, &created.key.id.to_string()).await.unwrap();
    revoke_admin_key(management, "CI").await.unwrap_err();
    let page = EventPage { after: None, limit: 10, order: EventOrder::OldestFirst };
    let events = world.storage.list_events(&EventFilter::default(), page).await.unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::AdminKeyCreated, EventKind::AdminKeyRevoked]);
    let told = format!("{events:?}");
    assert!(told.contains("CI") && told.contains("clients:write"), "{told}");
    assert!(!told.contains(created.text.expose()) && !told.contains(&created.text.expose()[20..]), "{told}");
}

#[tokio::test]
async fn a_repeated_request_makes_the_same_client_and_another_request_another() {
    let world = World::new();
    let key = create(&world, "CI", None).await.unwrap().key;
    let repeat_key = RepeatKey::new([7; 32]);
    let register = async |name: &str, asked: &[u8]| -> Result<RegisteredClient, BeginRepeatableError> {
        let management = world.context.management();
        let begun = begin_repeatable(management, &repeat_key, key.id, name, asked).await?;
        let requested = RequestedMetadata {
            client_name: Some("Album".to_owned()),
            redirect_uris: Some(vec!["https://album.example/cb".to_owned()]),
            ..RequestedMetadata::default()
        };
        Ok(register_declared(begun.of(management), requested, Given::default()).await.unwrap())
    };
    let shown = |made: RegisteredClient| (made.client, made.secret.unwrap(), made.registration_token);
    let first = shown(register("one", b"a").await.unwrap());
    world.clock.advance(Duration::hours(23));
    assert_eq!(shown(register("one", b"a").await.unwrap()), first);
    let refused = register("one", b"b").await;
    assert!(matches!(refused, Err(BeginRepeatableError::AskedOtherwise)), "{refused:?}");
    let second = shown(register("two", b"a").await.unwrap());
    assert!(second.0.id != first.0.id && second.1 != first.1 && second.2 != first.2);
    world.clock.advance(Duration::hours(2));
    let forgotten = shown(register("one", b"b").await.unwrap());
    assert!(forgotten.0.id != first.0.id && forgotten.1 != first.1);
    assert_eq!(world.context.clients.list(None, 10).await.unwrap().len(), 3);
}

/// F-22: a repeat never makes what was deleted again, and what is made has an event with the time at which it was.
#[tokio::test]
async fn a_repeated_request_makes_nothing_that_was_deleted_meanwhile() {
    let world = World::new();
    let key = create(&world, "CI", None).await.unwrap().key;
    let repeat_key = RepeatKey::new([7; 32]);
    let register = async |name: &str| {
        let management = world.context.management();
        let begun = begin_repeatable(management, &repeat_key, key.id, name, b"a").await.unwrap();
        let requested = RequestedMetadata {
            client_name: Some("Album".to_owned()),
            redirect_uris: Some(vec!["https://album.example/cb".to_owned()]),
            ..RequestedMetadata::default()
        };
        let made = register_declared(begun.of(management), requested, Given::default()).await;
        (made, begun.was_made())
    };
    let registered = async || {
        let filter = EventFilter { kinds: vec![EventKind::ClientRegistered], ..EventFilter::default() };
        let page = EventPage { after: None, limit: 10, order: EventOrder::OldestFirst };
        world.storage.list_events(&filter, page).await.unwrap()
    };
    // It was begun, but nothing was made: the process was killed.
    let management = world.context.management();
    begin_repeatable(management, &repeat_key, key.id, "ghost", b"a").await.unwrap();
    world.clock.advance(Duration::hours(3));
    let made_at = world.context.clock.now();
    let (first, was_made) = register("ghost").await;
    let first = first.unwrap().client;
    assert!(!was_made);
    let [told] = &registered().await[..] else { panic!() };
    assert_eq!(told.id.at_time(), made_at.replace_millisecond(made_at.millisecond()).unwrap());
    assert_eq!(first.created_at, made_at.replace_nanosecond(0).unwrap());
    world.clock.advance(Duration::hours(2));
    let (repeated, was_made) = register("ghost").await;
    assert!(was_made && repeated.unwrap().client == first);
    assert!(remove_client(management, first.id).await.unwrap());
    for _ in 0..2 {
        let (refused, was_made) = register("ghost").await;
        assert!(was_made && matches!(refused, Err(RegisterClientError::MadeBefore)), "{refused:?}");
        world.clock.advance(Duration::hours(1));
    }
    assert_eq!(world.context.clients.list(None, 10).await.unwrap(), []);
    assert_eq!(registered().await.len(), 1);
    let (other, _) = register("another name").await;
    assert_ne!(other.unwrap().client.id, first.id);
    assert_eq!(registered().await.len(), 2);
}
