//! The open database, and what is done with it: for a server or for one command.

pub(crate) mod admin_group;
pub(crate) mod change_log;
pub(crate) mod context;
pub(crate) mod opened;
pub(crate) mod opening;
pub(crate) mod operator;
pub(crate) mod operator_secret;
