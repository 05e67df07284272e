//! C-07: whatever two clients and three people do, in any order, the invariants of C-08 hold. And acts and events
//! agree: what is stored has its event, and no event tells of anything else.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use countersign_conformance::memory::MemoryStorage;
use countersign_domain::act::OfflineAccess;
use countersign_domain::event::{Event, EventKind, EventPerson};
use countersign_domain::grant::RevocationReason;
use countersign_domain::id::{ClientId, GrantId, UserId};
use countersign_domain::secret::Secret;
use countersign_domain::user_info::UserInfo;
use countersign_ports::{EventStore, TokenStore, WalletStore};
use countersign_usecases::TokenAnswer;
use proptest::prelude::*;
use serde_json::Value;
use time::Duration;

use super::world::{TestClient, World, toy};
use crate::people::delete_user::delete_user;
use crate::people::sign_out_user::sign_out_user;

#[derive(Clone, Copy, Debug)]
enum Step {
    SignIn { client: usize, person: usize },
    Exchange { code: usize, client: usize },
    Refresh { token: usize, client: usize },
    RevokeAccess { token: usize, client: usize },
    RevokeRefresh { token: usize, client: usize },
    SignOutEverywhere { person: usize },
    Delete { person: usize },
    Wait { seconds: i64 },
    Purge,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..2_usize, 0..3_usize).prop_map(|(client, person)| Step::SignIn { client, person }),
        5 => (any::<usize>(), 0..2_usize).prop_map(|(code, client)| Step::Exchange { code, client }),
        6 => (any::<usize>(), 0..2_usize).prop_map(|(token, client)| Step::Refresh { token, client }),
        1 => (any::<usize>(), 0..2_usize).prop_map(|(token, client)| Step::RevokeAccess { token, client }),
        1 => (any::<usize>(), 0..2_usize).prop_map(|(token, client)| Step::RevokeRefresh { token, client }),
        1 => (0..3_usize).prop_map(|person| Step::SignOutEverywhere { person }),
        1 => (0..3_usize).prop_map(|person| Step::Delete { person }),
        2 => prop_oneof![Just(1_i64), Just(59), Just(3_600), Just(86_400 * 29)].prop_map(|seconds| Step::Wait { seconds }),
        1 => Just(Step::Purge),
    ]
}

struct Code {
    secret: Secret,
    client: usize,
    person: usize,
    redeemed: u32,
}

struct Issued {
    answer: TokenAnswer,
    client: usize,
    person: usize,
    family: usize,
    refreshed: u32,
    seen_dead: bool,
}

/// An event, with its details read.
#[derive(Debug)]
struct Told {
    event: Event,
    details: Value,
}

impl Deref for Told {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.event
    }
}

struct History {
    world: World,
    storage: Arc<MemoryStorage>,
    clients: [TestClient; 2],
    codes: Vec<Code>,
    tokens: Vec<Issued>,
    /// Whose each sign-in was, by the id of its grant.
    signed_in: BTreeMap<GrantId, (UserId, usize)>,
    /// The users whose accounts were deleted.
    deleted: Vec<UserId>,
    /// The access tokens that were seen to be revoked alone.
    revoked_alone: Vec<String>,
}

const PEOPLE: [&str; 3] = ["toy-ann", "toy-bob", "toy-cy"];

impl History {
    async fn take(&mut self, step: Step) {
        match step {
            Step::SignIn { client, person } => {
                let secret = self.world.code(&self.clients[client], PEOPLE[person], &[]).await;
                let user = self.user(person).await.unwrap();
                self.signed_in.insert(grant_of(&secret), (user, client));
                self.codes.push(Code { secret, client, person, redeemed: 0 });
            }
            Step::Exchange { code, client } => self.exchange(code, client).await,
            Step::Refresh { token, client } => self.refresh(token, client).await,
            Step::RevokeAccess { token, client } => {
                let Some(token) = pick(&self.tokens, token) else { return };
                let revoked = self.world.revoke(&self.clients[client], &token.answer.access_token).await;
                let forgotten_or_ours = revoked.is_ok();
                assert!(
                    forgotten_or_ours || token.client != client,
                    "only another client's token is refused"
                );
            }
            Step::RevokeRefresh { token, client } => {
                let Some(token) = pick(&self.tokens, token) else { return };
                let refresh = token.answer.refresh_token.clone().unwrap();
                let revoked = self.world.revoke(&self.clients[client], &refresh).await;
                assert!(revoked.is_ok() || token.client != client);
            }
            Step::SignOutEverywhere { person } => {
                let Some(user) = self.user(person).await else { return };
                let told = async |history: &Self| {
                    let events = history.told().await.into_iter();
                    events.filter(|told| told.kind == EventKind::UserSignedOut).count()
                };
                let before = told(self).await;
                let ended =
                    sign_out_user(self.world.context.management(), user, OfflineAccess::Ended).await.unwrap();
                let is_any = ended.sessions > 0 || ended.grants > 0;
                assert_eq!(told(self).await - before, usize::from(is_any), "if and only if something ended");
            }
            Step::Delete { person } => {
                let Some(user) = self.user(person).await else { return };
                delete_user(self.world.context.management(), &self.world.context.keys.record, user)
                    .await
                    .unwrap();
                self.deleted.push(user);
            }
            Step::Wait { seconds } => self.world.advance(Duration::seconds(seconds)),
            Step::Purge => {
                while countersign_usecases::upkeep::purge_expired::purge_expired(
                    &self.world.context,
                    self.world.past(),
                )
                .await
                .unwrap()
                .more
                {}
            }
        }
    }

    async fn exchange(&mut self, code: usize, client: usize) {
        if self.codes.is_empty() {
            return;
        }
        let family = code % self.codes.len();
        let code = &mut self.codes[family];
        if let Ok(answer) = self.world.exchange(&self.clients[client], &code.secret).await {
            code.redeemed += 1;
            assert_eq!(code.redeemed, 1, "(2) a code yields at most one token pair");
            assert_eq!(code.client, client, "(3) code.client = token.client");
            let person = code.person;
            self.tokens.push(Issued { answer, client, person, family, refreshed: 0, seen_dead: false });
        }
    }

    async fn refresh(&mut self, token: usize, client: usize) {
        if self.tokens.is_empty() {
            return;
        }
        let position = token % self.tokens.len();
        let token = &mut self.tokens[position];
        if let Ok(answer) = self.world.refresh(&self.clients[client], &token.answer).await {
            token.refreshed += 1;
            assert_eq!(token.refreshed, 1, "a refresh token of a client with a secret works once");
            assert_eq!(token.client, client, "(3)");
            let (person, family) = (token.person, token.family);
            self.tokens.push(Issued { answer, client, person, family, refreshed: 0, seen_dead: false });
        }
    }

    async fn user(&self, person: usize) -> Option<UserId> {
        self.storage.find_owner(toy(PEOPLE[person])).await.unwrap()
    }

    /// All events.
    async fn told(&self) -> Vec<Told> {
        let events = self.storage.fresh_events(100_000).await.unwrap().into_iter();
        let read = |event: &Event| serde_json::from_str(event.details.as_str()).unwrap();
        events.map(|event| Told { details: read(&event), event }).collect()
    }

    /// Compares what is stored with what events tell.
    async fn compare(&mut self) {
        let events = self.told().await;
        let of_kind = |kind| events.iter().filter(move |told| told.kind == kind);
        assert_eq!(of_kind(EventKind::ClientRegistered).count(), self.clients.len());
        assert_eq!(of_kind(EventKind::SignIn).count(), self.signed_in.len());
        let mut told_of_grants = 0;
        for (grant, (user, client)) in &self.signed_in {
            let id = grant.to_string();
            let about = |told: &&Told| told.details["grant"] == id.as_str();
            let signed_in = of_kind(EventKind::SignIn).find(about).expect("no sign-in without its event");
            assert_eq!(signed_in.client, ClientId::named(&self.clients[*client].id));
            let is_deleted = self.deleted.contains(user);
            match signed_in.person {
                Some(EventPerson::User(named)) => assert!(named == *user && !is_deleted),
                Some(EventPerson::Deleted(_)) => assert!(is_deleted && signed_in.wallet.is_none()),
                None => panic!("nobody signed in: {signed_in:?}"),
            }
            let ended: Vec<_> = of_kind(EventKind::GrantRevoked).filter(about).collect();
            told_of_grants += ended.len();
            let is_stored = self.storage.find_grant(*grant).await.unwrap().is_some();
            let Some(revocation) = self.storage.revocation(*grant) else {
                assert!(!is_stored || ended.is_empty(), "a grant that lives is told to have ended");
                continue;
            };
            let at_that_time = |kind| {
                of_kind(kind)
                    .any(|event| event.id.at_time() == revocation.at && event.actor.to_string() == "server")
            };
            match revocation.reason {
                RevocationReason::Operator => {
                    assert!(ended.is_empty() && at_that_time(EventKind::UserSignedOut))
                }
                RevocationReason::AccountDeleted => {
                    assert!(ended.is_empty() && at_that_time(EventKind::AccountDeleted));
                }
                reason @ (RevocationReason::ClientRequest
                | RevocationReason::CodeReplayed
                | RevocationReason::VerifierMismatch
                | RevocationReason::RefreshReused
                | RevocationReason::WalletUnlinked
                | RevocationReason::ConsentRevoked
                | RevocationReason::OtherUser
                | RevocationReason::SignedOut
                | RevocationReason::Blocked) => {
                    let [ended] = &ended[..] else { panic!("{reason:?} is told {} times", ended.len()) };
                    assert_eq!(&ended.details["reason"], reason.name());
                    assert_eq!((ended.id.at_time(), ended.person), (revocation.at, signed_in.person));
                }
            }
        }
        self.compare_tokens(&events, told_of_grants).await;
        let accounts = of_kind(EventKind::AccountDeleted).count();
        assert_eq!(accounts, self.deleted.len());
        for event in of_kind(EventKind::AccountDeleted) {
            let others = events.iter().filter(|other| other.person == event.person && other.id != event.id);
            assert_eq!(event.details["events"], others.count());
        }
    }

    /// Compares the access tokens that were revoked alone. When a token is forgotten, its event stays.
    async fn compare_tokens(&mut self, events: &[Told], told_of_grants: usize) {
        for token in &self.tokens {
            let read =
                self.world.context.signer.read_access_token(token.answer.access_token.expose()).unwrap();
            let id = read.id.to_string();
            let stored = self.storage.find_access(read.id).await.unwrap();
            if stored.is_some_and(|stored| stored.token_revoked) && !self.revoked_alone.contains(&id) {
                self.revoked_alone.push(id);
            }
        }
        let revoked = events.iter().filter(|event| event.kind == EventKind::GrantRevoked);
        let mut told: Vec<_> =
            revoked.clone().filter_map(|told| told.details["access_token"].as_str()).collect();
        let mut known: Vec<_> = self.revoked_alone.iter().map(String::as_str).collect();
        told.sort();
        known.sort();
        assert_eq!(told, known);
        assert_eq!(revoked.count(), told.len() + told_of_grants, "every other one tells of a grant");
    }

    /// No event has a secret, a token, a signed text or its signature, or a name that somebody chose.
    async fn keep_secrets(&self) {
        let told = format!("{:?}", self.storage.fresh_events(100_000).await.unwrap());
        let of_clients = self.clients.iter().flat_map(|client| {
            [client.secret.as_ref().unwrap().expose(), client.registration_token.expose()]
        });
        let of_people = self.codes.iter().map(|code| code.secret.expose());
        let of_tokens = self.tokens.iter().flat_map(|token| {
            let answer = &token.answer;
            [Some(&answer.access_token), answer.refresh_token.as_ref(), answer.id_token.as_ref()]
        });
        let of_tokens = of_tokens.flatten().map(Secret::expose);
        for secret in of_clients.chain(of_people).chain(of_tokens).chain([" signs ", "Photo Album", "Nonce"])
        {
            assert!(!told.contains(secret), "{secret} is told");
        }
        for deleted in &self.deleted {
            assert!(!told.contains(&deleted.to_string()), "a deleted user is named");
        }
    }

    async fn check(&mut self) {
        let mut subjects = [None; 3];
        for token in &mut self.tokens {
            let info: Option<UserInfo> = self.world.user_info(&token.answer).await.ok();
            let Some(info) = info else {
                token.seen_dead = true;
                continue;
            };
            assert!(!token.seen_dead, "(8) dead stays dead");
            assert_eq!(
                info.wallet_address.as_deref(),
                Some(PEOPLE[token.person]),
                "(5) the token is the signer's"
            );
            let subject = subjects[token.person].get_or_insert(info.subject);
            assert_eq!(*subject, info.subject, "one wallet is one user");
        }
    }
}

fn grant_of(code: &Secret) -> GrantId {
    GrantId::from_uuid(code.id().unwrap())
}

fn pick<T>(items: &[T], index: usize) -> Option<&T> {
    if items.is_empty() { None } else { items.get(index % items.len()) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_invariants_hold_whatever_happens(steps in proptest::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let storage = Arc::new(MemoryStorage::default());
            let world = World::on(Arc::<MemoryStorage>::clone(&storage));
            let clients = [world.client().await, world.client().await];
            let mut history = History {
                world,
                storage,
                clients,
                codes: Vec::new(),
                tokens: Vec::new(),
                signed_in: BTreeMap::new(),
                deleted: Vec::new(),
                revoked_alone: Vec::new(),
            };
            for step in steps {
                history.take(step).await;
                history.check().await;
                history.compare().await;
            }
            history.keep_secrets().await;
        });
    }
}
