//! Everything that may be wrong although it is valid: `check-config` shows it, and the server logs it when it
//! starts.

use crate::config::Config;
use crate::config::descriptors;
use crate::wiring::Wiring;

/// The warnings about these settings on this machine. Each is a sentence that says what to do.
pub(crate) fn of(config: &Config, wiring: &Wiring) -> Vec<String> {
    let url = &config.database_url;
    let about_place = wiring.scheme_of(url).map(|scheme| scheme.warnings(url)).unwrap_or_default();
    config.warnings.iter().cloned().chain(about_place).chain(descriptors::warning()).collect()
}
