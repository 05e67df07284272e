//! The mailer against a real mail server (aiosmtpd) and against servers that misbehave.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod mail_server;
mod misbehaving;
mod peer;
mod sending;
