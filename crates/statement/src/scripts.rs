//! The migrations with their text, for build scripts: the macro that embeds migrations does not notice a new
//! folder, and does not expose their text.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// Writes `scripts.rs` for the crate that is built: a list of the migrations in the folder, each with its version and
/// the text that it runs.
#[expect(clippy::print_stdout, reason = "cargo reads what a build script prints")]
pub fn write(folder: &str) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={folder}");
    let folder = fs::canonicalize(folder)?;
    let mut names = fs::read_dir(&folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    names.retain(|name| folder.join(name).join("up.sql").exists());
    names.sort();
    let mut list = String::from("&[\n");
    for name in names {
        // As diesel makes a version of a name.
        let version = name.split('_').next().unwrap_or_default().replace('-', "");
        writeln!(list, "    ({version:?}, include_str!({:?})),", folder.join(name).join("up.sql"))?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("scripts.rs"), list)?;
    Ok(())
}
