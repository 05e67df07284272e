//! Restoring a backup begins an epoch: what the server handed out before is good no longer, because the backup does not know what
//! was used, revoked or ended since it was made (docs/adr/0048-a-restore-begins-an-epoch.md).

use time::OffsetDateTime;

use crate::id::{EpochId, FillingId};

/// An epoch that a restore began. Before the first restore there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Its id, by which it differs from every other epoch of the same secret. Numbers do not: a backup can be restored twice.
    pub id: EpochId,
    /// How many restores there were in the history of this database, with this one.
    pub number: u64,
    /// When it began. What was signed before is refused.
    pub raised_at: OffsetDateTime,
}

/// What a running server compares from time to time: if it changes, the database is another one than at the start of the server.
///
/// Ids are compared, and never numbers or times: a backup can be restored twice, and clocks can be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// The epoch of now.
    pub epoch: Option<EpochId>,
    /// Which restore or copy filled the database last. With `--keep-tokens` no epoch begins, and this changes all the same.
    pub filling: Option<FillingId>,
    /// Does a restore or a copy fill the database now, or was one interrupted?
    pub is_unfinished: bool,
}

/// What fills a database that is not finished yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// A backup is being restored into it.
    Restore,
    /// Another database is being copied into it.
    Copy,
}

impl Filling {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Restore, Self::Copy];

    /// The word in storage, and the command that does it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Restore => "restore",
            Self::Copy => "copy",
        }
    }

    /// Finds it by its word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|filling| filling.name() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fills_a_database_is_found_by_its_word() {
        for filling in Filling::ALL {
            assert_eq!(Filling::parse(filling.name()), Some(filling));
        }
        assert_eq!(Filling::parse("Restore"), None);
    }
}
