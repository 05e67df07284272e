//! A client's own web site on this machine. It serves one JSON document at any path, and the document can
//! change.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

/// A running site. It stops when this is dropped.
#[derive(Debug)]
pub struct ClientSite {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    document: Mutex<Value>,
    over: AtomicBool,
}

impl ClientSite {
    /// Starts a site that serves this document.
    pub fn start(document: Value) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { document: Mutex::new(document), over: AtomicBool::new(false) });
        let serving = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if serving.over.load(Ordering::SeqCst) {
                    return;
                }
                // A peer that hangs up early is no problem.
                let _ = serve(&serving, stream);
            }
        });
        Self { address, shared, thread: Some(thread) }
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Replaces the document.
    pub fn publish(&self, document: Value) {
        *self.shared.document.lock().unwrap_or_else(PoisonError::into_inner) = document;
    }
}

impl Drop for ClientSite {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // One more connection, to wake the thread up.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(shared: &Shared, stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let body = shared.document.lock().unwrap_or_else(PoisonError::into_inner).to_string();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
    write!(reader.get_mut(), "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
