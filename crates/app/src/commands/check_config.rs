//! `countersign check-config`: shows every setting and where its value comes from.

use std::io::Write;

use crate::commands::declared;
use crate::commands::templates;
use crate::config::Config;
use crate::config::warnings;
use crate::database::operator_secret;
use crate::failure::{Failure, Mistake};
use crate::wiring::Wiring;

/// Shows settings that are known to be valid. If the secret is in the file beside the database, checks that
/// file too, the folder of templates if there is one, and the files that declare things.
pub(crate) fn check_config(config: &Config, wiring: &Wiring, out: &mut dyn Write) -> Result<(), Failure> {
    operator_secret::check(config, wiring).map_err(|error| {
        Failure::Settings(vec![Mistake(format!("secret: {}", crate::failure::chain(&error)))])
    })?;
    let doubts = templates::doubts(config, wiring).map_err(|error| {
        Failure::Settings(vec![Mistake(templates::named(&crate::failure::chain(&error)))])
    })?;
    declared::check(&config.apply_files)?;
    let width = |text: fn(&crate::config::Shown) -> &str| {
        config.shown.iter().map(|shown| text(shown).chars().count()).max().unwrap_or(0)
    };
    let (names, values) = (width(|shown| shown.name), width(|shown| &shown.value).min(48));
    for shown in &config.shown {
        writeln!(out, "{:names$}  {:values$}  {}", shown.name, shown.value, shown.origin)?;
    }
    let warnings = [warnings::of(config, wiring), doubts].concat();
    for warning in &warnings {
        writeln!(out, "warning: {warning}")?;
    }
    match warnings.len() {
        0 => writeln!(out, "ok")?,
        1 => writeln!(out, "ok, with 1 warning")?,
        count => writeln!(out, "ok, with {count} warnings")?,
    }
    Ok(())
}
