//! Other people's clients against the running server: libraries, whole applications, the requests of
//! applications that cannot run here, and another authorization server that gets the same requests. They are
//! in `tests/clients` and are installed by `make setup-clients`. They print one line for each of their
//! checks.

use countersign_tests::{Judges, Server};

/// Stock client libraries and whole applications log in, given only the issuer's URL: login, `id_token`,
/// userinfo, refresh, revocation and logout, and what each library refuses from a dishonest issuer.
/// `UPDATE_DOCS=1` writes `docs/clients.md`; otherwise, the page must match the results.
#[test]
fn every_stock_client_logs_in_and_the_page_says_so() {
    let clients = Judges::of("clients");
    clients.python();
    clients.examine("run.mjs", clients.node(), &[Server::sqlite().public_url.as_ref()]);
}

/// Grafana, Gitea, oauth2-proxy, GitLab, Nextcloud and Spring Security: the requests that their source code
/// sends. `tests/clients/replay/applications.mjs` says which source files.
#[test]
fn what_applications_send_that_cannot_run_here_is_answered_as_they_expect() {
    let program = Judges::of("clients/oracle").node();
    Judges::of("clients/replay").examine("run.mjs", program, &[Server::sqlite().public_url.as_ref()]);
}

/// The same requests to Countersign and to npm oidc-provider (C-09). `UPDATE_DOCS=1` writes the list and the
/// page.
#[test]
fn every_difference_from_oidc_provider_is_listed_with_its_reason() {
    let oracle = Judges::of("clients/oracle");
    oracle.examine("run.mjs", oracle.node(), &[Server::sqlite().public_url.as_ref()]);
}
