//! Which tables, columns, views and triggers are ours: those that our migrations make. Everything else in a database belongs to other programs.

use countersign_statement::made::Made;

/// All migrations of this release with their text, the oldest first.
const SCRIPTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scripts.rs"));

/// What the migrations made that ran.
pub(crate) fn made(ran: impl Fn(&str) -> bool) -> Made {
    Made::by(SCRIPTS.iter().filter(|(version, _)| ran(version)).map(|(_, text)| *text))
}

#[cfg(test)]
mod tests {
    use diesel::{Connection, SqliteConnection};

    use super::*;
    use crate::setup::catalog;
    use crate::setup::migrate::{made_here, to};

    #[test]
    fn s_14_what_migrations_say_is_what_the_catalog_has_after_each_of_them_up_and_down() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        for (version, _) in SCRIPTS.iter().chain(SCRIPTS.iter().rev()) {
            to(&mut connection, version).unwrap();
            let made = made_here(&mut connection).unwrap();
            assert!(made.tables.contains_key("clients"), "{version}");
            assert_eq!(catalog::missing(&mut connection, &made).unwrap(), Vec::<String>::new(), "{version}");
            assert_eq!(catalog::foreign(&mut connection, &made).unwrap(), [], "{version}");
        }
    }
}
