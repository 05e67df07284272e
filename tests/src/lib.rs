//! What the black-box tests are made of: the real binary with its own database, and the parties that talk to
//! it.
//!
//! | module | what it contains |
//! |---|---|
//! | [`database`] | a new SQLite file or PostgreSQL database, inspected from outside |
//! | [`server`] | processes of the binary `countersign`: started, killed, stopped and restarted |
//! | [`http`] | HTTP/1.1 over TCP, so that tests see every header and can send what no library would send |
//! | [`site`] | what a client does: register, exchange, refresh, revoke, call userinfo |
//! | [`browser`] | what a user's browser does: cookies, the page, challenge and login |
//! | [`wallet`] | wallets that sign |
//! | [`clock`] | wrong clocks |
//! | [`event_receiver`] | whoever gets pushed events, in any mood |
//! | [`figures`] | the values in `/metrics` |
//! | [`load`] | many sign-ins at once, with a ledger of everything that was acknowledged |
//! | [`storm`] | clients that hold connections open in every way that costs them little |
//! | [`invariants`] | rules for every response, checked on each one that passes through [`http`] |
//! | [`judge`] | other people's code that tests a running server |
//! | [`secrets`] | every secret that was sent or received, and the search for them in logs |
//! | [`vectors`] | the tables in `tests/vectors` |
//!
//! Nothing here depends on the server's code. A test that passes here would pass for any server with the same
//! HTTP API and command line.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test harness fails by panicking and prints what it counted, as tests do"
)]

pub mod browser;
pub mod client_site;
pub mod clock;
pub mod database;
pub mod event_receiver;
pub mod figures;
pub mod http;
pub mod invariants;
pub mod jose;
pub mod judge;
pub mod load;
pub mod openid;
pub mod page;
pub mod secrets;
pub mod server;
pub mod site;
pub mod storm;
pub mod vectors;
pub mod wallet;

pub use browser::Browser;
pub use client_site::ClientSite;
pub use database::Database;
pub use figures::Figures;
pub use http::{Parameters, Request, Response};
pub use judge::Judges;
pub use server::Server;
pub use site::{Client, Site, Tokens};
pub use wallet::Wallet;

/// Makes two tests, `sqlite` and `postgres`, from each function that takes a [`Database`].
#[macro_export]
macro_rules! on_both {
    ($($(#[$meta:meta])* fn $name:ident($database:ident) $body:block)*) => {$(
        $(#[$meta])*
        mod $name {
            #[allow(clippy::allow_attributes, unused_imports, reason = "not every test needs what its file imports")]
            use super::*;

            fn run($database: &$crate::Database) $body

            #[test]
            fn sqlite() {
                run(&$crate::Database::sqlite());
            }

            #[test]
            fn postgres() {
                run(&$crate::Database::postgres());
            }
        }
    )*};
}
