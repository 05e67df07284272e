//! Finds PostgreSQL's programs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that holds PostgreSQL's programs.
#[derive(Debug)]
pub(crate) struct Binaries(PathBuf);

impl Binaries {
    /// Looks in Debian's folder (the newest version wins), then in the folder that `pg_config` names, then in
    /// `PATH`.
    pub(crate) fn find() -> Self {
        let mut folders = debian();
        folders.extend(pg_config());
        folders.extend(env::var_os("PATH").iter().flat_map(env::split_paths));
        let whole = |folder: &PathBuf| ["initdb", "pg_ctl"].iter().all(|name| folder.join(name).exists());
        match folders.into_iter().find(whole) {
            Some(folder) => Self(folder),
            None => panic!(
                "these tests need a PostgreSQL server, and there is no initdb on this machine; \
                 on Debian and Ubuntu: apt-get install postgresql"
            ),
        }
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }
}

fn debian() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir("/usr/lib/postgresql") else { return Vec::new() };
    let mut versions: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    let number = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    versions.sort_by_key(|path| std::cmp::Reverse(number(path)));
    versions.into_iter().map(|version| version.join("bin")).collect()
}

fn pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}
