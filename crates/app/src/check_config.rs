//! `countersign check-config`: shows every setting and where its value comes from.

use std::io::Write;

use crate::config::{Config, Mistake};
use crate::declared;
use crate::failure::Failure;
use crate::operator_secret;
use crate::templates_command;
use crate::warnings;
use crate::wiring::Wiring;

/// Shows settings that are known to be valid. If the secret is in the file beside the database, checks that
/// file too, the folder of templates if there is one, and the files that declare things.
pub(crate) fn check_config(config: &Config, wiring: &Wiring, out: &mut dyn Write) -> Result<(), Failure> {
    operator_secret::check(config, wiring).map_err(|error| {
        Failure::Settings(vec![Mistake(format!("secret: {}", crate::failure::chain(&error)))])
    })?;
    let doubts = templates_command::doubts(config, wiring).map_err(|error| {
        Failure::Settings(vec![Mistake(templates_command::named(&crate::failure::chain(&error)))])
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
