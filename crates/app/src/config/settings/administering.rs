//! The setting for the admin interface.

use std::net::SocketAddr;

use super::{Preset, Privacy, Setting, Spec};
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
