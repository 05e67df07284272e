//! The first start, and keys that are added and removed while the server runs.

use countersign_conformance::fakes::ManualClock;
use countersign_conformance::memory::MemoryStorage;
use countersign_domain::signing_key::{KeyState, SealedKey};
use countersign_ports::{AddSigningKey, KeyAdded, RemoveSigningKey, StoreError, WithdrawSigningKey};

use super::*;
use crate::OsEntropy;

const ROTATION: Option<Duration> = Some(Duration::days(90));

async fn open(store: &dyn KeyStore, now: OffsetDateTime) -> Result<JosekitSigner, KeyError> {
    load_or_create(store, &secret(), &ManualClock::at(now), &OsEntropy, &()).await
}

fn kids(signer: &JosekitSigner) -> Vec<String> {
    published(signer).iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

/// The kid in a new ES256 token.
async fn signs_with(signer: &JosekitSigner) -> String {
    let token = signer.sign_access_token(&claims()).await.unwrap();
    let header = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    header["kid"].as_str().unwrap().to_owned()
}

async fn reload(signer: &JosekitSigner, store: &dyn KeyStore, now: OffsetDateTime) -> Vec<KeyChange> {
    signer.reload(store, &secret(), now).await.unwrap()
}

#[tokio::test]
async fn d_16_the_first_start_makes_a_key_of_each_algorithm_and_the_second_finds_them() {
    let store = MemoryStorage::default();
    let first = open(&store, NOW).await.unwrap();
    let second = open(&store, NOW).await.unwrap();
    assert_eq!(first.public_keys(), second.public_keys());
    assert_eq!(first.public_keys().algorithms, ["RS256", "ES256", "EdDSA"]);
    assert_eq!(store.signing_keys().await.unwrap().len(), 3);
}

#[tokio::test]
async fn d_16_replicas_that_start_at_once_end_up_with_the_same_keys() {
    let store = MemoryStorage::default();
    let (one, other) = tokio::join!(open(&store, NOW), open(&store, NOW - Duration::seconds(2)));
    let (one, other) = (one.unwrap(), other.unwrap());
    for signer in [&one, &other] {
        reload(signer, &store, NOW).await;
    }
    assert_eq!(one.public_keys(), other.public_keys());
    assert_eq!(kids(&one).len(), 3);
}

#[tokio::test]
async fn d_16_the_one_key_of_the_release_before_stays_and_the_others_join_it() {
    let store = MemoryStorage::default();
    let times = KeyTimes { created_at: NOW, active_from: NOW };
    let key = es256().seal(&secret(), times, &OsEntropy);
    let command = AddSigningKey { key: key.clone(), unless_after: OffsetDateTime::UNIX_EPOCH, event: None };
    store.add_signing_key(command).await.unwrap();
    let signer = open(&store, NOW + Duration::days(1)).await.unwrap();
    assert_eq!((kids(&signer).len(), signs_with(&signer).await), (3, key.kid));
}

#[tokio::test]
async fn a_next_key_is_published_a_day_before_it_signs_and_tokens_of_the_old_one_stay_good() {
    let store = MemoryStorage::default();
    let signer = open(&store, NOW).await.unwrap();
    let old = signs_with(&signer).await;
    let hint = signer.sign_id_token(ACCESS_ALGORITHM, &fixtures::id_token_claims()).await.unwrap();
    let token = signer.sign_access_token(&claims()).await.unwrap();
    assert_eq!(reload(&signer, &store, NOW).await, [], "nothing changed");

    let announced = NOW + Duration::days(89);
    let made = make_due_keys(&store, &secret(), &OsEntropy, &(), announced, ROTATION).await.unwrap();
    let again = make_due_keys(&store, &secret(), &OsEntropy, &(), announced, ROTATION).await.unwrap();
    assert_eq!((made.len(), again.len()), (3, 0));
    let changes = reload(&signer, &store, announced).await;
    assert!(changes.iter().all(|change| change.state == Some(KeyState::Announced)) && changes.len() == 3);
    assert_eq!((kids(&signer).len(), signs_with(&signer).await), (6, old.clone()));
    assert_eq!(signer.active_since(), SigningAlgorithm::ALL.map(|algorithm| (algorithm, NOW)));

    let active = announced + Duration::days(1);
    assert_eq!(reload(&signer, &store, active).await.len(), 6);
    assert_eq!(signer.active_since(), SigningAlgorithm::ALL.map(|algorithm| (algorithm, active)));
    let new = signs_with(&signer).await;
    assert!(new != old && kids(&signer)[..3].contains(&new) && kids(&signer)[3..].contains(&old));
    assert!(signer.read_id_token(&hint).is_some());
    assert_eq!(id_of(&signer, &token), Some(claims().id));

    forget_old_keys(&store, &(), fixtures::past(active + Duration::hours(25))).await.unwrap();
    assert_eq!(reload(&signer, &store, active + Duration::hours(25)).await, [], "not yet");
    let later = active + Duration::hours(25) + Duration::seconds(1);
    forget_old_keys(&store, &(), fixtures::past(later)).await.unwrap();
    let changes = reload(&signer, &store, later).await;
    assert!(changes.iter().all(|change| change.state.is_none()) && changes.len() == 3);
    assert_eq!((kids(&signer).len(), signer.read_id_token(&hint)), (3, None));
    assert_eq!(id_of(&signer, &token), None);
}

#[tokio::test]
async fn what_a_withdrawn_key_signed_is_no_id_token_any_more_and_it_is_not_published() {
    let store = MemoryStorage::default();
    let signer = open(&store, NOW).await.unwrap();
    let old = signs_with(&signer).await;
    let hint = signer.sign_id_token(ACCESS_ALGORITHM, &fixtures::id_token_claims()).await.unwrap();
    let token = signer.sign_access_token(&claims()).await.unwrap();
    store.withdraw_signing_key(WithdrawSigningKey { kid: old.clone(), now: NOW, event: None }).await.unwrap();
    make_due_keys(&store, &secret(), &OsEntropy, &(), NOW, None).await.unwrap();
    reload(&signer, &store, NOW).await;
    assert!(signs_with(&signer).await != old && !kids(&signer).contains(&old));
    assert_eq!(signer.read_id_token(&hint), None);
    assert_eq!(id_of(&signer, &token), Some(claims().id), "its hash shows that it is ours");
}

/// A store that was empty at first and is full when asked again.
struct Faster(MemoryStorage);

#[async_trait]
impl KeyStore for Faster {
    async fn add_signing_key(&self, command: AddSigningKey) -> Result<KeyAdded, StoreError> {
        let times = KeyTimes { created_at: NOW, active_from: NOW };
        let algorithm = SigningAlgorithm::parse(&command.key.algorithm).unwrap();
        let key = KEYS.iter().find(|key| key.algorithm() == algorithm).unwrap();
        let faster = AddSigningKey { key: key.seal(&secret(), times, &OsEntropy), ..command.clone() };
        self.0.add_signing_key(faster).await?;
        self.0.add_signing_key(command).await
    }

    async fn withdraw_signing_key(&self, command: WithdrawSigningKey) -> Result<bool, StoreError> {
        self.0.withdraw_signing_key(command).await
    }

    async fn remove_signing_key(&self, command: RemoveSigningKey) -> Result<bool, StoreError> {
        self.0.remove_signing_key(command).await
    }

    async fn signing_keys(&self) -> Result<Vec<SealedKey>, StoreError> {
        self.0.signing_keys().await
    }
}

#[tokio::test]
async fn a_replica_that_comes_second_takes_the_keys_of_the_first() {
    let store = Faster(MemoryStorage::default());
    let signer = open(&store, NOW).await.unwrap();
    assert_eq!(signer.public_keys(), JosekitSigner::new(KEYS.as_slice()).unwrap().public_keys());
}

#[tokio::test]
async fn a_start_with_another_secret_fails_and_makes_no_key() {
    let store = MemoryStorage::default();
    let times = KeyTimes { created_at: NOW, active_from: NOW };
    let key = es256().seal(&OperatorSecret::generate(&OsEntropy), times, &OsEntropy);
    let command = AddSigningKey { key, unless_after: OffsetDateTime::UNIX_EPOCH, event: None };
    store.add_signing_key(command).await.unwrap();
    assert!(matches!(open(&store, NOW).await.unwrap_err(), KeyError::WrongSecret { .. }));
    assert_eq!(store.signing_keys().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_running_signer_keeps_its_keys_when_a_new_one_does_not_open() {
    let store = MemoryStorage::default();
    let signer = open(&store, NOW).await.unwrap();
    let before = signer.public_keys();
    let times = KeyTimes { created_at: NOW, active_from: NOW + Duration::DAY };
    let key = es256().seal(&OperatorSecret::generate(&OsEntropy), times, &OsEntropy);
    store.add_signing_key(AddSigningKey { key, unless_after: NOW, event: None }).await.unwrap();
    let error = signer.reload(&store, &secret(), NOW).await.unwrap_err();
    assert!(matches!(error, KeyError::WrongSecret { .. }));
    assert_eq!(signer.public_keys(), before);
}
