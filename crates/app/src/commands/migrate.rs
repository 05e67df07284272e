//! `countersign migrate`: brings the schema up to date and does nothing else.

use std::io::Write;

use crate::config::Config;
use crate::database::change_log;
use crate::database::opening;
use crate::database::operator::Operator;
use crate::failure::Failure;
use crate::wiring::Wiring;

/// Runs the missing migrations and names them.
pub(crate) async fn migrate(config: &Config, wiring: &Wiring, out: &mut dyn Write) -> Result<(), Failure> {
    let scheme = opening::scheme(config, wiring)?;
    opening::introduce(config, scheme);
    let names = scheme
        .migrate(&config.database_url)
        .await
        .map_err(|error| opening::failure("migrate the database", &config.database_url, &error))?;
    for name in &names {
        writeln!(out, "ran {name}")?;
    }
    if !names.is_empty() {
        change_log::schema(&names);
        let url = &config.database_url;
        let opened =
            scheme.open(url).await.map_err(|error| opening::failure("open the database", url, &error))?;
        let cause = Operator::of_this_process().cause();
        opening::record_upgrade(&opened, config, wiring, &cause, &names).await;
        opened.close().await;
    } else {
        writeln!(out, "nothing to do: the schema is up to date")?;
    }
    Ok(())
}
