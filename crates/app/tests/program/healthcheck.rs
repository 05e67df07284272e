//! What a container or a probe hears.

use crate::place::Place;
use crate::server::Server;

#[test]
fn a_ready_server_is_exit_code_0_and_one_line() {
    let place = Place::new();
    let mut server = Server::start(&place, &[]);
    let bind = server.address.to_string();
    let by_flag = place.run(&["healthcheck", "--bind", &bind]);
    assert_eq!((by_flag.code, &*by_flag.err), (0, ""));
    assert_eq!(by_flag.out, format!("ready: http://{bind}/health/ready\n"));
    let everywhere = format!("0.0.0.0:{}", server.address.port());
    let by_variable = place.run_with(&["healthcheck"], &[("COUNTERSIGN_BIND", &everywhere)]);
    assert_eq!((by_variable.code, by_variable.out), (0, by_flag.out.clone()));
    let alive = place.run(&["healthcheck", "--url", &format!("http://{bind}/health/live")]);
    assert_eq!(alive.code, 0, "{}", alive.err);
    let elsewhere = Place::new();
    let by_url = elsewhere.run(&["healthcheck", "--url", &format!("http://{bind}")]);
    assert_eq!((by_url.code, by_url.out), (0, by_flag.out));
    assert_eq!(std::fs::read_dir(elsewhere.path("")).unwrap().count(), 0, "it makes nothing");

    server.signal("TERM");
    while server.readiness() == Some(200) {}
    let stopping = place.run(&["healthcheck", "--bind", &bind]);
    assert_eq!((stopping.code, &*stopping.out), (1, ""));
    assert_eq!(server.end().0, Some(0));
    let gone = place.run(&["healthcheck", "--bind", &bind]);
    assert_eq!((gone.code, &*gone.out, gone.err.lines().count()), (1, "", 1), "{}", gone.err);
    assert!(
        gone.err.starts_with(&format!("countersign: not ready: http://{bind}/health/ready: no connection"))
    );
}

#[test]
fn other_settings_are_not_read_and_wrong_flags_are_exit_code_2() {
    let place = Place::new();
    let without_a_secret = [("COUNTERSIGN_DATABASE_URL", "postgres://nobody@127.0.0.1:1/none")];
    let asked = place.run_with(&["healthcheck", "--bind", "127.0.0.1:1"], &without_a_secret);
    assert_eq!(asked.code, 1, "{}", asked.err);
    std::fs::write(place.path("empty.pem"), "").unwrap();
    for wrong in [
        &["healthcheck", "--url", "localhost:8080"][..],
        &["healthcheck", "--url", "file:///etc/passwd"],
        &["healthcheck", "--bind", "localhost"],
        &["healthcheck", "--workers", "2"],
        &["healthcheck", "--ca-file", "missing.pem"],
        &["healthcheck", "--ca-file", "empty.pem"],
    ] {
        let refused = place.run(wrong);
        assert_eq!((refused.code, &*refused.out), (2, ""), "{wrong:?}: {}", refused.err);
    }
}
