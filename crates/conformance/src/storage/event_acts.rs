//! Every operation whose command can carry an event: it stores the event if and only if it was carried out.
//!
//! Each operation has a trial of its name, which tries everything that it can do and every way in which it can
//! refuse. The trials are run several times, with different events.

use std::fmt::Debug;
use std::ops::AsyncFn;
use std::pin::Pin;
use std::sync::Arc;

use countersign_domain::admin_key::AdminKey;
use countersign_domain::client::{Client, ClientAuthentication};
use countersign_domain::desk::proposal::{Proposal, ProposalState};
use countersign_domain::epoch::Epoch;
use countersign_domain::event::{Event, EventPerson};
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_domain::id::UserId;
use countersign_domain::invitation::InvitationState;
use countersign_domain::person_name::PersonName;
use countersign_domain::resource::Resource;
use countersign_domain::scope::Scope;
use countersign_domain::secret::SecretHash;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    AcceptInvitation, AccessEnded, AddSigningKey, AdminKeyCreated, BlockPut, ChangeAccess, ChangeMember,
    ChangeMembers, ChangeResources, CompleteLogin, ConfirmEmail, ContinueSession, CreateAdminKey,
    CreateGroup, CreateInvitation, CreateResource, DeleteAccount, DeleteClient, DeleteGroup, DeleteResource,
    EmailConfirmed, EmailPut, EndAccess, EndProposal, EndSession, EndSessions, GroupCreated,
    InvitationAccepted, InvitationCreated, KeyAdded, LinkWallet, LoginCompleted, MembersChanged, MembersGo,
    NamePut, NameSubject, OpenSession, OperatorSuspended, PutBlock, PutEmail, PutProposal, RaiseEpoch,
    RegisterClient, Registered, RemoveBlock, RemoveSigningKey, ResourceChange, ResourceCreated,
    ResourceUpdated, RestoreOperator, RetitleGroup, RevokeAdminKey, RevokeConsent, RevokeGrant,
    RevokeInvitation, RevokeToken, Revoked, RotateSecret, SessionClient, SessionContinued, SessionOpened,
    SignOut, Storage, StoreError, SuspendOperator, UnlinkWallet, UpdateClient, UpdateResource, WalletLinked,
    WalletUnlinked, WithdrawSigningKey, storage_operations,
};
use time::Duration;

use super::{clients, steps};
use crate::fixtures;
use crate::one_member::OneMember as _;

/// Which events the acts of a trial carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Events that name nobody.
    Unnamed,
    /// Events that name somebody already.
    Named,
    /// None.
    Without,
    /// Events that name nobody, and are sealed before the act is repeated.
    Sealed,
}

/// What the trial of an operation is given.
struct Trial {
    store: Arc<dyn Storage>,
    mode: Mode,
}

/// The answer of an operation.
type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

impl Trial {
    fn event(&self) -> Option<Box<Event>> {
        let person = match self.mode {
            Mode::Without => return None,
            Mode::Unnamed | Mode::Sealed => None,
            Mode::Named => Some(EventPerson::User(fixtures::user_id())),
        };
        Some(Box::new(Event { person, ..fixtures::event() }))
    }

    /// The act is carried out. It stores its event, as `stored` makes it from the one that was given, and
    /// nothing else. Repeated, it stores nothing more.
    async fn done<'a, T: Debug + PartialEq>(
        &self,
        act: impl Fn(Option<Box<Event>>) -> Answer<'a, T>,
        answer: T,
        stored: impl Fn(Event) -> Event,
    ) {
        let event = self.event();
        let mut expected = steps::events(&*self.store).await;
        expected.extend(event.clone().map(|event| stored(*event)));
        let given = act(event.clone()).await.unwrap();
        assert_eq!(given, answer);
        self.expect(&expected, &answer).await;
        if self.mode == Mode::Sealed {
            steps::seal(&*self.store).await;
        }
        act(event).await.unwrap();
        self.expect(&expected, &"repeated").await;
        // Somebody else wants what is so already: that is no act.
        act(self.event()).await.unwrap();
        self.expect(&expected, &"wanted again").await;
    }

    /// The answer to somebody else who wants to create what is there exactly like that. Without events, nobody can tell
    /// them from a repeat.
    fn unless_told<T>(&self, repeated: T, refused: T) -> T {
        match self.mode {
            Mode::Without => repeated,
            Mode::Unnamed | Mode::Named | Mode::Sealed => refused,
        }
    }

    /// The act changes nothing, and stores no event.
    async fn nothing<'a, T: Debug + PartialEq>(
        &self,
        act: impl Fn(Option<Box<Event>>) -> Answer<'a, T>,
        answer: T,
    ) {
        let expected = steps::events(&*self.store).await;
        let given = act(self.event()).await.unwrap();
        assert_eq!(given, answer);
        self.expect(&expected, &answer).await;
    }

    /// These events are stored, and no others.
    async fn expect(&self, expected: &[Event], what: &impl Debug) {
        let stored = steps::events(&*self.store).await;
        let without = |all: &[Event], known: &[Event]| {
            all.iter().filter(|event| !known.contains(event)).cloned().collect::<Vec<_>>()
        };
        let (extra, missing) = (without(&stored, expected), without(expected, &stored));
        assert!(extra.is_empty() && missing.is_empty(), "{what:?} left {extra:#?} and not {missing:#?}");
    }
}

/// Storage stores the event as it was given.
fn as_given(event: Event) -> Event {
    event
}

/// Storage fills in this user, whom the caller does not know.
fn about(user: UserId) -> impl Fn(Event) -> Event {
    move |event| event.about(user)
}

/// Makes the function that runs the trials of all operations whose command can carry an event.
macro_rules! trials {
    ($(
        $(#[$on_port:meta])*
        $port:ident {
            $(writes { $(
                $(#[$on_write:meta])*
                $write:ident($($write_way:ident $write_argument:ident: $write_type:ty),* $(,)?)
                    -> $outcome:ty $([$($write_mark:ident),*])?;
            )* })?
            $(reads { $(
                $(#[$on_read:meta])*
                $read:ident($($read_way:ident $read_argument:ident: $read_type:ty),* $(,)?)
                    -> $found:ty $([$($read_mark:ident),*])?;
            )* })?
        }
    )*) => {
        /// Every operation that takes an event.
        pub fn operations() -> Vec<&'static str> {
            let marks: &[(&str, &[&str])] =
                &[$($($((stringify!($write), &[$($(stringify!($write_mark)),*)?]),)*)?)*];
            marks.iter().filter(|(_, marks)| marks.contains(&"recorded")).map(|(name, _)| *name).collect()
        }

        /// Runs every trial, and says at the end which of them failed.
        async fn try_all(store: &Arc<dyn Storage>, mode: Mode) {
            let mut failed: Vec<&str> = Vec::new();
            $($($(trial!($([$($write_mark),*])? $write, store, mode, failed);)*)?)*
            assert!(failed.is_empty(), "with events of this kind, {mode:?}: {failed:?}");
        }
    };
}

/// Runs the trial of an operation that is recorded: the function of its name.
macro_rules! trial {
    ([batched, recorded] $operation:ident, $store:ident, $mode:ident, $failed:ident) => {
        trial!([recorded] $operation, $store, $mode, $failed)
    };
    ([recorded] $operation:ident, $store:ident, $mode:ident, $failed:ident) => {
        let trial = Trial { store: Arc::clone($store), mode: $mode };
        if tokio::spawn($operation(trial)).await.is_err() {
            $failed.push(stringify!($operation));
        }
    };
    ($([batched])? $operation:ident, $store:ident, $mode:ident, $failed:ident) => {};
}

storage_operations!(trials);

/// One row for each, as it was given, with the user where only storage knows them. No row for a refusal, for a
/// repeat, or for what is there already.
pub async fn what_is_carried_out_leaves_its_event_and_nothing_else_does(store: Arc<dyn Storage>) {
    try_all(&store, Mode::Unnamed).await;
}

/// Storage fills in nobody else.
pub async fn an_event_that_names_somebody_keeps_them(store: Arc<dyn Storage>) {
    try_all(&store, Mode::Named).await;
}

/// An operator may want no events.
pub async fn an_act_without_an_event_leaves_none(store: Arc<dyn Storage>) {
    try_all(&store, Mode::Without).await;
    assert_eq!(steps::events(&*store).await, []);
}

/// A second row with the same id could never be sealed.
pub async fn an_act_that_is_repeated_after_its_event_was_sealed_leaves_no_other(store: Arc<dyn Storage>) {
    try_all(&store, Mode::Sealed).await;
    steps::verify_seals(&*store).await;
}

/// What was answered is there with its event, whatever the operation.
pub async fn acts_and_their_events_outlive_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    try_all(&store, Mode::Unnamed).await;
    let events = steps::events(&*store).await;
    assert!(events.len() >= operations().len());
    drop(store);
    assert_eq!(steps::events(&*open().await).await, events);
}

/// An event that is stored tells of an earlier act, so nothing more may happen in its name (F-22): neither while it is
/// fresh nor when it is sealed.
pub async fn an_act_whose_event_tells_of_an_earlier_one_is_not_carried_out(store: Arc<dyn Storage>) {
    for is_sealed in [false, true] {
        let login = steps::sign_in(&*store).await;
        let (client, name) = (fixtures::client(), fixtures::group_name());
        let resource = fixtures::resource(&[&scope_name()]);
        let told = || Some(Box::new(fixtures::event()));
        let register = RegisterClient { client: client.clone(), event: told() };
        let create = CreateGroup { event: told(), ..fixtures::create_group(&name) };
        let declare = CreateResource { resource: resource.clone(), event: told() };
        let block = PutBlock { event: told(), ..fixtures::block_user(login.new_user) };
        store.register_client(register.clone()).await.unwrap();
        store.create_group(create.clone()).await.unwrap();
        store.create_resource(declare.clone()).await.unwrap();
        store.put_block(block.clone()).await.unwrap();
        let title = GroupTitle::parse("Staff").ok();
        let retitle = RetitleGroup { group: name.clone(), title: title.clone(), event: told() };
        let join =
            ChangeMember { event: told(), ..fixtures::add_member(&name, &Subject::User(login.new_user)) };
        let rule =
            ChangeAccess { event: told(), ..fixtures::change_access(client.id, fixtures::rule("nobody")) };
        let open = ChangeResources { event: told(), ..clients::open(client.id, &["urn:a"]) };
        store.retitle_group(retitle.clone()).await.unwrap();
        store.add_member(join.clone()).await.unwrap();
        store.change_access(rule.clone()).await.unwrap();
        store.change_resources(open.clone()).await.unwrap();
        if is_sealed {
            steps::seal(&*store).await;
        }
        // Everything is undone, and then asked for once more.
        let everyone = fixtures::change_access(client.id, fixtures::rule("everyone"));
        store.change_access(everyone).await.unwrap();
        let close = ResourceChange::Close(vec!["urn:a".to_owned()]);
        store.change_resources(ChangeResources { change: close, event: None, ..open.clone() }).await.unwrap();
        store.retitle_group(RetitleGroup { title: None, event: None, ..retitle.clone() }).await.unwrap();
        store.remove_member(ChangeMember { event: None, ..join.clone() }).await.unwrap();
        store.remove_block(RemoveBlock { who: block.who.clone(), event: None }).await.unwrap();
        let before = steps::events(&*store).await;
        store.retitle_group(retitle).await.unwrap_err();
        store.add_member(join).await.unwrap_err();
        store.change_access(rule).await.unwrap_err();
        store.change_resources(open).await.unwrap_err();
        store.put_block(block).await.unwrap_err();
        let counted = store.find_group(&name).await.unwrap().unwrap();
        assert_eq!((counted.group.title, counted.users), (None, 0));
        let present = store.find_client(client.id).await.unwrap().unwrap();
        assert_eq!((present.access.rule, present.resources), (Some(fixtures::rule("everyone")), Vec::new()));
        assert_eq!(store.block_of_user(login.new_user).await.unwrap(), None);
        store.delete_client(DeleteClient { id: client.id, event: None }).await.unwrap();
        store.delete_group(DeleteGroup { name: name.clone(), event: None }).await.unwrap();
        store.delete_resource(DeleteResource { uri: resource.uri.clone(), event: None }).await.unwrap();
        store.register_client(register).await.unwrap_err();
        store.create_group(create).await.unwrap_err();
        store.create_resource(declare).await.unwrap_err();
        assert_eq!(store.find_client(client.id).await.unwrap(), None);
        assert_eq!(store.find_group(&name).await.unwrap(), None);
        assert!(!store.list_resources().await.unwrap().iter().any(|present| present.uri == resource.uri));
        assert_eq!(steps::events(&*store).await, before);
    }
    steps::verify_seals(&*store).await;
}

/// The wallets of a blocked user stay blocked when the account is deleted, and each has its event.
pub async fn a_wallet_that_is_blocked_instead_of_its_deleted_user_has_its_event(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let other = fixtures::wallet_account();
    steps::link(&*store, &login.account, &other).await;
    steps::block(&*store, fixtures::block_wallet(&other)).await;
    steps::block(&*store, fixtures::block_user(login.new_user)).await;
    let before = steps::events(&*store).await;
    let event = fixtures::event();
    let command =
        DeleteAccount { event: Some(Box::new(event.clone())), ..fixtures::delete_account(login.new_user) };
    assert!(store.delete_account(command.clone()).await.unwrap());
    let mut new = steps::events(&*store).await;
    new.retain(|event| !before.contains(event));
    // The other one was blocked before.
    let expected = event.of_wallet_kept_out(login.account.clone());
    assert!(new.len() == 2 && new.contains(&expected), "{new:#?}");
    assert!(!store.delete_account(command).await.unwrap());
}

async fn register_client(trial: Trial) {
    let store = &*trial.store;
    let client = fixtures::client();
    let command = |event| RegisterClient { client: client.clone(), event };
    trial.done(|event| store.register_client(command(event)), Registered::Stored, as_given).await;
    trial.nothing(|event| store.register_client(command(event)), Registered::Stored).await;
    let other = Client { id: client.id, ..fixtures::client() };
    let command = |event| RegisterClient { client: other.clone(), event };
    trial.nothing(|event| store.register_client(command(event)), Registered::IdTaken).await;
}

/// Stores a client.
async fn registered(store: &dyn Storage) -> Client {
    let command = fixtures::register_client();
    let client = command.client.clone();
    assert_eq!(store.register_client(command).await.unwrap(), Registered::Stored);
    client
}

async fn update_client(trial: Trial) {
    let store = &*trial.store;
    let client = Client { id: registered(store).await.id, ..fixtures::public_client() };
    let command = |event| UpdateClient { client: client.clone(), event };
    trial.done(|event| store.update_client(command(event)), true, as_given).await;
    let command = |event| UpdateClient { client: fixtures::client(), event };
    trial.nothing(|event| store.update_client(command(event)), false).await;
}

async fn change_resources(trial: Trial) {
    let store = &*trial.store;
    let client = registered(store).await.id;
    let open = clients::open(client, &["urn:a"]);
    let close = ResourceChange::Close(vec!["urn:a".to_owned()]);
    for change in [open.clone(), ChangeResources { change: close, ..open }] {
        let command = |event| ChangeResources { event, ..change.clone() };
        trial.done(|event| store.change_resources(command(event)), true, as_given).await;
        let command = |event| ChangeResources { client: fixtures::client_id(), event, ..change.clone() };
        trial.nothing(|event| store.change_resources(command(event)), false).await;
    }
}

async fn change_access(trial: Trial) {
    let store = &*trial.store;
    let client = registered(store).await.id;
    let change = fixtures::change_access(client, fixtures::rule("groups:a,b"));
    let command = |event| ChangeAccess { event, ..change.clone() };
    trial.done(|event| store.change_access(command(event)), true, as_given).await;
    let command = |event| ChangeAccess { client: fixtures::client_id(), event, ..change.clone() };
    trial.nothing(|event| store.change_access(command(event)), false).await;
}

/// The current secret of a client.
fn secret_of(client: &Client) -> SecretHash {
    match &client.authentication {
        ClientAuthentication::Secret { secrets, .. } => secrets.current,
        ClientAuthentication::Keys | ClientAuthentication::Public => panic!("a client without a secret"),
    }
}

async fn rotate_secret(trial: Trial) {
    let store = &*trial.store;
    let client = registered(store).await;
    let rotation = RotateSecret {
        client: client.id,
        replaced: secret_of(&client),
        hash: fixtures::secret_hash(),
        now: fixtures::NOW,
        keep_old_until: Some(fixtures::NOW + Duration::days(1)),
        event: None,
    };
    let command = |event| RotateSecret { event, ..rotation.clone() };
    trial.done(|event| store.rotate_secret(command(event)), true, as_given).await;
    trial.nothing(|event| store.rotate_secret(command(event)), true).await;
    let late = RotateSecret { hash: fixtures::secret_hash(), ..rotation.clone() };
    let command = |event| RotateSecret { event, ..late.clone() };
    trial.nothing(|event| store.rotate_secret(command(event)), false).await;
    let public = fixtures::public_client();
    store.register_client(RegisterClient { client: public.clone(), event: None }).await.unwrap();
    for client in [public.id, fixtures::client_id()] {
        let command = |event| RotateSecret { client, event, ..rotation.clone() };
        trial.nothing(|event| store.rotate_secret(command(event)), false).await;
    }
}

async fn delete_client(trial: Trial) {
    let store = &*trial.store;
    let login = steps::sign_in(store).await;
    let command = |event| DeleteClient { id: login.client, event };
    trial.done(|event| store.delete_client(command(event)), true, as_given).await;
    trial.nothing(|event| store.delete_client(command(event)), false).await;
    // It takes along what is left of a client that is gone, and is no act still.
    let left = fixtures::complete_login();
    store.complete_login(left.clone()).await.unwrap();
    let command = |event| DeleteClient { id: left.client, event };
    trial.nothing(|event| store.delete_client(command(event)), false).await;
}

/// The name of a scope that no other trial declares.
fn scope_name() -> String {
    format!("scope{}.read", fixtures::unique())
}

async fn create_resource(trial: Trial) {
    let store = &*trial.store;
    let name = scope_name();
    let resource = fixtures::resource(&[&name]);
    let command = |event| CreateResource { resource: resource.clone(), event };
    trial.done(|event| store.create_resource(command(event)), ResourceCreated::Stored, as_given).await;
    let again = trial.unless_told(ResourceCreated::Stored, ResourceCreated::UriTaken);
    trial.nothing(|event| store.create_resource(command(event)), again).await;
    let other = Resource { uri: resource.uri.clone(), ..fixtures::resource(&[&scope_name()]) };
    let command = |event| CreateResource { resource: other.clone(), event };
    trial.nothing(|event| store.create_resource(command(event)), ResourceCreated::UriTaken).await;
    let other = fixtures::resource(&[&name]);
    let taken = ResourceCreated::ScopeTaken(resource.scopes[0].name.clone());
    let command = |event| CreateResource { resource: other.clone(), event };
    trial.nothing(|event| store.create_resource(command(event)), taken).await;
}

/// Stores a resource with one scope.
async fn declared(store: &dyn Storage) -> Resource {
    let resource = fixtures::resource(&[&scope_name()]);
    let command = CreateResource { resource: resource.clone(), event: None };
    assert_eq!(store.create_resource(command).await.unwrap(), ResourceCreated::Stored);
    resource
}

async fn update_resource(trial: Trial) {
    let store = &*trial.store;
    let [resource, other] = [declared(store).await, declared(store).await];
    let changed = Resource { uri: resource.uri.clone(), ..fixtures::resource(&[&scope_name()]) };
    let command = |event| UpdateResource { resource: changed.clone(), event };
    trial.done(|event| store.update_resource(command(event)), ResourceUpdated::Stored, as_given).await;
    let unknown = fixtures::resource(&[&scope_name()]);
    let command = |event| UpdateResource { resource: unknown.clone(), event };
    trial.nothing(|event| store.update_resource(command(event)), ResourceUpdated::Unknown).await;
    let taken = ResourceUpdated::ScopeTaken(other.scopes[0].name.clone());
    let mixed = Resource { uri: resource.uri.clone(), ..other };
    let command = |event| UpdateResource { resource: mixed.clone(), event };
    trial.nothing(|event| store.update_resource(command(event)), taken).await;
}

async fn create_admin_key(trial: Trial) {
    let store = &*trial.store;
    let key = fixtures::admin_key();
    let command = |event| CreateAdminKey { key: key.clone(), event };
    trial.done(|event| store.create_admin_key(command(event)), AdminKeyCreated::Stored, as_given).await;
    trial.nothing(|event| store.create_admin_key(command(event)), AdminKeyCreated::Stored).await;
    let other = AdminKey { name: key.name.clone(), ..fixtures::admin_key() };
    let command = |event| CreateAdminKey { key: other.clone(), event };
    trial.nothing(|event| store.create_admin_key(command(event)), AdminKeyCreated::NameTaken).await;
}

async fn create_invitation(trial: Trial) {
    let store = &*trial.store;
    let group = fixtures::group_name();
    let invitation = fixtures::invitation(&group);
    let command = |event| CreateInvitation { invitation: invitation.clone(), event };
    trial.nothing(|event| store.create_invitation(command(event)), InvitationCreated::GroupUnknown).await;
    store.create_group(fixtures::create_group(&group)).await.unwrap();
    trial.done(|event| store.create_invitation(command(event)), InvitationCreated::Stored, as_given).await;
}

async fn revoke_invitation(trial: Trial) {
    let store = &*trial.store;
    let group = fixtures::group_name();
    store.create_group(fixtures::create_group(&group)).await.unwrap();
    let invitation = fixtures::invitation(&group);
    let command = |event| RevokeInvitation { id: invitation.id, now: fixtures::NOW, event };
    trial.nothing(|event| store.revoke_invitation(command(event)), false).await;
    let create = CreateInvitation { invitation: invitation.clone(), event: None };
    store.create_invitation(create).await.unwrap();
    trial.done(|event| store.revoke_invitation(command(event)), true, as_given).await;
    trial.nothing(|event| store.revoke_invitation(command(event)), false).await;
}

async fn accept_invitation(trial: Trial) {
    let store = &*trial.store;
    let group = fixtures::group_name();
    store.create_group(fixtures::create_group(&group)).await.unwrap();
    let invitation = fixtures::invitation(&group);
    let (wallet, late) = (fixtures::wallet_account(), fixtures::wallet_account());
    let command = |event, wallet: &WalletAccount| AcceptInvitation {
        event,
        ..fixtures::accept_invitation(&invitation, wallet)
    };
    let unknown = InvitationAccepted::Unknown;
    trial.nothing(|event| store.accept_invitation(command(event, &wallet)), unknown).await;
    let create = CreateInvitation { invitation: invitation.clone(), event: None };
    store.create_invitation(create).await.unwrap();
    let joined = InvitationAccepted::Joined;
    trial.done(|event| store.accept_invitation(command(event, &wallet)), joined, as_given).await;
    let again = InvitationAccepted::AlreadyMember;
    trial.nothing(|event| store.accept_invitation(command(event, &wallet)), again).await;
    let used = InvitationAccepted::Ended(InvitationState::Used);
    trial.nothing(|event| store.accept_invitation(command(event, &late)), used).await;
}

async fn revoke_admin_key(trial: Trial) {
    let store = &*trial.store;
    let key = fixtures::admin_key();
    let command = |event| RevokeAdminKey { id: key.id, now: fixtures::NOW, event };
    trial.nothing(|event| store.revoke_admin_key(command(event)), false).await;
    store.create_admin_key(CreateAdminKey { key: key.clone(), event: None }).await.unwrap();
    trial.done(|event| store.revoke_admin_key(command(event)), true, as_given).await;
    trial.nothing(|event| store.revoke_admin_key(command(event)), false).await;
}

async fn delete_resource(trial: Trial) {
    let store = &*trial.store;
    let uri = declared(store).await.uri;
    let command = |event| DeleteResource { uri: uri.clone(), event };
    trial.done(|event| store.delete_resource(command(event)), true, as_given).await;
    trial.nothing(|event| store.delete_resource(command(event)), false).await;
    let command = |event| DeleteResource { uri: "https://nobody.example".to_owned(), event };
    trial.nothing(|event| store.delete_resource(command(event)), false).await;
}

async fn put_block(trial: Trial) {
    let store = &*trial.store;
    let login = steps::sign_in(store).await;
    let blocks = [
        fixtures::block_user(login.new_user),
        fixtures::block_wallet(&login.account),
        fixtures::block_wallet(&fixtures::wallet_account()),
    ];
    for block in blocks {
        let command = |event| PutBlock { event, ..block.clone() };
        trial.done(|event| store.put_block(command(event)), BlockPut::Stored, as_given).await;
        trial.nothing(|event| store.put_block(command(event)), BlockPut::AlreadyThere).await;
        let mut other = block.clone();
        other.block.reason = Some("another reason".to_owned());
        let command = |event| PutBlock { event, ..other.clone() };
        let replaced = |event: Event| event.of_replaced_reason();
        trial.done(|event| store.put_block(command(event)), BlockPut::ReasonReplaced, replaced).await;
        other.block.reason = None;
        let command = |event| PutBlock { event, ..other.clone() };
        trial.nothing(|event| store.put_block(command(event)), BlockPut::AlreadyThere).await;
    }
    let nobody = fixtures::block_user(fixtures::user_id());
    let command = |event| PutBlock { event, ..nobody.clone() };
    trial.nothing(|event| store.put_block(command(event)), BlockPut::UserUnknown).await;
}

async fn name_subject(trial: Trial) {
    let store = &*trial.store;
    let login = steps::sign_in(store).await;
    let (user, unseen) = (Subject::User(login.new_user), Subject::Wallet(fixtures::wallet_account()));
    for who in [user, Subject::Wallet(login.account), unseen] {
        for name in ["Ann", "Bob"].map(|name| PersonName::parse(name).ok()).into_iter().chain([None]) {
            let command = |event| NameSubject { who: who.clone(), name: name.clone(), event };
            trial.done(|event| store.name_subject(command(event)), NamePut::Stored, as_given).await;
            trial.nothing(|event| store.name_subject(command(event)), NamePut::AlreadySo).await;
        }
    }
    for name in [None, PersonName::parse("Ann").ok()] {
        let nobody = Subject::User(fixtures::user_id());
        let command = |event| NameSubject { who: nobody.clone(), name: name.clone(), event };
        trial.nothing(|event| store.name_subject(command(event)), NamePut::UserUnknown).await;
    }
}

async fn suspend_operator(trial: Trial) {
    let store = &*trial.store;
    let login = steps::sign_in(store).await;
    let (user, unseen) = (Subject::User(login.new_user), Subject::Wallet(fixtures::wallet_account()));
    for who in [&user, &unseen] {
        let suspend = fixtures::suspend_operator(who);
        let command = |event| SuspendOperator { event, ..suspend.clone() };
        let suspended = OperatorSuspended::Suspended { proposals: 0 };
        trial.done(|event| store.suspend_operator(command(event)), suspended, as_given).await;
    }
    let owned = fixtures::suspend_operator(&Subject::Wallet(login.account));
    let command = |event| SuspendOperator { event, ..owned.clone() };
    trial.nothing(|event| store.suspend_operator(command(event)), OperatorSuspended::AlreadySo).await;
    let unknown = fixtures::suspend_operator(&Subject::User(fixtures::user_id()));
    let command = |event| SuspendOperator { event, ..unknown.clone() };
    trial.nothing(|event| store.suspend_operator(command(event)), OperatorSuspended::UserUnknown).await;
}

async fn restore_operator(trial: Trial) {
    let store = &*trial.store;
    let login = steps::sign_in(store).await;
    for who in [Subject::User(login.new_user), Subject::Wallet(login.account)] {
        store.suspend_operator(fixtures::suspend_operator(&who)).await.unwrap();
        let command = |event| RestoreOperator { who: who.clone(), event };
        trial.done(|event| store.restore_operator(command(event)), true, as_given).await;
        trial.nothing(|event| store.restore_operator(command(event)), false).await;
    }
    for who in [Subject::User(fixtures::user_id()), Subject::Wallet(fixtures::wallet_account())] {
        let command = |event| RestoreOperator { who: who.clone(), event };
        trial.nothing(|event| store.restore_operator(command(event)), false).await;
    }
}

async fn remove_block(trial: Trial) {
    let store = &*trial.store;
    let login = steps::sign_in(store).await;
    for block in [fixtures::block_user(login.new_user), fixtures::block_wallet(&login.account)] {
        steps::block(store, block.clone()).await;
        let command = |event| RemoveBlock { who: block.who.clone(), event };
        trial.done(|event| store.remove_block(command(event)), true, as_given).await;
        trial.nothing(|event| store.remove_block(command(event)), false).await;
    }
    for who in [Subject::User(fixtures::user_id()), Subject::Wallet(fixtures::wallet_account())] {
        let command = |event| RemoveBlock { who: who.clone(), event };
        trial.nothing(|event| store.remove_block(command(event)), false).await;
    }
}

async fn end_access(trial: Trial) {
    let store = &*trial.store;
    for through_wallet in [false, true] {
        let (login, session) = steps::remember(store).await;
        let user = login.new_user;
        let who = if through_wallet { Subject::Wallet(login.account) } else { Subject::User(user) };
        let end = fixtures::end_access(&who);
        let client = (user, SessionClient { session: session.id, client: login.client });
        let ended = AccessEnded { clients: vec![client], sessions: 1, grants: 1 };
        let command = |event| EndAccess { event, ..end.clone() };
        trial.done(|event| store.end_access(command(event)), ended, as_given).await;
        trial.nothing(|event| store.end_access(command(event)), AccessEnded::default()).await;
    }
    let opened = fixtures::open_session();
    let end = fixtures::end_access(&Subject::User(steps::open(store, &opened).await));
    let ended = AccessEnded { clients: Vec::new(), sessions: 1, grants: 0 };
    let command = |event| EndAccess { event, ..end.clone() };
    trial.done(|event| store.end_access(command(event)), ended, as_given).await;

    let granted = steps::sign_in(store).await;
    let end = fixtures::end_access(&Subject::User(granted.new_user));
    let kept = EndAccess { keeps: Some(Scope::OfflineAccess), ..end.clone() };
    let command = |event| EndAccess { event, ..kept.clone() };
    trial.nothing(|event| store.end_access(command(event)), AccessEnded::default()).await;
    let ended = AccessEnded { clients: Vec::new(), sessions: 0, grants: 1 };
    let command = |event| EndAccess { event, ..end.clone() };
    trial.done(|event| store.end_access(command(event)), ended, as_given).await;

    for who in [Subject::User(fixtures::user_id()), Subject::Wallet(fixtures::wallet_account())] {
        let end = fixtures::end_access(&who);
        let command = |event| EndAccess { event, ..end.clone() };
        trial.nothing(|event| store.end_access(command(event)), AccessEnded::default()).await;
    }
}

async fn complete_login(trial: Trial) {
    let store = &*trial.store;
    let first = fixtures::complete_login();
    let user = first.new_user;
    let again = fixtures::remembered_login_of(first.account.clone());
    let issued = LoginCompleted::CodeIssued { user };
    for login in [&first, &again] {
        let command = |event| CompleteLogin { event, ..login.clone() };
        trial.done(|event| store.complete_login(command(event)), issued, about(user)).await;
        trial.nothing(|event| store.complete_login(command(event)), issued).await;
    }
    let [mut other, mut stranger] = [first.clone(), first.clone()];
    other.code_hash = fixtures::secret_hash();
    stranger.account = fixtures::wallet_account();
    for spent in [other, stranger] {
        let command = |event| CompleteLogin { event, ..spent.clone() };
        trial.nothing(|event| store.complete_login(command(event)), LoginCompleted::ChallengeSpent).await;
    }
}

async fn link_wallet(trial: Trial) {
    let store = &*trial.store;
    let login = steps::sign_in(store).await;
    let [other, blocked] = [steps::sign_in(store).await, steps::sign_in(store).await];
    steps::block(store, fixtures::block_user(blocked.new_user)).await;
    let user = login.new_user;
    let wallet = fixtures::wallet_account();
    let link = fixtures::link_wallet(&login.account, &wallet);
    let command = |event| LinkWallet { event, ..link.clone() };
    trial.done(|event| store.link_wallet(command(event)), WalletLinked::Linked { user }, about(user)).await;
    trial.nothing(|event| store.link_wallet(command(event)), WalletLinked::ChallengeSpent).await;
    let nobody = fixtures::wallet_account();
    for (signer, wallet, refusal) in [
        (&login.account, &wallet, WalletLinked::AlreadyTheirs { user }),
        (&login.account, &other.account, WalletLinked::BelongsToAnother),
        (&nobody, &wallet, WalletLinked::SignerUnknown),
        (&blocked.account, &nobody, WalletLinked::Blocked),
    ] {
        let link = fixtures::link_wallet(signer, wallet);
        let command = |event| LinkWallet { event, ..link.clone() };
        trial.nothing(|event| store.link_wallet(command(event)), refusal).await;
    }
}

async fn unlink_wallet(trial: Trial) {
    let store = &*trial.store;
    let (user, [first, second]) = steps::user_with_two_wallets(store).await;
    let (blocked, [kept, _]) = steps::user_with_two_wallets(store).await;
    steps::block(store, fixtures::block_user(blocked)).await;
    let unlink = fixtures::unlink_wallet(&first, &second);
    let command = |event| UnlinkWallet { event, ..unlink.clone() };
    let unlinked = WalletUnlinked::Unlinked { user };
    trial.done(|event| store.unlink_wallet(command(event)), unlinked, about(user)).await;
    trial.nothing(|event| store.unlink_wallet(command(event)), WalletUnlinked::ChallengeSpent).await;
    let nobody = fixtures::wallet_account();
    for (signer, wallet, refusal) in [
        (&first, &second, WalletUnlinked::NotTheirs),
        (&first, &first, WalletUnlinked::LastWallet),
        (&nobody, &first, WalletUnlinked::SignerUnknown),
        (&kept, &kept, WalletUnlinked::Blocked),
    ] {
        let unlink = fixtures::unlink_wallet(signer, wallet);
        let command = |event| UnlinkWallet { event, ..unlink.clone() };
        trial.nothing(|event| store.unlink_wallet(command(event)), refusal).await;
    }
}

async fn open_session(trial: Trial) {
    let store = &*trial.store;
    let first = fixtures::open_session();
    let user = first.new_user;
    let again = fixtures::open_session_of(first.account.clone());
    let opened = SessionOpened::Opened { user };
    for session in [&first, &again] {
        let command = |event| OpenSession { event, ..session.clone() };
        trial.done(|event| store.open_session(command(event)), opened, about(user)).await;
        trial.nothing(|event| store.open_session(command(event)), opened).await;
    }
    let other = OpenSession { id: first.id, ..fixtures::open_session() };
    let granted = OpenSession { id: steps::sign_in(store).await.id, ..fixtures::open_session() };
    for spent in [other, granted] {
        let command = |event| OpenSession { event, ..spent.clone() };
        trial.nothing(|event| store.open_session(command(event)), SessionOpened::ChallengeSpent).await;
    }
}

async fn continue_session(trial: Trial) {
    let store = &*trial.store;
    let (login, session) = steps::remember(store).await;
    let request = fixtures::continue_session(&session, login.client);
    let with = |request: &ContinueSession, event| {
        let login = CompleteLogin { event, ..request.login.clone() };
        store.continue_session(ContinueSession { login, ..request.clone() })
    };
    let issued = SessionContinued::CodeIssued;
    trial.done(|event| with(&request, event), issued, about(login.new_user)).await;
    trial.nothing(|event| with(&request, event), issued).await;
    let mut spent = request.clone();
    spent.login.code_hash = fixtures::secret_hash();
    let mut late = fixtures::continue_session(&session, login.client);
    late.login.now = session.expires_at;
    let nowhere = ContinueSession {
        session: fixtures::session_id(),
        ..fixtures::continue_session(&session, login.client)
    };
    let elsewhere = fixtures::continue_session(&session, fixtures::client_id());
    for (request, refusal) in [
        (spent, SessionContinued::RequestSpent),
        (late, SessionContinued::SessionEnded),
        (nowhere, SessionContinued::SessionEnded),
        (elsewhere, SessionContinued::ConsentMissing),
    ] {
        trial.nothing(|event| with(&request, event), refusal).await;
    }
}

async fn sign_out(trial: Trial) {
    let store = &*trial.store;
    let (login, session) = steps::remember(store).await;
    let leaving = SignOut {
        user: login.new_user,
        session: session.id,
        keeps: Scope::OfflineAccess,
        now: fixtures::NOW,
        event: None,
    };
    let command = |event| SignOut { user: fixtures::user_id(), event, ..leaving.clone() };
    trial.nothing(|event| store.sign_out(command(event)), false).await;
    let command = |event| SignOut { event, ..leaving.clone() };
    trial.done(|event| store.sign_out(command(event)), true, about(login.new_user)).await;
    trial.nothing(|event| store.sign_out(command(event)), false).await;
    let command = |event| SignOut { session: fixtures::session_id(), event, ..leaving.clone() };
    trial.nothing(|event| store.sign_out(command(event)), false).await;
}

async fn end_session(trial: Trial) {
    let store = &*trial.store;
    let (login, session) = steps::remember(store).await;
    let user = login.new_user;
    let command = |event| EndSession { user: fixtures::user_id(), id: session.id, event };
    trial.nothing(|event| store.end_session(command(event)), false).await;
    let command = |event| EndSession { user, id: session.id, event };
    trial.done(|event| store.end_session(command(event)), true, about(user)).await;
    trial.nothing(|event| store.end_session(command(event)), false).await;
    let command = |event| EndSession { user, id: fixtures::session_id(), event };
    trial.nothing(|event| store.end_session(command(event)), false).await;
}

async fn end_sessions(trial: Trial) {
    let store = &*trial.store;
    let (login, _) = steps::remember(store).await;
    let user = login.new_user;
    steps::open(store, &fixtures::open_session_of(login.account)).await;
    let command = |event| EndSessions { user, event };
    trial.done(|event| store.end_sessions(command(event)), 2, about(user)).await;
    trial.nothing(|event| store.end_sessions(command(event)), 0).await;
    let command = |event| EndSessions { user: fixtures::user_id(), event };
    trial.nothing(|event| store.end_sessions(command(event)), 0).await;
}

async fn revoke_consent(trial: Trial) {
    let store = &*trial.store;
    let login = steps::sign_in(store).await;
    let user = login.new_user;
    let revocation = fixtures::revoke_consent(user, login.client);
    let command = |event| RevokeConsent { event, ..revocation.clone() };
    trial.done(|event| store.revoke_consent(command(event)), true, about(user)).await;
    trial.nothing(|event| store.revoke_consent(command(event)), false).await;
    for (user, client) in [(user, fixtures::client_id()), (fixtures::user_id(), login.client)] {
        let revocation = fixtures::revoke_consent(user, client);
        let command = |event| RevokeConsent { event, ..revocation.clone() };
        trial.nothing(|event| store.revoke_consent(command(event)), false).await;
    }
}

async fn confirm_email(trial: Trial) {
    let store = &*trial.store;
    let user = steps::sign_in(store).await.new_user;
    let put = fixtures::put_email(user);
    let link = put.confirmation.unwrap();
    assert_eq!(store.put_email(put.clone()).await.unwrap(), EmailPut::Stored);
    let follow = fixtures::confirm_email(user, link);
    let wrong = ConfirmEmail { hash: fixtures::secret_hash(), ..follow.clone() };
    let late = ConfirmEmail { now: link.expires_at, ..follow.clone() };
    let nobody = ConfirmEmail { user: fixtures::user_id(), ..follow.clone() };
    for refused in [wrong, late, nobody] {
        let command = |event| ConfirmEmail { event, ..refused.clone() };
        trial.nothing(|event| store.confirm_email(command(event)), EmailConfirmed::LinkInvalid).await;
    }
    let command = |event| ConfirmEmail { event, ..follow.clone() };
    trial.done(|event| store.confirm_email(command(event)), EmailConfirmed::Confirmed, about(user)).await;
    trial.nothing(|event| store.confirm_email(command(event)), EmailConfirmed::LinkInvalid).await;

    let other = steps::sign_in(store).await.new_user;
    let put = PutEmail { address: put.address, ..fixtures::put_email(other) };
    assert_eq!(store.put_email(put.clone()).await.unwrap(), EmailPut::Stored);
    let shared = fixtures::confirm_email(other, put.confirmation.unwrap());
    let command = |event| ConfirmEmail { event, ..shared.clone() };
    trial.nothing(|event| store.confirm_email(command(event)), EmailConfirmed::SharedAddress).await;
}

async fn delete_account(trial: Trial) {
    let store = &*trial.store;
    let user = steps::sign_in(store).await.new_user;
    let deletion = fixtures::delete_account(user);
    // The event of the deletion names no one either, whatever it was given.
    let forgotten = |event: Event| event.of_deletion(deletion.pseudonym, 0);
    let command = |event| DeleteAccount { event, ..deletion.clone() };
    trial.done(|event| store.delete_account(command(event)), true, forgotten).await;
    trial.nothing(|event| store.delete_account(command(event)), false).await;
    let nobody = fixtures::delete_account(fixtures::user_id());
    let command = |event| DeleteAccount { event, ..nobody.clone() };
    trial.nothing(|event| store.delete_account(command(event)), false).await;
}

async fn create_group(trial: Trial) {
    let store = &*trial.store;
    let name = fixtures::group_name();
    let creation = fixtures::create_group(&name);
    let command = |event| CreateGroup { event, ..creation.clone() };
    trial.done(|event| store.create_group(command(event)), GroupCreated::Stored, as_given).await;
    let again = trial.unless_told(GroupCreated::Stored, GroupCreated::NameTaken);
    trial.nothing(|event| store.create_group(command(event)), again).await;
    let mut other = creation.clone();
    other.group.created_at += Duration::SECOND;
    let command = |event| CreateGroup { event, ..other.clone() };
    trial.nothing(|event| store.create_group(command(event)), GroupCreated::NameTaken).await;
}

async fn retitle_group(trial: Trial) {
    let store = &*trial.store;
    let group = steps::group(store).await;
    for title in [GroupTitle::parse("Staff").ok(), None] {
        let command = |event| RetitleGroup { group: group.clone(), title: title.clone(), event };
        trial.done(|event| store.retitle_group(command(event)), true, as_given).await;
    }
    let nowhere = fixtures::group_name();
    let command = |event| RetitleGroup { group: nowhere.clone(), title: None, event };
    trial.nothing(|event| store.retitle_group(command(event)), false).await;
}

async fn delete_group(trial: Trial) {
    let store = &*trial.store;
    let name = steps::group(store).await;
    steps::add(store, &name, &Subject::Wallet(fixtures::wallet_account())).await;
    let command = |event| DeleteGroup { name: name.clone(), event };
    trial.done(|event| store.delete_group(command(event)), true, as_given).await;
    trial.nothing(|event| store.delete_group(command(event)), false).await;
    let nowhere = fixtures::group_name();
    let command = |event| DeleteGroup { name: nowhere.clone(), event };
    trial.nothing(|event| store.delete_group(command(event)), false).await;
}

async fn change_members(trial: Trial) {
    let store = &*trial.store;
    let (group, nowhere) = (steps::group(store).await, fixtures::group_name());
    let user = Subject::User(steps::sign_in(store).await.new_user);
    let change = |way, group: &GroupName, member: &Subject, event| {
        let command = fixtures::change_one(way, fixtures::add_member(group, member));
        store.change_members(ChangeMembers { event, ..command })
    };
    let changed = |is_changed| MembersChanged::Changed(vec![is_changed]);
    for member in [user, Subject::Wallet(fixtures::wallet_account())] {
        for way in [MembersGo::In, MembersGo::Out] {
            trial.done(|event| change(way, &group, &member, event), changed(true), as_given).await;
            trial.nothing(|event| change(way, &group, &member, event), changed(false)).await;
        }
        let unknown = MembersChanged::GroupUnknown(nowhere.clone());
        trial.nothing(|event| change(MembersGo::In, &nowhere, &member, event), unknown).await;
        trial.nothing(|event| change(MembersGo::Out, &nowhere, &member, event), changed(false)).await;
    }
    let stranger = fixtures::user_id();
    let unknown = MembersChanged::UserUnknown(stranger);
    trial.nothing(|event| change(MembersGo::In, &group, &Subject::User(stranger), event), unknown).await;
}

async fn revoke_token(trial: Trial) {
    let store = &*trial.store;
    let token = steps::redeem(store).await;
    let revocation = fixtures::revoke_token(&token);
    let wrong = RevokeToken { access_hash: fixtures::secret_hash(), ..revocation.clone() };
    let nothing = RevokeToken { id: fixtures::token_id(), ..revocation.clone() };
    for refused in [wrong, nothing] {
        let command = |event| RevokeToken { event, ..refused.clone() };
        trial.nothing(|event| store.revoke_token(command(event)), Revoked::Unknown).await;
    }
    let command = |event| RevokeToken { event, ..revocation.clone() };
    trial.done(|event| store.revoke_token(command(event)), Revoked::Revoked, as_given).await;
    trial.nothing(|event| store.revoke_token(command(event)), Revoked::AlreadyRevoked).await;
}

async fn revoke_grant(trial: Trial) {
    let store = &*trial.store;
    let revocation = fixtures::revoke_grant(steps::sign_in(store).await.id);
    let command = |event| RevokeGrant { event, ..revocation.clone() };
    trial.done(|event| store.revoke_grant(command(event)), Revoked::Revoked, as_given).await;
    trial.nothing(|event| store.revoke_grant(command(event)), Revoked::AlreadyRevoked).await;
    let nothing = fixtures::revoke_grant(fixtures::grant_id());
    let command = |event| RevokeGrant { event, ..nothing.clone() };
    trial.nothing(|event| store.revoke_grant(command(event)), Revoked::Unknown).await;
}

async fn add_signing_key(trial: Trial) {
    let store = &*trial.store;
    let addition = fixtures::add_signing_key();
    let command = |event| AddSigningKey { event, ..addition.clone() };
    trial.done(|event| store.add_signing_key(command(event)), KeyAdded::Stored, as_given).await;
    trial.nothing(|event| store.add_signing_key(command(event)), KeyAdded::Stored).await;
    let late = fixtures::add_signing_key_beside(&addition.key);
    let command = |event| AddSigningKey { event, ..late.clone() };
    trial.nothing(|event| store.add_signing_key(command(event)), KeyAdded::NotNeeded).await;
}

/// Stores a key, and returns its id.
async fn key(store: &dyn Storage) -> String {
    let command = fixtures::add_signing_key();
    assert_eq!(store.add_signing_key(command.clone()).await.unwrap(), KeyAdded::Stored);
    command.key.kid
}

async fn withdraw_signing_key(trial: Trial) {
    let store = &*trial.store;
    let kid = key(store).await;
    let command = |event| WithdrawSigningKey { kid: kid.clone(), now: fixtures::NOW, event };
    trial.done(|event| store.withdraw_signing_key(command(event)), true, as_given).await;
    trial.nothing(|event| store.withdraw_signing_key(command(event)), false).await;
    let command = |event| WithdrawSigningKey { kid: "nobody".to_owned(), now: fixtures::NOW, event };
    trial.nothing(|event| store.withdraw_signing_key(command(event)), false).await;
}

async fn remove_signing_key(trial: Trial) {
    let store = &*trial.store;
    let kid = key(store).await;
    let command = |event| RemoveSigningKey { kid: kid.clone(), event };
    trial.done(|event| store.remove_signing_key(command(event)), true, as_given).await;
    trial.nothing(|event| store.remove_signing_key(command(event)), false).await;
    let command = |event| RemoveSigningKey { kid: "nobody".to_owned(), event };
    trial.nothing(|event| store.remove_signing_key(command(event)), false).await;
}

async fn put_proposal(trial: Trial) {
    let store = &*trial.store;
    let proposal = fixtures::proposal();
    let command = |event| PutProposal { event, ..fixtures::put_proposal(&proposal) };
    trial.done(|event| store.put_proposal(command(event)), true, as_given).await;
    trial.nothing(|event| store.put_proposal(command(event)), true).await;
    let other = Proposal { id: proposal.id, ..fixtures::proposal() };
    let command = |event| PutProposal { event, ..fixtures::put_proposal(&other) };
    trial.nothing(|event| store.put_proposal(command(event)), false).await;
}

async fn end_proposal(trial: Trial) {
    let store = &*trial.store;
    let proposal = fixtures::proposal();
    assert!(store.put_proposal(fixtures::put_proposal(&proposal)).await.unwrap());
    let of = |from, to| fixtures::end_proposal(&proposal, from, to);
    let wrong = of(ProposalState::Taken, ProposalState::Done);
    let command = |event| EndProposal { event, ..wrong.clone() };
    trial.nothing(|event| store.end_proposal(command(event)), false).await;
    let end = of(ProposalState::Waiting, ProposalState::Withdrawn);
    let command = |event| EndProposal { event, ..end.clone() };
    trial.done(|event| store.end_proposal(command(event)), true, as_given).await;
    let again = trial.unless_told(true, false);
    trial.nothing(|event| store.end_proposal(command(event)), again).await;
    let command = |event| EndProposal { id: fixtures::grant_id(), event, ..end.clone() };
    trial.nothing(|event| store.end_proposal(command(event)), false).await;
}

async fn raise_epoch(trial: Trial) {
    let store = &*trial.store;
    let raise = fixtures::raise_epoch();
    let number = store.epoch().await.unwrap().map_or(0, |epoch| epoch.number) + 1;
    let epoch = Epoch { id: raise.id, number, raised_at: raise.now };
    let command = |event| RaiseEpoch { event, ..raise.clone() };
    trial.done(|event| store.raise_epoch(command(event)), epoch, as_given).await;
    trial.nothing(|event| store.raise_epoch(command(event)), epoch).await;
}
