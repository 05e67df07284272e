//! Connections are opened, kept in a pool, and given to operations.

pub(crate) mod connection;
pub(crate) mod connections;
pub(crate) mod pool;
pub(crate) mod pooling;
