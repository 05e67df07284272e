//! The one table of settings. Flags, environment variables, the settings file, `check-config` and
//! docs/configuration.md are all made from it.

use std::net::SocketAddr;
use std::path::PathBuf;

use countersign_adapters_crypto::{Coin, OperatorSecret, RpcUrl};
use countersign_adapters_smtp::{Sender, SmtpUrl};
use countersign_domain::admission::AccessRule;
use countersign_domain::client_assertion::AssertionAudience;
use countersign_domain::contact::Contact;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::resource::DeclaredResource;
use countersign_domain::secret::Secret;
use countersign_domain::wallet_link::WalletLink;
use ipnet::IpNet;
use time::Duration;

pub(crate) use super::spec::{Preset, Privacy, Setting, Spec};
use super::{RegistrationMode, parse};
use crate::wiring::DatabaseUrl;

mod administering;
mod watching;

pub(crate) use administering::{ADMIN_GROUP, ADMIN_LISTEN, ADMIN_QUORUM, ADMINS, DESK};
pub(crate) use watching::{
    EVENT_ADDRESSES, EVENT_PUSH_SECRET, EVENT_PUSH_URL, EVENT_RETENTION, LOG, LOG_ADDRESSES, LOG_FORMAT,
    METRICS, METRICS_LISTEN,
};

/// The setting that names the settings file. It cannot be in that file.
pub(crate) const CONFIG: &str = "config";
/// Its help text.
pub(crate) const CONFIG_DOC: &str =
    "The settings file; without this, `countersign.toml` in the working directory, if it exists";

/// All settings, in the order in which people read about them.
pub(crate) static ALL: [&Spec; 53] = [
    &BIND.spec,
    &PUBLIC_URL.spec,
    &DATABASE_URL.spec,
    &SECRET.spec,
    &REGISTRATION.spec,
    &REGISTRATION_TOKEN.spec,
    &DEFAULT_ACCESS.spec,
    &CONTACT.spec,
    &ACCESS_TOKEN_TTL.spec,
    &REFRESH_TOKEN_TTL.spec,
    &MAX_ACCESS_TOKEN_TTL.spec,
    &MAX_REFRESH_TOKEN_TTL.spec,
    &CODE_TTL.spec,
    &CHALLENGE_TTL.spec,
    &SESSION_TTL.spec,
    &LOGIN_TTL.spec,
    &REFRESH_GRACE.spec,
    &KEY_ROTATION.spec,
    &FORGET_UNUSED_USERS.spec,
    &WALLETS_PER_USER.spec,
    &RATE_LIMIT.spec,
    &TRUSTED_PROXIES.spec,
    &CONNECTIONS_PER_ADDRESS.spec,
    &ETHEREUM_RPC.spec,
    &ETHEREUM_RPC_PRIVATE.spec,
    &COINS.spec,
    &WALLET_LINKS.spec,
    &SMTP_URL.spec,
    &MAIL_FROM.spec,
    &CLIENT_DOCUMENTS.spec,
    &ASSERTION_AUDIENCE.spec,
    &SYNTHETIC_EMAIL.spec,
    &RESOURCES.spec,
    &APPLY_FILES.spec,
    &BACKUP_DIRECTORY.spec,
    &PLAYGROUND.spec,
    &TEMPLATE_DIRECTORY.spec,
    &DOCUMENTATION_URL.spec,
    &WORKERS.spec,
    &LOG.spec,
    &LOG_FORMAT.spec,
    &LOG_ADDRESSES.spec,
    &EVENT_RETENTION.spec,
    &EVENT_ADDRESSES.spec,
    &EVENT_PUSH_URL.spec,
    &EVENT_PUSH_SECRET.spec,
    &METRICS.spec,
    &METRICS_LISTEN.spec,
    &ADMIN_LISTEN.spec,
    &ADMINS.spec,
    &ADMIN_GROUP.spec,
    &ADMIN_QUORUM.spec,
    &DESK.spec,
];

/// The names of all settings and of their companions that end in `_file`.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().flat_map(|spec| std::iter::once(spec.name).chain(spec.file_key()))
}

/// The accepted values of the setting with this name, written to follow the word "takes".
pub(crate) fn takes(name: &str) -> &'static str {
    let mut specs = ALL.iter();
    specs
        .find(|spec| spec.name == name)
        .map_or("the path of a file that contains the value", |spec| spec.takes)
}

pub(crate) static BIND: Setting<SocketAddr> = Setting {
    spec: Spec {
        name: "bind",
        file_key: None,
        doc: "The address and port that the server listens on.",
        takes: "an IP address and a port, such as 127.0.0.1:8080 or [::]:8080",
        preset: Preset::Text("127.0.0.1:8080"),
        privacy: Privacy::Public,
    },
    parse: parse::socket_address,
};

pub(crate) static PUBLIC_URL: Setting<PublicUrl> = Setting {
    spec: Spec {
        name: "public_url",
        file_key: None,
        doc: "The address at which people and clients reach the server, and the issuer of its tokens. It is \
              never derived from a request. If you change it, tokens from before the change name the old \
              issuer.",
        takes: "an https address such as https://auth.example.com, or an http one on a loopback host",
        preset: Preset::Absent("`http://localhost` with the port of `bind`: `http://localhost:8080`"),
        privacy: Privacy::Public,
    },
    parse: parse::public_url,
};

pub(crate) static DATABASE_URL: Setting<DatabaseUrl> = Setting {
    spec: Spec {
        name: "database_url",
        file_key: Some("database_url_file"),
        doc: "Where all data is stored. `sqlite://data/countersign.db` is a path relative to the working \
              directory, `sqlite:///var/lib/countersign.db` an absolute one; \
              `postgres://user:password@host/database` is PostgreSQL, with libpq's parameters and \
              `pooler=transaction` for a pooler in transaction mode (docs/scaling.md). Everyone on the \
              machine can read a password on the command line: use the environment or a file.",
        takes: "a URL that begins with sqlite:// or postgres://",
        preset: Preset::Text("sqlite://data/countersign.db"),
        privacy: Privacy::Holds(parse::database_url_without_password),
    },
    parse: parse::database_url,
};

pub(crate) static SECRET: Setting<OperatorSecret> = Setting {
    spec: Spec {
        name: "secret",
        file_key: Some("secret_file"),
        doc: "Protects cookies, and signing keys at rest. All replicas need the same one. To make one: \
              `openssl rand -base64 32 | tr '+/' '-_'`. There is no flag for the value, only for a file \
              that contains it.",
        takes: "at least 32 random bytes in base64url",
        preset: Preset::Absent(
            "on SQLite it is created at first start, in a file beside the database with mode 0600; on \
             PostgreSQL it must be set",
        ),
        privacy: Privacy::Secret,
    },
    parse: parse::secret,
};

pub(crate) static REGISTRATION: Setting<RegistrationMode> = Setting {
    spec: Spec {
        name: "registration",
        file_key: None,
        doc: "Who can register clients over HTTP: anyone, holders of the registration token, or no one. \
              `countersign client create` always works.",
        takes: "open, token or closed",
        preset: Preset::Absent("`open` while the public URL is loopback, otherwise `token`"),
        privacy: Privacy::Public,
    },
    parse: parse::registration,
};

pub(crate) static REGISTRATION_TOKEN: Setting<Secret> = Setting {
    spec: Spec {
        name: "registration_token",
        file_key: Some("registration_token_file"),
        doc: "The initial access token that clients register with while `registration` is `token`. There is \
              no flag for the value, only for a file that contains it.",
        takes: "at least 16 characters from letters, digits and -._~+/=",
        preset: Preset::Absent(
            "none; in `token` mode only `countersign client create` can then register clients",
        ),
        privacy: Privacy::Secret,
    },
    parse: parse::registration_token,
};

const fn lifetime(
    name: &'static str,
    doc: &'static str,
    takes: &'static str,
    preset: &'static str,
    parse: fn(&str) -> Result<Duration, String>,
) -> Setting<Duration> {
    let preset = Preset::Text(preset);
    Setting { spec: Spec { name, file_key: None, doc, takes, preset, privacy: Privacy::Public }, parse }
}

pub(crate) static DEFAULT_ACCESS: Setting<AccessRule> = Setting {
    spec: Spec {
        name: "default_access",
        file_key: None,
        doc: "Who can sign in to a client that has no rule of its own: `everyone`, `nobody`, or members of one \
              of the groups in `groups:staff,friends`. `countersign access set` gives a client a rule of its own. \
              Blocked people never get in.",
        takes: "everyone, nobody, or groups: and the names of groups with commas between them",
        preset: Preset::Text("everyone"),
        privacy: Privacy::Public,
    },
    parse: parse::access_rule,
};

pub(crate) static CONTACT: Setting<Contact> = Setting {
    spec: Spec {
        name: "contact",
        file_key: None,
        doc: "Where people who are turned away can ask: a mail address, or the https address of a page. \
              Everyone who signs in can see it.",
        takes: "a mail address such as help@example.com, or an https address",
        preset: Preset::Absent("none"),
        privacy: Privacy::Public,
    },
    parse: parse::contact,
};

pub(crate) static ACCESS_TOKEN_TTL: Setting<Duration> = lifetime(
    "access_token_ttl",
    "How long access tokens are valid.",
    "a time such as 30m, 1s to 1d",
    "1h",
    parse::seconds::<1, 86_400>,
);

pub(crate) static REFRESH_TOKEN_TTL: Setting<Duration> = lifetime(
    "refresh_token_ttl",
    "How long an unused refresh token is valid. Using it returns a new one, until \
     max_refresh_token_ttl.",
    "a time such as 30d, 1s to 365d",
    "30d",
    parse::seconds::<1, 31_536_000>,
);

pub(crate) static MAX_ACCESS_TOKEN_TTL: Setting<Duration> = lifetime(
    "max_access_token_ttl",
    "How long the access tokens of a client can be valid at most, if an operator gives it a lifetime of its own.",
    "a time such as 8h, 1m to 1d",
    "1d",
    parse::seconds::<60, 86_400>,
);

pub(crate) static MAX_REFRESH_TOKEN_TTL: Setting<Duration> = lifetime(
    "max_refresh_token_ttl",
    "For how long after a sign-in a client can refresh, and how long a refresh token can be valid at most. Then people \
     must sign in again.",
    "a time such as 90d, 1m to 365d",
    "365d",
    parse::seconds::<60, 31_536_000>,
);

pub(crate) static CODE_TTL: Setting<Duration> = lifetime(
    "code_ttl",
    "How long an authorization code is valid.",
    "a time such as 60s, 1s to 10m",
    "1m",
    parse::seconds::<1, 600>,
);

pub(crate) static CHALLENGE_TTL: Setting<Duration> = lifetime(
    "challenge_ttl",
    "How long people have to sign the text that their wallet shows.",
    "a time such as 5m, 1s to 10m",
    "5m",
    parse::seconds::<1, 600>,
);

pub(crate) static SESSION_TTL: Setting<Duration> = lifetime(
    "session_ttl",
    "How long people have to finish a sign-in.",
    "a time such as 30m, 1s to 1d",
    "30m",
    parse::seconds::<1, 86_400>,
);

pub(crate) static LOGIN_TTL: Setting<Duration> = lifetime(
    "login_ttl",
    "How long a browser stays signed in without the wallet, if its user asked to be remembered. What an \
     application may do must still be signed once for each application. 0 turns remembering off.",
    "a time such as 12h, 0 to 30d",
    "1d",
    parse::seconds::<0, 2_592_000>,
);

pub(crate) static REFRESH_GRACE: Setting<Duration> = Setting {
    spec: Spec {
        name: "refresh_grace",
        file_key: None,
        doc: "How long a used refresh token may be presented again while its successor is unused, in case \
              the answer was lost on its way. The successor is then replaced: a family never has two live \
              branches.",
        takes: "a time such as 10s, 0 to 1m",
        preset: Preset::Absent("0 for clients with a secret, `10s` for public ones"),
        privacy: Privacy::Public,
    },
    parse: parse::seconds::<0, 60>,
};

pub(crate) static KEY_ROTATION: Setting<Duration> = lifetime(
    "key_rotation",
    "How long a signing key signs. The next one is published a day before it starts to sign. See \
     docs/keys.md.",
    "a time such as 90d, 2d to 365d, or 0 to rotate keys only by hand",
    "90d",
    parse::key_rotation,
);

pub(crate) static FORGET_UNUSED_USERS: Setting<Duration> = lifetime(
    "forget_unused_users",
    "How long to keep a user whose id no client ever received: no code was redeemed, and there is no \
     remembered sign-in, no e-mail address and no second wallet. Wallets cost nothing, so anyone can create \
     such users. The wallet's next sign-in creates a new user. All other users are kept.",
    "a time such as 7d, 1d to 365d, or 0 to forget no one",
    "7d",
    parse::forget_unused_users,
);

pub(crate) static WALLETS_PER_USER: Setting<u32> = Setting {
    spec: Spec {
        name: "wallets_per_user",
        file_key: None,
        doc: "How many wallets one user can have. A user who has this many must unlink one before they link \
              another. A user who has more already keeps them. Each sign-in looks at all wallets of the user.",
        takes: "a number, 1 to 1000",
        preset: Preset::Text("20"),
        privacy: Privacy::Public,
    },
    parse: parse::wallets,
};

pub(crate) static RATE_LIMIT: Setting<bool> = Setting {
    spec: Spec {
        name: "rate_limit",
        file_key: None,
        doc: "Whether expensive requests are limited for each address.",
        takes: "on or off",
        preset: Preset::Text("on"),
        privacy: Privacy::Public,
    },
    parse: parse::on_or_off,
};

pub(crate) static TRUSTED_PROXIES: Setting<Vec<IpNet>> = Setting {
    spec: Spec {
        name: "trusted_proxies",
        file_key: None,
        doc: "The proxies whose `X-Forwarded-For` is trusted. Behind a proxy it must be set: without it, \
              the limits see all visitors as one address, and 60 sign-ins a minute lock everyone out. List \
              only the proxies, never all addresses. In the settings file it may be a list.",
        takes: "networks such as 10.0.0.0/8, or single addresses, separated by commas",
        preset: Preset::Absent("none"),
        privacy: Privacy::Public,
    },
    parse: parse::networks,
};

pub(crate) static CONNECTIONS_PER_ADDRESS: Setting<usize> = Setting {
    spec: Spec {
        name: "connections_per_address",
        file_key: None,
        doc: "How many connections one IPv4 address, or one IPv6 /64, may have at the same time; more are \
              closed at once. The addresses in `trusted_proxies` have no limit, nor does this machine while \
              the public URL is loopback. Raise it for a load test from one machine.",
        takes: "a number, 1 to 100000",
        preset: Preset::Text("1000"),
        privacy: Privacy::Public,
    },
    parse: parse::connections,
};

pub(crate) static ETHEREUM_RPC: Setting<Vec<(u64, RpcUrl)>> = Setting {
    spec: Spec {
        name: "ethereum_rpc",
        file_key: Some("ethereum_rpc_file"),
        doc: "The services to ask about contract wallets (ERC-1271, ERC-6492), by chain number, such as \
              `1=https://mainnet.example/key,8453=https://base.example/key`. Accounts that are not \
              contracts sign in without them. A service is trusted about the contracts of its chain and \
              about nothing else. Write a comma in a URL as %2C. In the settings file it may be a list.",
        takes: "number=URL, separated by commas; https URLs, or http ones on localhost and on loopback or private addresses",
        preset: Preset::Absent("contract wallets cannot sign in"),
        privacy: Privacy::Holds(parse::ethereum_rpc_without_keys),
    },
    parse: parse::ethereum_rpc,
};

pub(crate) static ETHEREUM_RPC_PRIVATE: Setting<bool> = Setting {
    spec: Spec {
        name: "ethereum_rpc_private",
        file_key: None,
        doc: "Whether the URLs in `ethereum_rpc` may lead into private networks. They may always lead to \
              this machine.",
        takes: "on or off",
        preset: Preset::Text("off"),
        privacy: Privacy::Public,
    },
    parse: parse::on_or_off,
};

pub(crate) static COINS: Setting<Vec<Coin>> = Setting {
    spec: Spec {
        name: "coins",
        file_key: None,
        doc: "Coins that sign messages as Bitcoin does (BIP-137), besides Bitcoin, Litecoin, Dogecoin, \
              Ravencoin and Evrmore: `name=Namecoin chain=bip122:000000000062b72c5e2ceb45fbc8587e \
              magic=\"Namecoin Signed Message:\\n\" p2pkh=52 p2sh=13 hrp=nc`. `chain` is the beginning of \
              the hash of the first block; the numbers are the version bytes of its addresses. In the \
              settings file it may be a list.",
        takes: "coins, each as key=value pairs with spaces between them, separated by semicolons",
        preset: Preset::Absent("only those"),
        privacy: Privacy::Public,
    },
    parse: parse::coins,
};

pub(crate) static WALLET_LINKS: Setting<Vec<WalletLink>> = Setting {
    spec: Spec {
        name: "wallet_links",
        file_key: None,
        doc: "The wallets that the sign-in page offers on a phone whose browser has none. Wallets on phones \
              have browsers of their own: the link opens the application there (its `client_uri`, if you \
              registered the client), and the person starts again. `{url}` is the application's address, \
              `{bare_url}` the same without `https://`: `MetaMask=https://link.metamask.io/dapp/{bare_url}, \
              Phantom=https://phantom.app/ul/browse/{url}?ref={url}`. The wallet learns which application \
              the person comes from, and nothing of the sign-in. Write a comma in a link as %2C. In the \
              settings file it may be a list.",
        takes: "name=link, separated by commas; at most 8, each an https address with {url} or {bare_url} after its host",
        preset: Preset::Absent("none; the page says what to do in words"),
        privacy: Privacy::Public,
    },
    parse: parse::wallet_links,
};

pub(crate) static SMTP_URL: Setting<SmtpUrl> = Setting {
    spec: Spec {
        name: "smtp_url",
        file_key: Some("smtp_url_file"),
        doc: "The mail server that sends people the link to confirm their e-mail address: \
              `smtp://user:password@mail.example.com` (port 587) or `smtps://…` (TLS from the start, port \
              465). `smtp://` to another machine needs STARTTLS with a valid certificate, otherwise no mail \
              is sent; to this machine (localhost and loopback addresses) it is unencrypted, on port 25. \
              `?tls=required` requires STARTTLS here too. `?tls=opportunistic`, which anyone in between can \
              turn off, and `?tls=none` do not require it; both are refused for other machines if there is \
              a password. `?ca_file=/path/ca.pem` trusts these certificates besides Mozilla's. \
              `smtp://host/name` makes this machine introduce itself by that name instead of the domain of \
              `mail_from`. Everyone on the machine can read a password on the command line: use the \
              environment or a file.",
        takes: "a URL that begins with smtp:// or smtps://",
        preset: Preset::Absent("no mail is sent"),
        privacy: Privacy::Holds(parse::smtp_url_without_password),
    },
    parse: parse::smtp_url,
};

pub(crate) static MAIL_FROM: Setting<Sender> = Setting {
    spec: Spec {
        name: "mail_from",
        file_key: None,
        doc: "The sender of mails. Required with `smtp_url`.",
        takes: "an address such as signin@example.com, or Name <signin@example.com>",
        preset: Preset::Absent("none, while no mail is sent"),
        privacy: Privacy::Public,
    },
    parse: parse::mail_from,
};

pub(crate) static RESOURCES: Setting<Vec<DeclaredResource>> = Setting {
    spec: Spec {
        name: "resources",
        file_key: None,
        doc: "The resources (RFC 8707) that access tokens may be for besides this server. List their URIs; \
              requests must repeat them exactly. People see which resources a client asks for, and sign for \
              them. A resource is open to every client that people sign in to. With the word `named` after \
              its URI, it is open only to the clients that you opened it to with `countersign client \
              open-resource`. A client that acts for itself (`client_credentials`) always needs that \
              command. If none are listed, a server whose public URL is loopback accepts any absolute URI \
              without a fragment, for trying out, and every other server accepts none. Client ids, \
              addresses of client documents and addresses below the public URL are never accepted. In the \
              settings file it may be a list.",
        takes: "absolute URIs without a fragment, separated by commas, each alone or followed by a space and `named`",
        preset: Preset::Absent("any while the public URL is loopback, otherwise none"),
        privacy: Privacy::Public,
    },
    parse: parse::resources,
};

pub(crate) static CLIENT_DOCUMENTS: Setting<bool> = Setting {
    spec: Spec {
        name: "client_documents",
        file_key: None,
        doc: "Whether applications that are not registered may send people here. Their `client_id` is the \
              https address of a document that describes them, and this server fetches it (docs/mcp.md). \
              People see who is responsible for that document, and nothing is stored before they sign. MCP \
              clients need it.",
        takes: "on or off",
        preset: Preset::Absent("`on` while `registration` is `open`, otherwise `off`"),
        privacy: Privacy::Public,
    },
    parse: parse::on_or_off,
};

pub(crate) static ASSERTION_AUDIENCE: Setting<AssertionAudience> = Setting {
    spec: Spec {
        name: "assertion_audience",
        file_key: None,
        doc: "What clients that authenticate with a signed assertion (`private_key_jwt`) must put into \
              `aud`. With `issuer`, it is this server's issuer: then a server that lies about its endpoints \
              cannot use here what was signed for it (docs/adr/0037-assertions-are-for-the-issuer.md). With \
              `documents`, clients that a document describes may also name the address of the token \
              endpoint, because you cannot change them. With `endpoint`, all clients may. Use it for clients \
              that cannot be changed, and only until they can be.",
        takes: "issuer, documents or endpoint",
        preset: Preset::Text("documents"),
        privacy: Privacy::Public,
    },
    parse: parse::assertion_audience,
};

pub(crate) static SYNTHETIC_EMAIL: Setting<bool> = Setting {
    spec: Spec {
        name: "synthetic_email",
        file_key: None,
        doc: "Whether applications that ask for an e-mail address get a made-up one below `wallet.invalid` \
              for people who gave none. Some applications do not work without one; mail to it never \
              arrives.",
        takes: "on or off",
        preset: Preset::Text("off"),
        privacy: Privacy::Public,
    },
    parse: parse::on_or_off,
};

pub(crate) static APPLY_FILES: Setting<Vec<PathBuf>> = Setting {
    spec: Spec {
        name: "apply_files",
        file_key: None,
        doc: "Files that declare clients, groups and resources (docs/declared.md). Every server does what they say when it               starts, as `countersign apply` does, and deletes nothing. With a mistake in one of them the server does               not start.",
        takes: "paths with commas between them, relative to the working directory or absolute",
        preset: Preset::Absent("none"),
        privacy: Privacy::Public,
    },
    parse: parse::paths,
};

pub(crate) static BACKUP_DIRECTORY: Setting<PathBuf> = Setting {
    spec: Spec {
        name: "backup_directory",
        file_key: None,
        doc: "The folder for `countersign backup` without a file. `countersign doctor` warns if the newest backup there is more \
              than two days old. The server does not use it. Keep a copy of the backups on another machine.",
        takes: "the path of a folder, relative to the working directory or absolute",
        preset: Preset::Absent("none: `countersign backup` needs a file"),
        privacy: Privacy::Public,
    },
    parse: parse::path,
};

pub(crate) static PLAYGROUND: Setting<bool> = Setting {
    spec: Spec {
        name: "playground",
        file_key: None,
        doc: "Whether `/playground` exists: a sign-in step by step, with a throw-away wallet in the page.",
        takes: "on or off",
        preset: Preset::Absent("`on` while the public URL is loopback, otherwise `off`"),
        privacy: Privacy::Public,
    },
    parse: parse::on_or_off,
};

pub(crate) static TEMPLATE_DIRECTORY: Setting<PathBuf> = Setting {
    spec: Spec {
        name: "template_directory",
        file_key: None,
        doc: "A folder whose templates, texts and assets replace the embedded ones of the same names. `countersign templates \
              export` writes those of this release (docs/pages.md).",
        takes: "the path of an existing folder",
        preset: Preset::Absent("the embedded ones"),
        privacy: Privacy::Public,
    },
    parse: parse::directory,
};

pub(crate) static DOCUMENTATION_URL: Setting<String> = Setting {
    spec: Spec {
        name: "documentation_url",
        file_key: None,
        doc: "Where you serve the site of this documentation, which the Debian package installs in \
              `/usr/share/doc/countersign/html`. `/docs` links to it. The server does not serve the site itself, because its \
              pages need inline scripts, which no page of this server may have.",
        takes: "an https address such as https://docs.example.com/, or an http one on a loopback host",
        preset: Preset::Absent("`/docs` has no such link"),
        privacy: Privacy::Public,
    },
    parse: parse::page_url,
};

pub(crate) static WORKERS: Setting<usize> = Setting {
    spec: Spec {
        name: "workers",
        file_key: None,
        doc: "How many threads answer requests.",
        takes: "a number, 1 to 512",
        preset: Preset::Absent("one for each CPU"),
        privacy: Privacy::Public,
    },
    parse: parse::workers,
};
