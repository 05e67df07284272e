//! Rebuilds when a migration is added: the macro that embeds migrations does not notice a new folder by
//! itself.

fn main() {
    println!("cargo:rerun-if-changed=../migrations/postgres");
    println!("cargo:rerun-if-changed=../migrations/sqlite");
}
