//! What files declared.

use countersign_domain::declaration::{Declaration, DeclaredKind, DeclaredThing};
use countersign_ports::{ForgetDeclarations, PutDeclarations};

use crate::columns::{At, Moment, Row, StoredTime, Text};
use crate::database::Statement;
use crate::statement::statement;
use crate::{Database, SqlError};

/// In the order of the keys, so that files that are applied at once never wait for each other in a circle.
pub fn put_declarations(db: &mut impl Database, command: &PutDeclarations) -> Result<(), SqlError> {
    let mut declarations: Vec<&Declaration> = command.declarations.iter().collect();
    declarations.sort_by_key(|declaration| key(&declaration.thing));
    db.all_or_nothing(|db| {
        for Declaration { thing, source, created_at } in declarations {
            let (kind, key) = key(thing);
            PutDeclaration { kind, key, source, created_at: At(*created_at) }.run(db)?;
        }
        Ok(())
    })
}

/// In the same order.
pub fn forget_declarations(db: &mut impl Database, command: &ForgetDeclarations) -> Result<(), SqlError> {
    let mut things: Vec<(&str, &str)> = command.things.iter().map(key).collect();
    things.sort_unstable();
    db.all_or_nothing(|db| {
        for (kind, key) in things {
            ForgetDeclaration { kind, key }.run(db)?;
        }
        Ok(())
    })
}

pub fn list_declarations(db: &mut impl Database) -> Result<Vec<Declaration>, SqlError> {
    let rows: Vec<(String, String, String, StoredTime)> = ListDeclarations {}.all(db)?;
    rows.into_iter()
        .map(|(kind, key, source, created_at)| {
            let at = Row { table: "declarations", key: &key };
            let kind = DeclaredKind::parse(&kind).ok_or_else(|| at.impossible("kind"))?;
            let created_at = at.time("created_at", created_at)?;
            Ok(Declaration { thing: DeclaredThing { kind, key }, source, created_at })
        })
        .collect()
}

fn key(thing: &DeclaredThing) -> (&'static str, &str) {
    (thing.kind.name(), &thing.key)
}

statement! {
    PutDeclaration<'a> {
        kind: &'a str as Text,
        key: &'a str as Text,
        source: &'a str as Text,
        created_at: At as Moment,
    } = "\
        INSERT INTO declarations (kind, key, source, created_at) VALUES (:kind, :key, :source, :created_at) \
        ON CONFLICT (kind, key) DO UPDATE SET source = excluded.source, created_at = excluded.created_at"
}

statement! {
    ForgetDeclaration<'a> { kind: &'a str as Text, key: &'a str as Text } = "\
        DELETE FROM declarations WHERE kind = :kind AND key = :key"
}

statement! {
    ListDeclarations {} -> (Text, Text, Text, Moment) = "\
        SELECT kind, key, source, created_at FROM declarations ORDER BY kind, key"
}
