//! A receiver of pushed events on this machine (RFC 8935). It can be told how to answer, and remembers what it took.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::jose::claims_of;

/// A running receiver. It stops when this is dropped.
#[derive(Debug)]
pub struct EventReceiver {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    over: AtomicBool,
}

#[derive(Debug)]
struct State {
    answer: Answer,
    posts: Vec<EventPost>,
}

/// How a receiver answers.
#[derive(Clone, Debug)]
pub enum Answer {
    /// With a status, and a body.
    Status(u16, String),
    /// With a redirect to this URL.
    Redirect(String),
    /// Not at all, for this long.
    Nothing(Duration),
    /// With 202, and then a body without end.
    Endless,
    /// With 500 for the events of this user, otherwise with 202.
    NotAbout(String),
}

/// An event that was posted.
#[derive(Clone, Debug)]
pub struct EventPost {
    /// The lines of the head, in lower case up to the colon.
    pub head: Vec<String>,
    /// The token.
    pub token: String,
    /// Was it answered with a success?
    pub is_taken: bool,
}

impl EventPost {
    /// The claims of the token.
    pub fn claims(&self) -> Value {
        claims_of(&self.token)
    }

    /// The id of the event.
    pub fn id(&self) -> String {
        self.claims()["jti"].as_str().unwrap().to_owned()
    }

    /// The user whom it is about.
    pub fn user(&self) -> String {
        self.claims()["sub_id"]["sub"].as_str().unwrap_or_default().to_owned()
    }
}

impl EventReceiver {
    /// Starts a receiver that takes everything.
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let state = State { answer: Answer::Status(202, String::new()), posts: Vec::new() };
        let shared = Arc::new(Shared { state: Mutex::new(state), over: AtomicBool::new(false) });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if serving.over.load(Ordering::SeqCst) {
                    return;
                }
                let serving = Arc::clone(&serving);
                // A sender that is killed hangs up early.
                thread::spawn(move || serve(&serving, stream));
            }
        });
        Self { address, shared }
    }

    /// The URL to push to.
    pub fn url(&self) -> String {
        format!("http://{}/events", self.address)
    }

    /// Answers like this from now on.
    pub fn answer(&self, answer: Answer) {
        self.state().answer = answer;
    }

    /// Everything that was posted, in order.
    pub fn posts(&self) -> Vec<EventPost> {
        self.state().posts.clone()
    }

    /// The ids of the events that it took, in the order in which each first came.
    pub fn taken(&self) -> Vec<String> {
        let mut ids = Vec::new();
        for post in self.posts().into_iter().filter(|post| post.is_taken) {
            let id = post.id();
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// Waits until it took so many events.
    #[track_caller]
    pub fn wait_for(&self, events: usize) {
        self.wait_until(|receiver| receiver.taken().len() >= events);
    }

    /// Waits until this is so.
    #[track_caller]
    pub fn wait_until(&self, mut is_so: impl FnMut(&Self) -> bool) {
        let started = Instant::now();
        while !is_so(self) {
            assert!(started.elapsed() < Duration::from_secs(90), "after {} posts", self.posts().len());
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }
}

impl Drop for EventReceiver {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // One more connection, to wake the thread up.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves a connection until the sender closes it.
fn serve(shared: &Shared, stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut line) = (Vec::new(), String::new());
        while reader.read_line(&mut line)? > 2 {
            head.push(line.trim_end().to_owned());
            line.clear();
        }
        let length = head.iter().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        let Some(length) = length else { return Ok(()) };
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let token = String::from_utf8_lossy(&body).into_owned();
        let mut post = EventPost { head, token, is_taken: false };
        let answer = shared.state().answer.clone();
        let (status, location, body) = match answer {
            Answer::Status(status, body) => (status, None, body),
            Answer::Redirect(to) => (307, Some(to), String::new()),
            Answer::NotAbout(user) if post.user() == user => (500, None, String::new()),
            Answer::NotAbout(_) | Answer::Endless => (202, None, String::new()),
            Answer::Nothing(time) => {
                shared.state().posts.push(post);
                thread::sleep(time);
                return Ok(());
            }
        };
        post.is_taken = (200..300).contains(&status);
        shared.state().posts.push(post);
        let location = location.map(|to| format!("Location: {to}\r\n")).unwrap_or_default();
        if matches!(shared.state().answer, Answer::Endless) {
            write!(reader.get_mut(), "HTTP/1.1 {status} Answer\r\n\r\n")?;
            loop {
                reader.get_mut().write_all(&[b'a'; 4096])?;
            }
        }
        write!(
            reader.get_mut(),
            "HTTP/1.1 {status} Answer\r\n{location}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
    }
}
