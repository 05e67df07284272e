//! What keeps a database in order.

pub mod epoch;
pub mod leases;
