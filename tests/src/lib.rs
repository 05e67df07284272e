//! What the black-box tests are made of: the real binary with a database of its own, and the actors who talk to it.
//!
//! | module | what it is |
//! |---|---|
//! | [`database`] | a fresh SQLite file or PostgreSQL database, looked into from outside |
//! | [`server`] | processes of the binary `countersign`, started, killed, stopped and started again |
//! | [`http`] | HTTP/1.1 over TCP, so that tests see every header and can send what no library would send |
//! | [`site`] | what a client does: register, exchange, refresh, revoke, ask who signed in |
//! | [`browser`] | what a person's browser does: cookies, the page, challenge and login |
//! | [`wallet`] | who signs |
//! | [`figures`] | what `/metrics` says |
//! | [`load`] | many sign-ins at once, with a ledger of everything that was acknowledged |
//! | [`storm`] | clients that hold connections in every way that costs them little |
//! | [`invariants`] | what holds for every answer; checked on each one that passes through [`http`] |
//! | [`judge`] | other people's code that looks at a running server |
//! | [`secrets`] | every secret that passes by, and the search for them in logs |
//! | [`vectors`] | the tables in `tests/vectors` |
//!
//! Nothing here knows the server's code: a test that passes, passes for any server that keeps the contract.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a harness fails by panicking and tells what it counted, as tests do"
)]

pub mod browser;
pub mod client_site;
pub mod database;
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

/// Makes of each function that takes a [`Database`] two tests: `sqlite` and `postgres`.
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
