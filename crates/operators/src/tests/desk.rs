//! The desk: operators with toy wallets change things by signing them, and others try to.

mod breaking;
mod changes;
mod names;
mod proofs;
mod quorum;
mod reading;
mod several;
mod signing;
mod suspending;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use countersign_conformance::fakes::FakeSigner;
use countersign_conformance::memory::MemoryStorage;
use countersign_domain::act::Act;
use countersign_domain::client::ClientOrigin;
use countersign_domain::desk::operators::{DeskPolicy, Quorum};
use countersign_domain::desk::pending::PendingChange;
use countersign_domain::event::{Actor, Cause, Details, Event, EventKind};
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, GrantId, UserId};
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::signing_key::KeyState;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    EntropyExt, EventFilter, EventOrder, EventPage, KeyRing, KeyRingError, KeyRotation, LinkWallet,
    ListedKey, RotatedKeys, Storage, StoreError, UnlinkWallet, WalletLinked, WalletUnlinked,
};
use countersign_usecases::Context;
use countersign_usecases::account::change_wallets::SignedText;
use countersign_usecases::events::seal_events::seal_events;
use countersign_usecases::steps::login::Browser;
use countersign_usecases::steps::recognize_operator::{Operator, recognize_operator};
use time::OffsetDateTime;

use crate::desk::Desk;
use crate::desk::begin_change::{ChangeText, Signing, begin_change};
use crate::desk::complete_change::{CompleteChangeError, Completed, complete_change};
use crate::desk::proposals::begin_countersign;
use crate::events::verify_events::{Broken, Signatures, Verified, VerifyError, verify_events};
use crate::tests::world::{TestClient, ToyWallets, World, sign, toy};

/// This wallet signs.
fn signing_with(signer: &WalletAccount) -> Signing<'_> {
    Signing { signer: Some(signer), ..Signing::default() }
}

/// The operator typed this word.
fn saying(word: Option<&str>) -> Signing<'_> {
    Signing { word, ..Signing::default() }
}

/// Keys without keys: it is only remembered what was asked, and recorded as the server does.
struct Ring {
    context: Context,
    listed: Mutex<Vec<ListedKey>>,
}

impl Ring {
    async fn record(&self, cause: &Cause, kind: EventKind, details: Details) {
        let (context, now) = (&self.context, self.context.clock.now());
        let event = context.event(now, cause, kind, |event| event.details = details);
        context.storage.record_event(*event.unwrap()).await.unwrap();
    }
}

#[async_trait]
impl KeyRing for Ring {
    async fn list(&self, _: OffsetDateTime) -> Result<Vec<ListedKey>, StoreError> {
        Ok(self.listed.lock().unwrap().clone())
    }

    async fn rotate(
        &self,
        now: OffsetDateTime,
        cause: &Cause,
        _: KeyRotation,
        algorithms: &[SigningAlgorithm],
    ) -> Result<RotatedKeys, KeyRingError> {
        let mut rotated = RotatedKeys::default();
        for algorithm in algorithms {
            let kid = format!("key-{}", self.listed.lock().unwrap().len() + 1);
            self.listed.lock().unwrap().push(listed(&kid, now));
            let details = Details::default().text("key", &kid).text("algorithm", algorithm.name());
            self.record(cause, EventKind::KeyAnnounced, details).await;
            rotated.made.push((kid, algorithm.name().to_owned()));
        }
        Ok(rotated)
    }

    async fn withdraw(&self, _: OffsetDateTime, cause: &Cause, kid: &str) -> Result<String, KeyRingError> {
        self.listed.lock().unwrap().retain(|key| key.kid != kid);
        let details = Details::default().text("key", kid);
        self.record(cause, EventKind::KeyWithdrawn, details).await;
        Ok("ES256".to_owned())
    }
}

fn listed(kid: &str, now: OffsetDateTime) -> ListedKey {
    ListedKey {
        kid: kid.to_owned(),
        algorithm: "ES256".to_owned(),
        state: KeyState::Active,
        created_at: now,
        active_from: now,
        withdrawn_at: None,
        forget_after: None,
    }
}

/// A server with a desk. `toy-ada`, `toy-bob` and `toy-cal` are operators by the settings, and so is whoever is in
/// the group `ops`.
struct Office {
    world: World,
    ring: Ring,
    cause: Cause,
}

impl Office {
    fn new(quorum: Quorum) -> Self {
        Self::on(Arc::new(MemoryStorage::default()), quorum)
    }

    fn on(storage: Arc<dyn Storage>, quorum: Quorum) -> Self {
        let mut world = World::on(storage);
        world.context.policy.desk = Some(DeskPolicy {
            admins: ["toy-ada", "toy-bob", "toy-cal"].map(toy).to_vec(),
            group: Some(group("ops")),
            quorum,
        });
        let now = world.context.clock.now();
        let ring = Ring {
            context: world.context.clone(),
            listed: Mutex::new(vec![listed("key-1", now), listed("key-2", now)]),
        };
        // No actor that a change could be taken for.
        let cause = Cause {
            address: PeerAddress::parse("203.0.113.0/24"),
            request: Some("request-7".to_owned()),
            ..Cause::of(Actor::Person)
        };
        Self { world, ring, cause }
    }

    fn desk(&self) -> Desk<'_> {
        Desk { context: &self.world.context, keys: &self.ring, cause: &self.cause }
    }

    fn policy(&mut self) -> &mut DeskPolicy {
        self.world.context.policy.desk.as_mut().unwrap()
    }

    /// Signs in to the account page on a browser of its own.
    async fn sign_in(&self, address: &str) -> Browser {
        let policy = &self.world.context.policy;
        let now = self.world.context.clock.now();
        let mut pending = PendingAuthorization::for_account(&policy.public_url, now, &policy.lifetimes);
        let mut browser = Browser { name: "Firefox on Linux".to_owned(), login: None };
        self.world.remember(&mut browser, &mut pending, address).await;
        browser
    }

    /// The operator of a browser, if it has one.
    async fn recognize(&self, browser: &Browser) -> Option<Operator> {
        recognize_operator(&self.world.context, browser).await.unwrap()
    }

    /// Signs in with an operator's wallet.
    async fn operator(&self, address: &str) -> Operator {
        let browser = self.sign_in(address).await;
        self.recognize(&browser).await.unwrap()
    }

    async fn begin(&self, operator: &Operator, change: Act) -> (PendingChange, ChangeText) {
        begin_change(self.desk(), operator, change, Signing::default()).await.unwrap()
    }

    /// Presents a text with this signature.
    async fn present(
        &self,
        operator: &Operator,
        pending: &mut PendingChange,
        text: &str,
        signature: &str,
    ) -> Result<Completed, CompleteChangeError> {
        let signed = SignedText { text: text.to_owned(), signature: signature.to_owned() };
        complete_change(self.desk(), operator, pending, signed).await
    }

    /// The signer of a change signs it.
    async fn finish(
        &self,
        operator: &Operator,
        (mut pending, shown): (PendingChange, ChangeText),
    ) -> Result<Completed, CompleteChangeError> {
        let signature = sign(&shown.signer.address, &shown.text.text);
        self.present(operator, &mut pending, &shown.text.text, &signature).await
    }

    async fn make(&self, operator: &Operator, change: Act) -> Result<Completed, CompleteChangeError> {
        self.finish(operator, self.begin(operator, change).await).await
    }

    /// An operator proposes a change.
    async fn propose(&self, operator: &Operator, change: Act) -> GrantId {
        match self.make(operator, change).await.unwrap() {
            Completed::Proposed { proposal, .. } => proposal.id,
            Completed::Done { change, .. } => panic!("nobody else was asked about {change:?}"),
        }
    }

    /// An operator signs a proposal.
    async fn countersign(&self, operator: &Operator, id: GrantId) -> Result<Completed, CompleteChangeError> {
        let begun = begin_countersign(self.desk(), operator, id, Signing::default()).await.unwrap();
        self.finish(operator, begun).await
    }

    /// All events, the oldest first.
    async fn events(&self) -> Vec<Event> {
        let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: 10_000 };
        self.world.storage.list_events(&EventFilter::default(), page).await.unwrap()
    }

    /// The events of what operators did.
    async fn acts(&self) -> Vec<Event> {
        let events = self.events().await.into_iter();
        events.filter(|event| matches!(event.actor, Actor::Wallet(_))).collect()
    }

    /// The act of this kind, if there is one.
    async fn act(&self, kind: EventKind) -> Event {
        let mut of_kind = self.acts().await.into_iter().filter(|act| act.kind == kind);
        let act = of_kind.next().unwrap();
        assert_eq!(of_kind.next(), None);
        act
    }

    /// Seals what happened, and verifies everything.
    async fn verify(&self) -> Result<Verified, Broken> {
        while seal_events(&self.world.context).await.unwrap().more {}
        let signatures = Signatures { wallets: &ToyWallets, authority: "auth.example.com" };
        let storage = &*self.world.storage;
        match verify_events(storage, &mut FakeSigner, signatures, &BTreeMap::new(), |_| {}).await {
            Ok(verified) => Ok(verified),
            Err(VerifyError::Broken(broken)) => Err(broken),
            Err(VerifyError::Store(error)) => panic!("{error}"),
        }
    }

    async fn is_blocked(&self, address: &str) -> bool {
        self.world.storage.standing_of(&toy(address)).await.unwrap().block.is_some()
    }

    async fn user(&self, address: &str) -> UserId {
        self.world.storage.find_owner(toy(address)).await.unwrap().unwrap()
    }

    /// Links a wallet to the user of another one, as both of them want.
    async fn link(&self, signer: &str, wallet: &str) {
        let (now, context) = (self.world.context.clock.now(), &self.world.context);
        let event = context.event(now, &self.cause, EventKind::WalletLinked, |event| {
            event.wallet = Some(toy(wallet));
        });
        let command = LinkWallet {
            id: GrantId::at(now, context.entropy.bytes()),
            signer: toy(signer),
            wallet: toy(wallet),
            begun_at: now,
            now,
            forget_after: now,
            most: self.world.context.policy.wallets_per_user,
            event,
        };
        let linked = self.world.storage.link_wallet(command).await.unwrap();
        assert!(matches!(linked, WalletLinked::Linked { .. }), "{linked:?}");
    }

    async fn unlink(&self, signer: &str, wallet: &str) {
        let (now, context) = (self.world.context.clock.now(), &self.world.context);
        let event = context.event(now, &self.cause, EventKind::WalletUnlinked, |event| {
            event.wallet = Some(toy(wallet));
        });
        let command = UnlinkWallet {
            id: GrantId::at(now, context.entropy.bytes()),
            signer: toy(signer),
            wallet: toy(wallet),
            begun_at: now,
            now,
            forget_after: now,
            event,
        };
        let unlinked = self.world.storage.unlink_wallet(command).await.unwrap();
        assert!(matches!(unlinked, WalletUnlinked::Unlinked { .. }), "{unlinked:?}");
    }

    /// A client of the operators'.
    async fn client(&self) -> TestClient {
        self.world.register_by(RequestedMetadata::default(), ClientOrigin::Operator).await
    }
}

fn group(name: &str) -> GroupName {
    GroupName::parse(name).unwrap()
}

fn id_of(client: &TestClient) -> ClientId {
    ClientId::named(&client.id).unwrap()
}

fn block(address: &str) -> Act {
    Act::Block { who: Subject::Wallet(toy(address).into()), reason: Some("spam".to_owned()) }
}

fn delete(client: &TestClient) -> Act {
    Act::DeleteClient { client: id_of(client).into() }
}
