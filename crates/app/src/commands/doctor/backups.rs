//! How old the newest backup is.

use std::path::Path;

use time::{Duration, OffsetDateTime};

use crate::commands::saved::kept;
use crate::failure::chain;
use crate::output::terminal::count;
use crate::wiring::Finding;

/// A backup each night is less than this old, even if one was missed by some hours.
const OLD: Duration = Duration::days(2);
const ADVICE: &str = "look at `systemctl status countersign-backup.timer countersign-backup.service`, or run `countersign backup`";

/// Looks at the folder of the backups.
pub(super) fn look(folder: Option<&Path>, now: OffsetDateTime) -> Finding {
    let Some(folder) = folder else {
        return Finding::ok(
            "backups",
            "backup_directory is not set, so it is not known whether there are any",
        );
    };
    let shown = folder.display();
    match kept::backups(folder).map(|backups| backups.into_iter().next()) {
        Err(error) => Finding::warn(
            "backups",
            format!("{shown} cannot be read: {}", chain(&error)),
            "correct backup_directory, or make the folder and give it to the user that the server runs as",
        ),
        Ok(None) => Finding::warn("backups", format!("there is no backup in {shown}"), ADVICE),
        Ok(Some(newest)) => {
            let age = now - newest.made_at;
            if age > OLD {
                let days = count(age.whole_days().unsigned_abs(), "day");
                Finding::warn("backups", format!("the newest one in {shown} is {days} old"), ADVICE)
            } else {
                Finding::ok("backups", format!("the newest one is {}", newest.path.display()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use time::macros::datetime;

    use super::*;
    use crate::wiring::Health;

    #[test]
    fn a_backup_that_is_missing_or_more_than_two_days_old_is_warned_of() {
        let now = datetime!(2026-12-05 03:00 UTC);
        let folder = tempfile::tempdir().unwrap();
        let said = || look(Some(folder.path()), now);
        assert_eq!(look(None, now).health, Health::Ok, "the operator has another way");
        assert_eq!(look(Some(Path::new("/nowhere/at/all")), now).health, Health::Warn);
        assert!(said().message.starts_with("there is no backup in "), "{}", said().message);
        fs::write(folder.path().join("countersign-2026-11-20T030000Z.backup"), "").unwrap();
        assert!(
            said().health == Health::Warn && said().message.ends_with(" is 15 days old"),
            "{}",
            said().message
        );
        fs::write(folder.path().join("countersign-2026-12-03T025959Z.backup.age"), "").unwrap();
        assert!(
            said().health == Health::Warn && said().message.ends_with(" is 2 days old"),
            "{}",
            said().message
        );
        fs::write(folder.path().join("countersign-2026-12-03T030000Z.backup"), "").unwrap();
        assert_eq!(said().health, Health::Ok, "{}", said().message);
    }
}
