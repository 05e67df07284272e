//! What operators do, against the reference store, with a clock that tests move and seeded entropy.

mod acts;
mod admin_keys;
mod declared;
mod desk;
mod events;
mod histories;
mod invariants;
mod people;
mod record;
mod saved;

// The same world as in the tests of the use-cases.
#[path = "../../usecases/src/tests/breakable.rs"]
mod breakable;
#[expect(dead_code, reason = "the tests of the use-cases use more of it")]
#[path = "../../usecases/src/tests/programs.rs"]
mod programs;
#[expect(dead_code, reason = "the tests of the use-cases use more of it")]
#[path = "../../usecases/src/tests/world.rs"]
mod world;

/// Where the shared files find the use-cases.
mod usecases {
    pub(super) use countersign_usecases::*;
}
