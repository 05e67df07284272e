//! What files declared.

use countersign_domain::declaration::{Declaration, DeclaredKind, DeclaredThing};
use countersign_ports::{ForgetDeclarations, PutDeclarations, StoreError};
use diesel::prelude::*;
use diesel::sql_types::{Array, Text, Timestamptz};
use time::OffsetDateTime;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn put_declarations(connection: &mut PgConnection, command: &PutDeclarations) -> OpResult<()> {
    let declarations = &command.declarations;
    let put = PutDeclaration {
        kind: declarations.iter().map(|declaration| declaration.thing.kind.name()).collect(),
        key: declarations.iter().map(|declaration| &*declaration.thing.key).collect(),
        source: declarations.iter().map(|declaration| &*declaration.source).collect(),
        created_at: declarations.iter().map(|declaration| declaration.created_at).collect(),
    };
    put.execute(connection)?;
    Ok(())
}

pub(crate) fn forget_declarations(
    connection: &mut PgConnection,
    command: &ForgetDeclarations,
) -> OpResult<()> {
    let forget = ForgetDeclaration {
        kind: command.things.iter().map(|thing| thing.kind.name()).collect(),
        key: command.things.iter().map(|thing| &*thing.key).collect(),
    };
    forget.execute(connection)?;
    Ok(())
}

pub(crate) fn list_declarations(connection: &mut PgConnection) -> OpResult<Vec<Declaration>> {
    let rows: Vec<(String, String, String, OffsetDateTime)> = ListDeclarations {}.load(connection)?;
    rows.into_iter()
        .map(|(kind, key, source, created_at)| {
            let impossible = |column| StoreError::Corrupt { table: "declarations", column, row: key.clone() };
            let kind = DeclaredKind::parse(&kind).ok_or_else(|| impossible("kind"))?;
            Ok(Declaration { thing: DeclaredThing { kind, key }, source, created_at })
        })
        .collect()
}

statement! {
    /// In the order of the keys, so that files that are applied at once never wait for each other in a circle.
    PutDeclaration<'a> {
        kind: Vec<&'a str> as Array<Text>,
        key: Vec<&'a str> as Array<Text>,
        source: Vec<&'a str> as Array<Text>,
        created_at: Vec<OffsetDateTime> as Array<Timestamptz>,
    } = "\
        INSERT INTO declarations (kind, key, source, created_at) \
        SELECT kind, key, source, created_at \
        FROM unnest(:kind, :key, :source, :created_at) AS declared (kind, key, source, created_at) \
        ORDER BY kind COLLATE \"C\", key COLLATE \"C\" \
        ON CONFLICT (kind, key) DO UPDATE SET source = excluded.source, created_at = excluded.created_at"
}

statement! {
    /// Locked in the order of [`PutDeclaration`].
    ForgetDeclaration<'a> {
        kind: Vec<&'a str> as Array<Text>,
        key: Vec<&'a str> as Array<Text>,
    } = "\
        WITH forgotten AS MATERIALIZED ( \
          SELECT kind, key FROM declarations \
          WHERE (kind, key) IN (SELECT kind, key FROM unnest(:kind, :key) AS named (kind, key)) \
          ORDER BY kind, key FOR UPDATE \
        ) \
        DELETE FROM declarations USING forgotten \
        WHERE declarations.kind = forgotten.kind AND declarations.key = forgotten.key"
}

statement! {
    ListDeclarations {} -> (Text, Text, Text, Timestamptz) = "\
        SELECT kind, key, source, created_at FROM declarations ORDER BY kind, key"
}
