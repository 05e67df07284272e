//! Other people's clients against the running server: libraries, whole applications, the requests of
//! applications that cannot run here, and another authorization server that gets the same requests. They are
//! in `tests/clients` and are installed by `make setup-clients`. They print one line for each of their
//! checks.

use std::ffi::OsStr;

use countersign_tests::{Client, Database, Judges, Server, Wallet};
use serde_json::{Value, json};

/// Stock client libraries and whole applications log in, given only the issuer's URL: login, `id_token`,
/// userinfo, refresh, revocation and logout, and what each library refuses from a dishonest issuer.
/// `UPDATE_DOCS=1` writes the pages in `docs/clients`; otherwise, they must match the results.
#[test]
fn every_stock_client_logs_in_and_the_page_says_so() {
    let clients = Judges::of("clients");
    clients.python();
    clients.examine("run.mjs", clients.node(), &[Server::sqlite().public_url.as_ref()]);
}

/// Three stock libraries keep to the lifetimes that an operator gave to their clients, and to those of a client that are
/// shortened while its tokens are out.
#[test]
fn stock_clients_keep_to_the_lifetimes_of_their_own() {
    let database = Database::sqlite();
    let server = database.start();
    let client = |method: &str, algorithm: &str, lifetime: [&str; 2]| {
        let usual = [
            "--redirect-uri",
            "http://127.0.0.1/callback",
            "--scope",
            "openid profile email offline_access",
            "--auth-method",
            method,
            "--id-token-signed-response-alg",
            algorithm,
        ];
        database.create_client(&[&usual[..], &lifetime].concat())
    };
    let brief = client("client_secret_post", "ES256", ["--access-token-ttl", "1m"]);
    let shortened = client("client_secret_basic", "ES256", ["--access-token-ttl", "8h"]);
    let idle = client("client_secret_basic", "EdDSA", ["--refresh-token-idle-ttl", "1m"]);
    let id = Client::of(&shortened).id;
    let shorten = database.operator(&["client", "update", &id, "--access-token-ttl", "1m"]);
    let words: Vec<_> = shorten.get_args().map(OsStr::to_str).collect();
    let environment: Value = shorten
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), json!(value?.to_str()))))
        .collect();
    let given = json!({
        "brief": brief, "shortened": shortened, "idle": idle,
        "shorten": {
            "program": shorten.get_program().to_str(), "words": words,
            "folder": database.folder(), "environment": environment,
        },
    });
    let judges = Judges::of("clients");
    judges.python();
    judges.examine("lifetimes.mjs", judges.node(), &[server.public_url.as_ref(), given.to_string().as_ref()]);
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

/// An API with two scopes, one of which needs a group, in Express, Flask and axum, offline and by
/// introspection: the right calls pass. Those of another resource, with fewer scopes, without the group or
/// without the proof of the key do not. docs/protecting-an-api.md shows the files of these APIs.
#[test]
fn the_apis_in_the_documentation_let_in_the_right_calls_and_no_others() {
    const SIGNATURE: &str = "urn:countersign:params:oauth:grant-type:wallet-signature";
    const PHOTOS: &str = "https://photos.example.com";
    const PAYROLL: &str = "https://payroll.example.com";
    let database = Database::sqlite();
    let server = database.start();
    let staff = Wallet::fresh();
    database.operate(&["group", "create", "staff"]);
    database.operate(&["group", "add", "staff", &staff.address()]);
    let (read, admin) = ("photos.read=See your photos", "photos.admin=Delete photos of anybody");
    let needs = ["--needs", "photos.admin=staff"];
    database
        .operate(&[&["resource", "create", PHOTOS, "--scope", read, "--scope", admin], &needs[..]].concat());
    database.operate(&["resource", "create", PAYROLL, "--scope", "payroll.read=See your pay"]);
    let grants =
        ["--grant-type", SIGNATURE, "--grant-type", "client_credentials", "--grant-type", "refresh_token"];
    let scopes = ["--scope", "openid profile photos.read photos.admin payroll.read"];
    let program = database.create_client(&[&grants[..], &scopes[..]].concat());
    let api = database.create_client(&["--grant-type", "client_credentials", "--client-uri", PHOTOS]);
    let told = json!({
        "photos": PHOTOS, "payroll": PAYROLL, "program": program, "api": api, "staff": staff.private_key(),
    });
    let judges = Judges::of("clients");
    judges.python();
    judges.examine("api/run.mjs", judges.node(), &[server.public_url.as_ref(), told.to_string().as_ref()]);
}

/// Two wallets in groups, the first in `admins` and `staff` and the second in `staff`, before anybody signed
/// in with them; and a client of 127.0.0.1 at any port, to which all groups are released.
fn in_groups(database: &Database, redirect_uri: &str, more: &[&str]) -> Value {
    let (admin, staff) = (Wallet::fresh(), Wallet::fresh());
    for group in ["admins", "staff"] {
        database.operate(&["group", "create", group]);
        database.operate(&["group", "add", group, &admin.address()]);
    }
    database.operate(&["group", "add", "staff", &staff.address()]);
    let scopes = ["--redirect-uri", redirect_uri, "--scope", "openid profile email offline_access groups"];
    let client = database.create_client(&[&scopes, more].concat());
    database.operate(&["access", "set", &Client::of(&client).id, "everyone", "--release", "all"]);
    json!({ "client": client, "admin": admin.private_key(), "staff": staff.private_key() })
}

fn an_application_maps_groups(name: &str, redirect_uri: &str, more: &[&str]) {
    let database = Database::sqlite();
    let server = database.start();
    let told = in_groups(&database, redirect_uri, more).to_string();
    let apps = Judges::of("clients/apps");
    apps.examine("run.py", apps.python(), &[name.as_ref(), server.public_url.as_ref(), told.as_ref()]);
}

#[test]
fn apache_requires_a_group_of_the_claim() {
    an_application_maps_groups(
        "apache",
        "http://127.0.0.1/protected/callback",
        &["--auth-method", "client_secret_basic"],
    );
}

#[test]
fn jupyterhub_lets_groups_in_and_makes_administrators_of_one() {
    an_application_maps_groups("jupyterhub", "http://127.0.0.1/hub/oauth_callback", &[]);
}

#[test]
fn synapse_requires_a_group_of_the_claim() {
    let eddsa = ["--auth-method", "client_secret_basic", "--id-token-signed-response-alg", "EdDSA"];
    an_application_maps_groups("synapse", "http://127.0.0.1/_synapse/client/oidc/callback", &eddsa);
}

/// Grafana's role and Gitea's required claim and administrators, from the requests that they send.
#[test]
fn grafana_and_gitea_map_groups_to_their_roles() {
    let database = Database::sqlite();
    let server = database.start();
    let told = in_groups(&database, "https://client.example/cb", &[]).to_string();
    let program = Judges::of("clients/oracle").node();
    Judges::of("clients/replay").examine("groups.mjs", program, &[server.public_url.as_ref(), told.as_ref()]);
}
