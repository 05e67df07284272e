//! The settings for the admin interface and the desk.

use std::net::SocketAddr;

use countersign_domain::desk::operators::Quorum;
use countersign_domain::group::GroupName;
use countersign_http_actix::DeskPlace;

use super::{Preset, Privacy, Setting, Spec};
use crate::config::admin_name::AdminName;
use crate::config::parse;

pub(crate) static ADMIN_LISTEN: Setting<SocketAddr> = Setting {
    spec: Spec {
        name: "admin_listen",
        file_key: None,
        doc: "A separate listener for the admin interface (docs/admin-api.md): what the command line can do, for \
              programs that have an admin key. It is plain HTTP, so use an address that only this machine or a \
              private network reaches, or put a proxy with TLS before it.",
        takes: "an IP address and a port, such as 127.0.0.1:9091 or [::1]:9091",
        preset: Preset::Absent("there is no admin interface"),
        privacy: Privacy::Public,
    },
    parse: parse::socket_address,
};

pub(crate) static ADMINS: Setting<Vec<AdminName>> = Setting {
    spec: Spec {
        name: "admins",
        file_key: None,
        doc: "The wallets of the operators, who see the desk at `/admin` and sign each change that they make there \
              (docs/desk.md). Without this and `admin_group` there is no desk. After the account of a contract \
              wallet, write a space and `contract`. In the settings file it may be a list.",
        takes: "accounts by CAIP-10, such as eip155:1:0x52908400098527886E0F7030069857D2E4169EE7, separated by \
                commas, each alone or followed by a space and `contract`",
        preset: Preset::Absent("none"),
        privacy: Privacy::Public,
    },
    parse: parse::admins,
};

pub(crate) static ADMIN_GROUP: Setting<GroupName> = Setting {
    spec: Spec {
        name: "admin_group",
        file_key: None,
        doc: "A group whose members are operators too (docs/desk.md). The group need not exist yet. Those who can \
              change its members decide who is an operator: the command line, admin keys with `groups:write`, \
              and the operators.",
        takes: "the name of a group: 1 to 64 of a-z 0-9 _ . : - beginning with a letter",
        preset: Preset::Absent("none"),
        privacy: Privacy::Public,
    },
    parse: parse::group,
};

pub(crate) static ADMIN_QUORUM: Setting<Quorum> = Setting {
    spec: Spec {
        name: "admin_quorum",
        file_key: None,
        doc: "How many operators must sign a dangerous change: members of `admin_group`, deleting a client or a \
              user, access for everyone, signing keys and admin keys. With 2, such a change waits for up to a day \
              until a second person signs it (docs/desk.md). All other changes need one.",
        takes: "1 or 2",
        preset: Preset::Text("1"),
        privacy: Privacy::Public,
    },
    parse: parse::quorum,
};

pub(crate) static DESK: Setting<DeskPlace> = Setting {
    spec: Spec {
        name: "desk",
        file_key: None,
        doc: "Where the desk is: `public` at `/admin` on the main listener, `private` on `admin_listen` alone, for a \
              proxy that only your network reaches (docs/desk.md).",
        takes: "public or private",
        preset: Preset::Text("public"),
        privacy: Privacy::Public,
    },
    parse: parse::desk_place,
};
