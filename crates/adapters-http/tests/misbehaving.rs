//! Servers that misbehave (B-048, E-31, E-35).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use countersign_adapters_http::{CachedDocuments, HttpFetcher};
use countersign_domain::secret::Secret;
use countersign_ports::{FetchError, Fetcher, Post, Posted};

/// A server on this machine that gives every connection the same answer.
struct Server {
    url: String,
    connections: Arc<AtomicUsize>,
}

impl Server {
    fn new(answer: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/jwks", listener.local_addr().unwrap());
        let (connections, answer) = (Arc::new(AtomicUsize::new(0)), Arc::new(answer));
        let counted = Arc::clone(&connections);
        spawn(move || {
            for connection in listener.incoming() {
                counted.fetch_add(1, Ordering::SeqCst);
                let answer = Arc::clone(&answer);
                spawn(move || {
                    let mut connection = connection?;
                    let mut request = [0; 4096];
                    let _ = connection.read(&mut request)?;
                    answer(&mut connection)
                });
            }
        });
        Self { url, connections }
    }

    fn saying(answer: &'static str) -> Self {
        Self::new(move |connection| connection.write_all(answer.as_bytes()))
    }
}

#[tokio::test]
async fn a_document_is_fetched_with_its_type_and_its_age() {
    let server = Server::saying(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: max-age=7\r\nContent-Length: 2\r\n\r\n{}",
    );
    let fetched = HttpFetcher::new(true).get(&server.url).await.unwrap();
    assert_eq!(fetched.content_type.as_deref(), Some("text/html"), "the caller checks the type");
    assert_eq!(fetched.max_age, Some(Duration::from_secs(7)));
    assert_eq!(fetched.body, b"{}");
}

#[tokio::test]
async fn b_048_this_machine_is_not_asked_unless_it_may_be() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let port = server.url.rsplit_once(':').unwrap().1;
    assert_eq!(HttpFetcher::new(false).get(&server.url).await, Err(FetchError::Url));
    for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433"] {
        let got = HttpFetcher::new(false).get(&format!("https://{host}:{port}")).await;
        assert_eq!(got, Err(FetchError::Address), "{host}");
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 0, "no connection was made");
}

#[tokio::test]
async fn e_31_redirects_are_not_followed() {
    let inside = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret");
    for status in [301, 302, 303, 307, 308] {
        let to = inside.url.clone();
        let server = Server::new(move |connection| {
            write!(connection, "HTTP/1.1 {status} Elsewhere\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
        });
        assert_eq!(HttpFetcher::new(true).get(&server.url).await, Err(FetchError::Status(status)));
        assert_eq!(HttpFetcher::new(true).post_form(&server.url, &[("a", "b")]).await, Ok(status));
    }
    assert_eq!(inside.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn b_048_an_answer_without_end_is_cut_off() {
    let endless = |head: &'static str| {
        Server::new(move |connection| {
            connection.write_all(head.as_bytes())?;
            loop {
                connection.write_all(&[b'a'; 4096])?;
            }
        })
    };
    let bodies = [
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n",
    ];
    for head in bodies {
        let started = Instant::now();
        assert_eq!(HttpFetcher::new(true).get(&endless(head).url).await, Err(FetchError::TooLong), "{head}");
        assert!(started.elapsed() < Duration::from_secs(4));
    }
    for head in ["HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 "] {
        let got = HttpFetcher::new(true).get(&endless(head).url).await;
        assert!(matches!(got, Err(FetchError::TooLong | FetchError::Unreachable)), "{got:?}");
    }
}

#[tokio::test]
async fn b_048_the_largest_answer_is_64_kib() {
    for (length, is_good) in [(65_536, true), (65_537, false)] {
        let server = Server::new(move |connection| {
            write!(connection, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{}", "a".repeat(length))
        });
        assert_eq!(HttpFetcher::new(true).get(&server.url).await.is_ok(), is_good, "{length}");
    }
}

#[tokio::test]
async fn b_048_a_server_that_drips_is_left_after_five_seconds() {
    let drip = |head: &'static str| {
        Server::new(move |connection| {
            connection.write_all(head.as_bytes())?;
            loop {
                connection.write_all(b"a")?;
                sleep(Duration::from_millis(50));
            }
        })
    };
    let servers =
        [drip("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"), drip("HTTP/1.1 200 OK\r\nX: "), drip("")];
    let fetcher = Arc::new(HttpFetcher::new(true));
    let started = Instant::now();
    let mut asking = tokio::task::JoinSet::new();
    for server in &servers {
        let (fetcher, url) = (Arc::clone(&fetcher), server.url.clone());
        asking.spawn(async move { fetcher.get(&url).await });
    }
    for got in asking.join_all().await {
        assert!(matches!(got, Err(FetchError::Late | FetchError::Unreachable)), "{got:?}");
    }
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
}

#[tokio::test]
async fn what_is_no_http_or_no_success_is_no_document() {
    for (answer, reason) in [
        ("", FetchError::Unreachable),
        ("SSH-2.0-OpenSSH_9\r\n\r\n", FetchError::Unreachable),
        ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", FetchError::Unreachable),
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", FetchError::Status(404)),
        ("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", FetchError::Status(500)),
        ("HTTP/1.1 204 None\r\n\r\n", FetchError::Status(204)),
    ] {
        assert_eq!(HttpFetcher::new(true).get(&Server::saying(answer).url).await, Err(reason), "{answer}");
    }
}

#[tokio::test]
async fn only_a_few_are_asked_at_once() {
    let busy = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (counted, highest) = (Arc::clone(&busy), Arc::clone(&most));
    let server = Server::new(move |connection| {
        highest.fetch_max(counted.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        sleep(Duration::from_millis(100));
        counted.fetch_sub(1, Ordering::SeqCst);
        connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    });
    let fetcher = Arc::new(HttpFetcher::new(true));
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let (fetcher, url) = (Arc::clone(&fetcher), server.url.clone());
        asking.spawn(async move { fetcher.get(&url).await });
    }
    assert!(asking.join_all().await.iter().all(Result::is_ok));
    assert!(most.load(Ordering::SeqCst) <= 8, "{most:?}");
}

#[tokio::test]
async fn many_that_want_one_document_make_one_connection() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    let documents = Arc::new(CachedDocuments::new(Arc::new(HttpFetcher::new(true))));
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let (documents, url) = (Arc::clone(&documents), server.url.clone());
        asking.spawn(async move { documents.get(&url).await });
    }
    assert!(asking.join_all().await.iter().all(Result::is_ok));
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}

/// Someone can name documents that never come, as strangers can, without delaying the keys of a client. A
/// client that does not accept its sign-out notice delays neither.
#[tokio::test]
async fn f_12_documents_keys_and_notices_do_not_wait_for_each_other() {
    let silent = Server::new(|_| {
        sleep(Duration::from_secs(8));
        Ok(())
    });
    let good = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    for busy in ["documents", "keys", "notices"] {
        let fetcher = Arc::new(HttpFetcher::new(true));
        let waiting: Vec<_> = (0..40)
            .map(|_| {
                let (fetcher, url) = (Arc::clone(&fetcher), silent.url.clone());
                tokio::spawn(async move {
                    match busy {
                        "documents" => fetcher.get(&url).await.map(drop),
                        "keys" => fetcher.get_keys(&url).await.map(drop),
                        _ => fetcher.post_form(&url, &[]).await.map(drop),
                    }
                })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(300)).await;
        let begun = Instant::now();
        if busy != "documents" {
            assert!(fetcher.get(&good.url).await.is_ok(), "documents beside {busy}");
        }
        if busy != "keys" {
            assert!(fetcher.get_keys(&good.url).await.is_ok(), "keys beside {busy}");
        }
        if busy != "notices" {
            assert_eq!(fetcher.post_form(&good.url, &[]).await, Ok(200), "notices beside {busy}");
        }
        assert!(begun.elapsed() < Duration::from_secs(2), "{busy}: {:?}", begun.elapsed());
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

async fn pushed(server: &Server) -> (Result<Posted, FetchError>, Duration) {
    let started = Instant::now();
    let secret = Secret::new("a-secret-of-the-receiver");
    let post = Post {
        url: &server.url,
        content_type: "application/secevent+jwt",
        accept: "application/json",
        bearer: Some(&secret),
        body: "a.b.c",
    };
    (HttpFetcher::new(true).post(post).await, started.elapsed())
}

fn posted(status: u16, reason: &str) -> Result<Posted, FetchError> {
    Ok(Posted { status, reason: reason.as_bytes().to_vec() })
}

#[tokio::test]
async fn b_048_what_is_pushed_to_a_receiver_is_judged_by_its_status_and_a_short_reason() {
    for (answer, expected) in [
        ("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", posted(202, "")),
        ("HTTP/1.1 204 No Content\r\n\r\n", posted(204, "")),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nabc", posted(200, "")),
        ("HTTP/1.1 400 No\r\nContent-Length: 2\r\n\r\n{}", posted(400, "{}")),
        ("HTTP/1.1 400 No\r\nContent-Length: 9\r\n\r\n{}", posted(400, "")),
        ("HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\n{}", posted(401, "")),
        ("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}", posted(500, "")),
        (
            "HTTP/1.1 307 There\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n",
            posted(307, ""),
        ),
        ("SSH-2.0-OpenSSH_9\r\n\r\n", Err(FetchError::Unreachable)),
        ("", Err(FetchError::Unreachable)),
    ] {
        let (got, took) = pushed(&Server::saying(answer)).await;
        assert_eq!(got, expected, "{answer}");
        assert!(took < Duration::from_secs(4), "{answer}: {took:?}");
    }
}

#[tokio::test]
async fn b_048_a_receiver_that_sends_megabytes_drips_or_hangs_is_left_in_time() {
    let endless = |head: &'static str, pause: Duration| {
        Server::new(move |connection| {
            connection.write_all(head.as_bytes())?;
            loop {
                connection.write_all(&[b'a'; 4096][..if pause.is_zero() { 4096 } else { 1 }])?;
                sleep(pause);
            }
        })
    };
    let (at_once, slowly) = (Duration::ZERO, Duration::from_millis(50));
    for (name, server, expected) in [
        ("a success", endless("HTTP/1.1 202 Accepted\r\n\r\n", at_once), posted(202, "")),
        ("a refusal", endless("HTTP/1.1 400 No\r\n\r\n", at_once), posted(400, "")),
        ("a slow success", endless("HTTP/1.1 202 Accepted\r\n\r\n", slowly), posted(202, "")),
        ("a slow refusal", endless("HTTP/1.1 400 No\r\n\r\n", slowly), posted(400, "")),
    ] {
        let (got, took) = pushed(&server).await;
        assert_eq!(got, expected, "{name}");
        assert!(took < Duration::from_secs(6), "{name}: {took:?}");
    }
    let hanging = Server::new(|_| {
        sleep(Duration::from_secs(9));
        Ok(())
    });
    let (got, took) = pushed(&hanging).await;
    assert_eq!(got, Err(FetchError::Late));
    assert!(took < Duration::from_secs(6), "{took:?}");
}

#[tokio::test]
async fn e_31_nothing_is_pushed_to_an_address_inside() {
    let secret = Secret::new("a-secret-of-the-receiver");
    for (url, expected) in [
        ("https://169.254.169.254/latest/meta-data", FetchError::Address),
        ("https://10.0.0.1/", FetchError::Address),
        ("https://localhost/", FetchError::Address),
        ("https://[::ffff:127.0.0.1]/", FetchError::Address),
        ("https://0x7f000001/", FetchError::Address),
        ("http://169.254.169.254/latest/meta-data", FetchError::Url),
        ("http://127.0.0.1/", FetchError::Url),
        ("https://user@siem.example/", FetchError::Url),
    ] {
        let post = Post { url, content_type: "a/b", accept: "a/b", bearer: Some(&secret), body: "" };
        assert_eq!(HttpFetcher::new(false).post(post).await, Err(expected), "{url}");
    }
}

/// The connection is https, but what answers speaks no TLS.
#[tokio::test]
async fn a_receiver_without_valid_tls_gets_nothing() {
    let server = Server::saying("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    let url = server.url.replacen("http:", "https:", 1);
    let post = Post { url: &url, content_type: "a/b", accept: "a/b", bearer: None, body: "a.b.c" };
    assert_eq!(HttpFetcher::new(true).post(post).await, Err(FetchError::Unreachable));
}
