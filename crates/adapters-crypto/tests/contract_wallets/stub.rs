//! A small RPC service that answers as it is told, right or wrong.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// The service's reaction to a request.
pub(crate) enum Reply {
    Result(Value),
    Error(i64, &'static str),
    /// This body, whatever it is.
    Body(Vec<u8>),
    /// A status, further header lines and no body.
    Status(u16, String),
    /// The beginning of an answer, and then one byte at a time.
    Trickle,
    /// Nothing, for longer than anyone waits.
    Hang,
    /// The end of the connection.
    Close,
}

pub(crate) struct Stub {
    pub(crate) url: String,
    connections: Arc<AtomicUsize>,
    methods: Arc<Mutex<Vec<String>>>,
    heads: Arc<Mutex<Vec<String>>>,
}

type Answering = dyn Fn(&str, &Value) -> Reply + Send + Sync;

impl Stub {
    /// Starts a service on a port of its own. It ends with the test's process.
    pub(crate) fn start(answer: impl Fn(&str, &Value) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stub = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            connections: Arc::default(),
            methods: Arc::default(),
            heads: Arc::default(),
        };
        let answer: Arc<Answering> = Arc::new(answer);
        let (connections, methods, heads) =
            (Arc::clone(&stub.connections), Arc::clone(&stub.methods), Arc::clone(&stub.heads));
        thread::spawn(move || {
            for stream in listener.incoming() {
                connections.fetch_add(1, Ordering::SeqCst);
                let (answer, methods, heads) =
                    (Arc::clone(&answer), Arc::clone(&methods), Arc::clone(&heads));
                thread::spawn(move || serve(stream.unwrap(), &*answer, &methods, &heads));
            }
        });
        stub
    }

    /// How many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The methods that were called, in order.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.methods.lock().unwrap().clone()
    }

    /// The request lines and headers.
    pub(crate) fn heads(&self) -> String {
        self.heads.lock().unwrap().concat()
    }
}

fn serve(stream: TcpStream, answer: &Answering, methods: &Mutex<Vec<String>>, heads: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut length = 0;
        let mut head = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            head.push_str(&line);
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let request: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(request["jsonrpc"], "2.0");
        let method = request["method"].as_str().unwrap();
        methods.lock().unwrap().push(method.to_owned());
        heads.lock().unwrap().push(head);
        let id = &request["id"];
        let (status, headers, body) = match answer(method, &request["params"]) {
            Reply::Result(result) => {
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
                (200, String::new(), answer.to_string().into_bytes())
            }
            Reply::Error(code, message) => {
                let error = json!({"code": code, "message": message});
                let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
                (200, String::new(), answer.to_string().into_bytes())
            }
            Reply::Body(body) => (200, String::new(), body),
            Reply::Status(status, headers) => (status, headers, Vec::new()),
            Reply::Trickle => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
                for _ in 0..200 {
                    thread::sleep(Duration::from_millis(100));
                    if stream.write_all(b" ").is_err() {
                        return;
                    }
                }
                return;
            }
            Reply::Hang => {
                thread::sleep(Duration::from_secs(30));
                return;
            }
            Reply::Close => return,
        };
        let head = format!(
            "HTTP/1.1 {status} Some\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n",
            body.len()
        );
        if stream.write_all(&[head.as_bytes(), &body].concat()).is_err() {
            return;
        }
    }
}
