//! A database is looked at, set up and examined.

pub(crate) mod examine;
pub(crate) mod look;
pub(crate) mod migrate;
