//! Measures whether the desk's lists take longer among many: a database with few users and events, and one with a
//! hundred times as many, in turn.
//!
//! The stores are asked directly, as the desk asks them, so that neither pages nor connections blur what a list
//! costs. So this is an example, beside a benchmark that shares no code with the server.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use countersign_adapters_postgres::{PgOptions, PgStorage};
use countersign_adapters_sqlite::{SqliteOptions, SqliteStorage};
use countersign_bench::cell::{Database, Target};
use countersign_bench::progress::Progress;
use countersign_bench::servers::Place;
use countersign_domain::admission::AccessRule;
use countersign_domain::event::{EventKind, EventPerson};
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, GrantId, UserId};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    ClientFilter, ClientOrder, EventFilter, EventOrder, EventPage, LetsIn, PeopleFilter, PeopleOrder,
    ProposalPage, SortClients, SortPeople, Storage, StoreError,
};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

/// Measures whether the desk's lists take longer among many.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many users there are in the large database, each with a wallet and a session.
    #[arg(long, default_value_t = 1_000_000)]
    users: u64,
    /// How many events there are in the large database, all of them sealed.
    #[arg(long, default_value_t = 10_000_000)]
    events: u64,
    /// The small database has so many times fewer.
    #[arg(long, default_value_t = 100)]
    fewer: u64,
    /// How often each list is read; the table shows medians.
    #[arg(long, default_value_t = 101)]
    rounds: u64,
    /// Only these databases.
    #[arg(long, value_delimiter = ',', value_enum)]
    databases: Vec<Database>,
}

/// What is measured.
struct Plan {
    sizes: [Size; 2],
    rounds: u64,
    databases: Vec<Database>,
}

/// How many rows there are.
#[derive(Clone, Copy)]
struct Size {
    users: u64,
    events: u64,
}

impl Arguments {
    fn plan(self) -> Plan {
        let Self { users, events, fewer, rounds, databases } = self;
        let databases =
            if databases.is_empty() { vec![Database::Sqlite, Database::Postgres] } else { databases };
        // With fewer users there would be no whole pages.
        let few = |count: u64| (count / fewer.max(1)).max(1_000);
        let sizes = [Size { users: few(users), events: few(events) }, Size { users, events }];
        Plan { sizes, rounds: rounds.max(1), databases }
    }
}

fn main() -> Result<(), Failure> {
    let plan = Arguments::parse().plan();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let table = runtime.block_on(measure(&plan))?;
    Ok(io::stdout().lock().write_all(table.as_bytes())?)
}

/// Why nothing could be measured.
type Failure = Box<dyn Error + Send + Sync>;

/// A filled database.
struct Desk {
    store: Arc<dyn Storage>,
    size: Size,
    // Dropped after the store that uses it.
    _place: Place,
}

/// How long a page took to read, in the small and in the large database.
struct Line {
    database: Database,
    what: &'static str,
    times: [Vec<Duration>; 2],
}

/// Fills the databases, measures, and returns the table.
async fn measure(plan: &Plan) -> Result<String, Failure> {
    let mut progress = Progress::new(plan.databases.len() * (plan.sizes.len() + LISTS.len()));
    let mut lines = Vec::new();
    for &database in &plan.databases {
        let mut desks = Vec::new();
        for size in plan.sizes {
            let Size { users, events } = size;
            progress.begin(&format!("{}: filling in {users} users, {events} events", database.title()));
            desks.push(fill(database, size).await?);
            progress.end();
        }
        for (what, ask) in LISTS {
            progress.begin(&format!("{}: {what}", database.title()));
            let mut line = Line { database, what, times: [Vec::new(), Vec::new()] };
            for round in 0..plan.rounds {
                for (desk, times) in desks.iter().zip(&mut line.times) {
                    let began = Instant::now();
                    let rows = ask(desk, round.wrapping_mul(7_919)).await?;
                    times.push(began.elapsed());
                    if rows == 0 {
                        return Err(format!("{what}: nothing was found").into());
                    }
                }
            }
            lines.push(line);
            progress.end();
        }
    }
    progress.finish();
    Ok(table(plan, lines))
}

/// Reads one list, about a subject that the number picks. Returns how many rows it had.
type Ask = for<'a> fn(&'a Desk, u64) -> Answer<'a>;

type Answer<'a> = Pin<Box<dyn Future<Output = Result<usize, StoreError>> + Send + 'a>>;

/// The rows of a page.
const PAGE: u32 = 50;

/// What the desk lists.
const LISTS: [(&str, Ask); 28] = [
    ("users", |desk, _| desk.people(PeopleFilter::default(), None)),
    ("users, somewhere", |desk, number| desk.people(PeopleFilter::default(), Some(desk.user(number)))),
    ("blocked users", |desk, _| desk.people(PeopleFilter { group: None, blocked: true }, None)),
    ("users of a group", |desk, number| {
        let filter = PeopleFilter { group: desk.group(number), blocked: false };
        desk.people(filter, None)
    }),
    ("users by last sign-in", |desk, _| desk.sorted(None, false, PeopleOrder::LastSeen)),
    ("users by creation", |desk, _| desk.sorted(None, false, PeopleOrder::Created)),
    ("users of a group by last sign-in", |desk, number| {
        desk.sorted(desk.group(number), false, PeopleOrder::LastSeen)
    }),
    ("users of a group of everybody by last sign-in", |desk, _| {
        desk.sorted(GroupName::parse("everybody").ok(), false, PeopleOrder::LastSeen)
    }),
    ("blocked users by last sign-in", |desk, _| desk.sorted(None, true, PeopleOrder::LastSeen)),
    ("a user", |desk, number| {
        Box::pin(async move {
            let found = desk.store.find_person(desk.user(number), OffsetDateTime::UNIX_EPOCH).await?;
            Ok(found.iter().count())
        })
    }),
    ("blocked wallets", |desk, number| {
        Box::pin(async move {
            Ok(desk.store.blocked_wallets(Some(&wallet(desk.blocked(number))), PAGE).await?.len())
        })
    }),
    ("groups", |desk, number| {
        Box::pin(async move { Ok(desk.store.list_groups(desk.group(number).as_ref(), PAGE).await?.len()) })
    }),
    ("groups, one with everybody", |desk, _| {
        Box::pin(async move { Ok(desk.store.list_groups(None, PAGE).await?.len()) })
    }),
    ("members of a group", |desk, number| {
        Box::pin(async move {
            let Some(group) = desk.group(number) else { return Ok(0) };
            Ok(desk.store.list_members(&group, None, PAGE).await?.len())
        })
    }),
    ("clients", |desk, number| {
        Box::pin(async move { Ok(desk.store.list_clients(Some(desk.client(number)), PAGE).await?.len()) })
    }),
    ("clients by name", |desk, _| desk.sorted_clients(ClientOrder::Name, None)),
    ("clients by last use", |desk, _| desk.sorted_clients(ClientOrder::LastUse, None)),
    ("clients for everyone", |desk, _| desk.sorted_clients(ClientOrder::Name, Some(LetsIn::Everyone))),
    ("events", |desk, _| desk.events(EventFilter::default())),
    ("events of a frequent kind", |desk, _| desk.events(of_kind(EventKind::SignIn))),
    ("events of a rare kind", |desk, _| desk.events(of_kind(EventKind::ClientChanged))),
    ("events of a user", |desk, number| {
        let who = Some(Subject::User(EventPerson::User(desk.user(number))));
        desk.events(EventFilter { who, ..EventFilter::default() })
    }),
    ("events of a client", |desk, number| {
        let client = Some(ClientId::from_uuid(spread(number % desk.clients())));
        desk.events(EventFilter { client, ..EventFilter::default() })
    }),
    ("events of a request", |desk, number| {
        Box::pin(async move {
            let request = format!("request-{}", number % desk.size.events / 2);
            Ok(desk.store.events_of_request(&request, None, PAGE).await?.len())
        })
    }),
    ("proposals", |desk, _| desk.proposals(None)),
    ("proposals, somewhere", |desk, number| {
        let older = desk.size.users / 20 + number % (desk.size.users / 20);
        desk.proposals(Some(GrantId::from_uuid(timed(older))))
    }),
    ("days", |desk, _| {
        Box::pin(async move {
            let since = day(desk.days().saturating_sub(30));
            Ok(desk.store.day_counts(since).await?.len())
        })
    }),
    ("sessions, at most 1,000", |desk, _| {
        Box::pin(async move {
            Ok(usize::try_from(desk.store.count_sessions(OffsetDateTime::UNIX_EPOCH, 1_000).await?)
                .unwrap_or_default())
        })
    }),
];

impl Desk {
    fn people(&self, filter: PeopleFilter, after: Option<UserId>) -> Answer<'_> {
        Box::pin(async move { Ok(self.store.list_people(&filter, after, PAGE).await?.len()) })
    }

    fn sorted(&self, group: Option<GroupName>, blocked: bool, order: PeopleOrder) -> Answer<'_> {
        let filter = PeopleFilter { group, blocked };
        let question = SortPeople { filter, order, after: None, limit: PAGE };
        Box::pin(async move { Ok(self.store.sort_people(question).await?.people.len()) })
    }

    fn sorted_clients(&self, order: ClientOrder, lets_in: Option<LetsIn>) -> Answer<'_> {
        let question = SortClients {
            filter: ClientFilter { lets_in, origin: None },
            default_access: AccessRule::Everyone,
            order,
            after: None,
            limit: PAGE,
        };
        Box::pin(async move { Ok(self.store.sort_clients(question).await?.clients.len()) })
    }

    fn events(&self, filter: EventFilter) -> Answer<'_> {
        let page = EventPage { order: EventOrder::NewestFirst, after: None, limit: PAGE };
        Box::pin(async move { Ok(self.store.list_events(&filter, page).await?.len()) })
    }

    fn proposals(&self, after: Option<GrantId>) -> Answer<'_> {
        let page = ProposalPage { after, limit: PAGE };
        Box::pin(async move { Ok(self.store.list_proposals(page).await?.len()) })
    }

    /// A user who has the number, or a multiple of it.
    fn user(&self, number: u64) -> UserId {
        UserId::from_uuid(spread(number % self.size.users))
    }

    /// The number of a blocked user, and of the wallet; not one of the last.
    fn blocked(&self, number: u64) -> u64 {
        number % (self.size.users / 2) / BLOCKED * BLOCKED
    }

    /// A group of ten.
    fn group(&self, number: u64) -> Option<GroupName> {
        GroupName::parse(&format!("g{:06}", number % (self.size.groups() / 2))).ok()
    }

    /// A client that is not among the last.
    fn client(&self, number: u64) -> ClientId {
        ClientId::from_uuid(timed(number % (self.clients() / 2)))
    }

    const fn clients(&self) -> u64 {
        self.size.clients()
    }

    const fn days(&self) -> u64 {
        self.size.days()
    }
}

impl Size {
    /// Ten users each. There is one more, with everybody.
    const fn groups(self) -> u64 {
        self.users / 10
    }

    const fn clients(self) -> u64 {
        self.users / 10 + 100
    }

    /// How many days were counted.
    const fn days(self) -> u64 {
        self.events / 20_000 + 60
    }
}

fn of_kind(kind: EventKind) -> EventFilter {
    EventFilter { kinds: vec![kind], ..EventFilter::default() }
}

/// Every so many users and wallets are blocked.
const BLOCKED: u64 = 10;

/// An id that sorts by its time, as ids of events, clients and changes do.
fn timed(number: u64) -> Uuid {
    Uuid::from_u128(u128::from(START + number) << 80 | 0x7000_8000_u128 << 48 | u128::from(number))
}

/// An id that sorts anywhere, as ids of users do.
fn spread(number: u64) -> Uuid {
    let first = number.wrapping_mul(2_654_435_761) % (1 << 32);
    Uuid::from_u128(u128::from(first) << 96 | u128::from(number))
}

fn wallet(number: u64) -> WalletAccount {
    let (family, chain) = ("eip155".to_owned(), "eip155:1".to_owned());
    WalletAccount { family, chain, address: format!("0x{number:040x}") }
}

/// The day with this number.
fn day(number: u64) -> Date {
    let seconds = i64::try_from(number * 86_400).unwrap_or_default();
    let time = OffsetDateTime::UNIX_EPOCH.saturating_add(time::Duration::seconds(seconds));
    time.date()
}

/// The time of the first row, in milliseconds since 1970.
const START: u64 = 1_790_000_000_000;

/// The store creates its tables, and they are filled beside it.
async fn fill(database: Database, size: Size) -> Result<Desk, Failure> {
    let place = Place::make(database)?;
    // Only where it is: nobody starts a server there.
    let launch = place.launch(Target::Server, Path::new(""));
    let url = launch.database_url().to_owned();
    let filled = tokio::task::spawn_blocking(move || -> Result<Arc<dyn Storage>, Failure> {
        Ok(match url.strip_prefix("sqlite://") {
            Some(path) => {
                let store = SqliteStorage::open(Path::new(path), SqliteOptions::default())?;
                let mut connection = SqliteConnection::establish(path)?;
                let fast =
                    "PRAGMA busy_timeout = 10000; PRAGMA synchronous = OFF; PRAGMA cache_size = -256000";
                connection.batch_execute(fast)?;
                connection.batch_execute(&sqlite(size))?;
                Arc::new(store)
            }
            None => {
                let store = PgStorage::connect(&url, PgOptions::default())?;
                let mut connection = PgConnection::establish(&url)?;
                connection.batch_execute(&postgres(size))?;
                connection.batch_execute("VACUUM (ANALYZE)")?;
                Arc::new(store)
            }
        })
    });
    Ok(Desk { store: filled.await??, size, _place: place })
}

/// The kinds of events: two of a hundred are of others than the frequent one.
const KIND: &str =
    "CASE WHEN n % 100 = 7 THEN 'client_changed' WHEN n % 100 = 3 THEN 'sign_out' ELSE 'sign_in' END";

/// The columns of a client that must have a value, except its id and its time.
const CLIENT: &str = "(id, created_at, origin, auth_method, registration_token_hash, name, redirect_uris, scopes, \
    grant_types, contacts, post_logout_redirect_uris, requires_pushed_requests, requires_bound_tokens, resources, \
    released_groups)";

/// What they hold.
const CLIENT_VALUES: &str = "'operator', 'none', HASH, 'A client', 'https://client.example/callback', 'profile', \
    'authorization_code', '', '', FALSE, FALSE, '', ''";

/// What an operator signed, as long as such texts are.
const SIGNED: &str = "'eip155 eip155:1 0x', 'eip155', 'eip155:1', '0x', TEXT, '0x'";

fn sqlite(size: Size) -> String {
    let Size { users, events } = size;
    let (groups, clients, days) = (size.groups(), size.clients(), size.days());
    let series = |count: u64| {
        format!("WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n + 1 < {count})")
    };
    let spread =
        |number: &str| format!("unhex(printf('%08x%024x', ({number}) * 2654435761 % 4294967296, {number}))");
    let timed = format!("unhex(printf('%012x70008000%012x', {START} + n, n))");
    let (user, of_user, of_client) =
        (spread("n"), spread(&format!("n % {users}")), spread(&format!("n % {clients}")));
    let address = "printf('0x%040x', n)";
    let at = format!("({START} + n) * 1000");
    let (all, groups_of, days_of) = (series(users), series(groups), series(days * 20));
    let signed = SIGNED.replace("TEXT", "printf('%01500d', n)");
    let client = CLIENT_VALUES.replace("HASH", "zeroblob(32)");
    format!(
        "BEGIN IMMEDIATE; \
         INSERT INTO users (id, created_at) {all} SELECT {user}, {at} FROM s; \
         INSERT INTO wallets (family, address, user_id, linked_at, chain) {all} \
           SELECT 'eip155', {address}, {user}, {at}, 'eip155:1' FROM s; \
         INSERT INTO login_sessions (id, user_id, family, chain, address, secret_hash, browser, authenticated_at, \
           last_used_at, expires_at) {all} \
           SELECT {timed}, {user}, 'eip155', 'eip155:1', {address}, zeroblob(32), 'Firefox', {at}, {at}, {at} FROM s; \
         INSERT INTO user_groups (name, created_at) VALUES ('everybody', {START}000); \
         INSERT INTO user_groups (name, created_at) {groups_of} SELECT printf('g%06d', n), {START}000 FROM s; \
         INSERT INTO group_users (group_name, user_id, added_at) {all} SELECT 'everybody', {user}, {at} FROM s; \
         INSERT INTO group_users (group_name, user_id, added_at) {all} \
           SELECT printf('g%06d', n % {groups}), {user}, {at} FROM s; \
         INSERT INTO blocked_users (user_id, blocked_at) {all} SELECT {user}, {at} FROM s WHERE n % {BLOCKED} = 0; \
         INSERT INTO blocked_wallets (family, address, chain, blocked_at) {all} \
           SELECT 'eip155', {address}, 'eip155:1', {at} FROM s WHERE n % {BLOCKED} = 0; \
         INSERT INTO clients {CLIENT} {} SELECT {timed}, {at}, {client} FROM s; \
         INSERT INTO proposals (id, user_id, wallets, family, chain, address, text, signature, proposed_at, expires_at, \
           state) {} SELECT {timed}, {user}, {signed}, {at}, {at}, 'done' FROM s; \
         INSERT INTO day_counts (day, kind, family, count) {days_of} \
           SELECT 2440588 + n / 20, 'sign_in', 'family ' || (n % 20), n FROM s; \
         INSERT INTO events (position, id, kind, actor, user_id, family, chain, address, client_id, peer, request, \
           details, salt, commitment) {} \
           SELECT n + 1, {timed}, {KIND}, 'person', {of_user}, 'eip155', 'eip155:1', {address}, {of_client}, \
           '203.0.113.0/24', 'request-' || (n / 2), '{{}}', zeroblob(16), zeroblob(32) FROM s; \
         COMMIT; PRAGMA wal_checkpoint(PASSIVE)",
        series(clients),
        series(users / 10),
        series(events),
    )
}

fn postgres(size: Size) -> String {
    let Size { users, events } = size;
    let (groups, clients, days) = (size.groups(), size.clients(), size.days());
    let series = |count: u64| format!("FROM generate_series(0::bigint, {count} - 1) AS s(n)");
    let spread = |number: &str| {
        format!(
            "(lpad(to_hex(({number}) * 2654435761 % 4294967296), 8, '0') || lpad(to_hex({number}), 24, '0'))::uuid"
        )
    };
    let timed =
        format!("(lpad(to_hex({START} + n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid");
    let (user, of_user, of_client) =
        (spread("n"), spread(&format!("n % {users}")), spread(&format!("n % {clients}")));
    let address = "'0x' || lpad(to_hex(n), 40, '0')";
    let at = format!("to_timestamp(({START} + n) / 1000.0)");
    let (all, hash) = (series(users), "sha256('')");
    let signed = SIGNED.replace("TEXT", "lpad(n::text, 1500, '0')");
    let client = CLIENT_VALUES.replace("HASH", hash);
    format!(
        "INSERT INTO users (id, created_at) SELECT {user}, {at} {all}; \
         INSERT INTO wallets (family, address, user_id, linked_at, chain) \
           SELECT 'eip155', {address}, {user}, {at}, 'eip155:1' {all}; \
         INSERT INTO login_sessions (id, user_id, family, chain, address, secret_hash, browser, authenticated_at, \
           last_used_at, expires_at) \
           SELECT {timed}, {user}, 'eip155', 'eip155:1', {address}, {hash}, 'Firefox', {at}, {at}, {at} {all}; \
         INSERT INTO user_groups (name, created_at) VALUES ('everybody', now()); \
         INSERT INTO user_groups (name, created_at) SELECT 'g' || lpad(n::text, 6, '0'), now() {}; \
         INSERT INTO group_users (group_name, user_id, added_at) SELECT 'everybody', {user}, {at} {all}; \
         INSERT INTO group_users (group_name, user_id, added_at) \
           SELECT 'g' || lpad((n % {groups})::text, 6, '0'), {user}, {at} {all}; \
         INSERT INTO blocked_users (user_id, blocked_at) SELECT {user}, {at} {all} WHERE n % {BLOCKED} = 0; \
         INSERT INTO blocked_wallets (family, address, chain, blocked_at) \
           SELECT 'eip155', {address}, 'eip155:1', {at} {all} WHERE n % {BLOCKED} = 0; \
         INSERT INTO clients {CLIENT} SELECT {timed}, {at}, {client} {}; \
         INSERT INTO proposals (id, user_id, wallets, family, chain, address, text, signature, proposed_at, expires_at, \
           state) SELECT {timed}, {user}, {signed}, {at}, {at}, 'done' {}; \
         INSERT INTO day_counts (day, kind, family, count) \
           SELECT DATE '1970-01-01' + (n / 20)::int, 'sign_in', 'family ' || (n % 20), n {}; \
         INSERT INTO events (position, id, kind, actor, user_id, family, chain, address, client_id, peer, request, \
           details, salt, commitment) \
           SELECT n + 1, {timed}, {KIND}, 'person', {of_user}, 'eip155', 'eip155:1', {address}, {of_client}, \
           '203.0.113.0/24', 'request-' || (n / 2), '{{}}', substr({hash}, 1, 16), {hash} {}",
        series(groups),
        series(clients),
        series(users / 10),
        series(days * 20),
        series(events),
    )
}

fn table(plan: &Plan, lines: Vec<Line>) -> String {
    let [few, many] = plan.sizes.map(|size| format!("{} users, {} events", size.users, size.events));
    let mut table = format!("| database | list | {few} | {many} | ratio |\n|---|---|---|---|---|\n");
    for Line { database, what, times } in lines {
        let [few, many] = times.map(|times| median(times).as_secs_f64());
        let ratio = many / few.max(f64::EPSILON);
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {} | {what} | {:.3} ms | {:.3} ms | {ratio:.2} |",
            database.title(),
            few * 1e3,
            many * 1e3
        );
    }
    table
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_that_the_databases_compute() {
        assert_eq!(timed(255).to_string(), "01a0c450-6cff-7000-8000-0000000000ff");
        assert_eq!(spread(1).to_string(), "9e3779b1-0000-0000-0000-000000000001");
    }

    #[tokio::test]
    async fn every_list_finds_rows_among_few_and_among_many() {
        let sizes = [Size { users: 2_000, events: 4_000 }, Size { users: 4_000, events: 8_000 }];
        let plan = Plan { sizes, rounds: 3, databases: vec![Database::Sqlite, Database::Postgres] };
        let table = measure(&plan).await.unwrap();
        assert_eq!(table.lines().count(), 2 + 2 * LISTS.len(), "{table}");
    }
}
