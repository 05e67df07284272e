//! The operator's settings: where they come from, what values they take, and every mistake in them at once.
//!
//! A setting has one name. `access_token_ttl` is the flag `--access-token-ttl`, the environment variable
//! `COUNTERSIGN_ACCESS_TOKEN_TTL` and the settings file's `access_token_ttl`. Flags win over the environment,
//! the environment over the file, and the file over the defaults. The table is in [`settings`].

mod admin_name;
pub(crate) mod agreement;
pub(crate) mod descriptors;
pub(crate) mod desk;
pub(crate) mod duration;
mod parse;
mod reader;
#[cfg(test)]
mod reference;
pub(crate) mod settings;
pub(crate) mod settings_file;
mod sources;
pub(crate) mod spec;
pub(crate) mod throw_away;
pub(crate) mod warnings;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::thread;

use countersign_adapters_crypto::{OperatorSecret, RpcEndpoint, WalletSettings};
use countersign_adapters_http::HttpFetcher;
use countersign_adapters_smtp::SmtpSettings;
use countersign_domain::admission::AccessRule;
use countersign_domain::client_assertion::AssertionAudience;
use countersign_domain::contact::Contact;
use countersign_domain::lifetimes::{Lifetimes, Longest};
use countersign_domain::public_url::PublicUrl;
use countersign_domain::resource::ResourceRules;
use countersign_domain::secret::Secret;
use countersign_domain::wallet_link::WalletLink;
use countersign_usecases::context::cause::EventPolicy;
use countersign_usecases::events::push_events::EventReceiver;
use ipnet::IpNet;
use time::Duration;

pub(crate) use desk::DeskSettings;
use reader::Reader;
pub(crate) use reader::Shown;
use settings::Setting;
use sources::DEFAULT;
pub(crate) use sources::{Origin, Sources};

use crate::failure::Mistake;
use crate::wiring::{DatabaseUrl, Wiring};

/// Every setting, read and checked.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) bind: SocketAddr,
    pub(crate) public_url: PublicUrl,
    pub(crate) database_url: DatabaseUrl,
    /// `None` if it is in a file beside the database.
    pub(crate) secret: Option<OperatorSecret>,
    pub(crate) registration: RegistrationMode,
    pub(crate) registration_token: Option<Secret>,
    /// The rule of clients that have none of their own.
    pub(crate) default_access: AccessRule,
    /// Where people who are turned away can ask.
    pub(crate) contact: Option<Contact>,
    pub(crate) lifetimes: Lifetimes,
    /// How long a signing key signs; `None` if keys are rotated by hand.
    pub(crate) key_rotation: Option<Duration>,
    /// After how long to delete a user that no client ever learned of; `None` to keep them all.
    pub(crate) wallets_per_user: u32,
    pub(crate) forget_unused_users: Option<Duration>,
    pub(crate) rate_limit: bool,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) wallets: WalletSettings,
    /// The wallets that the sign-in page offers on phones.
    pub(crate) wallet_links: Vec<WalletLink>,
    /// `None` if no mail is sent.
    pub(crate) mail: Option<SmtpSettings>,
    pub(crate) resources: ResourceRules,
    pub(crate) client_documents: bool,
    pub(crate) assertion_audience: AssertionAudience,
    pub(crate) synthetic_email: bool,
    /// The files that declare clients, groups and resources.
    pub(crate) apply_files: Vec<PathBuf>,
    /// Where backups go that are not given a file.
    pub(crate) backup_directory: Option<PathBuf>,
    pub(crate) playground: bool,
    /// True if the server is only for trying out, and everything is deleted at the end.
    pub(crate) dev: bool,
    pub(crate) template_directory: Option<PathBuf>,
    /// Where the operator serves the documentation.
    pub(crate) documentation_url: Option<String>,
    pub(crate) workers: usize,
    pub(crate) log: String,
    pub(crate) log_format: LogFormat,
    pub(crate) log_addresses: AddressDetail,
    /// What is kept of what happened.
    pub(crate) events: EventPolicy,
    /// Where events are pushed; `None` if they are not.
    pub(crate) event_push: Option<EventReceiver>,
    pub(crate) metrics: MetricsPage,
    /// Where the admin interface is served; `None` if there is none.
    pub(crate) admin: Option<SocketAddr>,
    /// The pages of the operators; `None` if there are none.
    pub(crate) desk: Option<DeskSettings>,
    /// How many connections one address may have.
    pub(crate) connections_per_address: usize,
    /// Settings that are valid but may still be wrong. Each warning is a sentence that says what to do.
    pub(crate) warnings: Vec<String>,
    /// Every setting as `check-config` shows it.
    pub(crate) shown: Vec<Shown>,
}

impl Config {
    /// Where the value of the setting with this name comes from.
    pub(crate) fn origin(&self, name: &str) -> Option<&str> {
        self.shown.iter().find(|shown| shown.name == name).map(|shown| shown.origin.as_str())
    }

    /// Is nothing said of the setting with this name?
    pub(crate) fn is_default(&self, name: &str) -> bool {
        self.origin(name).is_none_or(|origin| origin.starts_with(DEFAULT))
    }
}

/// Who can register clients over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegistrationMode {
    Open,
    Token,
    Closed,
}

impl RegistrationMode {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Token => "token",
            Self::Closed => "closed",
        }
    }
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// Text for people on a terminal, JSON elsewhere.
    Auto,
    Pretty,
    Json,
}

/// How much the log or the events tell of the addresses of people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressDetail {
    /// Their networks.
    Network,
    /// All of them.
    Full,
}

/// Where `/metrics` is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricsPage {
    Nowhere,
    /// On the main listener.
    Beside,
    /// On a listener of its own.
    At(SocketAddr),
}

/// The purpose that the settings are loaded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To serve: every setting is needed.
    Serve,
    /// To try the server out, on this machine only ([`Sources::try_out`]).
    TryOut,
    /// To work on the database, which needs no secret.
    Administer,
}

impl Config {
    /// Where the server listens by these settings. No other setting is read.
    pub(crate) fn listens_at(sources: &Sources) -> Result<SocketAddr, Vec<Mistake>> {
        let mut reader = Reader::new(sources);
        let bind = reader.read(&settings::BIND);
        let (_, mistakes) = reader.finish();
        bind.filter(|_| mistakes.is_empty()).ok_or(mistakes)
    }

    /// Reads and checks all settings. The error lists every mistake, not just the first.
    pub(crate) fn load(sources: &Sources, wiring: &Wiring, purpose: Purpose) -> Result<Self, Vec<Mistake>> {
        let mut reader = Reader::new(sources);
        let bind = reader.read(&settings::BIND);
        let public_url = public_url(&mut reader, bind, purpose);
        let is_loopback = public_url.as_ref().is_some_and(PublicUrl::is_loopback);
        let (database_url, secret) = database(&mut reader, wiring, purpose);
        let default_access = reader.read(&settings::DEFAULT_ACCESS);
        let contact = reader.read(&settings::CONTACT);
        let lifetimes = lifetimes(&mut reader);
        let key_rotation = reader.read(&settings::KEY_ROTATION);
        let wallets_per_user = reader.read(&settings::WALLETS_PER_USER);
        let forget_unused_users = reader.read(&settings::FORGET_UNUSED_USERS);
        let rate_limit = reader.read(&settings::RATE_LIMIT);
        let trusted_proxies = reader.read(&settings::TRUSTED_PROXIES).unwrap_or_default();
        let connections_per_address = reader.read(&settings::CONNECTIONS_PER_ADDRESS);
        let wallets = wallets(&mut reader);
        let wallet_links = reader.read(&settings::WALLET_LINKS).unwrap_or_default();
        let mail = mail(&mut reader);
        let resources = resources(&mut reader, public_url.as_ref());
        let assertion_audience = reader.read(&settings::ASSERTION_AUDIENCE);
        let synthetic_email = reader.read(&settings::SYNTHETIC_EMAIL);
        let apply_files = reader.read(&settings::APPLY_FILES).unwrap_or_default();
        let backup_directory = reader.read(&settings::BACKUP_DIRECTORY);
        let template_directory = reader.read(&settings::TEMPLATE_DIRECTORY);
        let documentation_url = reader.read(&settings::DOCUMENTATION_URL);
        let workers = workers(&mut reader);
        let log = reader.read(&settings::LOG);
        let log_format = reader.read(&settings::LOG_FORMAT);
        let log_addresses = reader.read(&settings::LOG_ADDRESSES);
        let (event_retention, events) = events(&mut reader);
        let push = Push::read(&mut reader, event_retention, public_url.as_ref());
        let (registration, registration_token) = registration(&mut reader, is_loopback);
        let is_open = registration == RegistrationMode::Open;
        let client_documents =
            switch(&mut reader, &settings::CLIENT_DOCUMENTS, is_open, "registration is", "open");
        let playground =
            switch(&mut reader, &settings::PLAYGROUND, is_loopback, "the public URL is", "loopback");
        let metrics = metrics(&mut reader, bind, is_loopback);
        let admin = admin(&mut reader, bind, metrics);
        let (desk, about_desk) = desk::read(
            &mut reader,
            &desk::Around {
                wallets: &|| (wiring.wallets)(wallets.clone()),
                admin_listen: admin,
                event_retention,
                default_access: default_access.as_ref(),
            },
        );
        let proxies = Proxies { public_url: public_url.as_ref(), trusted: &trusted_proxies };
        let reach = Reach {
            bind,
            public_url: public_url.as_ref(),
            registration_is_open: is_open,
            playground,
            shows_metrics: metrics == MetricsPage::Beside,
        };
        let warnings = reach.warning().into_iter().chain(proxies.warnings()).chain(exposed(admin));
        let warnings = warnings.chain(open_by_default(&reader, public_url.as_ref()));
        let warnings = warnings.chain(push.warnings()).chain(about_desk).chain(reader.warnings()).collect();
        let (shown, mistakes) = reader.finish();
        let whole = || {
            Some(Self {
                bind: bind?,
                public_url: public_url?,
                database_url: database_url?,
                secret,
                registration,
                registration_token,
                default_access: default_access?,
                contact,
                lifetimes: lifetimes?,
                key_rotation: Some(key_rotation?).filter(|age| age.is_positive()),
                wallets_per_user: wallets_per_user?,
                forget_unused_users: Some(forget_unused_users?).filter(|time| time.is_positive()),
                rate_limit: rate_limit?,
                trusted_proxies,
                wallets,
                wallet_links,
                mail,
                resources: resources?,
                client_documents,
                assertion_audience: assertion_audience?,
                synthetic_email: synthetic_email?,
                apply_files,
                backup_directory,
                playground,
                dev: purpose == Purpose::TryOut,
                template_directory,
                documentation_url,
                workers,
                log: log?,
                log_format: log_format?,
                log_addresses: log_addresses?,
                events: events?,
                event_push: push.receiver,
                metrics,
                admin,
                desk,
                connections_per_address: connections_per_address?,
                warnings,
                shown,
            })
        };
        if mistakes.is_empty() { whole().ok_or(mistakes) } else { Err(mistakes) }
    }
}

/// The public URL. If it is not set, it follows from where the server listens.
fn public_url(reader: &mut Reader<'_>, bind: Option<SocketAddr>, purpose: Purpose) -> Option<PublicUrl> {
    let given = reader.read(&settings::PUBLIC_URL);
    let public_url = match bind {
        Some(bind) if given.is_none() && !reader.is_given(&settings::PUBLIC_URL) => {
            public_url_at(bind, reader)
        }
        Some(_) | None => given,
    };
    if purpose == Purpose::TryOut && public_url.as_ref().is_some_and(|url| !url.is_loopback()) {
        reader.mistaken(
            &settings::PUBLIC_URL,
            "serve --dev is for this machine: use a loopback host, or leave it out",
        );
    }
    public_url
}

/// For how long events are kept, and what is kept of them.
fn events(reader: &mut Reader<'_>) -> (Option<Duration>, Option<EventPolicy>) {
    let retention = reader.read(&settings::EVENT_RETENTION);
    let addresses = reader.read(&settings::EVENT_ADDRESSES);
    let policy = retention.zip(addresses).map(|(retention, addresses)| EventPolicy {
        retention: Some(retention).filter(|time| time.is_positive()),
        whole_addresses: addresses == AddressDetail::Full,
    });
    (retention, policy)
}

/// The database, and the secret. A secret that is in a file beside the database need not be set.
fn database(
    reader: &mut Reader<'_>,
    wiring: &Wiring,
    purpose: Purpose,
) -> (Option<DatabaseUrl>, Option<OperatorSecret>) {
    let database_url = reader.read(&settings::DATABASE_URL);
    let secret_is_given = reader.is_given(&settings::SECRET);
    let secret = reader.read(&settings::SECRET);
    let scheme = database_url.as_ref().map(|url| (url, wiring.scheme_of(url)));
    match scheme {
        Some((_, Err(reason))) => reader.mistaken(&settings::DATABASE_URL, &reason),
        Some((url, Ok(scheme))) if !secret_is_given => match scheme.secret_file(url) {
            Some(file) => {
                let value = format!("in {}", file.display());
                reader.derive(&settings::SECRET, &value, "created at first start");
            }
            None if purpose != Purpose::Administer => reader
                .missing(&settings::SECRET, &format!("a {} database cannot keep it in a file", url.scheme())),
            None => {}
        },
        Some((_, Ok(_))) | None => {}
    }
    (database_url, secret)
}

fn lifetimes(reader: &mut Reader<'_>) -> Option<Lifetimes> {
    let access_token = reader.read(&settings::ACCESS_TOKEN_TTL);
    let refresh_token = reader.read(&settings::REFRESH_TOKEN_TTL);
    let max_access_token = reader.read(&settings::MAX_ACCESS_TOKEN_TTL);
    let max_refresh_token = reader.read(&settings::MAX_REFRESH_TOKEN_TTL);
    let code = reader.read(&settings::CODE_TTL);
    let challenge = reader.read(&settings::CHALLENGE_TTL);
    let session = reader.read(&settings::SESSION_TTL);
    let login_session = reader.read(&settings::LOGIN_TTL);
    let grace = reader.read(&settings::REFRESH_GRACE);
    for (usual, longest, of_usual) in [
        (access_token, max_access_token, &settings::ACCESS_TOKEN_TTL),
        (refresh_token, max_refresh_token, &settings::REFRESH_TOKEN_TTL),
    ] {
        if let (Some(usual), Some(longest)) = (usual, longest)
            && usual > longest
        {
            let name = of_usual.spec.name;
            reader
                .mistaken(of_usual, &format!("it is longer than max_{name}, {}", duration::written(longest)));
        }
    }
    let default = Lifetimes::default();
    Some(Lifetimes {
        access_token: access_token?,
        refresh_token: refresh_token?,
        code: code?,
        challenge: challenge?,
        session: session?,
        login_session: login_session?,
        confidential_grace: grace.unwrap_or(default.confidential_grace),
        public_grace: grace.unwrap_or(default.public_grace),
        longest: Longest { access_token: max_access_token?, refresh_token: max_refresh_token? },
    })
}

/// Who can register clients, and with which token.
fn registration(reader: &mut Reader<'_>, is_loopback: bool) -> (RegistrationMode, Option<Secret>) {
    let mode = reader.read(&settings::REGISTRATION).unwrap_or_else(|| {
        let (mode, why) = if is_loopback {
            (RegistrationMode::Open, "default while the public URL is loopback")
        } else {
            (RegistrationMode::Token, "default, because the public URL is not loopback")
        };
        reader.derive(&settings::REGISTRATION, mode.name(), why);
        mode
    });
    let token = reader.read(&settings::REGISTRATION_TOKEN);
    if mode == RegistrationMode::Open && token.is_some() {
        reader.mistaken(
            &settings::REGISTRATION_TOKEN,
            "it is not used while registration is open; set registration to token",
        );
    }
    (mode, token)
}

/// A setting that is on by default if something is so.
fn switch(
    reader: &mut Reader<'_>,
    setting: &Setting<bool>,
    is_so: bool,
    subject: &str,
    predicate: &str,
) -> bool {
    reader.read(setting).unwrap_or_else(|| {
        let (value, why) = if is_so {
            ("on", format!("default while {subject} {predicate}"))
        } else {
            ("off", format!("default, because {subject} not {predicate}"))
        };
        reader.derive(setting, value, &why);
        is_so
    })
}

fn wallets(reader: &mut Reader<'_>) -> WalletSettings {
    let ethereum_rpc = reader.read(&settings::ETHEREUM_RPC).unwrap_or_default();
    let is_private = reader.read(&settings::ETHEREUM_RPC_PRIVATE).unwrap_or_default();
    let coins = reader.read(&settings::COINS).unwrap_or_default();
    let mut wallets = WalletSettings { coins, ..WalletSettings::default() };
    for (chain, url) in ethereum_rpc {
        match RpcEndpoint::new(chain, url, is_private) {
            Ok(endpoint) => wallets.ethereum_rpc.push(endpoint),
            Err(rejected) => {
                reader.mistaken(&settings::ETHEREUM_RPC, &format!("the URL for chain {chain}: {rejected}"));
            }
        }
    }
    wallets
}

fn resources(reader: &mut Reader<'_>, public_url: Option<&PublicUrl>) -> Option<ResourceRules> {
    let named = reader.read(&settings::RESOURCES).unwrap_or_else(|| {
        let (value, why) = if public_url.is_some_and(PublicUrl::is_loopback) {
            ("any", "default while the public URL is loopback")
        } else {
            ("none", "default, because the public URL is not loopback")
        };
        reader.derive(&settings::RESOURCES, value, why);
        Vec::new()
    });
    let rules = ResourceRules::new(public_url?.clone(), named);
    rules
        .inspect_err(|(resource, unfit)| {
            reader.mistaken(&settings::RESOURCES, &format!("{:?} is {unfit}", resource.uri));
        })
        .ok()
}

fn workers(reader: &mut Reader<'_>) -> usize {
    reader.read(&settings::WORKERS).unwrap_or_else(|| {
        let count = thread::available_parallelism().map_or(1, usize::from);
        reader.derive(&settings::WORKERS, &count.to_string(), "default, one for each CPU");
        count
    })
}

/// The public URL of a server without the setting: this machine, at the port that it listens on.
fn public_url_at(bind: SocketAddr, reader: &mut Reader<'_>) -> Option<PublicUrl> {
    let host = match bind.ip() {
        IpAddr::V4(ip) if ip.is_loopback() && ip != Ipv4Addr::LOCALHOST => ip.to_string(),
        IpAddr::V4(_) | IpAddr::V6(_) => "localhost".to_owned(),
    };
    let (text, why) = match bind.port() {
        // Known once the server listens: then it reads the settings again.
        0 => (format!("http://{host}"), "default; the port will be that of bind"),
        80 => (format!("http://{host}"), "default, with the port of bind"),
        port => (format!("http://{host}:{port}"), "default, with the port of bind"),
    };
    reader.derive(&settings::PUBLIC_URL, &text, why);
    PublicUrl::parse(&text).ok()
}

/// What a server offers because its public URL is loopback, and from where it can be reached.
struct Reach<'a> {
    bind: Option<SocketAddr>,
    public_url: Option<&'a PublicUrl>,
    registration_is_open: bool,
    playground: bool,
    shows_metrics: bool,
}

impl Reach<'_> {
    /// The warning about a server for this machine that listens to the network.
    fn warning(&self) -> Option<String> {
        let bind = self.bind.filter(|bind| !bind.ip().to_canonical().is_loopback())?;
        let url = self.public_url.filter(|url| url.is_loopback())?;
        let open = [
            (self.registration_is_open, "register clients"),
            (self.playground, "use the playground"),
            (self.shows_metrics, "read /metrics"),
        ];
        let open: Vec<_> = open.iter().filter(|(is_open, _)| *is_open).map(|(_, what)| *what).collect();
        let consequence = match open.as_slice() {
            [] => "people who sign in elsewhere are sent to their own machine".to_owned(),
            [what] => format!("everyone there can {what}"),
            [first @ .., last] => format!("everyone there can {} and {last}", first.join(", ")),
        };
        Some(format!(
            "bind: {bind} can be reached from the network, but public_url is {}, which is for this machine only: \
             {consequence}; set public_url to the https address that people use, or bind to 127.0.0.1 (in a container: \
             publish the port on 127.0.0.1)",
            url.as_str()
        ))
    }
}

/// The warning about a server for everyone whose operator did not say who can sign in.
fn open_by_default(reader: &Reader<'_>, public_url: Option<&PublicUrl>) -> Option<String> {
    let is_public = public_url.is_some_and(|url| !url.is_loopback());
    (is_public && !reader.is_given(&settings::DEFAULT_ACCESS)).then(|| {
        "default_access: not set, so everyone with a wallet can sign in to every client that has no rule of its own; set \
         it to the groups that can, or to everyone if you want that"
            .to_owned()
    })
}

/// What the settings say about proxies in front of the server (F-04).
struct Proxies<'a> {
    public_url: Option<&'a PublicUrl>,
    trusted: &'a [IpNet],
}

impl Proxies<'_> {
    fn warnings(&self) -> Option<String> {
        if self.trusted.iter().any(|network| network.prefix_len() == 0) {
            let warning = "trusted_proxies: every address is trusted, so anyone can write any address into \
                           X-Forwarded-For and no limit works; list only the proxies";
            return Some(warning.to_owned());
        }
        if let Some(network) = self.trusted.iter().find(|network| is_vast(network)) {
            return Some(format!(
                "trusted_proxies: {network} trusts a large part of the internet, where anyone can write any address into \
                 X-Forwarded-For and escape the limits; list only the proxies"
            ));
        }
        let is_behind = self.public_url.is_some_and(PublicUrl::is_https) && self.trusted.is_empty();
        is_behind.then(|| {
            "trusted_proxies: not set, and https needs a proxy in front of this server: the limits see all \
             visitors as one address, so 60 sign-ins a minute lock everyone out; set trusted_proxies to the \
             address of the proxy"
                .to_owned()
        })
    }
}

/// Is it larger than any private network? Those are 10.0.0.0/8 and fc00::/7.
fn is_vast(network: &IpNet) -> bool {
    match network {
        IpNet::V4(network) => network.prefix_len() < 8,
        IpNet::V6(network) => network.prefix_len() < 7,
    }
}

/// The mail server and the sender. Each needs the other.
fn mail(reader: &mut Reader<'_>) -> Option<SmtpSettings> {
    let url_is_given = reader.is_given(&settings::SMTP_URL);
    let sender_is_given = reader.is_given(&settings::MAIL_FROM);
    let url = reader.read(&settings::SMTP_URL);
    let sender = reader.read(&settings::MAIL_FROM);
    if url_is_given && !sender_is_given {
        reader.missing(&settings::MAIL_FROM, "mails need a sender because smtp_url is set");
    }
    if sender.is_some() && !url_is_given {
        reader.mistaken(&settings::MAIL_FROM, "no mail is sent without a mail server; set smtp_url too");
    }
    Some(SmtpSettings { url: url?, sender: sender? })
}

/// Where events are pushed, and what may be wrong with that.
struct Push {
    receiver: Option<EventReceiver>,
    has_secret: bool,
    keeps_events: bool,
}

impl Push {
    fn read(reader: &mut Reader<'_>, retention: Option<Duration>, public_url: Option<&PublicUrl>) -> Self {
        let url = reader.read(&settings::EVENT_PUSH_URL);
        // An unknown public URL is a mistake of its own.
        if let (Some(url), Some(public_url)) = (&url, public_url)
            && !HttpFetcher::new(public_url.is_loopback()).may_contact(url)
        {
            reader.mistaken(
                &settings::EVENT_PUSH_URL,
                "only addresses on the public internet are contacted, and this machine while public_url is loopback",
            );
        }
        let secret = reader.read(&settings::EVENT_PUSH_SECRET);
        Self {
            has_secret: secret.is_some(),
            receiver: url.map(|url| EventReceiver { url, secret }),
            keeps_events: retention.is_none_or(Duration::is_positive),
        }
    }

    fn warnings(&self) -> Vec<String> {
        if self.receiver.is_none() {
            let warning =
                "event_push_secret: nothing is pushed without event_push_url; set it too, or leave both out";
            return if self.has_secret { vec![warning.to_owned()] } else { Vec::new() };
        }
        [
            (
                !self.has_secret,
                "event_push_url: without event_push_secret the receiver knows only by the signature where events \
                 come from, and anyone can post to it; set event_push_secret",
            ),
            (
                !self.keeps_events,
                "event_push_url: event_retention is 0, so there are no events to push; set event_retention, or \
                 leave event_push_url out",
            ),
        ]
        .into_iter()
        .filter(|(is_doubtful, _)| *is_doubtful)
        .map(|(_, warning)| warning.to_owned())
        .collect()
    }
}

/// Decides where `/metrics` is served. `bind` is the main listener.
fn metrics(reader: &mut Reader<'_>, bind: Option<SocketAddr>, is_loopback: bool) -> MetricsPage {
    let is_on = reader.read(&settings::METRICS);
    let listen = reader.read(&settings::METRICS_LISTEN);
    if listen.is_some() && is_on == Some(false) {
        reader.mistaken(&settings::METRICS_LISTEN, "nothing is served there while metrics is off");
    }
    if listen.is_some() && listen == bind {
        reader.mistaken(&settings::METRICS_LISTEN, "the server itself listens there (bind); leave it out");
    }
    let is_on = is_on.unwrap_or_else(|| {
        let (is_on, why) = match listen {
            Some(_) => (true, "default, because metrics_listen is set"),
            None if is_loopback => (true, "default while the public URL is loopback"),
            None => (false, "default, because the public URL is not loopback"),
        };
        reader.derive(&settings::METRICS, if is_on { "on" } else { "off" }, why);
        is_on
    });
    match (is_on, listen) {
        (false, _) => MetricsPage::Nowhere,
        (true, None) => MetricsPage::Beside,
        (true, Some(address)) => MetricsPage::At(address),
    }
}

/// Decides where the admin interface is served. `bind` is the main listener.
fn admin(reader: &mut Reader<'_>, bind: Option<SocketAddr>, metrics: MetricsPage) -> Option<SocketAddr> {
    let listen = reader.read(&settings::ADMIN_LISTEN)?;
    if Some(listen) == bind {
        reader.mistaken(&settings::ADMIN_LISTEN, "the server itself listens there (bind): it needs its own");
    }
    if metrics == MetricsPage::At(listen) {
        reader.mistaken(&settings::ADMIN_LISTEN, "the metrics are served there: it needs its own");
    }
    Some(listen)
}

/// The warning about an admin interface that strangers could listen to.
fn exposed(admin: Option<SocketAddr>) -> Option<String> {
    let address = admin?;
    let is_near = match address.ip().to_canonical() {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    };
    (!is_near).then(|| {
        format!(
            "admin_listen: {address} is not on this machine or in a private network, and the admin interface is plain \
             HTTP: an eavesdropper gets the admin keys; use 127.0.0.1 or a private address, or a proxy \
             with TLS"
        )
    })
}

#[cfg(test)]
mod tests;
