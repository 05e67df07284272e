//! Statements for SQLite, and how it carries them out.

pub(crate) use countersign_sql::{row, statement};

#[cfg(test)]
pub(crate) mod plan {
    //! How SQLite carries statements out.

    use diesel::Connection as _;
    use diesel::prelude::*;
    use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
    use diesel::sql_types::{Integer, Text};

    type Backend = diesel::sqlite::Sqlite;
    type Connection = diesel::SqliteConnection;

    struct Explain<S>(S);

    impl<S: QueryFragment<Backend>> QueryFragment<Backend> for Explain<S> {
        fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Backend>) -> QueryResult<()> {
            out.push_sql("EXPLAIN QUERY PLAN ");
            self.0.walk_ast(out)
        }
    }

    impl<S> QueryId for Explain<S> {
        type QueryId = ();
        const HAS_STATIC_QUERY_ID: bool = false;
    }

    impl<S> Query for Explain<S> {
        type SqlType = (Integer, Integer, Integer, Text);
    }

    impl<S> RunQueryDsl<Connection> for Explain<S> {}

    /// An empty database.
    pub(crate) fn database() -> (tempfile::TempDir, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        crate::migrate(&path).unwrap();
        let connection = Connection::establish(path.to_str().unwrap()).unwrap();
        (folder, connection)
    }

    /// The steps of a statement, as SQLite reports them.
    pub(crate) fn steps(connection: &mut Connection, statement: impl QueryFragment<Backend>) -> Vec<String> {
        let steps: Vec<(i32, i32, i32, String)> = Explain(statement).load(connection).unwrap();
        steps.into_iter().map(|(_, _, _, step)| step).collect()
    }

    /// Checks that a statement finds the rows of each table by a key. Only what the statement itself brings
    /// along is read from one end to the other: `asked`, and the results of subqueries.
    pub(crate) fn finds_rows_by_keys(connection: &mut Connection, statement: impl QueryFragment<Backend>) {
        let steps = steps(connection, statement);
        let reads_all = |step: &&String| {
            let own = ["SCAN asked", "SCAN CONSTANT ROW", "SCAN (subquery"];
            // A subquery that has a name is announced by it.
            let is_named_subquery = step
                .strip_prefix("SCAN ")
                .is_some_and(|name| steps.iter().any(|other| *other == format!("CO-ROUTINE {name}")));
            step.starts_with("SCAN") && !own.iter().any(|own| step.starts_with(own)) && !is_named_subquery
        };
        assert_eq!(steps.iter().filter(reads_all).collect::<Vec<_>>(), [""; 0], "{steps:#?}");
        assert!(steps.iter().any(|step| step.starts_with("SEARCH")), "{steps:#?}");
    }
}
