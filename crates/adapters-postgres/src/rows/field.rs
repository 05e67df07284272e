//! Single fields: hashes, scopes, lists as the lines of one text.

use countersign_domain::scope::ScopeSet;
use countersign_domain::secret::SecretHash;
use countersign_ports::StoreError;
use uuid::Uuid;

/// The row that is being read, for the error if one of its values is impossible.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) table: &'static str,
    pub(crate) key: Uuid,
}

impl Row {
    pub(crate) fn bytes(self, column: &'static str, stored: &[u8]) -> Result<[u8; 32], StoreError> {
        stored.try_into().map_err(|_| self.impossible(column))
    }

    pub(crate) fn hash(self, column: &'static str, stored: &[u8]) -> Result<SecretHash, StoreError> {
        self.bytes(column, stored).map(SecretHash::from_bytes)
    }

    /// Scopes that are stored as names. No scopes are the empty text.
    pub(crate) fn scope(self, column: &'static str, stored: &str) -> Result<ScopeSet, StoreError> {
        if stored.is_empty() {
            return Ok(ScopeSet::default());
        }
        ScopeSet::from_stored(stored).map_err(|_| self.impossible(column))
    }

    /// The error that names this row and the column.
    pub(crate) fn impossible(self, column: &'static str) -> StoreError {
        StoreError::Corrupt { table: self.table, column, row: self.key.to_string() }
    }
}

/// Writes a list as lines of one text.
pub(crate) fn lines<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    items.into_iter().collect::<Vec<_>>().join("\n")
}

/// Reads a list that was written as lines.
pub(crate) fn from_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_terminator('\n')
}
