//! Values that are refused.

use super::*;

#[test]
fn each_setting_says_what_it_takes() {
    let cases = [
        (
            "PUBLIC_URL",
            "http://auth.example.com",
            "http is for loopback hosts only: use https; public_url takes an https",
        ),
        (
            "DATABASE_URL",
            "mysql://db/auth",
            "this build knows sqlite, postgres, postgresql; database_url takes a URL",
        ),
        (
            "DATABASE_URL",
            "auth.db",
            "not a URL; database_url takes a URL that begins with sqlite:// or postgres://",
        ),
        ("DATABASE_URL", "sqlite://", "it names no file; database_url takes"),
        ("DATABASE_URL", "sqlite://:memory:", "a database in memory keeps nothing; database_url takes"),
        ("REGISTRATION", "maybe", "\"maybe\": no such mode; registration takes open, token or closed"),
        (
            "DEFAULT_ACCESS",
            "staff",
            "\"staff\": no such rule; default_access takes everyone, nobody, or groups:",
        ),
        (
            "DEFAULT_ACCESS",
            "groups:staff,Eu",
            "\"groups:staff,Eu\": \"Eu\" cannot be the name of a group; default_access takes everyone",
        ),
        ("DEFAULT_ACCESS", "groups:", "\"\" cannot be the name of a group; default_access takes everyone"),
        (
            "CONTACT",
            "http://example.com",
            "\"http://example.com\": neither a mail address nor an https address; contact takes a mail address",
        ),
        (
            "CONTACT",
            "help@oper.example",
            "a mail address at the reserved domain .example, where no one has a mailbox; contact takes a mail address",
        ),
        ("CONTACT", "help", "neither a mail address nor an https address; contact takes a mail address"),
        ("ACCESS_TOKEN_TTL", "0", "\"0\": too small; access_token_ttl takes a time such as 30m, 1s to 1d"),
        (
            "ACCESS_TOKEN_TTL",
            "1y",
            "\"1y\": \"y\" is not a unit of time: use s, m, h, d or w; access_token_ttl takes a time",
        ),
        (
            "ACCESS_TOKEN_TTL",
            "25h",
            "\"25h\": too large; access_token_ttl takes a time such as 30m, 1s to 1d",
        ),
        (
            "REFRESH_TOKEN_TTL",
            "31536001",
            "too large; refresh_token_ttl takes a time such as 30d, 1s to 365d",
        ),
        ("CHALLENGE_TTL", "601", "too large; challenge_ttl takes a time such as 5m, 1s to 10m"),
        ("LOGIN_TTL", "2592001", "too large; login_ttl takes a time such as 12h, 0 to 30d"),
        ("SYNTHETIC_EMAIL", "yes", "\"yes\": neither on nor off; synthetic_email takes on or off"),
        ("PLAYGROUND", "true", "\"true\": neither on nor off; playground takes on or off"),
        ("SESSION_TTL", "-1", "too small; session_ttl takes a time such as 30m, 1s to 1d"),
        ("KEY_ROTATION", "172799", "too small; key_rotation takes a time such as 90d, 2d to 365d, or 0"),
        ("KEY_ROTATION", "31536001", "too large; key_rotation takes a time"),
        ("WALLETS_PER_USER", "0", "too small; wallets_per_user takes a number, 1 to 1000"),
        ("WALLETS_PER_USER", "1001", "too large; wallets_per_user takes a number, 1 to 1000"),
        (
            "FORGET_UNUSED_USERS",
            "86399",
            "too small; forget_unused_users takes a time such as 7d, 1d to 365d",
        ),
        ("REFRESH_GRACE", "61", "too large; refresh_grace takes a time such as 10s, 0 to 1m"),
        ("METRICS", "yes", "\"yes\": neither on nor off; metrics takes on or off"),
        (
            "ADMIN_LISTEN",
            "localhost:9091",
            "\"localhost:9091\": not an IP address with a port; admin_listen takes an IP address and a port",
        ),
        (
            "ADMIN_LISTEN",
            "127.0.0.1:8080",
            "the server itself listens there (bind): it needs its own; admin_listen takes an IP address",
        ),
        (
            "METRICS_LISTEN",
            "localhost:9090",
            "\"localhost:9090\": not an IP address with a port; metrics_listen takes an IP address and a port",
        ),
        (
            "METRICS_LISTEN",
            "127.0.0.1:8080",
            "the server itself listens there (bind); leave it out; metrics_listen takes an IP address",
        ),
        ("RATE_LIMIT", "yes", "\"yes\": neither on nor off; rate_limit takes on or off"),
        (
            "TRUSTED_PROXIES",
            "10.0.0.0/8,proxy",
            "\"proxy\" is not a network; trusted_proxies takes networks such as",
        ),
        (
            "TEMPLATE_DIRECTORY",
            "/nowhere",
            "\"/nowhere\": the folder does not exist; template_directory takes the path",
        ),
        (
            "ETHEREUM_RPC",
            "https://a.example",
            "entry 1 does not begin with a chain number and an =; ethereum_rpc takes",
        ),
        ("ETHEREUM_RPC", "1=https://a.example,x=", "entry 2 does not begin with a chain number"),
        ("ETHEREUM_RPC", "1=http://a.example", "the URL for chain 1: http is for localhost and"),
        (
            "ETHEREUM_RPC",
            "1=https://a.example,1=https://b.example",
            "there are two URLs for chain 1; ethereum_rpc",
        ),
        ("ETHEREUM_RPC", "0=https://a.example", "the URL for chain 0: 0 is not a chain number; ethereum_rpc"),
        (
            "ETHEREUM_RPC",
            "1=http://10.0.0.5:8545",
            "the URL for chain 1: its address is private, and private",
        ),
        ("ETHEREUM_RPC_PRIVATE", "yes", "\"yes\": neither on nor off; ethereum_rpc_private takes on or off"),
        ("COINS", "name=Namecoin", "coin 1: `chain` is missing; coins takes coins, each as key=value"),
        (
            "COINS",
            "name=Bitcoin chain=bip122:000000000019d6689c085ae165831e93 magic=x p2pkh=0",
            "coin 1: the chain bip122:000000000019d6689c085ae165831e93 is already known; coins takes",
        ),
        (
            "WALLET_LINKS",
            "https://w.example",
            "entry 1: it does not begin with a name and an =; wallet_links takes",
        ),
        (
            "WALLET_LINKS",
            "A=https://a.example/{url},B=http://b.example/{url}",
            "entry 2: the link is not an https address of 500 characters at most; wallet_links takes",
        ),
        (
            "WALLET_LINKS",
            "A=https://{url}/",
            "entry 1: the link must hold {url} or {bare_url} after its host",
        ),
        (
            "WALLET_LINKS",
            "A=https://a.example/{url},A=https://b.example/{url}",
            "entry 2: the name is taken; wallet_links takes name=link",
        ),
        ("EVENT_PUSH_URL", "siem.example.com", "not a URL; event_push_url takes an https address"),
        ("EVENT_PUSH_URL", "http://siem.example.com/", "neither https nor http on a loopback host"),
        (
            "EVENT_PUSH_URL",
            "https://ann@siem.example.com/",
            "the receiver knows this server by event_push_secret",
        ),
        ("EVENT_PUSH_URL", "https://siem.example.com/#a", "it has a fragment"),
        ("LOG", "inof", "\"inof\" is not a level; log takes error, warn, info"),
        ("LOG", "a=b=c", "log takes error, warn, info"),
        ("LOG_ADDRESSES", "none", "\"none\": no such amount; log_addresses takes network or full"),
        ("LOG_FORMAT", "xml", "\"xml\": no such format; log_format takes auto, pretty or json"),
    ];
    for (name, value, expected) in cases {
        let name = format!("COUNTERSIGN_{name}");
        let line = about(&name, value);
        assert!(line.starts_with(&format!("{name}: ")) && line.contains(expected), "{line}");
    }
}

#[test]
fn a_bad_secret_is_told_without_its_value() {
    let bad_token = start()
        .variable("COUNTERSIGN_REGISTRATION", "token")
        .variable("COUNTERSIGN_REGISTRATION_TOKEN", "hunter2");
    let lines = [
        about("COUNTERSIGN_SECRET", "hunter22"),
        about("COUNTERSIGN_EVENT_PUSH_SECRET", "hunter2"),
        about("COUNTERSIGN_EVENT_PUSH_URL", "https://ann:hunter2@siem.example.com/"),
        about("COUNTERSIGN_SECRET", "hunter2 with spaces and much more of it"),
        about("COUNTERSIGN_DATABASE_URL", "postgres://ann:hunter2/x@db/auth"),
        bad_token.mistakes().concat(),
    ];
    assert!(
        lines[0].contains("the secret has 6 bytes, fewer than 32; secret takes at least 32 random bytes")
    );
    for line in lines {
        assert!(!line.contains("hunter2") && line.contains(" takes "), "{line}");
    }
}

#[test]
fn wallets_that_open_an_application_may_be_a_list_in_the_settings_file() {
    let links = "wallet_links = ['MetaMask=https://link.metamask.io/dapp/{bare_url}', 'Phantom=https://phantom.app/ul/browse/{url}?ref={url}']\n";
    let config = start().file(links).config();
    let opened: Vec<_> =
        config.wallet_links.iter().map(|link| (link.name(), link.to("https://shop.example/"))).collect();
    let whole = "https%3A%2F%2Fshop.example%2F";
    assert_eq!(
        opened,
        [
            ("MetaMask", "https://link.metamask.io/dapp/shop.example/".to_owned()),
            ("Phantom", format!("https://phantom.app/ul/browse/{whole}?ref={whole}")),
        ]
    );
    let nine =
        (0..9).map(|number| format!("W{number}=https://w.example/{{url}}")).collect::<Vec<_>>().join(",");
    let line = about("COUNTERSIGN_WALLET_LINKS", &nine);
    assert!(line.contains("more than 8 wallets; wallet_links takes"), "{line}");
}
