//! Where a server listens, and what it can be asked there.

use crate::wire::Wire;

/// A port of 127.0.0.1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    port: u16,
}

impl Address {
    pub(crate) const fn new(port: u16) -> Self {
        Self { port }
    }

    pub(crate) const fn port(self) -> u16 {
        self.port
    }

    /// The URL of a database, whether it is there or not.
    pub(crate) fn url(self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Makes an empty database and gives its URL.
    pub(crate) fn create_database(self, name: &str) -> String {
        self.execute("postgres", &format!("CREATE DATABASE {name} TEMPLATE template0"));
        self.url(name)
    }

    /// Runs statements in a database, and gives what they answer.
    pub(crate) fn execute(self, database: &str, statements: &str) -> String {
        let answer = self.try_to_execute(database, statements);
        answer.unwrap_or_else(|problem| panic!("{statements}: {problem}"))
    }

    /// The same, where the server may not be there.
    pub(crate) fn try_to_execute(self, database: &str, statements: &str) -> Result<String, String> {
        Wire::open(self.port, database)?.execute(statements)
    }
}
