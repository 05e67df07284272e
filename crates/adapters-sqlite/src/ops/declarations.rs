//! What files declared.

use countersign_domain::declaration::{Declaration, DeclaredKind, DeclaredThing};
use countersign_ports::{ForgetDeclarations, PutDeclarations};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use crate::error::SqliteError;
use crate::rows::field::{Row, micros};
use crate::statement::statement;

pub(crate) fn put_declarations(
    connection: &mut SqliteConnection,
    command: &PutDeclarations,
) -> Result<(), SqliteError> {
    for Declaration { thing, source, created_at } in &command.declarations {
        let (kind, key) = (thing.kind.name(), &*thing.key);
        PutDeclaration { kind, key, source, created_at: micros(*created_at) }.execute(connection)?;
    }
    Ok(())
}

pub(crate) fn forget_declarations(
    connection: &mut SqliteConnection,
    command: &ForgetDeclarations,
) -> Result<(), SqliteError> {
    for DeclaredThing { kind, key } in &command.things {
        ForgetDeclaration { kind: kind.name(), key }.execute(connection)?;
    }
    Ok(())
}

pub(crate) fn list_declarations(connection: &mut SqliteConnection) -> Result<Vec<Declaration>, SqliteError> {
    let rows: Vec<(String, String, String, i64)> = ListDeclarations {}.load(connection)?;
    rows.into_iter()
        .map(|(kind, key, source, created_at)| {
            let at = Row { table: "declarations", key: key.as_bytes() };
            let kind = DeclaredKind::parse(&kind).ok_or_else(|| at.impossible("kind"))?;
            let created_at = at.time("created_at", created_at)?;
            Ok(Declaration { thing: DeclaredThing { kind, key }, source, created_at })
        })
        .collect()
}

statement! {
    PutDeclaration<'a> {
        kind: &'a str as Text,
        key: &'a str as Text,
        source: &'a str as Text,
        created_at: i64 as BigInt,
    } = "\
        INSERT INTO declarations (kind, key, source, created_at) VALUES (:kind, :key, :source, :created_at) \
        ON CONFLICT (kind, key) DO UPDATE SET source = excluded.source, created_at = excluded.created_at"
}

statement! {
    ForgetDeclaration<'a> {
        kind: &'a str as Text,
        key: &'a str as Text,
    } = "DELETE FROM declarations WHERE kind = :kind AND key = :key"
}

statement! {
    ListDeclarations {} -> (Text, Text, Text, BigInt) = "\
        SELECT kind, key, source, created_at FROM declarations ORDER BY kind, key"
}
