//! Purges what can no longer be used, in small steps while the server works, and writes down what was used and what was counted.

use std::sync::Arc;
use std::time::Duration;

use countersign_domain::forgetting::Past;
use countersign_domain::id::ClientId;
use countersign_ports::{EntropyExt, Figures, StoreError};
use countersign_usecases::Context;
use countersign_usecases::context::uses::Uses;
use countersign_usecases::upkeep::forget_left::forget_left;
use countersign_usecases::upkeep::forget_proposals::forget_proposals;
use countersign_usecases::upkeep::forget_unused::{forget_unused_documents, forget_unused_users};
use countersign_usecases::upkeep::hour_counts::{HourCounter, forget_hour_counts};
use countersign_usecases::upkeep::purge_expired::purge_expired_since;
use time::OffsetDateTime;
use tokio::time::sleep;

use crate::failure::chain;
use crate::upkeep::clock_watch::ClockWatch;

/// How often to purge, on average. What expires in so short a time is gone in a few steps.
const EVERY: Duration = Duration::from_secs(10);
/// How often to write what was counted.
const MINUTE: Duration = Duration::from_mins(1);
/// How often to write what was used, so that an operator's list is right when they look. If nothing new was used, nothing
/// is written: secrets and clients are noted once a minute.
const USES_EVERY: Duration = Duration::from_secs(3);
/// The pause between two steps, in which others get their turn. If there is much to purge, one server deletes
/// some thousand rows of each kind per second.
const PAUSE: Duration = Duration::from_millis(10);

/// At every how many rounds upkeep begins with the oldest rows again: about every ten minutes. Rows that others had locked were skipped,
/// and a release before this one can write rows whose time is over already.
const FROM_THE_OLDEST: u32 = 60;
/// How much of the time since the last round is taken at once, and into how many parts the time is divided at most. In PostgreSQL the
/// rows that the steps of one part deleted can be in the way of its next step.
const PART: time::Duration = time::Duration::seconds(10);
const PARTS: i32 = 100;

/// Purges expired rows in the background.
pub(crate) struct Upkeeper {
    pub(crate) context: Context,
    pub(crate) clock: Arc<ClockWatch>,
    /// After how long to delete a user that no client ever learned of; `None` to keep them all.
    pub(crate) forget_unused_users: Option<time::Duration>,
}

impl Upkeeper {
    /// Purges for as long as the server runs.
    pub(crate) async fn keep(self) {
        let mut document = None;
        let mut progress = Progress::default();
        loop {
            sleep(jittered(EVERY, self.context.entropy.bytes())).await;
            match self.round(&mut document, &mut progress).await {
                Ok(Forgotten { rows: 0, users: 0, documents: 0 }) => {}
                Ok(Forgotten { rows, users, documents }) => {
                    tracing::info!(rows, users, documents, "expired rows deleted");
                }
                Err(error) => {
                    tracing::warn!(
                        error = chain(&error),
                        "expired rows could not be deleted and stay for now"
                    );
                }
            }
        }
    }

    async fn round(
        &self,
        document: &mut Option<ClientId>,
        progress: &mut Progress,
    ) -> Result<Forgotten, StoreError> {
        forget_left(&self.context).await?;
        let past = self.clock.look(&*self.context.storage).await?;
        let (mut rows, mut users) = (0, 0);
        for (since, until) in progress.parts(past) {
            rows += purge_all(&self.context, since, until, PAUSE).await?;
            if let Some(unused_for) = self.forget_unused_users {
                users += forget_users(&self.context, since, until, unused_for, PAUSE).await?;
            }
        }
        progress.is_at(past);
        let rows = rows
            + in_steps(PAUSE, || forget_proposals(&self.context, past)).await?
            + in_steps(PAUSE, || forget_hour_counts(&self.context, past)).await?;
        let forgotten = forget_unused_documents(&self.context, past, *document).await?;
        *document = forgotten.next;
        Ok(Forgotten { rows, users, documents: forgotten.rows })
    }
}

/// How far upkeep got.
#[derive(Default)]
struct Progress {
    /// What expired before this time was taken.
    taken_until: Option<OffsetDateTime>,
    rounds: u32,
}

impl Progress {
    /// The parts of the time that the next round takes, one after another: all of it until `past`, or what came since the last round.
    fn parts(&self, past: Past) -> Vec<(OffsetDateTime, Past)> {
        let now = past.time();
        let Some(taken_until) = self.taken_until.filter(|_| !self.rounds.is_multiple_of(FROM_THE_OLDEST))
        else {
            return vec![(OffsetDateTime::UNIX_EPOCH, past)];
        };
        let length = PART.max((now - taken_until) / PARTS);
        let mut parts = Vec::new();
        let mut since = taken_until;
        while since < now {
            let until = since.checked_add(length).unwrap_or(now).min(now);
            parts.push((since, past.kept_for(now - until)));
            since = until;
        }
        parts
    }

    /// A round is over.
    fn is_at(&mut self, past: Past) {
        let past = past.time();
        self.taken_until = Some(self.taken_until.map_or(past, |taken_until| taken_until.max(past)));
        self.rounds = self.rounds.wrapping_add(1);
    }
}

/// Writes down every few seconds what was used.
#[derive(Clone)]
pub(crate) struct UseWriter {
    pub(crate) uses: Uses,
}

impl UseWriter {
    /// Writes for as long as the server runs.
    pub(crate) async fn keep(self) {
        loop {
            sleep(USES_EVERY).await;
            self.write().await;
        }
    }

    /// Writes what was used since the last time.
    pub(crate) async fn write(&self) {
        if let Err(error) = self.uses.write().await {
            tracing::warn!(
                error = chain(&error),
                "when clients, secrets and accounts were last used could not be written yet"
            );
        }
    }
}

/// Adds once a minute what this server counted to the counts of the hour.
#[derive(Clone)]
pub(crate) struct CountWriter {
    pub(crate) context: Context,
    pub(crate) counter: Arc<HourCounter>,
    pub(crate) figures: Arc<dyn Figures>,
    /// By this id the replica is noted.
    pub(crate) replica: [u8; 16],
}

impl CountWriter {
    /// Writes for as long as the server runs.
    pub(crate) async fn keep(self) {
        loop {
            sleep(MINUTE).await;
            self.write().await;
        }
    }

    /// Writes what was counted since the last time.
    pub(crate) async fn write(&self) {
        if let Err(error) = self.counter.write(&self.context, &*self.figures, self.replica).await {
            tracing::warn!(error = chain(&error), "what was counted could not be written yet");
        }
    }
}

/// What one round deleted.
struct Forgotten {
    rows: u64,
    users: u64,
    documents: u64,
}

/// Purges step by step while there is more.
async fn purge_all(
    context: &Context,
    since: OffsetDateTime,
    past: Past,
    pause: Duration,
) -> Result<u64, StoreError> {
    let mut rows = 0;
    loop {
        let purged = purge_expired_since(context, since, past).await?;
        rows += purged.rows;
        if !purged.more {
            return Ok(rows);
        }
        sleep(pause).await;
    }
}

/// Forgets step by step until a step finds nothing.
async fn in_steps<F>(pause: Duration, step: impl Fn() -> F) -> Result<u64, StoreError>
where
    F: Future<Output = Result<u64, StoreError>>,
{
    let mut rows = 0;
    loop {
        let forgotten = step().await?;
        rows += forgotten;
        if forgotten == 0 {
            return Ok(rows);
        }
        sleep(pause).await;
    }
}

/// Does the same for users that no client ever learned of.
async fn forget_users(
    context: &Context,
    since: OffsetDateTime,
    past: Past,
    unused_for: time::Duration,
    pause: Duration,
) -> Result<u64, StoreError> {
    let mut users = 0;
    loop {
        let forgotten = forget_unused_users(context, since, past, unused_for).await?;
        users += forgotten.rows;
        if !forgotten.more {
            return Ok(users);
        }
        sleep(pause).await;
    }
}

/// A period that is up to a quarter shorter or longer, so that replicas which started together do not work at
/// the same time.
pub(crate) fn jittered(period: Duration, random: [u8; 2]) -> Duration {
    let share = f64::from(u16::from_le_bytes(random)) / f64::from(u16::MAX);
    period.mul_f64(0.75 + share / 2.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use countersign_adapters_crypto::WalletSettings;
    use countersign_conformance::fakes::{FakeFetcher, FakeReader, FakeSigner, ManualClock, SeededEntropy};
    use countersign_conformance::fixtures;
    use countersign_conformance::memory::MemoryStorage;
    use countersign_domain::admission::AccessRule;
    use countersign_domain::challenge::TextKey;
    use countersign_domain::client_assertion::AssertionAudience;
    use countersign_domain::dpop::DpopNonceKey;
    use countersign_domain::figure::Figure;
    use countersign_domain::hour::Hour;
    use countersign_domain::lifetimes::Lifetimes;
    use countersign_domain::pairwise::PairwiseKey;
    use countersign_domain::picture::PictureKey;
    use countersign_domain::public_url::PublicUrl;
    use countersign_domain::resource::ResourceRules;
    use countersign_ports::{DeskStore, FigureTotal, LoginStore, Replica, Storage};
    use countersign_usecases::context::blocks::Blocks;
    use countersign_usecases::context::cause::EventPolicy;
    use countersign_usecases::context::clients::Clients;
    use countersign_usecases::context::resources::Resources;
    use countersign_usecases::upkeep::note_replica::note_replica;
    use countersign_usecases::upkeep::purge_expired::BATCH;
    use countersign_usecases::{ContextKeys, Policy};

    use super::*;
    use crate::wiring::Wiring;

    fn context() -> (Arc<MemoryStorage>, Arc<ManualClock>, Context) {
        let storage = Arc::new(MemoryStorage::default());
        let clock = Arc::new(ManualClock::default());
        let shared: Arc<dyn Storage> = Arc::<MemoryStorage>::clone(&storage);
        let context = Context {
            storage: Arc::<dyn Storage>::clone(&shared),
            resources: Resources::new(Arc::<dyn Storage>::clone(&shared), Arc::<ManualClock>::clone(&clock)),
            uses: Uses::new(Arc::<dyn Storage>::clone(&shared), Arc::<dyn Storage>::clone(&shared)),
            clients: Clients::new(Arc::<dyn Storage>::clone(&shared), Arc::<ManualClock>::clone(&clock)),
            blocks: Blocks::new(shared, Arc::<ManualClock>::clone(&clock)),
            record: Arc::default(),
            access: Arc::default(),
            wallets: (Wiring::standard().wallets)(WalletSettings::default()),
            signer: Arc::new(FakeSigner),
            jws: Arc::new(FakeReader),
            fetcher: Arc::new(FakeFetcher::default()),
            clock: Arc::<ManualClock>::clone(&clock),
            entropy: Arc::new(SeededEntropy::default()),
            mailer: None,
            keys: ContextKeys {
                texts: TextKey::new([7; 32]),
                nonces: DpopNonceKey::new([8; 32]),
                pictures: PictureKey::new([9; 32]),
                pairwise: PairwiseKey::new([8; 32]),
                record: fixtures::RECORD_KEY,
                restored_at: None,
            },
            policy: Policy {
                public_url: PublicUrl::parse("http://localhost").unwrap(),
                lifetimes: Lifetimes::default(),
                default_access: AccessRule::Everyone,
                resources: ResourceRules::new(PublicUrl::parse("http://localhost").unwrap(), Vec::new())
                    .unwrap(),
                client_documents: false,
                synthetic_email: false,
                assertion_audience: AssertionAudience::default(),
                wallets_per_user: 20,
                events: EventPolicy { retention: Some(time::Duration::days(90)), whole_addresses: false },
                playground: false,
                desk: None,
            },
        };
        (storage, clock, context)
    }

    #[tokio::test]
    async fn all_that_expired_goes_in_steps_and_what_lives_stays() {
        let (storage, clock, context) = context();
        let expired = u64::from(BATCH) + 1;
        for _ in 0..expired {
            storage.complete_login(fixtures::complete_login()).await.unwrap();
        }
        let now = || context.clock.now();
        let purge = async || {
            purge_all(&context, OffsetDateTime::UNIX_EPOCH, fixtures::past(now()), Duration::ZERO)
                .await
                .unwrap()
        };
        assert_eq!(purge().await, 0);
        clock.advance(time::Duration::days(400));
        assert_eq!(purge().await, expired);
    }

    #[tokio::test]
    async fn a_proposal_is_forgotten_a_week_after_its_time_however_many_there_are() {
        let (storage, _, context) = context();
        let proposals = u64::from(BATCH) + 1;
        let mut expires_at = None;
        for _ in 0..proposals {
            let proposal = fixtures::proposal();
            expires_at = Some(proposal.expires_at);
            assert!(storage.put_proposal(fixtures::put_proposal(&proposal)).await.unwrap());
        }
        let week_later = expires_at.unwrap() + time::Duration::days(7);
        let forgotten = async |past| {
            in_steps(Duration::ZERO, || forget_proposals(&context, fixtures::past(past))).await.unwrap()
        };
        assert_eq!(forgotten(week_later).await, 0);
        assert_eq!(forgotten(week_later + time::Duration::MICROSECOND).await, proposals);
    }

    #[tokio::test]
    async fn a_replica_that_was_not_seen_for_a_day_is_forgotten_by_the_next_that_is() {
        let (storage, _, context) = context();
        let old = fixtures::replica();
        note_replica(&context, fixtures::past(old.seen_at), old.clone()).await.unwrap();
        let day = time::Duration::days(1);
        let seen_later = |later| Replica { seen_at: old.seen_at + later, ..fixtures::replica() };
        let note = async |later| {
            let past = fixtures::past(old.seen_at + later);
            note_replica(&context, past, seen_later(later)).await.unwrap();
        };
        note(day).await;
        assert_eq!(storage.replicas(old.seen_at).await.unwrap().len(), 2);
        note(day + time::Duration::MICROSECOND).await;
        assert!(!storage.replicas(old.seen_at).await.unwrap().contains(&old));
    }

    struct ThreeCodes;

    impl Figures for ThreeCodes {
        fn totals(&self) -> Vec<FigureTotal> {
            vec![FigureTotal { figure: Figure::Refusals, label: "code", total: 3 }]
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_counted_is_written_after_a_minute_and_once() {
        let (storage, _, context) = context();
        let replica = fixtures::replica();
        note_replica(&context, fixtures::past(replica.seen_at), replica.clone()).await.unwrap();
        let (counter, figures) = (Arc::default(), Arc::new(ThreeCodes));
        let hour = Hour::of(context.clock.now());
        let writer = CountWriter { context, counter, figures, replica: replica.id };
        let keeping = tokio::spawn(writer.keep());
        let counts = async || storage.hour_counts(hour).await.unwrap();
        sleep(Duration::from_secs(59)).await;
        assert_eq!(counts().await, []);
        sleep(Duration::from_secs(200)).await;
        assert_eq!(counts().await, [fixtures::hour_count(hour, Figure::Refusals, "code", 3)]);
        keeping.abort();
    }

    #[test]
    fn a_round_goes_on_where_the_last_one_ended_and_begins_with_the_oldest_now_and_then() {
        let start = time::macros::datetime!(2026-12-02 10:00:00 UTC);
        let time = |seconds| start + time::Duration::seconds(seconds);
        let at = |seconds| fixtures::past(time(seconds));
        let mut progress = Progress::default();
        assert_eq!(progress.parts(at(0)), [(OffsetDateTime::UNIX_EPOCH, at(0))]);
        progress.is_at(at(0));
        assert_eq!(progress.parts(at(0)), []);
        assert_eq!(progress.parts(at(25)), [(time(0), at(10)), (time(10), at(20)), (time(20), at(25))]);
        let day = progress.parts(at(86_400));
        assert_eq!(day.len(), 100);
        assert_eq!((day[0].0, day[99].1), (time(0), at(86_400)));
        assert!(day.windows(2).all(|parts| parts[0].1.time() == parts[1].0));
        // A clock that was set back: nothing is new until it is where it was.
        progress.is_at(at(-5));
        assert_eq!(progress.parts(at(-5)), []);
        assert_eq!(progress.parts(at(1)), [(time(0), at(1))]);
        progress.rounds = FROM_THE_OLDEST;
        assert_eq!(progress.parts(at(1)), [(OffsetDateTime::UNIX_EPOCH, at(1))]);
    }

    #[test]
    fn the_period_is_spread_by_a_quarter_to_both_sides() {
        assert_eq!(jittered(EVERY, [0, 0]), Duration::from_millis(7_500));
        assert_eq!(jittered(EVERY, [255, 255]), Duration::from_millis(12_500));
    }
}
