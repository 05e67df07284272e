//! C-07: whatever two clients and three people do, in any order, the invariants of C-08 hold.

use countersign_domain::secret::Secret;
use countersign_domain::user_info::UserInfo;
use proptest::prelude::*;
use time::Duration;

use super::world::{TestClient, World};
use crate::TokenAnswer;

#[derive(Clone, Copy, Debug)]
enum Step {
    SignIn { client: usize, person: usize },
    Exchange { code: usize, client: usize },
    Refresh { token: usize, client: usize },
    RevokeAccess { token: usize, client: usize },
    RevokeRefresh { token: usize, client: usize },
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

struct History {
    world: World,
    clients: [TestClient; 2],
    codes: Vec<Code>,
    tokens: Vec<Issued>,
}

const PEOPLE: [&str; 3] = ["toy-ann", "toy-bob", "toy-cy"];

impl History {
    async fn take(&mut self, step: Step) {
        match step {
            Step::SignIn { client, person } => {
                let secret = self.world.code(&self.clients[client], PEOPLE[person], &[]).await;
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
            Step::Wait { seconds } => self.world.advance(Duration::seconds(seconds)),
            Step::Purge => {
                while crate::upkeep::purge_expired::purge_expired(
                    &self.world.context,
                    self.world.context.clock.now(),
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

    async fn check(&mut self) {
        let mut subjects = [None; 3];
        for token in &mut self.tokens {
            let info: Option<UserInfo> = self.world.user_info(&token.answer).await.ok();
            let Some(info) = info else {
                token.seen_dead = true;
                continue;
            };
            assert!(!token.seen_dead, "(8) dead stays dead");
            assert_eq!(info.wallet_address, PEOPLE[token.person], "(5) the token is the signer's");
            let subject = subjects[token.person].get_or_insert(info.subject);
            assert_eq!(*subject, info.subject, "one wallet is one user");
        }
    }
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
            let world = World::new();
            let clients = [world.client().await, world.client().await];
            let mut history = History { world, clients, codes: Vec::new(), tokens: Vec::new() };
            for step in steps {
                history.take(step).await;
                history.check().await;
            }
        });
    }
}
