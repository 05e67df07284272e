//! Clocks that go wrong, both while a server runs and before it starts.

use countersign_conformance::fakes::ManualClock;
use countersign_conformance::fixtures::{self, NOW};
use countersign_conformance::memory::MemoryStorage;
use countersign_domain::forgetting::MARGIN;
use countersign_ports::{LoginStore, Upkeep};
use time::Duration as Span;

use super::*;

/// A server's clock: the time that it shows, and the time that really passed.
struct WrongClock {
    shows: Mutex<OffsetDateTime>,
    passed: Mutex<Duration>,
}

impl WrongClock {
    fn at(now: OffsetDateTime) -> Arc<Self> {
        Arc::new(Self { shows: Mutex::new(now), passed: Mutex::default() })
    }

    fn jump(&self, by: Span) {
        *self.shows.lock().unwrap() += by;
    }

    fn run(&self, seconds: u64) {
        self.jump(Span::seconds(i64::try_from(seconds).unwrap()));
        *self.passed.lock().unwrap() += Duration::from_secs(seconds);
    }
}

#[async_trait]
impl Clock for WrongClock {
    fn now(&self) -> OffsetDateTime {
        *self.shows.lock().unwrap()
    }

    fn elapsed(&self) -> Duration {
        *self.passed.lock().unwrap()
    }

    async fn wait(&self, _duration: Duration) {}
}

async fn started(clock: &Arc<WrongClock>, storage: &MemoryStorage, is_right: bool) -> ClockWatch {
    let own: Arc<dyn Clock> = Arc::<WrongClock>::clone(clock);
    ClockWatch::start(own, storage, is_right).await.unwrap()
}

#[tokio::test]
async fn f_18_a_clock_that_jumps_while_the_server_runs_forgets_nothing_and_is_believed_when_it_comes_back() {
    let (clock, storage) = (WrongClock::at(NOW), MemoryStorage::default());
    let watch = started(&clock, &storage, false).await;
    for jump in [Span::hours(2), Span::days(40), Span::hours(-2), Span::days(-40)] {
        clock.run(60);
        let truth = clock.now();
        clock.jump(jump);
        for _ in 0..3 {
            clock.run(10);
            let before = watch.look(&storage).await.unwrap().time();
            assert!(before <= truth + Span::seconds(30) - MARGIN, "{jump}: {before}");
        }
        clock.jump(-jump);
        assert_eq!(watch.look(&storage).await.unwrap().time(), clock.now() - MARGIN, "{jump}");
    }
}

#[tokio::test]
async fn f_18_a_start_with_another_clock_is_noticed_and_somebody_may_say_that_it_is_right() {
    let storage = MemoryStorage::default();
    let clock = WrongClock::at(NOW);
    started(&clock, &storage, false).await;
    let later = WrongClock::at(NOW + Span::days(40));
    for _ in 0..3 {
        let watch = started(&later, &storage, false).await;
        assert_eq!(watch.look(&storage).await.unwrap().time(), NOW - MARGIN);
    }
    let watch = started(&later, &storage, true).await;
    assert_eq!(watch.look(&storage).await.unwrap().time(), NOW + Span::days(40) - MARGIN);
    let watch = started(&later, &storage, false).await;
    assert_eq!(watch.look(&storage).await.unwrap().time(), NOW + Span::days(40) - MARGIN);
}

/// At the first start of this release there is no mark to compare with.
#[tokio::test]
async fn f_18_the_newest_grant_tells_the_time_where_nothing_was_written_down() {
    let storage = MemoryStorage::default();
    storage.complete_login(fixtures::complete_login()).await.unwrap();
    let watch = started(&WrongClock::at(NOW + Span::days(40)), &storage, false).await;
    assert_eq!(watch.look(&storage).await.unwrap().time(), NOW - MARGIN);
}

#[tokio::test]
async fn what_is_known_of_the_time_is_written_down_once_a_minute() {
    let (clock, storage) = (WrongClock::at(NOW), MemoryStorage::default());
    let watch = started(&clock, &storage, false).await;
    let mut written = Vec::new();
    for _ in 0..18 {
        clock.run(10);
        watch.look(&storage).await.unwrap();
        let TimeWitness::Mark(Some(mark)) = storage.time_witness().await.unwrap() else { panic!("a mark") };
        written.push((mark.trusted_at - NOW).whole_seconds());
    }
    written.dedup();
    assert_eq!(written, [0, 60, 120, 180]);
}

#[test]
fn d_10_the_databases_clock_is_followed_and_time_passes_by_one_that_nobody_sets() {
    let own = WrongClock::at(NOW - Span::days(40));
    let shared = DatabaseClock::at(Arc::<WrongClock>::clone(&own), NOW);
    assert_eq!(shared.now(), NOW);
    own.run(10);
    own.jump(Span::hours(2));
    assert_eq!(shared.now(), NOW + Span::seconds(10));
    shared.follow(NOW + Span::seconds(10) + Span::milliseconds(20), Duration::from_millis(50));
    assert_eq!(
        shared.now(),
        NOW + Span::seconds(10),
        "the difference is no larger than the time that it took to ask"
    );
    shared.follow(NOW + Span::hours(1), Duration::from_millis(50));
    assert_eq!(shared.now(), NOW + Span::hours(1));
    assert_eq!(shared.elapsed(), ManualClock::default().elapsed() + Duration::from_secs(10));
}
