//! The migrations with their text, for build scripts: the macro that embeds migrations does not notice a new
//! folder, and does not expose their text.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// Writes a file of Rust for the crate that is built, with the name of the database: a list of its migrations, each with its name,
/// its version and the text that it runs.
#[expect(clippy::print_stdout, reason = "cargo reads what a build script prints")]
pub fn write(database: &str) -> Result<(), Box<dyn Error>> {
    let folder = format!("../../migrations/{database}");
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
        let text = folder.join(&name).join("up.sql");
        writeln!(
            list,
            "    Script {{ name: {name:?}, version: {version:?}, text: include_str!({text:?}) }},"
        )?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join(database).with_extension("rs"), list)?;
    Ok(())
}
