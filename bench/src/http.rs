//! A kept-alive HTTP/1.1 connection with one request in flight and the cookies of one browser.
//!
//! It supports only what the servers of this benchmark send: every answer has a `Content-Length`. Its buffers
//! are reused from request to request, so that the driver's share of the machine stays small and the same for
//! every server.

use std::io;
use std::net::SocketAddr;
use std::str;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const HEAD_END: &[u8] = b"\r\n\r\n";
const MAX_HEAD: usize = 64 * 1024;
/// A connection that was idle for longer may be closed at any moment: the servers keep one for 15 seconds.
const KEPT: Duration = Duration::from_secs(10);

/// A connection to a server.
#[derive(Debug)]
pub struct Connection {
    address: SocketAddr,
    stream: TcpStream,
    host: String,
    out: Vec<u8>,
    buffer: Vec<u8>,
    /// The cookies that the server set in this browser.
    pub cookies: Cookies,
    first_byte: Option<Instant>,
    last_byte: Instant,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The encoded path and query.
    pub target: &'a str,
    /// The value of `Authorization`; empty for no header.
    pub authorization: &'a str,
    /// The body. A request without one is a GET, otherwise it is a POST.
    pub body: Body<'a>,
}

/// The body of a request, and how it is asked for.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    /// No body; a browser requests a page.
    Page,
    /// No body; a program sends the request.
    None,
    /// Encoded form fields.
    Form(&'a str),
    /// A JSON text.
    Json(&'a str),
}

/// An answer, valid until the next request.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// The status.
    pub status: u16,
    head: &'a str,
    /// The body.
    pub body: &'a [u8],
}

/// The cookies of one browser at one site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cookies(Vec<(String, String)>);

/// There was no answer that could be understood.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The connection could not be opened, or broke.
    #[error("connection failed")]
    Io(#[from] io::Error),
    /// The server closed the connection before its answer was complete.
    #[error("the server closed the connection before its answer was complete")]
    Closed,
    /// The answer is not in the subset of HTTP that this client supports.
    #[error("the answer is not understood: {0}")]
    NotUnderstood(&'static str),
}

impl Connection {
    /// Opens a connection.
    pub async fn open(address: SocketAddr) -> Result<Self, HttpError> {
        Ok(Self {
            address,
            stream: connect(address).await?,
            host: format!("localhost:{}", address.port()),
            out: Vec::with_capacity(4 * 1024),
            buffer: Vec::with_capacity(32 * 1024),
            cookies: Cookies::default(),
            first_byte: None,
            last_byte: Instant::now(),
        })
    }

    /// Sends a request and reads its complete answer. Sends and stores cookies.
    pub async fn send(&mut self, request: &Request<'_>) -> Result<Response<'_>, HttpError> {
        self.write_request(request);
        let now = Instant::now();
        if now.saturating_duration_since(self.last_byte) > KEPT {
            self.stream = connect(self.address).await?;
        }
        self.first_byte.get_or_insert(now);
        self.stream.write_all(&self.out).await?;
        self.buffer.clear();
        let head_length = loop {
            let searched = self.buffer.len().saturating_sub(HEAD_END.len() - 1);
            self.fill().await?;
            let found = self.buffer[searched..].windows(HEAD_END.len()).position(|bytes| bytes == HEAD_END);
            if let Some(position) = found {
                break searched + position;
            }
            if self.buffer.len() > MAX_HEAD {
                return Err(HttpError::NotUnderstood("its head is too long"));
            }
        };
        let body_start = head_length + HEAD_END.len();
        let (status, length) = self.read_head(head_length)?;
        while self.buffer.len() < body_start + length {
            self.fill().await?;
        }
        self.last_byte = Instant::now();
        let (head, rest) = self.buffer.split_at(head_length);
        let head = str::from_utf8(head).map_err(|_| HttpError::NotUnderstood("its head is not text"))?;
        let body = &rest[HEAD_END.len()..];
        if body.len() != length {
            return Err(HttpError::NotUnderstood("it is longer than its Content-Length"));
        }
        Ok(Response { status, head, body })
    }

    /// Starts the clock with the next request.
    pub const fn start_clock(&mut self) {
        self.first_byte = None;
    }

    /// From the first byte written since [`Self::start_clock`] to the last byte read.
    pub fn elapsed(&self) -> Duration {
        self.first_byte.map_or(Duration::ZERO, |first| self.last_byte.saturating_duration_since(first))
    }

    fn write_request(&mut self, request: &Request<'_>) {
        let method = match request.body {
            Body::Page | Body::None => "GET ",
            Body::Form(_) | Body::Json(_) => "POST ",
        };
        let (kind, body) = match request.body {
            Body::Page => ("\r\nAccept: text/html", None),
            Body::None => ("", None),
            Body::Form(fields) => ("\r\nContent-Type: application/x-www-form-urlencoded", Some(fields)),
            Body::Json(text) => ("\r\nContent-Type: application/json", Some(text)),
        };
        let out = &mut self.out;
        out.clear();
        let mut put = |text: &str| out.extend_from_slice(text.as_bytes());
        [method, request.target, " HTTP/1.1\r\nHost: ", &self.host, kind].into_iter().for_each(&mut put);
        if !request.authorization.is_empty() {
            ["\r\nAuthorization: ", request.authorization].into_iter().for_each(&mut put);
        }
        for (index, (name, value)) in self.cookies.0.iter().enumerate() {
            let separator = if index == 0 { "\r\nCookie: " } else { "; " };
            [separator, name, "=", value].into_iter().for_each(&mut put);
        }
        if let Some(body) = body {
            ["\r\nContent-Length: ", &body.len().to_string()].into_iter().for_each(&mut put);
        }
        ["\r\n\r\n", body.unwrap_or_default()].into_iter().for_each(&mut put);
    }

    /// Reads the status and the length of the body, and stores cookies.
    fn read_head(&mut self, head_length: usize) -> Result<(u16, usize), HttpError> {
        let head = str::from_utf8(&self.buffer[..head_length])
            .map_err(|_| HttpError::NotUnderstood("its head is not text"))?;
        let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let status = status.ok_or(HttpError::NotUnderstood("it has no status"))?;
        let mut length = None;
        for (name, value) in lines(head) {
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse().ok();
            } else if name.eq_ignore_ascii_case("set-cookie") {
                self.cookies.keep(value);
            }
        }
        Ok((status, length.ok_or(HttpError::NotUnderstood("it has no Content-Length"))?))
    }

    async fn fill(&mut self) -> Result<(), HttpError> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(HttpError::Closed),
            _ => Ok(()),
        }
    }
}

async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl<'a> Request<'a> {
    /// A program's GET.
    pub const fn get(target: &'a str) -> Self {
        Self { target, authorization: "", body: Body::None }
    }

    /// A POST of form fields.
    pub const fn form(target: &'a str, fields: &'a str) -> Self {
        Self { target, authorization: "", body: Body::Form(fields) }
    }

    /// A POST of JSON.
    pub const fn json(target: &'a str, text: &'a str) -> Self {
        Self { target, authorization: "", body: Body::Json(text) }
    }
}

impl<'a> Response<'a> {
    /// The value of the first header of this name.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        lines(self.head).find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl Cookies {
    /// Removes all cookies.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Reads a `Set-Cookie`. A `Max-Age` of 0 removes the cookie.
    fn keep(&mut self, header: &str) {
        let mut parts = header.split(';').map(str::trim);
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { return };
        let is_over = parts.any(|attribute| attribute.eq_ignore_ascii_case("max-age=0"));
        let place = self.0.iter().position(|(other, _)| other == name);
        match place {
            Some(place) if is_over => drop(self.0.remove(place)),
            Some(place) => {
                let kept = &mut self.0[place].1;
                kept.clear();
                kept.push_str(value);
            }
            None if is_over => {}
            None => self.0.push((name.to_owned(), value.to_owned())),
        }
    }
}

/// The header lines of a head, without the status line.
fn lines(head: &str) -> impl Iterator<Item = (&str, &str)> {
    head.split("\r\n")
        .skip(1)
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name, value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_kept_replaced_and_removed() {
        let mut cookies = Cookies::default();
        cookies.keep("session=one; HttpOnly; Path=/; Max-Age=1800");
        cookies.keep("session=two; HttpOnly; Path=/; Max-Age=1800");
        assert_eq!(cookies.0, [("session".to_owned(), "two".to_owned())]);
        cookies.keep("session=; Path=/; Max-Age=0; Expires=Sat, 22 Nov 2025 05:24:45 GMT");
        assert_eq!(cookies, Cookies::default());
    }

    #[test]
    fn a_header_is_found_in_any_case() {
        let response =
            Response { status: 200, head: "HTTP/1.1 200 OK\r\nlocation: /auth\r\nx: y", body: b"" };
        assert_eq!(response.header("Location"), Some("/auth"));
        assert_eq!(response.header("y"), None);
    }
}
