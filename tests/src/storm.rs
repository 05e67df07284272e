//! Hostile clients that hold connections open in every way that costs them little. One thread drives
//! thousands of them.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

/// How a connection is held open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// It sends nothing.
    Silent,
    /// It sends one request, reads the response and sends nothing more.
    Idle,
    /// It sends the head byte by byte.
    SlowHead,
    /// The same, after a first request that got its response.
    SlowSecondHead,
    /// It sends the body byte by byte.
    SlowBody,
    /// It sends a body without a length, byte by byte.
    SlowChunkedBody,
    /// It sends an unrequested chunked body byte by byte.
    SlowChunks,
    /// It requests a long response again and again, and reads nothing.
    NoReader,
    /// It requests a long response and reads a few bytes a second.
    SlowReader,
    /// It sends as many small requests as it can, without reading.
    Pipeline,
    /// It sends a request and closes at once.
    Flood,
}

/// All ways to hold a connection.
pub const HOLDS: [Hold; 11] = [
    Hold::Silent,
    Hold::Idle,
    Hold::SlowHead,
    Hold::SlowSecondHead,
    Hold::SlowBody,
    Hold::SlowChunkedBody,
    Hold::SlowChunks,
    Hold::NoReader,
    Hold::SlowReader,
    Hold::Pipeline,
    Hold::Flood,
];

/// The results of a storm.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Connections that were opened.
    pub opened: AtomicUsize,
    /// Connections that the server closed.
    pub ended: AtomicUsize,
    /// Connections that could not be opened.
    pub refused: AtomicUsize,
    /// How long the longest connection lived, in milliseconds.
    pub longest: AtomicUsize,
    /// Connections that are open now.
    pub held: AtomicUsize,
}

/// Holds connections open, and reopens them when they end, until this is dropped.
#[derive(Debug)]
pub struct Storm {
    /// The results so far.
    pub outcome: Arc<Outcome>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Storm {
    /// Holds this many connections in each of these ways, from many addresses of this machine.
    pub fn begin(address: SocketAddr, holds: &[(Hold, usize)]) -> Self {
        let (outcome, over) = (Arc::<Outcome>::default(), Arc::<AtomicBool>::default());
        let thread = {
            let (outcome, over, holds) = (Arc::clone(&outcome), Arc::clone(&over), holds.to_vec());
            thread::spawn(move || blow(address, &holds, &outcome, &over))
        };
        Self { outcome, over, thread: Some(thread) }
    }

    /// Waits until this many are open at the same time, or for half a minute.
    pub fn wait_for(&self, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.outcome.held.load(Ordering::Relaxed) < count && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Storm {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Held {
    hold: Hold,
    stream: Option<TcpStream>,
    since: Instant,
    number: u32,
}

fn blow(address: SocketAddr, holds: &[(Hold, usize)], outcome: &Outcome, over: &AtomicBool) {
    let mut number = 0;
    let mut all: Vec<Held> = Vec::new();
    for (hold, count) in holds {
        for _ in 0..*count {
            number += 1;
            all.push(Held { hold: *hold, stream: None, since: Instant::now(), number });
        }
    }
    while !over.load(Ordering::Relaxed) {
        let round = Instant::now();
        let mut alive = 0;
        for held in &mut all {
            if over.load(Ordering::Relaxed) {
                break;
            }
            if held.stream.is_none() {
                held.number = held.number.wrapping_add(7_919);
                held.stream = open(address, held.number, held.hold).ok();
                held.since = Instant::now();
                let counter = if held.stream.is_some() { &outcome.opened } else { &outcome.refused };
                counter.fetch_add(1, Ordering::Relaxed);
            } else if !held.goes_on() {
                held.stream = None;
                let lived = usize::try_from(held.since.elapsed().as_millis()).unwrap_or(usize::MAX);
                outcome.longest.fetch_max(lived, Ordering::Relaxed);
                outcome.ended.fetch_add(1, Ordering::Relaxed);
            }
            alive += usize::from(held.stream.is_some());
        }
        outcome.held.store(alive, Ordering::Relaxed);
        let lives =
            all.iter().filter(|held| held.stream.is_some()).map(|held| held.since.elapsed().as_millis());
        let longest = usize::try_from(lives.max().unwrap_or(0)).unwrap_or(usize::MAX);
        outcome.longest.fetch_max(longest, Ordering::Relaxed);
        thread::sleep(Duration::from_secs(1).saturating_sub(round.elapsed()));
    }
}

/// Opens a connection from an address of this machine. The number selects the address, so that no address
/// runs out of ports.
pub fn open(address: SocketAddr, number: u32, hold: Hold) -> std::io::Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    let [.., second, third] = (number % 60_000).to_be_bytes();
    let from = Ipv4Addr::new(127, 1, second, third.max(1));
    socket.bind(&SocketAddr::from((from, 0)).into())?;
    socket.set_recv_buffer_size(8 * 1024)?;
    socket.connect_timeout(&address.into(), Duration::from_millis(500))?;
    socket.set_nonblocking(true)?;
    let mut stream = TcpStream::from(socket);
    let first: &[u8] = match hold {
        Hold::Silent => b"",
        Hold::Idle | Hold::SlowSecondHead | Hold::Flood => b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n",
        Hold::SlowHead => b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: ",
        Hold::SlowBody => {
            b"POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 5000\r\n\r\na="
        }
        Hold::SlowChunkedBody => {
            b"POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\na="
        }
        Hold::SlowChunks => b"POST /oauth/jwks HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\na",
        Hold::NoReader | Hold::SlowReader | Hold::Pipeline => b"",
    };
    stream.write_all(first)?;
    Ok(stream)
}

impl Held {
    /// Does what this kind of connection does once a second. Returns false when the connection has ended.
    fn goes_on(&mut self) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        let said = match self.hold {
            Hold::Silent | Hold::Idle => Ok(()),
            Hold::SlowHead
            | Hold::SlowSecondHead
            | Hold::SlowBody
            | Hold::SlowChunkedBody
            | Hold::SlowChunks => stream.write_all(b"a"),
            Hold::NoReader => {
                ask(stream, &b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20))
            }
            Hold::SlowReader => ask(stream, b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            Hold::Pipeline => ask(stream, &b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n".repeat(10_000)),
            Hold::Flood => return false,
        };
        if said.is_err() {
            return false;
        }
        let mut taken = [0; 64];
        match self.hold {
            // These connections read nothing, so they notice the end when they cannot send.
            Hold::NoReader | Hold::Pipeline => {
                stream.take_error().is_ok_and(|error| error.is_none()) && !is_closed(stream)
            }
            Hold::SlowReader => read(stream, &mut taken),
            Hold::Silent
            | Hold::Idle
            | Hold::SlowHead
            | Hold::SlowSecondHead
            | Hold::SlowBody
            | Hold::SlowChunkedBody
            | Hold::SlowChunks
            | Hold::Flood => read_all(stream),
        }
    }
}

/// Sends as much as the socket accepts.
fn ask(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let mut sent = 0;
    while sent < bytes.len() {
        match stream.write(&bytes[sent..]) {
            Ok(count) => sent += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns false at the end.
fn read(stream: &mut TcpStream, into: &mut [u8]) -> bool {
    match stream.read(into) {
        Ok(0) => false,
        Ok(_) => true,
        Err(error) => error.kind() == ErrorKind::WouldBlock,
    }
}

fn read_all(stream: &mut TcpStream) -> bool {
    let mut taken = [0; 4096];
    loop {
        match stream.read(&mut taken) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

/// If unread data came before the end, reading cannot tell that the peer is gone. The kernel can.
fn is_closed(stream: &TcpStream) -> bool {
    stream.peer_addr().is_err()
}

/// The memory of a process in kilobytes: now, and at its peak.
pub fn memory(process: u32) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim_start_matches(':').trim().split(' ').next()?.parse().ok()).unwrap_or(0)
    };
    (of("VmRSS"), of("VmHWM"))
}
