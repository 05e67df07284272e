//! Rebuilds when a migration is added: the macro that embeds migrations does not notice a new folder.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations/postgres");
}
