//! Mail servers that are down, slow or not mail servers at all: a clear error in time, and never a panic.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use countersign_ports::{MailError, Mailer};

use crate::peer::{mail, mailer, whole};

/// A server that handles every connection with this function.
fn server(treat: impl Fn(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || listener.incoming().flatten().for_each(treat));
    address
}

async fn error_at(address: SocketAddr, query: &str) -> (MailError, Duration) {
    let begun = Instant::now();
    let mailer = mailer(&format!("smtp://{address}{query}"));
    let error = mailer.send(mail("ann@example.com")).await.unwrap_err();
    (error, begun.elapsed())
}

#[tokio::test]
async fn a_server_that_is_down_is_told_at_once() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for scheme in ["smtp", "smtps"] {
        let error = mailer(&format!("{scheme}://{closed}")).send(mail("ann@example.com")).await.unwrap_err();
        let told = whole(&error);
        assert!(matches!(error, MailError::Unavailable(_)) && told.contains("Connection refused"), "{told}");
    }
    let nowhere = mailer("smtp://mail.invalid?tls=none").send(mail("ann@example.com")).await.unwrap_err();
    assert!(whole(&nowhere).contains("smtp://mail.invalid:25 cannot be reached"), "{}", whole(&nowhere));
}

#[tokio::test]
async fn a_server_that_says_nothing_is_left_after_ten_seconds() {
    let silent = server(|connection| {
        thread::spawn(move || {
            let _ = (&connection).read_to_end(&mut Vec::new());
        });
    });
    let drop_by_drop = server(|mut connection| {
        thread::spawn(move || {
            while connection.write_all(b"2").is_ok() {
                thread::sleep(Duration::from_millis(50));
            }
        });
    });
    let queries = [(silent, ""), (drop_by_drop, ""), (silent, "?tls=required")];
    let waiting = queries.map(|(address, query)| tokio::spawn(error_at(address, query)));
    for waited in waiting {
        let (error, took) = waited.await.unwrap();
        let told = whole(&error);
        assert!(matches!(error, MailError::Unavailable(_)) && told.ends_with("was too slow"), "{told}");
        assert!((9..12).contains(&took.as_secs()), "{took:?}");
    }
}

#[tokio::test]
async fn what_is_no_smtp_is_an_error_and_does_not_fill_the_memory() {
    let greetings: [&[u8]; 8] = [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\r\n",
        b"250\r\n",
        b"999 hello\r\n",
        b"220-one\r\n250 two\r\n",
        b"220 \xff\xfe\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "٢٢٠ مرحبا\r\n".as_bytes(),
    ];
    for greeting in greetings {
        let garbled = server(move |mut connection| {
            let _ = connection.write_all(greeting);
        });
        let (error, took) = error_at(garbled, "").await;
        let told = whole(&error);
        assert!(matches!(error, MailError::Unavailable(_)) && took.as_secs() < 9, "{greeting:?}: {told}");
        assert!(!told.contains(['\r', '\n']) && told.len() < 400, "{told}");
    }
    for endless in [[b'2'; 4096], *b"220-\r\n. ".repeat(512).first_chunk().unwrap()] {
        let flood = server(move |mut connection| while connection.write_all(&endless).is_ok() {});
        let (error, took) = error_at(flood, "").await;
        assert!(matches!(error, MailError::Unavailable(_)) && took.as_secs() < 9, "{}", whole(&error));
    }
}

/// Each further line of an endless greeting costs as much as all lines before it. None of that may delay
/// other tasks.
#[tokio::test]
async fn a_server_that_greets_for_ever_keeps_nobody_from_anything() {
    let lines: [&[u8]; 3] = [b"220-\r\n", b"220-hello again\r\n", b"220 hello\r\n250-\r\n"];
    for line in lines {
        let greeting = line.repeat(200);
        let endless = server(move |mut connection| {
            let greeting = greeting.clone();
            thread::spawn(move || while connection.write_all(&greeting).is_ok() {});
        });
        let mails: Vec<_> = (0..8).map(|_| tokio::spawn(error_at(endless, ""))).collect();
        let mut longest = Duration::ZERO;
        while !mails.iter().all(tokio::task::JoinHandle::is_finished) {
            let begun = Instant::now();
            tokio::time::sleep(Duration::from_millis(5)).await;
            longest = longest.max(begun.elapsed());
        }
        assert!(longest < Duration::from_millis(500), "this thread was kept for {longest:?}");
        for mail in mails {
            let (error, took) = mail.await.unwrap();
            assert!(
                matches!(error, MailError::Unavailable(_)) && took.as_secs() < 12,
                "{took:?}: {}",
                whole(&error)
            );
        }
    }
}

#[tokio::test]
async fn a_server_that_goes_away_in_the_middle_is_unavailable() {
    let replies: [&[u8]; 4] = [
        b"220 hello\r\n",
        b"220 hello\r\n250 hello\r\n",
        b"220 hello\r\n250 hello\r\n250 good\r\n250 good\r\n",
        b"220 hello\r\n250 hello\r\n250 good\r\n250 good\r\n354 go on\r\n",
    ];
    for said in replies {
        let leaving = server(move |mut connection| {
            let _ = connection.write_all(said);
            let _ = connection.shutdown(std::net::Shutdown::Write);
            let _ = connection.read_to_end(&mut Vec::new());
        });
        let (error, took) = error_at(leaving, "").await;
        assert!(matches!(error, MailError::Unavailable(_)), "{}", whole(&error));
        assert!(took.as_secs() < 9, "{took:?}");
    }
}
