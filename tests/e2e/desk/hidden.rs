//! Nobody but operators sees that there is a desk (K-01, K-12).

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use countersign_tests::http::Connection;
use countersign_tests::server::free_port;
use countersign_tests::{Browser, Database, Parameters, Request, Response, Site, Wallet, on_both};

use super::{Seat, account, run_by, wanted};
use crate::account::sign_in;

/// Paths of the desk, and some that only look like it.
const PATHS: [&str; 28] = [
    "/admin",
    "/admin/",
    "/admin/people",
    "/admin/people/5f3c2d1e-0000-4000-8000-000000000001",
    "/admin/wallets",
    "/admin/groups",
    "/admin/groups/staff",
    "/admin/clients",
    "/admin/clients/new",
    "/admin/clients/5f3c2d1e-0000-4000-8000-000000000001",
    "/admin/resources",
    "/admin/events",
    "/admin/events/5f3c2d1e-0000-7000-8000-000000000001",
    "/admin/keys",
    "/admin/admin-keys",
    "/admin/proposals",
    "/admin/proposals/5f3c2d1e-0000-7000-8000-000000000001",
    "/admin/search",
    "/admin/search?q=0x00000000219ab540356cBB839Cbe05303d7705Fa",
    "/admin/changes",
    "/admin/changes/sign",
    "/admin/proposals/begin",
    "/admin/proposals/sign",
    "/admin/api/v1/clients",
    "/admin/nothing-like-that",
    "/admin/../admin",
    "/ADMIN",
    "/admin%2f",
];

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// What a stranger can tell one answer from another by: status, headers and body.
pub(super) type Looks = (u16, Vec<(String, String)>, String);

pub(super) fn looks(response: &Response) -> Looks {
    let id = response.header("X-Request-Id").unwrap_or_default().to_owned();
    let mut headers: Vec<(String, String)> = response
        .headers
        .iter()
        .map(|(name, value)| (name.to_lowercase(), value.clone()))
        .filter(|(name, _)| !["date", "x-request-id"].contains(&name.as_str()))
        .collect();
    headers.sort();
    let body = if id.is_empty() { response.text() } else { response.text().replace(&id, "ID") };
    (response.status, headers, body)
}

/// Requests of every kind to a path.
fn requests(path: &str) -> Vec<Request> {
    let mut requests = Vec::new();
    for method in METHODS {
        for accept in ["text/html", "application/json", "*/*"] {
            requests.push(Request::new(method, path).header("Accept", accept));
        }
    }
    let form = Parameters::of(&[("change", "wallet-block"), ("form", "x")]);
    requests.push(Request::form(path, &form).header("Accept", "text/html"));
    requests.push(Request::form(path, &form).header("Origin", "https://evil.example"));
    requests.push(Request::json(path, &form.json()));
    requests.push(Request::new("POST", path).typed("application/x-www-form-urlencoded", "x".repeat(70_000)));
    requests.push(Request::new("POST", path).typed("application/json", "{"));
    requests
}

/// The answers of a server to all of it, for this person.
fn answers(site: &Site, person: Option<&Wallet>) -> Vec<Looks> {
    let mut browser = match person {
        Some(wallet) => sign_in(site, wallet),
        None => Browser::new(site),
    };
    let mut seen = Vec::new();
    for path in PATHS {
        for request in requests(path) {
            seen.push(looks(&browser.send(request)));
        }
    }
    seen
}

on_both! {
    fn k_01_nobody_and_strangers_get_the_answers_of_a_server_without_a_desk(database) {
        let ann = Wallet::fresh();
        let with_desk = run_by(database, &[&ann]).start();
        let beside = database.server().with_public_url(&with_desk.public_url).start();
        let (bob, cat) = (Wallet::fresh(), Wallet::fresh());
        let mut compared = 0;
        for person in [None, Some(&bob), Some(&cat)] {
            let here = answers(&with_desk, person);
            let there = answers(&beside, person);
            compared += here.len();
            for (one, other) in here.iter().zip(&there) {
                assert_eq!(one, other);
            }
            assert_eq!(here.len(), there.len());
        }
        println!("{compared} answers compared");
    }

    fn f_26_a_path_of_the_desk_and_a_path_of_nothing_are_counted_together(database) {
        let ann = Wallet::fresh();
        for server in [run_by(database, &[&ann]), database.server()] {
            let server = server.with_env("COUNTERSIGN_RATE_LIMIT", "on").start();
            let mut stranger = sign_in(&server, &Wallet::fresh());
            let begun = Instant::now();
            let statuses: Vec<u16> = (0..2_400)
                .map(|number| if number % 2 == 0 { "/admin" } else { "/nothing" })
                .map(|path| stranger.send(Request::get(path)).status)
                .take_while(|status| *status != 429)
                .collect();
            // 600 at once and ten more each second, for both paths together.
            let most = 601 + usize::try_from(begun.elapsed().as_millis() / 100).unwrap();
            assert!((600..=most).contains(&statuses.len()), "{} of {most}", statuses.len());
            assert!(statuses.iter().all(|status| *status == 404), "{statuses:?}");
            for path in ["/admin", "/nothing"] {
                let answers: Vec<u16> = (0..30).map(|_| stranger.send(Request::get(path)).status).collect();
                assert!(answers.contains(&429) && answers.iter().all(|status| [404, 429].contains(status)), "{path}: {answers:?}");
            }
            for path in ["/admin", "/nothing"] {
                assert_eq!(Browser::new(&server).send(Request::get(path)).status, 404, "nobody is looked up");
            }
        }
    }

    /// Only a gross difference fails: what counts is that the same is asked (`operators/src/tests/desk/reading.rs`).
    fn f_26_the_desk_takes_no_longer_to_refuse_a_stranger_than_a_path_of_nothing(database) {
        let server = run_by(database, &[&Wallet::fresh()]).start();
        let stranger = Wallet::fresh();
        let mut browser = sign_in(&server, &stranger);
        for wallets in [1, 20] {
            for number in 1..wallets {
                database.change(&format!(
                    "INSERT INTO wallets (family, address, user_id, linked_at, chain) SELECT family, '0x{number:040x}', user_id, linked_at, chain \
                     FROM wallets WHERE address = '{}'",
                    stranger.address()
                ));
            }
            let mut medians = || {
                let mut times = [Vec::new(), Vec::new()];
                for round in 0..400 {
                    let begun = Instant::now();
                    let refused = browser.send(Request::get(["/admin", "/nothing"][round % 2]));
                    times[round % 2].push(begun.elapsed());
                    assert_eq!(refused.status, 404);
                }
                times.map(|mut times| {
                    times.sort();
                    times[times.len() / 2]
                })
            };
            // A difference that is there each time: a busy machine makes others.
            let is_alike = (0..5).any(|_| {
                let [desk, nothing] = medians();
                println!("{wallets} wallets: median of the desk {desk:?}, of nothing {nothing:?}");
                desk.max(nothing) < desk.min(nothing) * 2 + Duration::from_micros(500)
            });
            assert!(is_alike, "{wallets} wallets");
        }
    }

    fn k_01_a_path_of_the_desk_and_a_path_of_nothing_read_the_same(database) {
        let ann = Wallet::fresh();
        let server = run_by(database, &[&ann]).start();
        let stranger = Wallet::fresh();
        for person in [None, Some(&stranger)] {
            let mut browser = match person {
                Some(wallet) => sign_in(&server, wallet),
                None => Browser::new(&server),
            };
            let nothing = "/nothing-like-that";
            let expected: Vec<_> = requests(nothing).into_iter().map(|request| looks(&browser.send(request))).collect();
            for path in ["/admin", "/admin/people", "/admin/changes", "/admin/changes/sign", "/admin/proposals/sign"] {
                let found = requests(path).into_iter().map(|request| looks(&browser.send(request)));
                for (found, expected) in found.zip(&expected) {
                    assert_eq!(found, *expected, "{path}");
                }
            }
        }
    }

    fn k_01_whoever_stops_being_an_operator_stops_seeing_the_desk(database) {
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let settings = run_by(database, &[&ann]).with_env("COUNTERSIGN_ADMIN_GROUP", "operators");
        let server = settings.start();
        database.operate(&["group", "create", "operators"]);
        let mut seat = Seat::of(&server, &bob);
        seat.get("/admin").expect(404);
        database.operate(&["group", "add", "operators", &account(&bob)]);
        seat.get("/admin").expect(200);
        let begun = seat.begin(&wanted("/admin/groups", "group-create", &[("group", "staff")]));
        database.operate(&["group", "remove", "operators", &account(&bob)]);
        seat.get("/admin").expect(404);
        seat.sign(&begun).expect(404);
        assert_eq!(database.operate(&["group", "list"]).as_array().map(Vec::len), Some(1));
        database.operate(&["group", "add", "operators", &account(&bob)]);
        database.operate(&["user", "block", &account(&bob)]);
        seat.get("/admin").expect(404);
    }
}

/// The listener that only operators' networks reach.
fn private(database: &Database, ann: &Wallet) -> (countersign_tests::Server, SocketAddr) {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
    let server = run_by(database, &[ann])
        .with_env("COUNTERSIGN_ADMIN_LISTEN", &address.to_string())
        .with_env("COUNTERSIGN_DESK", "private")
        .start();
    (server, address)
}

#[test]
fn k_12_a_private_desk_is_on_its_own_listener_alone() {
    let database = Database::sqlite();
    let ann = Wallet::fresh();
    let (server, address) = private(&database, &ann);
    let mut seat = Seat::of(&server, &ann);
    for path in PATHS.into_iter().filter(|path| !path.contains("/api/")) {
        assert!(matches!(seat.get(path).status, 404), "{path} on the public listener, for an operator");
    }
    let inside = |request: Request| {
        Connection::open(address).unwrap().send_last(&server.authority(), &request).unwrap()
    };
    inside(Request::get("/admin").header("Accept", "text/html")).expect(404);
    let mut browser = seat.browser.clone();
    browser.site.address = address;
    let mut seat = Seat { browser, wallet: &ann };
    seat.page("/admin");
    seat.make(&wanted("/admin/groups", "group-create", &[("group", "staff")]));
    assert_eq!(database.operate(&["group", "list"])[0]["name"], "staff");
    for path in ["/account", "/auth", "/oauth/token", "/metrics", "/"] {
        assert_eq!(inside(Request::get(path)).status, 404, "{path} on the private listener");
    }
    for asset in seat.page("/admin").split("/assets/").skip(1) {
        let name = asset.split('"').next().unwrap();
        seat.get(&format!("/assets/{name}")).expect(200);
    }
}
