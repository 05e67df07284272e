//! The commands of the command line, each in a file or a room of its own.

pub(crate) mod admin_key;
pub(crate) mod challenge;
pub(crate) mod check_config;
pub(crate) mod client;
pub(crate) mod declared;
pub(crate) mod demo_wallet;
pub(crate) mod doctor;
pub(crate) mod event;
pub(crate) mod generate;
pub(crate) mod healthcheck;
pub(crate) mod key;
mod make;
pub(crate) mod migrate;
pub(crate) mod output;
pub(crate) mod people;
pub(crate) mod resource;
pub(crate) mod running;
pub(crate) mod saved;
pub(crate) mod templates;
