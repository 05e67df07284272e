//! Measures the server beside a floor: a server with the same libraries that does for each step only what
//! cannot be avoided.
//!
//! This is a tool. Nothing of it is shipped with the server.

pub mod cell;
pub mod cli;
pub mod crowd;
pub mod events;
pub mod floor;
pub mod flow;
mod growth;
pub mod guard;
pub mod http;
pub mod load;
pub mod machine;
pub mod progress;
pub mod report;
pub mod run;
pub mod servers;
pub mod shortening;
mod statement;
pub mod step;
