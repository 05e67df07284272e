//! Backups that are made again and again: in one folder, under names that say when each was made, and the oldest ones
//! are removed. What has another name is not of them, and is never touched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Duration, OffsetDateTime, PrimitiveDateTime};

/// In UTC, without the characters that some file systems do not take.
const NAME: &[BorrowedFormatItem<'_>] =
    format_description!("countersign-[year]-[month]-[day]T[hour][minute][second]Z");
const ENDINGS: [&str; 2] = [".backup", ".backup.age"];
/// What an interrupted backup left is removed after this time. Until then it may still be written.
const ABANDONED: Duration = Duration::days(1);

/// A backup in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) made_at: OffsetDateTime,
    pub(crate) path: PathBuf,
}

/// The path of a backup that is made now.
pub(super) fn place(folder: &Path, made_at: OffsetDateTime, is_encrypted: bool) -> PathBuf {
    let ending = ENDINGS[usize::from(is_encrypted)];
    folder.join(format!("{}{ending}", made_at.format(NAME).unwrap_or_default()))
}

/// The backups in the folder, the newest first.
pub(crate) fn backups(folder: &Path) -> io::Result<Vec<Kept>> {
    named(folder, |name| ENDINGS.into_iter().find_map(|ending| name.strip_suffix(ending)))
}

/// Removes all but so many of the newest backups, and what interrupted ones left. Returns how many backups are gone.
pub(super) fn remove_older(folder: &Path, keep: usize, now: OffsetDateTime) -> io::Result<u64> {
    let mut all = backups(folder)?;
    let old = all.split_off(keep.min(all.len()));
    old.iter().try_for_each(|backup| fs::remove_file(&backup.path))?;
    let partial = named(folder, |name| {
        let name = name.strip_suffix(".partial")?;
        ENDINGS.into_iter().find_map(|ending| name.strip_suffix(ending))
    })?;
    let abandoned = partial.iter().filter(|partial| now - partial.made_at > ABANDONED);
    abandoned.map(|partial| &partial.path).try_for_each(fs::remove_file)?;
    Ok(u64::try_from(old.len()).unwrap_or(u64::MAX))
}

/// The files whose name, without an ending, says when a backup was made. The newest is first.
fn named(folder: &Path, without_ending: impl Fn(&str) -> Option<&str>) -> io::Result<Vec<Kept>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let made_at = name
            .to_str()
            .and_then(&without_ending)
            .and_then(|name| PrimitiveDateTime::parse(name, NAME).ok());
        if let Some(made_at) = made_at {
            found.push(Kept { made_at: made_at.assume_utc(), path: entry.path() });
        }
    }
    found.sort_by(|one, other| other.made_at.cmp(&one.made_at).then_with(|| one.path.cmp(&other.path)));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-12-05 03:00 UTC);

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_newest_are_kept_and_what_has_another_name_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let others = [
            "before-the-upgrade.backup",
            "countersign-2026-12-01.backup",
            "countersign-2026-12-01T030000Z.backup.txt",
        ];
        for other in others {
            fs::write(folder.path().join(other), "").unwrap();
        }
        for day in 1..=5 {
            let made_at = NOW.replace_day(day).unwrap();
            fs::write(place(folder.path(), made_at, day == 4), "").unwrap();
        }
        assert_eq!(remove_older(folder.path(), 3, NOW).unwrap(), 2);
        let kept: Vec<_> = backups(folder.path()).unwrap().iter().map(|kept| kept.made_at.day()).collect();
        assert_eq!(kept, [5, 4, 3]);
        assert!(place(folder.path(), NOW.replace_day(4).unwrap(), true).exists(), "encrypted ones count too");
        assert!(
            others.into_iter().all(|other| folder.path().join(other).exists()),
            "{:?}",
            names(folder.path())
        );
        assert_eq!(remove_older(folder.path(), 3, NOW).unwrap(), 0);
    }

    #[test]
    fn what_an_interrupted_backup_left_goes_when_no_backup_can_still_write_it() {
        let folder = tempfile::tempdir().unwrap();
        for made_at in [NOW - Duration::hours(1), NOW - Duration::hours(25)] {
            fs::write(format!("{}.partial", place(folder.path(), made_at, false).display()), "").unwrap();
        }
        assert_eq!(remove_older(folder.path(), 1, NOW).unwrap(), 0);
        assert_eq!(names(folder.path()), ["countersign-2026-12-05T020000Z.backup.partial"]);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        assert!(backups(Path::new("/nowhere/at/all")).is_err());
    }
}
