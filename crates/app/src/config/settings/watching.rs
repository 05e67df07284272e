//! The settings for the log and the metrics.

use std::net::SocketAddr;

use countersign_domain::secret::Secret;
use time::Duration;

use super::{Preset, Privacy, Setting, Spec};
use crate::config::{AddressDetail, LogFormat, parse};

pub(crate) static LOG: Setting<String> = Setting {
    spec: Spec {
        name: "log",
        file_key: None,
        doc: "What is logged: a level, or directives for single parts, such as \
              `info,countersign_usecases=debug`. The log goes to standard error.",
        takes: "error, warn, info, debug, trace or off, or a list of target=level",
        preset: Preset::Text("info"),
        privacy: Privacy::Public,
    },
    parse: parse::log_directives,
};

pub(crate) static LOG_FORMAT: Setting<LogFormat> = Setting {
    spec: Spec {
        name: "log_format",
        file_key: None,
        doc: "The format of the log; `auto` is `pretty` on a terminal and `json` elsewhere.",
        takes: "auto, pretty or json",
        preset: Preset::Text("auto"),
        privacy: Privacy::Public,
    },
    parse: parse::log_format,
};

pub(crate) static LOG_ADDRESSES: Setting<AddressDetail> = Setting {
    spec: Spec {
        name: "log_addresses",
        file_key: None,
        doc: "How much the log shows of the IP addresses of those who sign in or are refused: `network` cuts \
              them to the first 24 bits (IPv4) or 48 bits (IPv6), `full` shows all of them. Behind a proxy, \
              set `trusted_proxies` too. `fail2ban` needs `full`. See docs/watching.md.",
        takes: "network or full",
        preset: Preset::Text("network"),
        privacy: Privacy::Public,
    },
    parse: parse::address_detail,
};

pub(crate) static EVENT_RETENTION: Setting<Duration> = Setting {
    spec: Spec {
        name: "event_retention",
        file_key: None,
        doc: "How long events are kept: what happened, who did it, and when (docs/events.md). With 0 none are \
              written, and those that were are deleted.",
        takes: "a time such as 90d, 1h to 3650d, or 0 to keep none",
        preset: Preset::Text("90d"),
        privacy: Privacy::Public,
    },
    parse: parse::event_retention,
};

pub(crate) static EVENT_ADDRESSES: Setting<AddressDetail> = Setting {
    spec: Spec {
        name: "event_addresses",
        file_key: None,
        doc: "How much of the IP addresses of people events record: `network` cuts them to the first 24 bits \
              (IPv4) or 48 bits (IPv6), `full` records whole addresses. Behind a proxy, set \
              `trusted_proxies` too.",
        takes: "network or full",
        preset: Preset::Text("network"),
        privacy: Privacy::Public,
    },
    parse: parse::address_detail,
};

pub(crate) static EVENT_PUSH_URL: Setting<String> = Setting {
    spec: Spec {
        name: "event_push_url",
        file_key: None,
        doc: "Where events are pushed, as signed Security Event Tokens (docs/events.md). Only addresses on the \
              public internet are contacted, and redirects are not followed; `http` and this machine are for \
              servers whose public URL is loopback. A new URL gets the events from then on; one that was used \
              before also gets what it missed.",
        takes: "an https address such as https://siem.example.com/events, or an http one on a loopback host",
        preset: Preset::Absent("none; events are not pushed"),
        privacy: Privacy::Holds(parse::push_url_without_query),
    },
    parse: parse::push_url,
};

pub(crate) static EVENT_PUSH_SECRET: Setting<Secret> = Setting {
    spec: Spec {
        name: "event_push_secret",
        file_key: Some("event_push_secret_file"),
        doc: "What the receiver of events knows this server by: it is sent as `Authorization: Bearer`. There is \
              no flag for the value, only for a file that contains it.",
        takes: "at least 16 characters from letters, digits and -._~+/=",
        preset: Preset::Absent("none; only the signature shows where events come from"),
        privacy: Privacy::Secret,
    },
    parse: parse::registration_token,
};

pub(crate) static METRICS: Setting<bool> = Setting {
    spec: Spec {
        name: "metrics",
        file_key: None,
        doc: "Whether `/metrics` exists, for Prometheus (docs/metrics.md). It names no person and no \
              client, but shows anyone who can reach it how busy the server is: give it a listener of its \
              own (`metrics_listen`), or set `on` and block the path at the proxy.",
        takes: "on or off",
        preset: Preset::Absent(
            "`on` while the public URL is loopback, or with `metrics_listen`; otherwise `off`",
        ),
        privacy: Privacy::Public,
    },
    parse: parse::on_or_off,
};

pub(crate) static METRICS_LISTEN: Setting<SocketAddr> = Setting {
    spec: Spec {
        name: "metrics_listen",
        file_key: None,
        doc: "A separate listener for `/metrics`. The path then does not exist on the main listener.",
        takes: "an IP address and a port, such as 127.0.0.1:9090 or [::]:9090",
        preset: Preset::Absent("`/metrics` is on the main listener"),
        privacy: Privacy::Public,
    },
    parse: parse::socket_address,
};
