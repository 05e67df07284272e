//! Blocks that are stored while a sign-in is under way. A block is two operations with a wait between them
//! ([`Blocks::block`](crate::context::blocks::Blocks::block)); here each comes between any two calls of each
//! flow. After the second one nothing that the flow gave may work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_conformance::fakes::ManualClock;
use countersign_conformance::memory::MemoryStorage;
use countersign_domain::admission::Block;
use countersign_domain::client::ClientOrigin;
use countersign_domain::grant::RevocationReason;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;
use countersign_domain::subject::Subject;
use countersign_ports::{BlockStore, Clock, EndAccess, PutBlock, RemoveBlock, Storage, WalletStore};
use tokio::sync::Mutex;

use crate::TokenAnswer;
use crate::sign_in::begin_authorization::{Begun, begin_authorization};
use crate::sign_in::begin_device::{DeviceAsks, DeviceWaits, begin_device};
use crate::sign_in::complete_login::LoginWishes;
use crate::sign_in::continue_session::{ContinueWishes, continue_session};
use crate::sign_in::find_device::find_device;
use crate::steps::login::{Browser, find_login};
use crate::tests::breakable::{Act, Breakable, world};
use crate::tests::programs;
use crate::tests::world::{PERSON, TestClient, World, as_client, as_person, code_of, request, toy};
use crate::tokens::exchange_device_code::{ExchangeDeviceCode, exchange_device_code};
use crate::tokens::introspect_token::introspect_token;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Login,
    Continue,
    Silent,
    Account,
    Exchange,
    Refresh,
    Program,
    /// A login that answers a device.
    Device,
}

const ALL: [Flow; 8] = [
    Flow::Login,
    Flow::Continue,
    Flow::Silent,
    Flow::Account,
    Flow::Exchange,
    Flow::Refresh,
    Flow::Program,
    Flow::Device,
];

/// Everything that a flow can begin with.
struct Ready {
    world: World,
    storage: Arc<Breakable>,
    client: TestClient,
    browser: Browser,
    pending: PendingAuthorization,
    of_account: PendingAuthorization,
    of_device: PendingAuthorization,
    waits: DeviceWaits,
    code: Secret,
    tokens: TokenAnswer,
    text: String,
}

/// What a flow gave.
#[derive(Default)]
struct Given {
    codes: Vec<Secret>,
    tokens: Vec<TokenAnswer>,
    sessions: Vec<Secret>,
}

impl Ready {
    async fn new() -> Self {
        let (world, storage) = world();
        let grant_types = [
            "authorization_code",
            "refresh_token",
            "urn:ietf:params:oauth:grant-type:device_code",
            programs::WALLET,
        ];
        let grant_types = Some(grant_types.map(ToOwned::to_owned).to_vec());
        let requested = RequestedMetadata { grant_types, ..RequestedMetadata::default() };
        let client = world.register_by(requested, ClientOrigin::Operator).await;
        let mut browser = Browser::default();
        world.remember(&mut browser, &mut world.pending(&client, &[]).await, "toy-ann").await;
        let policy = &world.context.policy;
        let now = world.context.clock.now();
        let of_account = PendingAuthorization::for_account(&policy.public_url, now, &policy.lifetimes);
        let asks = DeviceAsks { credentials: client.credentials(), scope: None, resources: Vec::new() };
        let waits = begin_device(&world.context, asks).await.unwrap();
        let of_device = find_device(&world.context, &waits.user_code.to_string()).await.unwrap().unwrap();
        Self {
            pending: world.pending(&client, &[("state", "next")]).await,
            code: world.code(&client, "toy-ann", &[]).await,
            tokens: world.tokens(&client, "toy-ann").await,
            text: programs::text(&world, &client).await,
            browser,
            of_account,
            of_device,
            waits,
            client,
            storage,
            world,
        }
    }

    /// Runs a flow of somebody who signs with this wallet, if the flow has a signature.
    async fn run(&mut self, flow: Flow, address: &str) -> Given {
        let (world, client) = (&self.world, &self.client);
        let mut given = Given::default();
        let wishes = LoginWishes { remember: true, ..LoginWishes::default() };
        match flow {
            Flow::Login => {
                if let Ok(done) = world.sign_in_with(&mut self.pending, address, wishes).await {
                    given.sessions.push(done.remembered.unwrap().secret);
                    given.codes.push(code_of(&done.to.address()));
                }
            }
            Flow::Account | Flow::Device => {
                let of_device = flow == Flow::Device;
                let pending = if of_device { &mut self.of_device } else { &mut self.of_account };
                let done = world.sign_in_with(pending, address, wishes).await;
                given.sessions.extend(done.ok().map(|done| done.remembered.unwrap().secret));
            }
            Flow::Continue => {
                let wishes = ContinueWishes::default();
                let done =
                    continue_session(&world.context, &PERSON, &self.pending, &self.browser, wishes).await;
                given.codes.extend(done.ok().map(|done| code_of(&done.to.address())));
            }
            Flow::Silent => {
                let silent = request(client, &[("prompt", "none"), ("state", "silent")]);
                if let Ok(Begun::Answered { to }) =
                    begin_authorization(&world.context, as_person, &silent, &self.browser).await
                {
                    given.codes.push(code_of(&to.address()));
                }
            }
            Flow::Exchange => given.tokens.extend(world.exchange(client, &self.code).await.ok()),
            Flow::Refresh => given.tokens.extend(world.refresh(client, &self.tokens).await.ok()),
            Flow::Program => {
                let done = programs::redeem(world, programs::signed(client, &self.text)).await;
                given.tokens.extend(done.ok());
            }
        }
        given
    }

    /// The two operations of a block, by an operator whose calls are not counted.
    fn block(&self, who: &Subject) -> [Act; 2] {
        let operator: [(Arc<MemoryStorage>, Arc<ManualClock>); 2] =
            std::array::from_fn(|_| (self.storage.inner(), Arc::clone(&self.world.clock)));
        let [(storage, clock), (ending, waiting)] = operator;
        let (first, second) = (who.clone(), who.clone());
        [
            Box::pin(async move {
                let block = Block { at: clock.now(), reason: None };
                storage.put_block(PutBlock { who: first, block, event: None }).await.unwrap();
            }),
            Box::pin(async move {
                waiting.wait(Duration::from_millis(220)).await;
                let (reason, now) = (RevocationReason::Blocked, waiting.now());
                ending
                    .end_access(EndAccess { who: second, reason, keeps: None, now, event: None })
                    .await
                    .unwrap();
            }),
        ]
    }

    /// Nothing of this works, wherever it is presented.
    async fn assert_dead(&self, given: &Given, case: &str) {
        let (world, client) = (&self.world, &self.client);
        for code in &given.codes {
            assert!(world.exchange(client, code).await.is_err(), "code: {case}");
        }
        for tokens in &given.tokens {
            assert!(!world.is_alive(tokens).await, "userinfo: {case}");
            let facts = introspect_token(&world.context, &client.credentials(), &tokens.access_token).await;
            assert_eq!(facts.unwrap(), None, "introspection: {case}");
            assert!(world.refresh(client, tokens).await.is_err(), "refresh: {case}");
        }
        for session in &given.sessions {
            assert!(find_login(&world.context, Some(session)).await.unwrap().is_none(), "session: {case}");
        }
    }
}

async fn poll(world: &World, client: &TestClient, waits: &DeviceWaits) -> Option<TokenAnswer> {
    let exchange = ExchangeDeviceCode {
        credentials: client.credentials(),
        device_code: waits.device_code.clone(),
        resources: Vec::new(),
        proof: None,
    };
    exchange_device_code(&world.context, as_client, exchange).await.ok()
}

/// How many calls a flow makes in a server that blocks somebody else. Nobody can come between more.
async fn calls(flow: Flow) -> usize {
    let mut ready = Ready::new().await;
    ready.world.block(Subject::Wallet(toy("toy-mallory"))).await;
    ready.world.clock.wait(Duration::from_secs(1)).await;
    ready.storage.asked();
    ready.run(flow, "toy-ann").await;
    ready.storage.asked().len()
}

/// Who is blocked, and who signs.
async fn whom(ready: &Ready, flow: Flow) -> Vec<(Subject, &'static str)> {
    let ann = ready.storage.inner().find_owner(toy("toy-ann")).await.unwrap().unwrap();
    let mut whom = vec![(Subject::User(ann), "toy-ann"), (Subject::Wallet(toy("toy-ann")), "toy-ann")];
    // Somebody whom nobody knows yet.
    if matches!(flow, Flow::Login | Flow::Account | Flow::Device) {
        whom.push((Subject::Wallet(toy("toy-bob")), "toy-bob"));
    }
    whom
}

#[tokio::test]
async fn a_117_after_the_answer_of_a_block_nothing_works_that_a_flow_gave_meanwhile() {
    for flow in ALL {
        let most = calls(flow).await;
        assert!(most >= 2, "{flow:?}");
        let kinds = whom(&Ready::new().await, flow).await.len();
        for kind in 0..kinds {
            for first in 0..=most {
                for second in first..=most {
                    // The server may have looked for blocks just before.
                    for has_looked in [false, true] {
                        let mut ready = Ready::new().await;
                        let (who, address) = whom(&ready, flow).await.swap_remove(kind);
                        if !has_looked {
                            ready.world.clock.wait(Duration::from_secs(1)).await;
                        }
                        let [put, end] = ready.block(&who);
                        ready.storage.between(vec![(first, put), (second, end)]);
                        let given = ready.run(flow, address).await;
                        ready.storage.rest().await;
                        let case = format!("{flow:?} {who:?} {first} {second} {has_looked}");
                        ready.assert_dead(&given, &case).await;
                        if address == "toy-ann" {
                            let old = Given {
                                codes: vec![ready.code.clone()],
                                tokens: vec![ready.tokens.clone()],
                                sessions: ready.browser.login.iter().cloned().collect(),
                            };
                            ready.assert_dead(&old, &case).await;
                        }
                        assert!(poll(&ready.world, &ready.client, &ready.waits).await.is_none(), "{case}");
                    }
                }
            }
        }
    }
}

/// The device has its code before anybody signs, so it may ask in the middle of the login.
#[tokio::test]
async fn a_117_a_device_that_asks_while_its_login_and_a_block_are_under_way_keeps_nothing() {
    let most = calls(Flow::Device).await;
    let mut got_tokens = 0;
    for first in 0..=most {
        for second in first..=most {
            for asks in 0..=most {
                let mut ready = Ready::new().await;
                let (who, _) = whom(&ready, Flow::Device).await.swap_remove(1);
                // The device asks another replica, which looked for blocks just before.
                let inner: Arc<dyn Storage> = ready.storage.inner();
                let replica = Arc::new(World::at(inner, Arc::clone(&ready.world.clock)));
                replica.context.blocks.are_there_any().await.unwrap();
                let got = Arc::new(Mutex::new(None));
                let [put, end] = ready.block(&who);
                let is_answered = Arc::new(AtomicBool::new(false));
                let end: Act = {
                    let is_answered = Arc::clone(&is_answered);
                    Box::pin(async move {
                        end.await;
                        is_answered.store(true, Ordering::SeqCst);
                    })
                };
                let asking: Act = {
                    let (replica, got) = (Arc::clone(&replica), Arc::clone(&got));
                    let (client, waits) = (ready.client.clone(), ready.waits.clone());
                    Box::pin(async move {
                        let tokens = poll(&replica, &client, &waits).await;
                        // The login may not have taken its grant back yet.
                        assert!(
                            tokens.is_none() || !is_answered.load(Ordering::SeqCst),
                            "{first} {second} {asks}"
                        );
                        *got.lock().await = tokens;
                    })
                };
                ready.storage.between(vec![(first, put), (second, end), (asks, asking)]);
                ready.run(Flow::Device, "toy-ann").await;
                ready.storage.rest().await;
                let tokens: Vec<_> = got.lock().await.take().into_iter().collect();
                got_tokens += tokens.len();
                let given = Given { tokens, ..Given::default() };
                ready.assert_dead(&given, &format!("{first} {second} {asks}")).await;
                assert!(poll(&replica, &ready.client, &ready.waits).await.is_none());
            }
        }
    }
    assert!(got_tokens > 0, "the device is never in between");
}

#[tokio::test]
async fn whoever_is_let_in_again_signs_anew_and_nothing_old_comes_back() {
    let mut ready = Ready::new().await;
    let user = ready.world.user_of(&ready.tokens).await;
    for who in [Subject::User(user), Subject::Wallet(toy("toy-ann"))] {
        ready.world.block(who.clone()).await;
        assert!(ready.run(Flow::Login, "toy-ann").await.codes.is_empty());
        assert!(ready.world.context.blocks.unblock(RemoveBlock { who, event: None }).await.unwrap());
    }
    let old = Given {
        codes: vec![ready.code.clone()],
        tokens: vec![ready.tokens.clone()],
        sessions: ready.browser.login.iter().cloned().collect(),
    };
    ready.assert_dead(&old, "unblocked").await;
    let new = ready.run(Flow::Login, "toy-ann").await;
    let tokens = ready.world.exchange(&ready.client, &new.codes[0]).await.unwrap();
    assert_eq!(ready.world.user_of(&tokens).await, user);
}

#[tokio::test]
async fn a_login_that_finds_a_block_after_its_commit_takes_back_what_it_stored() {
    let most = calls(Flow::Login).await;
    let mut ready = Ready::new().await;
    ready.world.block(Subject::Wallet(toy("toy-mallory"))).await;
    ready.world.clock.wait(Duration::from_secs(1)).await;
    // Just after the commit: the login looks once more.
    let [put, _] = ready.block(&Subject::Wallet(toy("toy-ann")));
    ready.storage.between(vec![(most - 1, put)]);
    let given = ready.run(Flow::Login, "toy-ann").await;
    assert!(given.codes.is_empty() && given.sessions.is_empty());
    let asked = ready.storage.asked();
    assert_eq!(asked[asked.len() - 2..], ["revoke_grant", "end_session"]);
}
