//! The embedded default: SQLite in WAL mode with one group-committing writer.
