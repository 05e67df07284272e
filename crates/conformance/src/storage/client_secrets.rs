//! Secrets of clients are rotated, and what is known about them is told.

use std::sync::Arc;

use countersign_domain::client::{Client, ClientAuthentication, SecretMethod};
use countersign_domain::client_secrets::{ClientSecrets, OldSecret};
use countersign_domain::id::ClientId;
use countersign_domain::secret::SecretHash;
use countersign_ports::{
    DeleteClient, PurgeExpired, Purged, RegisterClient, RotateSecret, SecretRecord, SecretUse, Storage,
    UpdateClient,
};
use time::{Duration, OffsetDateTime};

use super::races::at_once;
use crate::fixtures::{self, NOW};

const TASKS: usize = 32;
const MINUTE: Duration = Duration::MINUTE;
const DAY: Duration = Duration::DAY;

async fn registered(store: &dyn Storage) -> Client {
    let client = fixtures::client();
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    client
}

/// The secrets of a client as they are stored.
async fn stored(store: &dyn Storage, client: ClientId) -> ClientSecrets {
    secrets(&store.find_client(client).await.unwrap().unwrap())
}

fn secrets(client: &Client) -> ClientSecrets {
    match &client.authentication {
        ClientAuthentication::Secret { secrets, .. } => *secrets,
        ClientAuthentication::Keys | ClientAuthentication::Public => panic!("a client without a secret"),
    }
}

/// Replaces this secret by a new one.
fn rotate(client: ClientId, replaced: SecretHash, keep_old_until: Option<OffsetDateTime>) -> RotateSecret {
    RotateSecret {
        client,
        replaced,
        hash: fixtures::secret_hash(),
        now: NOW + MINUTE,
        keep_old_until,
        event: None,
    }
}

fn used(client: ClientId, hash: SecretHash, used_at: OffsetDateTime) -> SecretUse {
    SecretUse { client, hash, used_at }
}

async fn last_uses(store: &dyn Storage, client: ClientId) -> Vec<Option<OffsetDateTime>> {
    store.secrets_of(client).await.unwrap().into_iter().map(|secret| secret.last_used_at).collect()
}

/// Nothing but the secret changes, and no other client.
pub async fn a_rotated_secret_replaces_the_one_before(store: Arc<dyn Storage>) {
    let [client, bystander] = [registered(&*store).await, registered(&*store).await];
    let command = rotate(client.id, secrets(&client).current, None);
    assert!(store.rotate_secret(command.clone()).await.unwrap());
    let method = SecretMethod::Post;
    let authentication = ClientAuthentication::Secret { method, secrets: ClientSecrets::only(command.hash) };
    let expected = Client { authentication, ..client.clone() };
    assert_eq!(store.find_client(client.id).await.unwrap(), Some(expected));
    assert_eq!(store.find_client(bystander.id).await.unwrap(), Some(bystander));
}

/// Both are there, with the end of the old one.
pub async fn a_rotation_may_keep_the_secret_before(store: Arc<dyn Storage>) {
    let client = registered(&*store).await;
    let command = rotate(client.id, secrets(&client).current, Some(NOW + DAY));
    assert!(store.rotate_secret(command.clone()).await.unwrap());
    let old = Some(OldSecret { hash: command.replaced, expires_at: NOW + DAY });
    assert_eq!(stored(&*store, client.id).await, ClientSecrets { current: command.hash, old });
    let listed = store.list_clients(None, u32::MAX).await.unwrap();
    let listed = listed.iter().find(|listed| listed.id == client.id).unwrap();
    assert_eq!(secrets(listed), ClientSecrets { current: command.hash, old });
}

/// A second rotation keeps the newest two, or the newest alone.
pub async fn a_client_has_two_secrets_at_most(store: Arc<dyn Storage>) {
    let client = registered(&*store).await;
    let first = rotate(client.id, secrets(&client).current, Some(NOW + DAY));
    let second = rotate(client.id, first.hash, Some(NOW + 2 * DAY));
    let third = rotate(client.id, second.hash, None);
    for (command, expected) in [
        (first.clone(), Some(OldSecret { hash: first.replaced, expires_at: NOW + DAY })),
        (second, Some(OldSecret { hash: first.hash, expires_at: NOW + 2 * DAY })),
        (third, None),
    ] {
        assert!(store.rotate_secret(command.clone()).await.unwrap());
        let expected = ClientSecrets { current: command.hash, old: expected };
        assert_eq!(stored(&*store, client.id).await, expected);
        let records = store.secrets_of(client.id).await.unwrap();
        let ends: Vec<_> = records.iter().map(|record| record.expires_at).collect();
        let expected: Vec<_> =
            [None].into_iter().chain(expected.old.map(|old| Some(old.expires_at))).collect();
        assert_eq!(ends, expected, "newest first");
    }
}

/// Rule 3: the same command again gets the same answer, even if it keeps the secret that it replaced.
pub async fn a_secret_that_is_rotated_again_by_the_same_command_stays(store: Arc<dyn Storage>) {
    let client = registered(&*store).await;
    let command = rotate(client.id, secrets(&client).current, Some(NOW + DAY));
    assert!(store.rotate_secret(command.clone()).await.unwrap());
    let expected = stored(&*store, client.id).await;
    let use_of_it = used(client.id, command.hash, NOW + DAY);
    store.note_secret_uses(vec![use_of_it]).await.unwrap();
    assert!(store.rotate_secret(command).await.unwrap());
    assert_eq!(stored(&*store, client.id).await, expected);
    assert_eq!(last_uses(&*store, client.id).await, [Some(NOW + DAY), None]);
}

/// A caller who replaces a secret that is not the current one has not seen the newest.
pub async fn a_rotation_of_another_secret_changes_nothing(store: Arc<dyn Storage>) {
    let client = registered(&*store).await;
    let first = rotate(client.id, secrets(&client).current, Some(NOW + DAY));
    assert!(store.rotate_secret(first.clone()).await.unwrap());
    let expected = stored(&*store, client.id).await;
    for replaced in [fixtures::secret_hash(), first.replaced] {
        assert!(!store.rotate_secret(rotate(client.id, replaced, Some(NOW + DAY))).await.unwrap());
        assert_eq!(stored(&*store, client.id).await, expected);
    }
}

/// A client without a secret gets none, and nobody becomes a client.
pub async fn where_there_is_no_secret_none_is_rotated(store: Arc<dyn Storage>) {
    for client in [fixtures::public_client(), fixtures::client_with_keys()] {
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
        assert!(!store.rotate_secret(rotate(client.id, fixtures::secret_hash(), None)).await.unwrap());
        assert_eq!(store.secrets_of(client.id).await.unwrap(), []);
        assert_eq!(store.find_client(client.id).await.unwrap(), Some(client));
    }
    let nobody = fixtures::client_id();
    assert!(!store.rotate_secret(rotate(nobody, fixtures::secret_hash(), None)).await.unwrap());
    assert_eq!(store.find_client(nobody).await.unwrap(), None);
    assert_eq!(store.secrets_of(nobody).await.unwrap(), []);
}

/// Whoever read the client before its secret was rotated, and updates it afterwards, brings no secret back.
/// The method changes all the same.
pub async fn an_update_leaves_secrets_alone(store: Arc<dyn Storage>) {
    let client = registered(&*store).await;
    let command = rotate(client.id, secrets(&client).current, Some(NOW + DAY));
    assert!(store.rotate_secret(command).await.unwrap());
    let expected = stored(&*store, client.id).await;
    let forged = OldSecret { hash: fixtures::secret_hash(), expires_at: NOW + 90 * DAY };
    let forged = ClientSecrets { current: fixtures::secret_hash(), old: Some(forged) };
    for (method, secrets) in [(SecretMethod::Post, secrets(&client)), (SecretMethod::Basic, forged)] {
        let authentication = ClientAuthentication::Secret { method, secrets };
        assert!(
            store
                .update_client(UpdateClient {
                    client: Client { authentication, ..client.clone() },
                    event: None
                })
                .await
                .unwrap()
        );
        let found = store.find_client(client.id).await.unwrap().unwrap();
        let authentication = ClientAuthentication::Secret { method, secrets: expected };
        assert_eq!(found.authentication, authentication);
    }
}

/// Its secrets go, and so does what was known about them. They do not come back with the method.
pub async fn a_client_that_authenticates_otherwise_keeps_no_secret(store: Arc<dyn Storage>) {
    let client = registered(&*store).await;
    let command = rotate(client.id, secrets(&client).current, Some(NOW + DAY));
    assert!(store.rotate_secret(command.clone()).await.unwrap());
    store.note_secret_uses(vec![used(client.id, command.hash, NOW)]).await.unwrap();
    let authentication = ClientAuthentication::Keys;
    assert!(
        store
            .update_client(UpdateClient { client: Client { authentication, ..client.clone() }, event: None })
            .await
            .unwrap()
    );
    assert_eq!(store.secrets_of(client.id).await.unwrap(), []);
    let secrets = ClientSecrets { current: command.hash, old: None };
    let authentication = ClientAuthentication::Secret { method: SecretMethod::Post, secrets };
    assert!(
        store
            .update_client(UpdateClient { client: Client { authentication, ..client.clone() }, event: None })
            .await
            .unwrap()
    );
    assert_eq!(stored(&*store, client.id).await, secrets);
    assert_eq!(last_uses(&*store, client.id).await, [None]);
}

/// The first secret is as old as its client, and every later one as old as its rotation.
pub async fn what_is_known_about_secrets_is_told(store: Arc<dyn Storage>) {
    let [client, bystander] = [registered(&*store).await, registered(&*store).await];
    let first = SecretRecord { created_at: Some(client.created_at), expires_at: None, last_used_at: None };
    assert_eq!(store.secrets_of(client.id).await.unwrap(), [first]);

    let known = secrets(&client).current;
    store.note_secret_uses(vec![used(client.id, known, NOW + MINUTE)]).await.unwrap();
    let first = SecretRecord { last_used_at: Some(NOW + MINUTE), ..first };
    assert_eq!(store.secrets_of(client.id).await.unwrap(), [first]);

    let command = RotateSecret { now: NOW + DAY, ..rotate(client.id, known, Some(NOW + 2 * DAY)) };
    assert!(store.rotate_secret(command.clone()).await.unwrap());
    let first = SecretRecord { expires_at: command.keep_old_until, ..first };
    let second = SecretRecord { created_at: Some(NOW + DAY), expires_at: None, last_used_at: None };
    assert_eq!(store.secrets_of(client.id).await.unwrap(), [second, first]);
    let uses = [(command.hash, NOW + DAY + MINUTE), (known, NOW + DAY)];
    let uses = uses.map(|(hash, at)| used(client.id, hash, at)).to_vec();
    store.note_secret_uses(uses).await.unwrap();
    let expected = [Some(NOW + DAY + MINUTE), Some(NOW + DAY)];
    assert_eq!(last_uses(&*store, client.id).await, expected);
    assert_eq!(last_uses(&*store, bystander.id).await, [None]);
}

/// A secret that was kept before it was ever used is still as old as its client.
pub async fn an_unused_secret_that_is_kept_is_as_old_as_its_client(store: Arc<dyn Storage>) {
    let client = registered(&*store).await;
    let command = rotate(client.id, secrets(&client).current, Some(NOW + DAY));
    assert!(store.rotate_secret(command.clone()).await.unwrap());
    let ages = store.secrets_of(client.id).await.unwrap().into_iter().map(|secret| secret.created_at);
    assert_eq!(ages.collect::<Vec<_>>(), [Some(command.now), Some(client.created_at)]);
}

/// Two servers report in any order.
pub async fn the_latest_use_of_a_secret_stays(store: Arc<dyn Storage>) {
    let client = registered(&*store).await;
    let hash = secrets(&client).current;
    let at = |minutes| used(client.id, hash, NOW + minutes * MINUTE);
    for (uses, latest) in [
        (vec![], None),
        (vec![at(3)], Some(3)),
        (vec![at(2)], Some(3)),
        (vec![at(3)], Some(3)),
        (vec![at(5), at(4), at(1)], Some(5)),
        (vec![at(4)], Some(5)),
    ] {
        store.note_secret_uses(uses).await.unwrap();
        assert_eq!(last_uses(&*store, client.id).await, [latest.map(|minutes| NOW + minutes * MINUTE)]);
    }
}

/// Neither a wrong hash nor a secret that ended nor a client that is gone leaves anything behind.
pub async fn uses_of_other_secrets_are_left_out(store: Arc<dyn Storage>) {
    let [client, gone] = [registered(&*store).await, registered(&*store).await];
    let command = rotate(client.id, secrets(&client).current, None);
    assert!(store.rotate_secret(command.clone()).await.unwrap());
    assert!(store.delete_client(DeleteClient { id: gone.id, event: None }).await.unwrap());
    let uses = vec![
        used(client.id, fixtures::secret_hash(), NOW),
        used(client.id, command.replaced, NOW),
        used(fixtures::client_id(), command.hash, NOW),
        used(gone.id, secrets(&gone).current, NOW),
        used(client.id, command.hash, NOW + MINUTE),
    ];
    store.note_secret_uses(uses).await.unwrap();
    assert_eq!(last_uses(&*store, client.id).await, [Some(NOW + MINUTE)]);
    assert_eq!(store.secrets_of(gone.id).await.unwrap(), []);
    let again = rotate(client.id, command.hash, None);
    assert!(store.rotate_secret(again.clone()).await.unwrap());
    let back = RotateSecret { hash: command.replaced, ..rotate(client.id, again.hash, None) };
    assert!(store.rotate_secret(back).await.unwrap());
    assert_eq!(last_uses(&*store, client.id).await, [None]);
}

/// The deleted client's secrets are not known any more, even if it comes back.
pub async fn a_deleted_client_takes_what_is_known_about_its_secrets_along(store: Arc<dyn Storage>) {
    let client = registered(&*store).await;
    store.note_secret_uses(vec![used(client.id, secrets(&client).current, NOW)]).await.unwrap();
    assert!(store.delete_client(DeleteClient { id: client.id, event: None }).await.unwrap());
    assert_eq!(store.secrets_of(client.id).await.unwrap(), []);
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    assert_eq!(last_uses(&*store, client.id).await, [None]);
}

/// Upkeep deletes old secrets past their end, the first to end first, and nothing else about their clients.
pub async fn an_old_secret_is_forgotten_after_its_end(store: Arc<dyn Storage>) {
    let mut rotated = Vec::new();
    for days in [2, 1, 3] {
        let client = registered(&*store).await;
        let command = rotate(client.id, secrets(&client).current, Some(NOW + days * DAY));
        assert!(store.rotate_secret(command.clone()).await.unwrap());
        store.note_secret_uses(vec![used(client.id, command.hash, NOW)]).await.unwrap();
        rotated.push(command);
    }
    let purge = async |before, limit| {
        store.purge_expired(PurgeExpired::oldest(fixtures::past(before), limit)).await.unwrap()
    };
    let kept = async || {
        let mut kept = Vec::new();
        for command in &rotated {
            kept.push(stored(&*store, command.client).await.old.is_some());
        }
        kept
    };
    assert_eq!(purge(NOW + DAY, 10).await, Purged { rows: 0, more: false });
    assert_eq!(kept().await, [true, true, true]);
    assert_eq!(purge(NOW + 2 * DAY + MINUTE, 1).await, Purged { rows: 1, more: true });
    assert_eq!(kept().await, [true, false, true]);
    assert_eq!(purge(NOW + 2 * DAY + MINUTE, 1).await, Purged { rows: 1, more: false });
    assert_eq!(kept().await, [false, false, true]);
    for command in &rotated {
        assert_eq!(stored(&*store, command.client).await.current, command.hash);
        let uses = last_uses(&*store, command.client).await;
        assert_eq!(uses[0], Some(NOW));
    }
    let gone = used(rotated[1].client, rotated[1].replaced, NOW);
    store.note_secret_uses(vec![gone]).await.unwrap();
    assert_eq!(last_uses(&*store, rotated[1].client).await, [Some(NOW)]);
}

/// One of many who replace the same secret gets its place; the others learn that they have not.
pub async fn one_secret_is_replaced_by_one_of_many(store: Arc<dyn Storage>) {
    for keep_old_until in [None, Some(NOW + DAY)] {
        let client = registered(&*store).await;
        let replaced = secrets(&client).current;
        let commands: Vec<_> = (0..TASKS).map(|_| rotate(client.id, replaced, keep_old_until)).collect();
        let outcomes = at_once(commands.into_iter().map(|command| {
            let store = Arc::clone(&store);
            async move {
                let hash = command.hash;
                store.rotate_secret(command).await.unwrap().then_some(hash)
            }
        }))
        .await;
        let winners: Vec<_> = outcomes.into_iter().flatten().collect();
        let old = keep_old_until.map(|expires_at| OldSecret { hash: replaced, expires_at });
        assert_eq!(winners.len(), 1);
        assert_eq!(stored(&*store, client.id).await, ClientSecrets { current: winners[0], old });
    }
}

/// Clients update themselves while their secret is rotated: whatever the order, the rotation stays, and so does
/// one of the updates.
pub async fn no_update_undoes_a_rotation(store: Arc<dyn Storage>) {
    for round in 0..8 {
        let client = registered(&*store).await;
        let command = rotate(client.id, secrets(&client).current, Some(NOW + DAY));
        at_once((0..TASKS).map(|task| {
            let (store, mut client) = (Arc::clone(&store), client.clone());
            let command = command.clone();
            async move {
                if task == round {
                    assert!(store.rotate_secret(command).await.unwrap());
                    return;
                }
                client.metadata.name = format!("Name {task}");
                if task % 2 == 0 {
                    let secrets = secrets(&client);
                    client.authentication =
                        ClientAuthentication::Secret { method: SecretMethod::Basic, secrets };
                }
                assert!(store.update_client(UpdateClient { client, event: None }).await.unwrap());
            }
        }))
        .await;
        let old = Some(OldSecret { hash: command.replaced, expires_at: NOW + DAY });
        assert_eq!(stored(&*store, client.id).await, ClientSecrets { current: command.hash, old });
        let found = store.find_client(client.id).await.unwrap().unwrap();
        assert!(found.metadata.name.starts_with("Name "));
    }
}

/// Uses are written down while secrets are rotated and clients updated and deleted. Nobody waits for ever, and the
/// latest use of the secrets that are there at the end stays.
pub async fn uses_and_rotations_at_once_do_not_disturb_each_other(store: Arc<dyn Storage>) {
    let mut clients = Vec::new();
    for _ in 0..TASKS {
        clients.push(registered(&*store).await);
    }
    let all: Vec<(ClientId, SecretHash)> =
        clients.iter().map(|client| (client.id, secrets(client).current)).collect();
    at_once(clients.iter().enumerate().map(|(task, client)| {
        let (store, client, mut all) = (Arc::clone(&store), client.clone(), all.clone());
        if task % 2 == 0 {
            all.reverse();
        }
        async move {
            let command = rotate(client.id, secrets(&client).current, Some(NOW + DAY));
            let at = NOW + i32::try_from(task).unwrap() * MINUTE;
            let uses = all.iter().map(|(client, hash)| used(*client, *hash, at)).collect();
            store.note_secret_uses(uses).await.unwrap();
            match task % 4 {
                0 => assert!(store.rotate_secret(command).await.unwrap()),
                1 => {
                    assert!(store.update_client(UpdateClient { client, event: None }).await.unwrap())
                }
                2 => assert!(store.delete_client(DeleteClient { id: client.id, event: None }).await.unwrap()),
                _ => {}
            }
            let uses = all.iter().map(|(client, hash)| used(*client, *hash, at)).collect();
            store.note_secret_uses(uses).await.unwrap();
        }
    }))
    .await;
    let latest = Some(NOW + (i32::try_from(TASKS).unwrap() - 1) * MINUTE);
    for (task, client) in clients.iter().enumerate() {
        let expected = match task % 4 {
            0 => vec![None, latest],
            2 => vec![],
            _ => vec![latest],
        };
        assert_eq!(last_uses(&*store, client.id).await, expected, "{task}");
    }
}

/// The new secret, the end of the old one and their uses are still there.
pub async fn a_rotation_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let client = registered(&*store).await;
    let command = rotate(client.id, secrets(&client).current, Some(NOW + DAY));
    assert!(store.rotate_secret(command.clone()).await.unwrap());
    store.note_secret_uses(vec![used(client.id, command.hash, NOW + DAY)]).await.unwrap();
    drop(store);
    let store = open().await;
    let old = Some(OldSecret { hash: command.replaced, expires_at: NOW + DAY });
    assert_eq!(stored(&*store, client.id).await, ClientSecrets { current: command.hash, old });
    assert_eq!(last_uses(&*store, client.id).await, [Some(NOW + DAY), None]);
}

/// From the answer on, the other replica reads the new secret, and rotates that one only.
pub async fn a_rotation_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = [open().await, open().await];
    let client = registered(&*here).await;
    let command = rotate(client.id, secrets(&client).current, Some(NOW + DAY));
    assert_eq!(stored(&*there, client.id).await, secrets(&client));
    assert!(here.rotate_secret(command.clone()).await.unwrap());
    let old = Some(OldSecret { hash: command.replaced, expires_at: NOW + DAY });
    assert_eq!(stored(&*there, client.id).await, ClientSecrets { current: command.hash, old });
    assert!(there.update_client(UpdateClient { client: client.clone(), event: None }).await.unwrap());
    assert!(!there.rotate_secret(rotate(client.id, command.replaced, None)).await.unwrap());
    assert!(there.rotate_secret(rotate(client.id, command.hash, None)).await.unwrap());
    assert_eq!(stored(&*here, client.id).await.old, None);
}

/// Each replica reports what it saw; the latest stays, whoever reports last.
pub async fn two_replicas_agree_on_the_latest_use(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = [open().await, open().await];
    let client = registered(&*replicas[0]).await;
    let hash = secrets(&client).current;
    at_once((0..TASKS).map(|task| {
        let store = Arc::clone(&replicas[task % 2]);
        let minutes = i32::try_from((task * 7) % TASKS).unwrap();
        let used = used(client.id, hash, NOW + minutes * MINUTE);
        async move { store.note_secret_uses(vec![used]).await.unwrap() }
    }))
    .await;
    let latest = NOW + i32::try_from(TASKS - 1).unwrap() * MINUTE;
    for replica in &replicas {
        assert_eq!(last_uses(&**replica, client.id).await, [Some(latest)]);
    }
}
