//! A record with several checkpoints, keys that came and went, deleted accounts, and events whose time is over.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_adapters_crypto::{
    CheckpointReader, JosekitReader, JosekitSigner, OperatorSecret, OsEntropy, WalletRouter, load_or_create,
    make_key,
};
use countersign_adapters_postgres::{PgOptions, PgStorage};
use countersign_adapters_sqlite::{SqliteOptions, SqliteStorage};
use countersign_conformance::fakes::{FakeFetcher, ManualClock};
use countersign_conformance::fixtures;
use countersign_domain::admission::AccessRule;
use countersign_domain::challenge::TextKey;
use countersign_domain::checkpoint::{Digest256, SealedEvent, SignedCheckpoint};
use countersign_domain::client_assertion::AssertionAudience;
use countersign_domain::dpop::DpopNonceKey;
use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson};
use countersign_domain::id::{EventId, UserId};
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::picture::PictureKey;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::resource::ResourceRules;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::signing_key::{KeyWanted, SealedKey};
use countersign_operators::events::verify_events::{Signatures, Verified, VerifyError, verify_events};
use countersign_operators::people::delete_user::delete_user;
use countersign_ports::{CheckpointAt, Clock, EntropyExt, EventAt, Storage, WithdrawSigningKey};
use countersign_tests::Database;
use countersign_usecases::context::blocks::Blocks;
use countersign_usecases::context::cause::EventPolicy;
use countersign_usecases::context::clients::Clients;
use countersign_usecases::context::resources::Resources;
use countersign_usecases::context::uses::Uses;
use countersign_usecases::events::retire_events::retire_events;
use countersign_usecases::events::seal_events::seal_events;
use countersign_usecases::{Context, ContextKeys, Policy};
use time::{Duration, OffsetDateTime};
use tokio::runtime::Runtime;

/// The tables that an attacker changes, which are put back afterwards.
pub(crate) const TABLES: [&str; 4] = ["events", "checkpoints", "fresh_events", "signing_keys"];

pub(crate) const RETENTION: Duration = Duration::days(90);

/// What `event verify` says.
#[derive(Debug)]
pub(crate) enum Verdict {
    Holds(Box<Verified>),
    /// It does not hold, or cannot be verified; with exit code 1 in any case.
    Named(String),
}

impl Verdict {
    pub(crate) const fn holds(&self) -> bool {
        matches!(self, Self::Holds(_))
    }
}

pub(crate) struct Scene<'a> {
    pub(crate) database: &'a Database,
    pub(crate) runtime: Runtime,
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) secret: OperatorSecret,
    /// A server that has run all the time.
    pub(crate) context: Context,
    /// The published keys, as a stranger saved them at the end.
    pub(crate) jwks: String,
    /// All checkpoints at the end, as they were saved elsewhere.
    pub(crate) saved: BTreeMap<u64, Digest256>,
    /// The id of the signing key that was withdrawn.
    pub(crate) withdrawn: String,
    opened: RefCell<Option<Opened>>,
}

/// The signer of these keys at this time.
struct Opened {
    keys: Vec<SealedKey>,
    at: OffsetDateTime,
    signer: Arc<JosekitSigner>,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(database: &'a Database) -> Self {
        let runtime = Runtime::new().unwrap();
        let storage: Arc<dyn Storage> = if database.is_postgres() {
            Arc::new(PgStorage::connect(&database.url(), PgOptions::default()).unwrap())
        } else {
            let path = database.folder().join("countersign.db");
            Arc::new(SqliteStorage::open(&path, SqliteOptions::default()).unwrap())
        };
        for table in TABLES {
            database.change(&format!("DELETE FROM {table}"));
        }
        let clock = Arc::new(ManualClock::default());
        let secret = OperatorSecret::generate(&OsEntropy);
        let signer = runtime.block_on(load_or_create(&*storage, &secret, &*clock, &OsEntropy, &())).unwrap();
        let context = context(&storage, &clock, &secret, Arc::new(signer));
        let mut scene = Self {
            database,
            runtime,
            storage,
            clock,
            secret,
            context,
            jwks: String::new(),
            saved: BTreeMap::new(),
            withdrawn: String::new(),
            opened: RefCell::new(None),
        };
        scene.live();
        scene
    }

    /// Ten checkpoints or more, of three keys and two years.
    fn live(&mut self) {
        let [gone, ann, bob, carol] = [(); 4].map(|()| self.user());
        for user in [gone, ann, bob] {
            self.act(user, 3);
            self.seal();
        }
        self.delete(gone);
        self.act(ann, 2);
        self.seal();
        // What follows is kept, what was before goes.
        self.clock.advance(Duration::days(60));
        self.act(bob, 4);
        self.act(carol, 3);
        self.seal();
        self.rotate();
        self.act(ann, 4);
        self.act(carol, 2);
        self.seal();
        self.clock.advance(Duration::days(31));
        self.act(carol, 2);
        self.seal();
        self.delete(carol);
        self.withdrawn = self.rotate();
        self.act(ann, 3);
        self.seal();
        self.rotate();
        let (kid, withdrawn_at) = (self.withdrawn.clone(), self.clock.now());
        let command = WithdrawSigningKey { kid, now: withdrawn_at, event: None };
        assert!(self.runtime.block_on(self.storage.withdraw_signing_key(command)).unwrap());
        self.signer();
        self.retire();
        for user in [bob, ann] {
            self.act(user, 4);
            self.seal();
        }
        self.act(bob, 2);
        let signer = self.signer();
        self.jwks = countersign_ports::TokenSigner::public_keys(&*signer).jwks;
        self.saved = self.checkpoints().iter().map(|one| (one.checkpoint.number, one.hash())).collect();
        for table in TABLES {
            self.database.change(&format!("CREATE TABLE saved_{table} AS SELECT * FROM {table}"));
        }
    }

    fn user(&self) -> UserId {
        let login = fixtures::complete_login();
        let user = login.new_user;
        self.runtime.block_on(self.storage.complete_login(login)).unwrap();
        user
    }

    pub(crate) fn event(&self, user: UserId, number: u64) -> Event {
        Event {
            id: EventId::at(self.clock.now(), OsEntropy.bytes()),
            kind: if number.is_multiple_of(2) { EventKind::SignIn } else { EventKind::SignOut },
            actor: if number.is_multiple_of(3) { Actor::Person } else { Actor::Client },
            person: Some(EventPerson::User(user)),
            wallet: Some(fixtures::wallet_account()),
            client: Some(fixtures::client_id()),
            address: Some(PeerAddress::network([203, 0, (number % 200) as u8, 77].into())),
            request: Some(format!("request-{number}")),
            details: Details::default().number("number", number),
            signed: None,
        }
    }

    pub(crate) fn act(&self, user: UserId, times: u64) {
        for number in 0..times {
            self.clock.advance(Duration::seconds(1));
            let event = self.event(user, number);
            assert!(self.runtime.block_on(self.storage.record_event(event)).unwrap());
        }
    }

    fn seal(&self) {
        self.clock.advance(Duration::seconds(8));
        while self.runtime.block_on(seal_events(&self.context)).unwrap().more {}
    }

    fn retire(&self) {
        while self
            .runtime
            .block_on(retire_events(&self.context, fixtures::past(self.clock.now())))
            .unwrap()
            .more
        {}
    }

    fn delete(&self, user: UserId) {
        let (management, key) = (self.context.management(), &self.context.keys.record);
        self.runtime.block_on(delete_user(management, key, user)).unwrap();
    }

    /// A new key signs from now on. Returns its id.
    fn rotate(&mut self) -> String {
        self.clock.advance(Duration::minutes(1));
        let now = self.clock.now();
        let wanted = KeyWanted { active_from: now, unless_after: now };
        let (storage, secret) = (Arc::clone(&self.storage), self.secret.clone());
        let made = make_key(&*storage, &secret, &OsEntropy, &(), now, (SigningAlgorithm::Es256, wanted));
        let kid = self.runtime.block_on(made).unwrap().unwrap().kid;
        self.signer();
        kid
    }

    /// The signer with the stored keys, which the server uses from now on.
    fn signer(&mut self) -> Arc<JosekitSigner> {
        let signer = self.stored_signer().unwrap();
        self.context.signer = Arc::<JosekitSigner>::clone(&signer);
        signer
    }

    /// Keys are opened again only where an attack changed them: that takes half of the time.
    fn stored_signer(&self) -> Result<Arc<JosekitSigner>, String> {
        let at = self.clock.now();
        let keys = self.runtime.block_on(self.storage.signing_keys()).map_err(|error| error.to_string())?;
        let mut opened = self.opened.borrow_mut();
        if let Some(opened) = opened.as_ref().filter(|opened| opened.keys == keys && opened.at == at) {
            return Ok(Arc::clone(&opened.signer));
        }
        let signer = Arc::new(JosekitSigner::new(&[]).unwrap());
        let reload = signer.reload(&*self.storage, &self.secret, at);
        self.runtime.block_on(reload).map_err(|error| error.to_string())?;
        *opened = Some(Opened { keys, at, signer: Arc::clone(&signer) });
        Ok(signer)
    }

    /// A server that starts now and knows nothing of before, with the keys as they are stored.
    pub(crate) fn restarted(&self) -> Option<Context> {
        let signer = self.stored_signer().ok()?;
        Some(Context { record: Arc::default(), signer, ..self.context.clone() })
    }

    /// `event verify`, as an operator runs it.
    pub(crate) fn verify(&self) -> Verdict {
        self.verify_against(&BTreeMap::new())
    }

    pub(crate) fn verify_against(&self, saved: &BTreeMap<u64, Digest256>) -> Verdict {
        let stored = match self.runtime.block_on(self.storage.signing_keys()) {
            Ok(stored) => stored,
            Err(error) => return Verdict::Named(error.to_string()),
        };
        match self.stored_signer() {
            Ok(signer) => {
                let mut reader = CheckpointReader::of_server(&signer, &stored, &self.secret);
                self.verify_with(&mut reader, saved)
            }
            Err(error) => Verdict::Named(error),
        }
    }

    /// `event verify --keys`, with the keys that were published before the attack.
    pub(crate) fn verify_by_keys(&self) -> Verdict {
        self.verify_with(&mut CheckpointReader::of_keys(&self.jwks).unwrap(), &BTreeMap::new())
    }

    fn verify_with(&self, reader: &mut CheckpointReader, saved: &BTreeMap<u64, Digest256>) -> Verdict {
        let wallets = WalletRouter::standard();
        let signatures = Signatures { wallets: &wallets, authority: "localhost" };
        let verified = verify_events(&*self.storage, reader, signatures, saved, |_| {});
        match self.runtime.block_on(verified) {
            Ok(verified) => Verdict::Holds(Box::new(verified)),
            Err(VerifyError::Broken(broken)) => Verdict::Named(broken.to_string()),
            Err(VerifyError::Store(error)) => Verdict::Named(error.to_string()),
        }
    }

    pub(crate) fn checkpoints(&self) -> Vec<SignedCheckpoint> {
        let found = self.runtime.block_on(self.storage.checkpoints(0, 1_000)).unwrap();
        let signed = found.into_iter().map(|at| match at {
            CheckpointAt::Checkpoint(signed) => *signed,
            CheckpointAt::Unreadable { .. } => panic!("{at:?}"),
        });
        signed.collect()
    }

    pub(crate) fn sealed(&self) -> Vec<SealedEvent> {
        let found = self.runtime.block_on(self.storage.sealed_events(0, 1_000)).unwrap();
        let sealed = found.into_iter().map(|at| match at {
            EventAt::Event(sealed) => *sealed,
            EventAt::Unreadable { .. } => panic!("{at:?}"),
        });
        sealed.collect()
    }

    /// Puts everything back.
    pub(crate) fn restore(&self) {
        let put_back = TABLES
            .map(|table| format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM saved_{table}; "));
        self.database.change(&format!("BEGIN; {} COMMIT", put_back.concat()));
    }

    /// Is this table as it was?
    pub(crate) fn is_as_before(&self, table: &str) -> bool {
        let differs = |one: &str, other: &str| {
            self.database.number(&format!(
                "SELECT count(*) FROM (SELECT * FROM {one} EXCEPT SELECT * FROM {other}) AS differs"
            )) > 0
        };
        let saved = format!("saved_{table}");
        let count = |table: &str| self.database.number(&format!("SELECT count(*) FROM {table}"));
        !differs(table, &saved) && !differs(&saved, table) && count(table) == count(&saved)
    }
}

fn context(
    storage: &Arc<dyn Storage>,
    clock: &Arc<ManualClock>,
    secret: &OperatorSecret,
    signer: Arc<JosekitSigner>,
) -> Context {
    let shared = || Arc::clone(storage);
    let url = || PublicUrl::parse("http://localhost").unwrap();
    Context {
        storage: shared(),
        resources: Resources::new(shared(), Arc::<ManualClock>::clone(clock)),
        uses: Uses::new(shared(), shared()),
        clients: Clients::new(shared(), Arc::<ManualClock>::clone(clock)),
        blocks: Blocks::new(shared(), Arc::<ManualClock>::clone(clock)),
        record: Arc::default(),
        access: Arc::default(),
        wallets: Arc::new(WalletRouter::standard()),
        signer,
        jws: Arc::new(JosekitReader),
        fetcher: Arc::new(FakeFetcher::default()),
        clock: Arc::<ManualClock>::clone(clock),
        entropy: Arc::new(OsEntropy),
        mailer: None,
        keys: ContextKeys {
            texts: TextKey::new([7; 32]),
            nonces: DpopNonceKey::new([8; 32]),
            pictures: PictureKey::new([9; 32]),
            pairwise: secret.pairwise_key(),
            record: secret.record_key(),
            restored_at: None,
        },
        policy: Policy {
            public_url: url(),
            lifetimes: Lifetimes::default(),
            default_access: AccessRule::Everyone,
            resources: ResourceRules::new(url(), Vec::new()).unwrap(),
            client_documents: false,
            synthetic_email: false,
            wallets_per_user: 20,
            assertion_audience: AssertionAudience::default(),
            events: EventPolicy { retention: Some(RETENTION), whole_addresses: false },
            playground: false,
            desk: None,
        },
    }
}
