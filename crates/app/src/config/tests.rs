//! The precedence of the sources, and the line for every mistake.

mod desk;
mod mail;
mod trial;
mod values;
mod warnings;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::cli;
use crate::config::agreement::Agreement;

const SECRET: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

/// The three sources at one start.
struct Start {
    folder: tempfile::TempDir,
    flags: Vec<String>,
    variables: Vec<(String, String)>,
}

fn start() -> Start {
    Start { folder: tempfile::tempdir().unwrap(), flags: Vec::new(), variables: Vec::new() }
}

impl Start {
    fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn file(self, text: &str) -> Self {
        fs::write(self.folder.path().join("countersign.toml"), text).unwrap();
        self
    }

    /// Writes a value to a file and returns its path.
    fn holding(&self, value: &str) -> String {
        let path = self.folder.path().join("value");
        fs::write(&path, value).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn load(&self) -> Result<Config, Vec<Mistake>> {
        Config::load(&self.sources(), &Wiring::standard(), Purpose::Serve)
    }

    fn sources(&self) -> Sources {
        let words = ["countersign".to_owned(), "serve".to_owned()];
        let matches = cli::command().try_get_matches_from(words.iter().chain(&self.flags)).unwrap();
        let variables =
            self.variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        Sources::new(&matches, variables, self.folder.path())
    }

    fn config(&self) -> Config {
        self.load().unwrap()
    }

    /// The mistakes as lines, with `…` in place of the temporary folder.
    fn mistakes(&self) -> Vec<String> {
        self.lines(&self.load().unwrap_err())
    }

    fn lines(&self, mistakes: &[Mistake]) -> Vec<String> {
        let folder = format!("{}/", self.folder.path().display());
        mistakes.iter().map(|mistake| mistake.to_string().replace(&folder, "…/")).collect()
    }

    fn origin(&self, name: &str) -> String {
        let shown = self.config().shown;
        shown.into_iter().find(|shown| shown.name == name).unwrap().origin
    }
}

/// The one line about one value in the environment.
fn about(name: &str, value: &str) -> String {
    let mistakes = start().variable(name, value).mistakes();
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    mistakes.concat()
}

#[test]
fn without_settings_the_defaults_of_the_contract_hold() {
    let config = start().config();
    assert_eq!(config.bind.to_string(), "127.0.0.1:8080");
    assert_eq!(config.public_url.as_str(), "http://localhost:8080");
    assert_eq!(config.database_url.expose(), "sqlite://data/countersign.db");
    assert_eq!(config.lifetimes, Lifetimes::default());
    assert_eq!(config.registration, RegistrationMode::Open);
    assert_eq!((config.default_access, config.contact), (AccessRule::Everyone, None));
    assert!(config.rate_limit && config.trusted_proxies.is_empty() && config.workers > 0);
    assert!(config.secret.is_none() && config.template_directory.is_none());
    assert!(config.mail.is_none() && !config.synthetic_email && config.playground && !config.dev);
    assert_eq!((config.log.as_str(), config.log_format), ("info", LogFormat::Auto));
    assert_eq!(config.log_addresses, AddressDetail::Network);
}

#[test]
fn who_comes_in_by_default_and_whom_the_others_ask_can_be_said() {
    let config = start()
        .variable("COUNTERSIGN_DEFAULT_ACCESS", "groups:staff,eu:sales")
        .variable("COUNTERSIGN_CONTACT", "help@example.com")
        .config();
    assert_eq!(config.default_access.to_string(), "groups:eu:sales,staff");
    assert_eq!(config.contact.map(|contact| contact.link()), Some("mailto:help@example.com".to_owned()));
    let config = start().file("contact = 'https://example.com/help'\ndefault_access = 'nobody'\n").config();
    assert_eq!(config.default_access, AccessRule::Nobody);
    assert_eq!(config.contact.map(|contact| contact.link()), Some("https://example.com/help".to_owned()));
}

#[test]
fn flags_win_over_the_environment_which_wins_over_the_file_which_wins_over_defaults() {
    let file = start().file("code_ttl = 11\n");
    assert_eq!(file.config().lifetimes.code.whole_seconds(), 11);
    assert!(file.origin("code_ttl").starts_with("code_ttl in /"));
    let environment = file.variable("COUNTERSIGN_CODE_TTL", "12");
    assert_eq!(environment.config().lifetimes.code.whole_seconds(), 12);
    assert_eq!(environment.origin("code_ttl"), "COUNTERSIGN_CODE_TTL");
    let flag = environment.flag("--code-ttl=13");
    assert_eq!(flag.config().lifetimes.code.whole_seconds(), 13);
    assert_eq!(flag.origin("code_ttl"), "--code-ttl");
    assert_eq!(flag.origin("bind"), "default");
}

#[test]
fn a_stronger_place_wins_even_if_the_weaker_one_names_a_file() {
    let start = start();
    let file = start.holding("sqlite://from-file.db\n");
    let weak = start.file(&format!("database_url_file = {file:?}"));
    assert_eq!(weak.config().database_url.expose(), "sqlite://from-file.db");
    let strong = weak.variable("COUNTERSIGN_DATABASE_URL", "sqlite://direct.db");
    assert_eq!(strong.config().database_url.expose(), "sqlite://direct.db");
}

#[test]
fn every_setting_works_in_the_file_and_a_list_may_be_one() {
    let config = start()
        .file(
            "bind = '[::]:80'\npublic_url = 'https://auth.example.com'\nregistration = 'token'\n\
             registration_token = 'abcdefghijklmnop'\nrefresh_grace = 5\nrate_limit = false\n\
             trusted_proxies = ['10.0.0.0/8', '192.0.2.1']\nworkers = 3\nlog = 'info,countersign_usecases=debug'\n\
             log_format = 'json'\n",
        )
        .config();
    assert!(!config.rate_limit);
    assert_eq!(config.trusted_proxies.len(), 2);
    assert_eq!(config.lifetimes.confidential_grace, config.lifetimes.public_grace);
    assert_eq!((config.workers, config.log_format), (3, LogFormat::Json));
    assert!(config.registration_token.is_some());
}

#[test]
fn the_public_url_has_the_port_that_the_server_listens_on() {
    let at = |bind: &str| {
        let start = start().variable("COUNTERSIGN_BIND", bind);
        assert!(start.origin("public_url").starts_with("default"), "{bind}");
        start.config().public_url.as_str().to_owned()
    };
    for bind in ["127.0.0.1:9000", "[::1]:9000", "0.0.0.0:9000", "[::]:9000"] {
        assert_eq!(at(bind), "http://localhost:9000", "{bind}");
    }
    assert_eq!(at("127.0.0.2:9000"), "http://127.0.0.2:9000", "localhost leads elsewhere");
    assert_eq!(at("127.0.0.1:80"), "http://localhost");
    let given =
        start().variable("COUNTERSIGN_PUBLIC_URL", "http://localhost:8080").flag("--bind=127.0.0.1:9000");
    assert_eq!(given.config().public_url.as_str(), "http://localhost:8080");
}

#[test]
fn a_server_that_asks_for_any_port_has_the_public_url_of_the_one_that_it_got() {
    let start = start().flag("--bind=127.0.0.1:0");
    let mut sources = start.sources();
    sources.listening_on(SocketAddr::from(([127, 0, 0, 1], 41_000)), Origin::System);
    let config = Config::load(&sources, &Wiring::standard(), Purpose::Serve).unwrap();
    assert_eq!(config.public_url.as_str(), "http://localhost:41000");
    assert_eq!(config.origin("bind"), Some("a free port, chosen by the system"));
}

#[test]
fn the_settings_file_can_be_named_and_must_then_be_there() {
    let start = start();
    let path = start.holding("code_ttl = 14");
    assert_eq!(start.variable("COUNTERSIGN_CONFIG", &path).config().lifetimes.code.whole_seconds(), 14);
    let missing = about("COUNTERSIGN_CONFIG", "/nowhere/a.toml");
    assert_eq!(
        missing,
        "settings file /nowhere/a.toml cannot be read: No such file or directory (os error 2)"
    );
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    assert_eq!(start().variable("COUNTERSIGN_BIND", "").origin("bind"), "default");
}

#[test]
fn registration_is_open_and_the_playground_on_where_nobody_else_is() {
    let public = start().variable("COUNTERSIGN_PUBLIC_URL", "https://auth.example.com");
    assert_eq!((public.config().registration, public.config().playground), (RegistrationMode::Token, false));
    assert_eq!(public.origin("playground"), "default, because the public URL is not loopback");
    let opened = public.variable("COUNTERSIGN_REGISTRATION", "open");
    let opened = opened.variable("COUNTERSIGN_PLAYGROUND", "on").config();
    assert_eq!((opened.registration, opened.playground), (RegistrationMode::Open, true));
    assert!(!start().variable("COUNTERSIGN_PLAYGROUND", "off").config().playground);
}

#[test]
fn a_registration_token_that_nobody_would_ask_for_is_a_mistake() {
    assert_eq!(
        about("COUNTERSIGN_REGISTRATION_TOKEN", "abcdefghijklmnop"),
        "COUNTERSIGN_REGISTRATION_TOKEN: it is not used while registration is open; set registration to \
         token; registration_token takes at least 16 characters from letters, digits and -._~+/="
    );
}

#[test]
fn metrics_are_beside_everything_else_or_on_a_listener_or_nowhere() {
    let address = || SocketAddr::from(([127, 0, 0, 1], 9090));
    let own = start().variable("COUNTERSIGN_METRICS_LISTEN", "127.0.0.1:9090");
    assert_eq!(start().config().metrics, MetricsPage::Beside);
    assert_eq!(own.config().metrics, MetricsPage::At(address()));
    assert_eq!(start().variable("COUNTERSIGN_METRICS", "off").config().metrics, MetricsPage::Nowhere);
    assert_eq!(
        own.variable("COUNTERSIGN_METRICS", "off").mistakes(),
        ["COUNTERSIGN_METRICS_LISTEN: \"127.0.0.1:9090\": nothing is served there while metrics is off; \
             metrics_listen takes an IP address and a port, such as 127.0.0.1:9090 or [::]:9090"]
    );
}

#[test]
fn postgresql_needs_a_secret_and_sqlite_does_not() {
    let postgres = start().variable("COUNTERSIGN_DATABASE_URL", "postgres://ann:hunter2@db/auth");
    assert_eq!(
        postgres.mistakes(),
        ["COUNTERSIGN_SECRET: not set, and a postgres database cannot keep it in a file; secret takes at \
             least 32 random bytes in base64url"]
    );
    let with_secret = postgres.variable("COUNTERSIGN_SECRET", SECRET).config();
    assert!(with_secret.secret.is_some());
    let shown = format!("{with_secret:?}");
    assert!(!shown.contains("hunter2") && !shown.contains(SECRET), "{shown}");
}

#[test]
fn a_secret_is_read_from_a_file_and_never_shown() {
    let start = start();
    let path = start.holding(&format!("{SECRET}\n"));
    let config = start.variable("COUNTERSIGN_SECRET_FILE", &path).config();
    assert_eq!(config.secret.map(|secret| secret.expose()), Some(SECRET.to_owned()));
    let shown = config.shown.iter().find(|shown| shown.name == "secret").unwrap();
    assert_eq!(
        (shown.value.as_str(), shown.origin.as_str()),
        ("(secret)", &*format!("COUNTERSIGN_SECRET_FILE ({path})"))
    );
}

#[test]
fn a_secret_cannot_stand_on_the_command_line_b_073() {
    for flag in ["--secret=x", "--registration-token=x"] {
        assert!(cli::command().try_get_matches_from(["countersign", "serve", flag]).is_err(), "{flag}");
    }
}

#[test]
fn a_value_and_a_file_at_one_place_are_a_mistake() {
    let both =
        start().variable("COUNTERSIGN_SECRET", SECRET).variable("COUNTERSIGN_SECRET_FILE", "/run/secret");
    assert_eq!(
        both.mistakes(),
        ["COUNTERSIGN_SECRET and COUNTERSIGN_SECRET_FILE: both are set; keep one of them"]
    );
    assert_eq!(
        about("COUNTERSIGN_SECRET_FILE", "/nowhere/secret"),
        "COUNTERSIGN_SECRET_FILE (/nowhere/secret): the file cannot be read: No such file or directory (os error 2)"
    );
}

#[test]
fn an_unknown_name_is_a_mistake_that_suggests_the_nearest() {
    assert_eq!(
        about("COUNTERSIGN_ACESS_TOKEN_TTL", "60"),
        "COUNTERSIGN_ACESS_TOKEN_TTL: there is no such setting; did you mean COUNTERSIGN_ACCESS_TOKEN_TTL?"
    );
    assert_eq!(
        start().file("regstration = 'open'\n[server]\nbind = 'x'\n").mistakes(),
        [
            "regstration in …/countersign.toml: there is no such setting; did you mean registration?",
            "server in …/countersign.toml: there is no such setting; did you mean secret?",
        ]
    );
}

#[test]
fn what_kubernetes_says_of_a_service_of_our_name_is_no_mistake() {
    start()
        .variable("COUNTERSIGN_SERVICE_HOST", "10.0.0.1")
        .variable("COUNTERSIGN_SERVICE_PORT_HTTP", "8080")
        .variable("COUNTERSIGN_PORT", "tcp://10.0.0.1:8080")
        .variable("COUNTERSIGN_PORT_8080_TCP_ADDR", "10.0.0.1")
        .variable("COUNTERSIGN_DB_PORT_5432_TCP", "tcp://10.0.0.2:5432")
        .config();
    assert!(about("COUNTERSIGN_PORT", "8080").contains("there is no such setting"));
}

#[test]
fn a_file_that_is_not_toml_is_told_with_its_line() {
    let mistakes = start().file("code_ttl = 60\nbind = = 1\n").mistakes();
    assert_eq!(mistakes.len(), 1);
    assert!(mistakes[0].starts_with("…/countersign.toml, line 2: not TOML: "), "{mistakes:?}");
    assert_eq!(
        start().file("code_ttl = 1.5\n").mistakes(),
        [
            "code_ttl in …/countersign.toml: a float cannot be the value; code_ttl takes a time such as 60s, 1s to \
             10m"
        ]
    );
}

#[test]
fn a_time_has_a_unit_or_is_seconds_wherever_it_is_set() {
    let rotated = |start: Start| start.config().key_rotation.unwrap().whole_days();
    assert_eq!(rotated(start().file("key_rotation = \"30d\"\n")), 30);
    assert_eq!(rotated(start().file("key_rotation = 2592000\n")), 30);
    assert_eq!(rotated(start().variable("COUNTERSIGN_KEY_ROTATION", "2w")), 14);
    assert_eq!(rotated(start().flag("--key-rotation=48h")), 2);
    assert_eq!(rotated(start()), 90);
    assert!(start().flag("--key-rotation=0").config().key_rotation.is_none());
}

#[test]
fn all_mistakes_are_told_at_once() {
    let start = start()
        .file("code_ttl = 6000\n")
        .variable("COUNTERSIGN_BIND", "localhost")
        .variable("COUNTERSIGN_WORKRES", "1")
        .flag("--workers=0");
    assert_eq!(
        start.mistakes(),
        [
            "COUNTERSIGN_WORKRES: there is no such setting; did you mean COUNTERSIGN_WORKERS?",
            "COUNTERSIGN_BIND: \"localhost\": not an IP address with a port; bind takes an IP address and a port, such as \
             127.0.0.1:8080 or [::]:8080",
            "code_ttl in …/countersign.toml: \"6000\": too large; code_ttl takes a time such as 60s, 1s to 10m",
            "--workers: \"0\": too small; workers takes a number, 1 to 512",
        ]
    );
}

#[test]
fn the_keys_in_rpc_urls_are_shown_nowhere() {
    let value =
        "1=https://mainnet.example/v3/hunter2, 8453 = https://ann:hunter2@base.example:8443/?key=hunter2";
    let config = start().variable("COUNTERSIGN_ETHEREUM_RPC", value).config();
    let chains: Vec<_> = config.wallets.ethereum_rpc.iter().map(|endpoint| endpoint.chain()).collect();
    assert_eq!(chains, [1, 8453]);
    let shown = config.shown.iter().find(|shown| shown.name == "ethereum_rpc").unwrap();
    assert_eq!(shown.value, "1=https://mainnet.example,8453=https://base.example:8443");
    assert!(!format!("{config:?}").contains("hunter2"), "{config:?}");
    for mistake in ["http://mainnet.example/hunter2", "wss://mainnet.example/hunter2", "hunter2"] {
        let line = about("COUNTERSIGN_ETHEREUM_RPC", &format!("1={mistake}"));
        assert!(!line.contains("hunter2") && line.contains(" takes "), "{line}");
    }
}

#[test]
fn rpc_urls_can_be_a_list_or_in_a_file_and_private_ones_must_be_allowed() {
    let list = start().file("ethereum_rpc = ['1=http://localhost:8545', '10=https://a.example']").config();
    assert_eq!(list.wallets.ethereum_rpc.len(), 2);
    let start = start();
    let path = start.holding("8453=http://10.0.0.5:8545\n");
    let of_file = start.variable("COUNTERSIGN_ETHEREUM_RPC_FILE", &path);
    assert_eq!(of_file.mistakes().len(), 1);
    let allowed = of_file.variable("COUNTERSIGN_ETHEREUM_RPC_PRIVATE", "on").config();
    assert_eq!(allowed.wallets.ethereum_rpc.len(), 1);
}

#[test]
fn coins_are_read_from_a_list_in_the_file_or_from_one_line() {
    let namecoin = r#"name=Namecoin chain=bip122:000000000062b72c5e2ceb45fbc8587e magic="Namecoin Signed Message:\n" p2pkh=52"#;
    let other = "name=Other chain=bip122:0123 magic=Other p2pkh=52,53 p2sh=13";
    let names =
        |config: Config| config.wallets.coins.iter().map(|coin| coin.name().to_owned()).collect::<Vec<_>>();
    let list = start().file(&format!("coins = ['{namecoin}', '{other}']")).config();
    assert_eq!(names(list), ["Namecoin", "Other"]);
    let line = start().variable("COUNTERSIGN_COINS", &format!("{namecoin}; {other}")).config();
    assert_eq!(names(line), ["Namecoin", "Other"]);
}

#[test]
fn a_coin_whose_chain_or_name_is_taken_is_refused() {
    let refused = |coins: &str| {
        let mistakes = start().variable("COUNTERSIGN_COINS", coins).mistakes();
        assert_eq!(mistakes.len(), 1, "{coins}: {mistakes:?}");
        mistakes[0].clone()
    };
    let taken = [
        ("name=Mine chain=bip122:000000000019d6689c085ae165831e93 magic=M p2pkh=52", "is already known"),
        ("name=Mine chain=eip155:1 magic=M p2pkh=52", "chains of eip155 use another kind of signature"),
        (
            "name=Mine chain=cosmos:cosmoshub-4 magic=M p2pkh=52",
            "chains of cosmos use another kind of signature",
        ),
        ("name=Bitcoin chain=bip122:0123 magic=M p2pkh=52", "the name Bitcoin is taken"),
        ("name=\"Lite coin\" chain=bip122:0123 magic=M p2pkh=52", "the name Lite coin is taken"),
        ("name=ethereum chain=bip122:0123 magic=M p2pkh=52", "the name ethereum is taken"),
        ("name=Osmosis chain=bip122:0123 magic=M p2pkh=52", "the name Osmosis is taken"),
        ("name=Mine chain=bip122:0123 magic=M p2pkh=52 hrp=bc", "the hrp belongs to Bitcoin"),
        (
            "name=A chain=bip122:0123 magic=M p2pkh=52; name=a chain=bip122:0124 magic=M p2pkh=52",
            "coin 2: the name a is taken",
        ),
        (
            "name=A chain=bip122:0123 magic=M p2pkh=52; name=B chain=bip122:0123 magic=M p2pkh=52",
            "coin 2: the chain",
        ),
    ];
    for (coins, reason) in taken {
        let mistake = refused(coins);
        assert!(mistake.contains(reason), "{coins}: {mistake}");
    }
}

#[test]
fn metrics_are_where_everybody_asks_only_when_somebody_said_so() {
    let https = || start().variable("COUNTERSIGN_PUBLIC_URL", "https://auth.example.com");
    assert_eq!(https().config().metrics, MetricsPage::Nowhere);
    assert_eq!(https().variable("COUNTERSIGN_METRICS", "on").config().metrics, MetricsPage::Beside);
    let own = https().variable("COUNTERSIGN_METRICS_LISTEN", "127.0.0.1:9090").config().metrics;
    assert!(matches!(own, MetricsPage::At(_)), "{own:?}");
    assert_eq!(start().config().metrics, MetricsPage::Beside);
}

#[test]
fn b_073_a_secret_in_a_file_that_others_may_read_is_refused() {
    let start = start();
    let path = start.holding("dGhpcyBpcyB0aGUgc2VjcmV0IG9mIGFsbCB0aGUgdGVzdHM\n");
    let start = start.variable("COUNTERSIGN_SECRET_FILE", &path);
    for (mode, is_taken) in
        [(0o600, true), (0o400, true), (0o640, true), (0o644, false), (0o604, false), (0o660, false)]
    {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let mistakes: Vec<_> =
            start.load().err().unwrap_or_default().iter().map(ToString::to_string).collect();
        assert_eq!(mistakes.is_empty(), is_taken, "{mode:o}: {mistakes:?}");
        assert!(mistakes.iter().all(|mistake| mistake.contains(&format!("mode {mode:03o}"))), "{mistakes:?}");
    }
}

#[test]
fn no_name_stands_twice_in_the_table() {
    let mut names: Vec<_> = settings::names().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn what_replicas_must_agree_on_are_settings_and_none_of_them_is_secret() {
    let written = Agreement::of(&start().config()).written();
    let agreed: BTreeMap<String, String> = serde_json::from_str(&written).unwrap();
    assert_eq!(agreed["public_url"], "http://localhost:8080");
    assert_eq!(agreed["access_token_ttl"], "3600");
    for name in agreed.keys() {
        let spec = settings::ALL.iter().find(|spec| spec.name == name).unwrap();
        assert!(!matches!(spec.privacy, settings::Privacy::Secret), "{name}");
    }
}

#[test]
fn replicas_agree_however_their_settings_are_written() {
    let [one, other] = [
        start()
            .variable("COUNTERSIGN_ACCESS_TOKEN_TTL", "0060")
            .variable("COUNTERSIGN_RESOURCES", "https://b.example, https://a.example"),
        start().file("access_token_ttl = 60\nresources = [\"https://a.example\", \"https://b.example\"]"),
    ]
    .map(|start| Agreement::of(&start.config()));
    assert_eq!(one, other);
    let third = Agreement::of(&start().flag("--access-token-ttl=61").config());
    let differing: Vec<_> =
        one.differences(&third).into_iter().map(|difference| difference.setting).collect();
    assert_eq!(differing, ["access_token_ttl", "resources"]);
}
