//! What sorted lists have in common.

/// How many rows a page of a sorted list looks through at most, and how far a total is counted.
pub const MOST_LOOKED_THROUGH: u32 = 10_000;

/// How many entries a list has, counted up to [`MOST_LOOKED_THROUGH`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// How many were counted.
    pub counted: u32,
    /// Can there be more?
    pub more: bool,
}

impl Total {
    /// The total of a count that stopped after one more than [`MOST_LOOKED_THROUGH`].
    pub fn of(counted: usize) -> Self {
        let counted = u32::try_from(counted).unwrap_or(u32::MAX);
        Self { counted: counted.min(MOST_LOOKED_THROUGH), more: counted > MOST_LOOKED_THROUGH }
    }
}
