//! A path as the log and operators see it.

use countersign_domain::id::UserId;
use countersign_domain::invitation::JOIN;
use countersign_domain::wallet::shortened;

/// Our paths contain nothing longer than a client id. Longer paths are not ours, and are cut.
pub fn shown_path(path: &str) -> String {
    let shown = |path: &str| path.chars().filter(|character| !character.is_control()).take(100).collect();
    // What follows is the secret of an invitation.
    if path.strip_prefix(JOIN).is_some_and(|rest| rest.starts_with('/')) {
        return format!("{JOIN}/…");
    }
    match wallet_in(path) {
        Some((before, wallet, after)) => shown(&format!("{before}{}{after}", shortened(wallet))),
        None => shown(path),
    }
}

/// The wallet that a path of an operator names, and what is before and after it.
fn wallet_in(path: &str) -> Option<(&str, &str, &str)> {
    if !path.starts_with("/admin/") {
        return None;
    }
    let at = ["/wallets/", "/users/"].iter().find_map(|part| Some(path.find(part)? + part.len()))?;
    let (before, rest) = path.split_at(at);
    let (named, after) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if UserId::parse(named).is_some() { None } else { Some((before, named, after)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// an operator names wallets in paths.
    #[test]
    fn a_010_a_path_in_the_log_names_no_wallet_and_no_secret() {
        let user = "5f3c2d1e-0000-4000-8000-000000000001";
        for (path, shown) in [
            (
                "/admin/api/v1/wallets/0xc44f09b40EE76F1e08D882b4Bcfc57Cf8a58bff4/block",
                "/admin/api/v1/wallets/0xc44f…bff4/block".to_owned(),
            ),
            (
                "/admin/api/v1/users/eip155%3A1%3A0xc44f09b40EE76F1e08D882b4Bcfc57Cf8a58bff4",
                "/admin/api/v1/users/eip155…bff4".to_owned(),
            ),
            (
                "/admin/wallets/0xc44f09b40EE76F1e08D882b4Bcfc57Cf8a58bff4",
                "/admin/wallets/0xc44f…bff4".to_owned(),
            ),
            (&format!("/admin/api/v1/users/{user}/block"), format!("/admin/api/v1/users/{user}/block")),
            ("/join/AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA", "/join/…".to_owned()),
            ("/admin/wallets", "/admin/wallets".to_owned()),
            ("/oauth/token", "/oauth/token".to_owned()),
        ] {
            assert_eq!(shown_path(path), shown);
        }
    }
}
