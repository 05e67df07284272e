//! `countersign serve`: starts, runs and stops the server.

mod contract_chains;
mod known;
mod listener;
mod shutdown;
mod supervisor;

use std::io::{self, IsTerminal, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use countersign_adapters_crypto::{EpochSecret, JosekitSigner, OperatorSecret, load_or_create};
use countersign_domain::challenge::TextKey;
use countersign_domain::dpop::DpopNonceKey;
use countersign_domain::epoch::Epoch;
use countersign_domain::form_key::FormKey;
use countersign_domain::picture::PictureKey;
use countersign_domain::repeat_key::RepeatKey;
use countersign_domain::secret::SecretHash;
use countersign_http_actix::{self as http, HttpSettings, Registration, Running};
use countersign_http_operators::{self as operators, AdminSettings, DeskSettings, RunningAdmin};
use countersign_metrics::{MeasuredWallets, Metrics};
use countersign_ports::{Clock, KeyRing, Storage};
use countersign_usecases::context::cause::SERVER;
use countersign_usecases::context::footing::Footing;
use countersign_usecases::events::hosts::keep_host_noted;
use countersign_usecases::events::waiting_events::SealWatch;
use countersign_usecases::upkeep::hour_counts::HourCounter;
use countersign_usecases::{Context, ContextKeys};
use known::KnownFigures;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::applications::desk::KnownApplications;
use crate::commands::declared;
use crate::commands::templates;
use crate::config::agreement::Agreement;
use crate::config::descriptors;
use crate::config::throw_away::ThrowAway;
use crate::config::warnings;
use crate::config::{AddressDetail, Config, MetricsPage, RegistrationMode};
use crate::database::admin_group;
use crate::database::opening;
use crate::database::operator_secret::{self, OperatorSecretError};
use crate::failure::{Failure, chain};
use crate::keys::key_events::EventsOfKeys;
use crate::keys::key_ring::SealedRing;
use crate::server::shutdown::Signals;
use crate::server::supervisor::Supervisor;
use crate::upkeep::clock_watch::ClockWatch;
use crate::upkeep::epoch_watch::EpochWatch;
use crate::upkeep::event_keeper::EventKeeper;
use crate::upkeep::event_pusher::{EventPusher, PushCounts};
use crate::upkeep::event_watch::EventWatch;
use crate::upkeep::key_keeper::KeyKeeper;
use crate::upkeep::lease::Lease;
use crate::upkeep::replica_keeper::ReplicaKeeper;
use crate::upkeep::upkeeper::{CountWriter, Upkeeper, UseWriter};
use crate::wiring::{OpenStorage, Wiring};

/// How long the server still takes requests after its readiness turned 503, so that load balancers can look
/// elsewhere first.
const LINGER: Duration = Duration::from_secs(1);
/// How long requests in flight may take to finish. Together with [`LINGER`] and [`CLOSING`] this stays within
/// the promised 30 s.
const GRACE: Duration = Duration::from_secs(24);
/// How long the queued writes may take.
const CLOSING: Duration = Duration::from_secs(5);

/// Listens where the settings say. Comes before everything else: a second server on this address must not
/// touch the first one's database.
pub(crate) fn listen(config: &Config) -> Result<TcpListener, Failure> {
    listener::listen(config.bind)
        .map_err(|error| Failure::because(&format!("listen on {} (bind)", config.bind), &error))
}

/// Takes the socket that a supervisor opened for this process, if there is one, with its address. Then nothing is
/// refused while one server ends and the next one starts: the supervisor keeps the socket open.
pub(crate) fn handed_over() -> Result<Option<(TcpListener, SocketAddr)>, Failure> {
    listener::handed_over()
        .map_err(|error| Failure::because("take the socket that was handed over (LISTEN_FDS)", &error))
}

fn listen_at(address: SocketAddr, setting: &str) -> Result<TcpListener, Failure> {
    listener::listen(address)
        .map_err(|error| Failure::because(&format!("listen on {address} ({setting})"), &error))
}

/// Warns of what the settings and the templates leave open. Returns what the settings do.
fn warn(config: &Config, wiring: &Wiring) -> Result<Vec<String>, Failure> {
    let warned = warnings::of(config, wiring);
    let doubts = templates::doubts(config, wiring)
        .map_err(|error| Failure::because("read the templates (template_directory)", &error))?;
    for warning in &warned {
        tracing::warn!("{warning}");
    }
    for doubt in doubts {
        tracing::warn!("{doubt}");
    }
    Ok(warned)
}

fn serve_admin(
    running: &Running,
    settings: AdminSettings,
    listener: TcpListener,
) -> Result<RunningAdmin, Failure> {
    if let Ok(address) = listener.local_addr() {
        tracing::info!(%address, "the admin interface is at /admin/api/v1");
    }
    let (started, serving) = operators::serve_admin(running, settings, listener)
        .map_err(|error| Failure::because("serve the admin interface (admin_listen)", &error))?;
    tokio::spawn(serving);
    Ok(started)
}

fn serve_metrics(metrics: Arc<Metrics>, listener: TcpListener) -> Result<(), Failure> {
    if let Ok(address) = listener.local_addr() {
        tracing::info!(%address, "metrics are at /metrics");
    }
    let serving = http::serve_metrics(metrics, listener)
        .map_err(|error| Failure::because("serve the metrics (metrics_listen)", &error))?;
    tokio::spawn(serving);
    Ok(())
}

/// Serves until a signal arrives. Temporary files are gone when this returns.
pub(crate) async fn serve(
    config: Config,
    wiring: Wiring,
    listener: TcpListener,
    mut throw_away: Option<ThrowAway>,
    clock_is_right: bool,
) -> Result<(), Failure> {
    let warned = warn(&config, &wiring)?;
    let mut signals = Signals::listen().map_err(|error| Failure::because("listen for signals", &error))?;
    let admin_listener = config.admin.map(|address| listen_at(address, "admin_listen")).transpose()?;
    let metrics_listener = match config.metrics {
        MetricsPage::Nowhere | MetricsPage::Beside => None,
        MetricsPage::At(address) => Some(listen_at(address, "metrics_listen")?),
    };
    if let Some(folder) = &mut throw_away {
        folder.make().map_err(|error| Failure::because(&format!("make {}", folder.path()), &error))?;
    }
    let mut storage = None;
    let started = tokio::select! {
        started = start(&config, &wiring, &warned, listener, clock_is_right, &mut storage) => started.map(Some),
        name = signals.next() => {
            tracing::info!(signal = name, "stopped before the server had started");
            Ok(None)
        }
    };
    let (started, storage) = match (started, storage) {
        (Ok(Some(started)), Some(storage)) => (started, storage),
        (started, None) => return started.map(drop),
        (started, Some(storage)) => {
            storage.close().await;
            return started.map(drop);
        }
    };
    let Started { upkeeper, keys, metrics, counter, pushed, seals, mut running, admin, footing } = started;
    let admin_server = admin_listener.map(|listener| serve_admin(&running, admin, listener)).transpose()?;
    if let Some(listener) = metrics_listener {
        serve_metrics(Arc::clone(&metrics), listener)?;
    }
    let epochs = EpochWatch { footing, entropy: Arc::clone(&upkeeper.context.entropy) };
    let uses = UseWriter { uses: upkeeper.context.uses.clone() };
    let (context, watch) = (&upkeeper.context, &upkeeper.clock);
    let [sealing, pushing] = ["events", "event push"].map(|work| Lease::new(context.clone(), work));
    let events =
        EventKeeper::new(context.clone(), Arc::clone(watch), sealing.clone(), config.event_push.is_some());
    let receiver = config.event_push.clone();
    let pusher =
        receiver.map(|receiver| EventPusher::new(context.clone(), pushing.clone(), receiver, pushed));
    let waiting = EventWatch { context: context.clone(), seals };
    let agreement = Agreement::of(&config);
    let replica = ReplicaKeeper::new(context.clone(), Arc::clone(watch), agreement, running.strangers());
    let counts = CountWriter { context: context.clone(), counter, figures: metrics, replica: replica.id() };
    let mut upkeep = vec![
        tokio::spawn(upkeeper.keep()),
        tokio::spawn(keys.keep()),
        tokio::spawn(uses.clone().keep()),
        tokio::spawn(counts.clone().keep()),
        tokio::spawn(events.keep()),
        tokio::spawn(waiting.keep()),
        tokio::spawn(replica.clone().keep()),
    ];
    upkeep.extend(pusher.map(|pusher| tokio::spawn(pusher.keep())));
    if let Some(folder) = &mut throw_away {
        let announced = folder.announce(&config.public_url);
        announced.map_err(|error| Failure::because(&format!("write to {}", folder.path()), &error))?;
    }
    say_where(&config, &running, throw_away.as_ref());
    let supervisor = Supervisor::of_process();
    supervisor.ready();
    tokio::spawn(supervisor.clone().keep_alive());
    contract_chains::introduce(&config.wallets.ethereum_rpc);
    let mut outdated = None;
    let ended = tokio::select! {
        ended = running.wait() => Some(ended),
        name = signals.next() => {
            tracing::info!(signal = name, "stopping: no longer ready, requests in flight finish");
            supervisor.stopping();
            None
        }
        () = epochs.until_another_begins() => {
            tracing::error!("a backup was restored into the database, or another database copied there, while the server ran: stopping");
            outdated = Some(failed("stopped because a backup was restored into the database while the server ran; start it again"));
            None
        }
    };
    upkeep.iter().for_each(JoinHandle::abort);
    let rest = Rest { uses, counts, leases: [sealing, pushing], replica, storage };
    if let Some(ended) = ended {
        rest.finish().await;
        return match ended {
            Ok(()) => Err(failed("the server stopped by itself")),
            Err(error) => Err(Failure::because("go on serving", &error)),
        };
    }
    tokio::select! {
        () = stop(running, admin_server, rest) => tracing::info!("stopped"),
        name = signals.next() => {
            tracing::warn!(signal = name, "a second signal: stopping at once");
            return Err(failed("stopped at once by a second signal; requests in flight were cut off"));
        }
    }
    outdated.map_or(Ok(()), Err)
}

fn failed(text: &str) -> Failure {
    Failure::Failed(text.to_owned())
}

struct Started {
    upkeeper: Upkeeper,
    keys: KeyKeeper,
    metrics: Arc<Metrics>,
    counter: Arc<HourCounter>,
    pushed: Arc<PushCounts>,
    seals: Arc<SealWatch>,
    running: Running,
    admin: AdminSettings,
    footing: Arc<Footing>,
}

/// Opens the database and starts the server on it. The caller closes the database, also if this fails or is dropped.
async fn start(
    config: &Config,
    wiring: &Wiring,
    warnings: &[String],
    listener: TcpListener,
    clock_is_right: bool,
    opened: &mut Option<OpenStorage>,
) -> Result<Started, Failure> {
    let descriptors = descriptors::raise();
    let connections = descriptors::connections(config, descriptors);
    let (storage, secret) = open(config, wiring, opened).await?;
    tracing::info!(descriptors, connections = connections.total, "connections are limited");
    let watch = ClockWatch::start(Arc::clone(&wiring.clock), &*storage.storage, clock_is_right);
    let watch = Arc::new(watch.await.map_err(|error| Failure::because("compare the clocks", &error))?);
    let clock = watch.clock();
    let (entropy, cause) = (Arc::clone(&wiring.entropy), SERVER.clone());
    let events = EventsOfKeys { policy: config.events, clock: Arc::clone(&clock), entropy, cause };
    let store = storage.storage.as_ref();
    let keys = load_or_create(store, &secret, clock.as_ref(), wiring.entropy.as_ref(), &events);
    let signer = keys.await.map_err(|error| Failure::because("open the signing keys", &error))?;
    let signer = Arc::new(signer);
    let (footing, epoch) = footing(storage, wiring).await?;
    // What is handed out with these keys ends when a backup is restored.
    let handed_out = secret.in_epoch(epoch.map(|epoch| epoch.id));
    let context_keys = context_keys(&secret, &handed_out, epoch, &*clock);
    let keys = KeyKeeper {
        signer: Arc::clone(&signer),
        storage: Arc::<dyn Storage>::clone(&storage.storage),
        secret: secret.clone(),
        clock: Arc::clone(&clock),
        watch: Arc::clone(&watch),
        entropy: Arc::clone(&wiring.entropy),
        events,
        rotation: config.key_rotation,
    };
    let (stored, signing) = (Arc::clone(&storage.storage), Arc::<JosekitSigner>::clone(&signer));
    let context = wiring.context(config, stored, Arc::clone(&clock), signing, context_keys);
    let pushed = Arc::<PushCounts>::default();
    let seals = Arc::<SealWatch>::default();
    let known = KnownFigures {
        signer,
        clock,
        uses: context.uses.clone(),
        pushed: Arc::clone(&pushed),
        seals: Arc::clone(&seals),
        writer: storage.writer.take(),
    };
    let metrics = Arc::new(http::metrics(env!("CARGO_PKG_VERSION"), Box::new(known)));
    let wallets = Arc::new(MeasuredWallets::new(context.wallets, Arc::clone(&metrics)));
    let context = Context { wallets, ..context };
    declared::at_start(&config.apply_files, context.management()).await?;
    let ring: Arc<dyn KeyRing> = Arc::new(SealedRing {
        store: Arc::<dyn Storage>::clone(&storage.storage),
        secret: Some(secret.clone()),
        entropy: Arc::clone(&wiring.entropy),
        events: keys.events.clone(),
    });
    let noted = keep_host_noted(&context).await;
    noted.map_err(|error| Failure::because("write down the host in the record", &error))?;
    warn_of_the_desk(config, &*storage.storage).await;
    let counter = Arc::<HourCounter>::default();
    let desk = config.desk.as_ref().map(|desk| {
        let (issuer, entropy) = (config.public_url.clone(), Arc::clone(&wiring.entropy));
        let applications = Arc::new(KnownApplications { issuer, entropy });
        let (keys, key_rotation, warnings) = (Arc::clone(&ring), config.key_rotation, warnings.to_vec());
        let counter = Arc::clone(&counter);
        let settings = DeskSettings { keys, key_rotation, warnings, applications, counter };
        operators::desk_routes(settings, desk.place)
    });
    let settings = HttpSettings {
        registration: registration(config),
        rate_limits: config.rate_limit,
        trusted_proxies: config.trusted_proxies.clone(),
        logs_whole_addresses: config.log_addresses == AddressDetail::Full,
        session_key: handed_out.derive::<64>("session cookie"),
        form_key: FormKey::new(handed_out.derive::<32>("page forms")),
        template_directory: config.template_directory.clone(),
        wallet_links: config.wallet_links.clone(),
        contact: config.contact.clone(),
        documentation: config.documentation_url.clone(),
        playground: config.playground,
        dev: config.dev,
        metrics: Arc::clone(&metrics),
        shows_metrics: config.metrics == MetricsPage::Beside,
        workers: config.workers,
        connections,
        own_clock: Arc::clone(&wiring.clock),
        footing: Arc::clone(&footing),
        seals: Arc::clone(&seals),
        desk,
    };
    let running = http::start(context.clone(), settings, listener)
        .map_err(|error| Failure::because("start the server", &error))?;
    let forget_unused_users = config.forget_unused_users;
    let upkeeper = Upkeeper { context, clock: watch, forget_unused_users };
    let admin =
        AdminSettings { keys: ring, repeat_key: RepeatKey::new(secret.derive::<32>("repeated requests")) };
    Ok(Started { upkeeper, keys, metrics, counter, pushed, seals, running, admin, footing })
}

/// Warns if the group of the operators is empty.
async fn warn_of_the_desk(config: &Config, storage: &dyn Storage) {
    let Some(desk) = &config.desk else { return };
    match admin_group::doubt(&desk.policy, storage).await {
        Ok(None) => {}
        Ok(Some(doubt)) => tracing::warn!("{doubt}"),
        Err(error) => tracing::warn!(error = chain(&error), "who is in admin_group could not be read"),
    }
}

fn registration(config: &Config) -> Registration {
    match config.registration {
        RegistrationMode::Open => Registration::Open,
        RegistrationMode::Token => {
            Registration::Token(config.registration_token.as_ref().map(SecretHash::of))
        }
        RegistrationMode::Closed => Registration::Closed,
    }
}

fn say_where(config: &Config, running: &Running, throw_away: Option<&ThrowAway>) {
    let url = config.public_url.as_str();
    tracing::info!(
        address = %running.local_address(),
        public_url = url,
        database = %config.database_url,
        registration = config.registration.name(),
        version = env!("CARGO_PKG_VERSION"),
        "listening"
    );
    if config.registration == RegistrationMode::Token && config.registration_token.is_none() {
        tracing::info!("no registration token is set: only `countersign client create` registers clients");
    }
    if config.metrics == MetricsPage::Beside && !config.public_url.is_loopback() {
        tracing::info!(
            "anyone who can reach the server can read /metrics: block it at the proxy, or set metrics_listen"
        );
    }
    let mut out = io::stdout();
    // A greeting for a person. If the terminal is closed, it is not missed.
    if let Some(folder) = throw_away {
        let _ = write!(out, "{}", trial(config, folder));
    } else if out.is_terminal() {
        let _ = writeln!(out, "\nCountersign is ready at {url} (Ctrl+C stops it)\n");
    }
}

/// What someone who tries the server out wants to know.
fn trial(config: &Config, folder: &ThrowAway) -> String {
    let url = &config.public_url;
    let playground = if config.playground {
        format!("  try a sign-in   {}\n", url.join("/playground"))
    } else {
        String::new()
    };
    format!(
        "\nCountersign is ready at {} (Ctrl+C stops it)\n\n{playground}  read            {}\n  commands        countersign client list --dev\n\nA trial: the database and the \
         secret are in {} and are deleted at the end.\n\n",
        url.as_str(),
        url.join("/docs"),
        folder.path(),
    )
}

async fn stop(running: Running, admin: Option<RunningAdmin>, rest: Rest) {
    running.begin_drain();
    sleep(LINGER).await;
    let stop_admin = async {
        if let Some(admin) = admin {
            admin.stop(GRACE).await;
        }
    };
    tokio::join!(running.stop(GRACE), stop_admin);
    // Every write that was acknowledged is on disk. These are writes whose clients went away.
    if timeout(CLOSING, rest.finish()).await.is_err() {
        tracing::warn!("some writes were still queued when the time was up");
    }
}

/// What is left to do when no request is in flight.
struct Rest {
    uses: UseWriter,
    counts: CountWriter,
    leases: [Lease; 2],
    replica: ReplicaKeeper,
    storage: OpenStorage,
}

impl Rest {
    /// Writes what is only remembered, lets other replicas go on with what this one did for all, and finishes the
    /// queued writes.
    async fn finish(self) {
        self.uses.write().await;
        self.counts.write().await;
        for lease in &self.leases {
            if let Err(error) = lease.give_back().await {
                tracing::debug!(error = chain(&error), "a lease was not given back: it ends by itself");
            }
        }
        self.replica.leave().await;
        self.storage.close().await;
    }
}

/// Opens the database. A secret is made only for one that could be opened.
async fn open<'a>(
    config: &Config,
    wiring: &Wiring,
    opened: &'a mut Option<OpenStorage>,
) -> Result<(&'a mut OpenStorage, OperatorSecret), Failure> {
    let no_secret = |error: OperatorSecretError| {
        if let OperatorSecretError::Database(error) = &error {
            return opening::failure("open the database", &config.database_url, error);
        }
        Failure::because("get the secret (secret)", &error)
    };
    let found = operator_secret::find(config, wiring).await.map_err(no_secret)?;
    let storage = opened.insert(opening::with_patience(config, wiring).await?);
    let secret = match found {
        Some(secret) => secret,
        None => operator_secret::create(config, wiring).map_err(no_secret)?,
    };
    Ok((storage, secret))
}

async fn footing(storage: &OpenStorage, wiring: &Wiring) -> Result<(Arc<Footing>, Option<Epoch>), Failure> {
    let no_epoch = |error| Failure::because("read the epoch", &error);
    // Before the epoch, so that a later one is noticed.
    let lineage = storage.storage.lineage().await.map_err(no_epoch)?;
    let epoch = storage.storage.epoch().await.map_err(no_epoch)?;
    let stored = Arc::<dyn Storage>::clone(&storage.storage);
    Ok((Arc::new(Footing::new(stored, Arc::clone(&wiring.clock), lineage)), epoch))
}

fn context_keys(
    secret: &OperatorSecret,
    handed_out: &EpochSecret<'_>,
    epoch: Option<Epoch>,
    clock: &dyn Clock,
) -> ContextKeys {
    ContextKeys {
        texts: TextKey::new(handed_out.derive::<32>("challenge texts")),
        nonces: DpopNonceKey::new(handed_out.derive::<32>("DPoP nonces")),
        pictures: PictureKey::new(secret.derive::<32>("pictures")),
        pairwise: secret.pairwise_key(),
        record: secret.record_key(),
        // Whatever the clock of the restore was: it was over when this server started.
        restored_at: epoch.map(|epoch| epoch.raised_at.min(clock.now())),
    }
}
