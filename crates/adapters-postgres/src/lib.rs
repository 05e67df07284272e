//! PostgreSQL storage: one cached statement for each operation.
