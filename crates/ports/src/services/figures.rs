//! What a running server counts.

use countersign_domain::figure::Figure;

/// How often one thing was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureTotal {
    /// What was counted.
    pub figure: Figure,
    /// Which part of it.
    pub label: &'static str,
    /// How often.
    pub total: u64,
}

/// Counts since the process started. Answers from memory.
pub trait Figures: Send + Sync {
    /// The total of every label of every figure, also of those that were never counted. The labels and their order are
    /// always the same, whatever requests carry, and no total ever falls.
    fn totals(&self) -> Vec<FigureTotal>;
}
