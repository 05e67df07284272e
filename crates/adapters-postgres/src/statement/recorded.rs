//! Statements that record the events of what they carry out.
//!
//! The commands and their events are one statement, so an event costs no round trip. Commands without an event
//! are carried out by the statement alone.

use countersign_domain::event::Event;
use countersign_sql::rows::event::{NewEvent, NewEvents};
use countersign_sql::statement::Bind;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::query_dsl::methods::LoadQuery;
use diesel::sql_types::{Array, Uuid as SqlUuid};
use uuid::Uuid;

use super::{Backend, Connection};

/// A statement that can record events.
pub(crate) trait Act: QueryFragment<Backend> + QueryId {
    /// The SQL type of what it returns.
    type Answer;

    /// How the text of the events is put into its own.
    const TEXT: ActText;
}

/// Where the text of the events goes.
#[derive(Clone, Copy)]
pub(crate) enum ActText {
    /// The text is a `WITH` without what follows it, and carries out one command. `done` is the part that has a
    /// row with the user if the command was carried out. `answer` is what follows.
    One { done: &'static str, answer: &'static str },
    /// The same for many commands: `done` has a row with the id and the user for each that was carried out.
    Many { done: &'static str, answer: &'static str },
    /// The text is whole, and returns the ids of the commands that were carried out. Does it make what can be deleted and made again?
    Whole { makes: bool },
}

/// Carries out commands, and records the events of those that are carried out. Each event has the id of its
/// command. Where it names no person, it gets the user.
///
/// A command that was carried out before is not carried out again, so its event cannot be stored yet.
pub(crate) fn load<'q, 'a: 'q, A, T>(
    connection: &mut Connection,
    act: A,
    events: impl IntoIterator<Item = (Uuid, &'a Event)>,
) -> QueryResult<Vec<T>>
where
    A: Act,
    Plain<A>: LoadQuery<'q, Connection, T>,
    Recorded<'a, A>: LoadQuery<'q, Connection, T>,
{
    let events: Vec<(Uuid, &Event)> = events.into_iter().collect();
    if events.is_empty() {
        return Plain(act).load(connection);
    }
    let of = events.iter().map(|(id, _)| *id).collect();
    let events = events.into_iter().map(|(_, event)| NewEvent::of(event)).collect();
    Recorded { act, events, of }.load(connection)
}

/// Commands without events.
#[derive(QueryId)]
pub(crate) struct Plain<A>(A);

/// Commands of which at least one has an event.
pub(crate) struct Recorded<'a, A> {
    act: A,
    events: NewEvents<'a>,
    /// The command of each event.
    of: Vec<Uuid>,
}

impl<A: Act> QueryFragment<Backend> for Plain<A> {
    fn walk_ast<'ast>(&'ast self, mut out: AstPass<'_, 'ast, Backend>) -> QueryResult<()> {
        self.0.walk_ast(out.reborrow())?;
        if let ActText::One { answer, .. } | ActText::Many { answer, .. } = A::TEXT {
            out.push_sql(answer);
        }
        Ok(())
    }
}

impl<A: Act> QueryFragment<Backend> for Recorded<'_, A> {
    fn walk_ast<'ast>(&'ast self, mut out: AstPass<'_, 'ast, Backend>) -> QueryResult<()> {
        let (before, after, done, answer) = match A::TEXT {
            ActText::One { done, answer } | ActText::Many { done, answer } => ("", "", done, answer),
            ActText::Whole { .. } => ("WITH done AS (", ")", "done", " SELECT id FROM done"),
        };
        let (user, command, join, on) = match A::TEXT {
            ActText::One { .. } => (USER, "", " CROSS JOIN ", ""),
            ActText::Many { .. } => (USER, ", command", " JOIN ", " ON done.id = given.command"),
            ActText::Whole { .. } => ("given.user_id", ", command", " JOIN ", " ON done.id = given.command"),
        };
        out.push_sql(before);
        self.act.walk_ast(out.reborrow())?;
        out.push_sql(after);
        out.push_sql(", recorded AS (INSERT INTO fresh_events (");
        out.push_sql(NewEvents::COLUMN_LIST);
        out.push_sql(") SELECT ");
        for (index, column) in NewEvents::COLUMNS.iter().enumerate() {
            out.push_sql(if index == 0 { "" } else { ", " });
            if *column == "user_id" {
                out.push_sql(user);
            } else if *column == "id" && matches!(A::TEXT, ActText::Whole { makes: true }) {
                out.push_sql(ID);
            } else {
                out.push_sql("given.");
                out.push_sql(column);
            }
        }
        out.push_sql(" FROM unnest(");
        for index in 0..NewEvents::COLUMNS.len() {
            out.push_sql(if index == 0 { "" } else { ", " });
            self.events.bind(index, &mut out)?;
        }
        if !command.is_empty() {
            out.push_sql(", ");
            out.push_bind_param::<Array<SqlUuid>, _>(&self.of)?;
        }
        out.push_sql(") AS given (");
        out.push_sql(NewEvents::COLUMN_LIST);
        out.push_sql(command);
        out.push_sql(")");
        out.push_sql(join);
        out.push_sql(done);
        out.push_sql(" AS done");
        out.push_sql(on);
        out.push_sql(")");
        out.push_sql(answer);
        Ok(())
    }
}

/// The user of an event.
const USER: &str = "CASE WHEN given.pseudonym IS NULL THEN COALESCE(given.user_id, done.user_id) END";

/// The id of an event of what can be deleted and made again. If the event is sealed already, it is about an earlier act, and the
/// statement fails.
const ID: &str = "CASE WHEN NOT EXISTS (SELECT FROM events WHERE events.id = given.id) THEN given.id END";

impl<A: QueryId> QueryId for Recorded<'_, A> {
    type QueryId = Recorded<'static, A::QueryId>;
    const HAS_STATIC_QUERY_ID: bool = A::HAS_STATIC_QUERY_ID;
}

impl<A: Act> Query for Plain<A> {
    type SqlType = A::Answer;
}

impl<A: Act> Query for Recorded<'_, A> {
    type SqlType = A::Answer;
}

impl<A> RunQueryDsl<Connection> for Plain<A> {}

impl<A> RunQueryDsl<Connection> for Recorded<'_, A> {}
