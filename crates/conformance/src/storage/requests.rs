//! Requests that wait for a user: pushed ones are taken once, devices are answered once.

use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_domain::device::{DeviceRequest, UserCode};
use countersign_domain::pushed_request::PushedRequest;
use countersign_domain::scope::ScopeSet;
use countersign_ports::{
    BeginDevice, CompleteLogin, DenyDevice, DeviceBegun, DeviceDenied, PurgeExpired, Purged, Storage,
    TakePushedRequest,
};
use time::Duration;

use super::races::{at_once, count};
use super::steps;
use crate::fixtures;

const SECOND: Duration = Duration::seconds(1);
const TASKS: usize = 64;
const ROUNDS: usize = 4;

async fn push(store: &dyn Storage) -> PushedRequest {
    let request = fixtures::pushed_request();
    store.push_request(request.clone()).await.unwrap();
    request
}

async fn begin(store: &dyn Storage) -> BeginDevice {
    let command = fixtures::begin_device();
    assert_eq!(store.begin_device(command.clone()).await.unwrap(), DeviceBegun::Stored);
    command
}

fn deny(command: &BeginDevice) -> DenyDevice {
    DenyDevice { id: command.request.id, now: fixtures::NOW }
}

/// It is read back as it was pushed, and then it is gone.
pub async fn a_109_a_pushed_request_is_taken_once(store: Arc<dyn Storage>) {
    let (request, other) = (push(&*store).await, push(&*store).await);
    let take = fixtures::take_pushed_request(&request);
    assert_eq!(store.take_pushed_request(take).await.unwrap(), Some(request.parameters));
    assert_eq!(store.take_pushed_request(take).await.unwrap(), None);
    let take = fixtures::take_pushed_request(&other);
    assert_eq!(store.take_pushed_request(take).await.unwrap(), Some(other.parameters));
}

/// Another client, or one with another secret, does not use it up.
pub async fn a_109_a_pushed_request_is_its_clients_alone(store: Arc<dyn Storage>) {
    let request = push(&*store).await;
    let take = fixtures::take_pushed_request(&request);
    let foreign = [
        TakePushedRequest { client: fixtures::client_id(), ..take },
        TakePushedRequest { secret_hash: fixtures::secret_hash(), ..take },
        TakePushedRequest { id: fixtures::pushed_request_id(), ..take },
    ];
    for foreign in foreign {
        assert_eq!(store.take_pushed_request(foreign).await.unwrap(), None);
    }
    assert_eq!(store.take_pushed_request(take).await.unwrap(), Some(request.parameters));
}

/// It can be taken until just before it expires.
pub async fn a_109_an_expired_request_is_not_taken(store: Arc<dyn Storage>) {
    let request = push(&*store).await;
    let take = fixtures::take_pushed_request(&request);
    for late in [SECOND, Duration::ZERO] {
        let late = TakePushedRequest { now: request.expires_at + late, ..take };
        assert_eq!(store.take_pushed_request(late).await.unwrap(), None);
    }
    let last = TakePushedRequest { now: request.expires_at - SECOND, ..take };
    assert_eq!(store.take_pushed_request(last).await.unwrap(), Some(request.parameters));
}

/// The command comes again after a lost answer.
pub async fn a_push_that_is_repeated_is_stored_once(store: Arc<dyn Storage>) {
    let request = push(&*store).await;
    store.push_request(request.clone()).await.unwrap();
    let take = fixtures::take_pushed_request(&request);
    assert_eq!(store.take_pushed_request(take).await.unwrap(), Some(request.parameters));
    assert_eq!(store.take_pushed_request(take).await.unwrap(), None);
}

/// By its id, and by the code that it shows.
pub async fn a_waiting_device_is_found_by_both_its_names(store: Arc<dyn Storage>) {
    let (BeginDevice { request, .. }, _) = (begin(&*store).await, begin(&*store).await);
    assert_eq!(store.find_device(request.id).await.unwrap(), Some(request.clone()));
    let found = store.find_device_by_user_code(request.user_code_hash).await.unwrap();
    assert_eq!(found, Some(request));
    assert_eq!(store.find_device(fixtures::grant_id()).await.unwrap(), None);
    assert_eq!(store.find_device_by_user_code(fixtures::secret_hash()).await.unwrap(), None);
}

/// With many values set and with few.
pub async fn every_value_of_a_device_survives(store: Arc<dyn Storage>) {
    let sets = [ScopeSet::default(), fixtures::all_scopes()];
    let lists =
        [vec![], vec!["urn:a".to_owned()], vec!["https://b.example/x?y=z".to_owned(), "urn:a".to_owned()]];
    for scope in sets {
        for resources in &lists {
            let command = fixtures::begin_device();
            let request =
                DeviceRequest { scope: scope.clone(), resources: resources.clone(), ..command.request };
            let command = BeginDevice { request: request.clone(), ..command };
            assert_eq!(store.begin_device(command).await.unwrap(), DeviceBegun::Stored);
            assert_eq!(store.find_device(request.id).await.unwrap(), Some(request));
        }
    }
}

/// The command comes again after a lost answer.
pub async fn a_device_that_is_repeated_is_stored_once(store: Arc<dyn Storage>) {
    let command = begin(&*store).await;
    assert_eq!(store.begin_device(command.clone()).await.unwrap(), DeviceBegun::Stored);
    assert_eq!(store.find_device(command.request.id).await.unwrap(), Some(command.request));
}

/// A user who types a code means one device.
pub async fn one_user_code_is_one_devices(store: Arc<dyn Storage>) {
    let first = begin(&*store).await.request;
    let second = fixtures::begin_device();
    let request = DeviceRequest { user_code_hash: first.user_code_hash, ..second.request };
    let second = BeginDevice { request: request.clone(), ..second };
    assert_eq!(store.begin_device(second).await.unwrap(), DeviceBegun::UserCodeTaken);
    assert_eq!(store.find_device(request.id).await.unwrap(), None);
    let found = store.find_device_by_user_code(first.user_code_hash).await.unwrap();
    assert_eq!(found.map(|request| request.id), Some(first.id));
}

/// It stays denied, and the others keep waiting.
pub async fn a_device_is_told_no_once_and_for_all(store: Arc<dyn Storage>) {
    let (command, other) = (begin(&*store).await, begin(&*store).await);
    for _ in 0..2 {
        assert_eq!(store.deny_device(deny(&command)).await.unwrap(), DeviceDenied::Denied);
    }
    let found = store.find_device(command.request.id).await.unwrap().unwrap();
    assert_eq!(found, DeviceRequest { denied: true, ..command.request });
    assert!(!store.find_device(other.request.id).await.unwrap().unwrap().denied);
}

/// The grant that answers a device has the device's id.
pub async fn a_device_that_was_answered_is_not_denied(store: Arc<dyn Storage>) {
    let command = begin(&*store).await;
    let login = CompleteLogin { id: command.request.id, ..fixtures::complete_login() };
    steps::user_of(&*store, &login).await;
    assert_eq!(store.deny_device(deny(&command)).await.unwrap(), DeviceDenied::Answered);
    assert!(!store.find_device(command.request.id).await.unwrap().unwrap().denied);
}

/// Nothing is created.
pub async fn denying_nobodys_device_says_so(store: Arc<dyn Storage>) {
    let nobody = fixtures::begin_device();
    assert_eq!(store.deny_device(deny(&nobody)).await.unwrap(), DeviceDenied::Unknown);
    assert_eq!(store.find_device(nobody.request.id).await.unwrap(), None);
}

/// Not at the time itself but after it; both kinds up to the limit, oldest first.
pub async fn requests_are_purged_in_their_time_up_to_the_limit(store: Arc<dyn Storage>) {
    let mut devices = Vec::new();
    for seconds in [2, 1, 3] {
        let end = fixtures::NOW + SECOND * seconds;
        let request = PushedRequest { expires_at: end, ..fixtures::pushed_request() };
        store.push_request(request).await.unwrap();
        let command = BeginDevice { forget_after: end, ..fixtures::begin_device() };
        assert_eq!(store.begin_device(command.clone()).await.unwrap(), DeviceBegun::Stored);
        devices.push((end, command.request.id));
    }
    devices.sort();
    let purge = |before, limit| store.purge_expired(PurgeExpired::oldest(fixtures::past(before), limit));
    assert_eq!(purge(fixtures::NOW + SECOND, 10).await.unwrap(), Purged { rows: 0, more: false });
    let later = fixtures::NOW + SECOND * 9;
    assert_eq!(purge(later, 2).await.unwrap(), Purged { rows: 4, more: true });
    for (place, (_, id)) in devices.into_iter().enumerate() {
        assert_eq!(store.find_device(id).await.unwrap().is_some(), place == 2);
    }
    assert_eq!(purge(later, 2).await.unwrap(), Purged { rows: 2, more: false });
}

async fn one_of_many_takes(stores: impl Iterator<Item = Arc<dyn Storage>>, request: &PushedRequest) {
    let take = fixtures::take_pushed_request(request);
    let outcomes =
        at_once(stores.map(|store| async move { store.take_pushed_request(take).await.unwrap() })).await;
    assert_eq!(count(&outcomes, &Some(request.parameters.clone())), 1);
    assert_eq!(count(&outcomes, &None), outcomes.len() - 1);
}

/// However many browsers present it.
pub async fn a_109_one_pushed_request_is_taken_by_one_of_many(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let request = push(&*store).await;
        one_of_many_takes((0..TASKS).map(|_| Arc::clone(&store)), &request).await;
    }
}

/// Two devices never show the same code.
pub async fn one_user_code_is_taken_by_one_of_many(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS {
        let user_code_hash = UserCode::from_random([u8::try_from(round).unwrap(); 16]).hash();
        let outcomes = at_once((0..TASKS).map(|_| {
            let (store, command) = (Arc::clone(&store), fixtures::begin_device());
            let request = DeviceRequest { user_code_hash, ..command.request };
            async move { store.begin_device(BeginDevice { request, ..command }).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &DeviceBegun::Stored), 1);
        assert_eq!(count(&outcomes, &DeviceBegun::UserCodeTaken), TASKS - 1);
    }
}

/// The browser may reach another replica than the client did.
pub async fn a_109_one_pushed_request_is_taken_once_on_two_replicas(
    open: impl AsyncFn() -> Arc<dyn Storage>,
) {
    let replicas = [open().await, open().await];
    for _ in 0..ROUNDS {
        let request = push(&*replicas[0]).await;
        one_of_many_takes((0..TASKS).map(|place| Arc::clone(&replicas[place % 2])), &request).await;
    }
}

/// The device may ask another replica than the one that the user answers at.
pub async fn a_denial_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = [open().await, open().await];
    let command = begin(&*here).await;
    assert!(!there.find_device(command.request.id).await.unwrap().unwrap().denied);
    assert_eq!(here.deny_device(deny(&command)).await.unwrap(), DeviceDenied::Denied);
    assert!(there.find_device(command.request.id).await.unwrap().unwrap().denied);
}
