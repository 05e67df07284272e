//! Servers that misbehave (B-048, E-31, E-35).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use countersign_adapters_http::{CachedDocuments, HttpFetcher};
use countersign_ports::{FetchError, Fetcher};

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
