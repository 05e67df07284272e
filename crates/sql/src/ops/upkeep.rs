//! What keeps a database in order.

pub mod epoch;
pub mod forget_documents;
pub mod leases;
