//! Restarts while clients go on asking.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use countersign_tests::{Database, Request};

/// Ends the asking when it is dropped.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The supervisor keeps the socket, so a connection that no server accepted waits for the next one. One that the old
/// server accepted is answered before it ends.
#[test]
fn every_request_is_answered_while_a_server_restarts_whose_socket_is_kept() {
    let mut server = Database::sqlite().server().with_kept_socket().start();
    let (site, is_over) = (server.site(), AtomicBool::new(false));
    let ask = || {
        let mut answered = 0;
        while !is_over.load(Ordering::Relaxed) {
            let answer = site.try_send(&Request::get("/health/live"));
            let status = answer.map(|answer| answer.status).map_err(|error| error.to_string());
            assert_eq!(status, Ok(200), "after {answered} answers");
            answered += 1;
        }
        answered
    };
    thread::scope(|scope| {
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        // Also if an assertion fails here: the scope waits for those who ask.
        let over = Over(&is_over);
        for _ in 0..8 {
            // Before it is ready, a signal ends it as it ends any program.
            server.wait_until_ready();
            thread::sleep(Duration::from_millis(200));
            let ended = server.terminate();
            server.spawn();
            assert!(ended.success(), "{ended}");
        }
        server.wait_until_ready();
        drop(over);
        let answered: Vec<u32> = asking.into_iter().map(|asking| asking.join().unwrap()).collect();
        println!("8 restarts, answers: {answered:?}");
        assert!(answered.iter().all(|answered| *answered > 8), "{answered:?}");
    });
}
