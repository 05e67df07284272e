//! Use-cases against the reference store, with a clock that tests move and seeded entropy.

mod account;
mod breakable;
mod broken_store;
mod clients;
mod event_pushes;
mod footing;
mod hour_counts;
mod programs;
mod sign_in;
mod tokens;
mod world;

/// Where the files that the operators' tests share find the use-cases.
mod usecases {
    pub(super) use crate::*;
}
