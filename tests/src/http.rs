//! HTTP/1.1 over TCP: no redirects, no cookies, any status, and every header as it was sent.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;
use url::Url;
use url::form_urlencoded::{Serializer, parse};

const PATIENCE: Duration = Duration::from_secs(40);

/// Names and values of a query or a form, in order.
#[derive(Clone, Debug, Default)]
pub struct Parameters(pub Vec<(String, String)>);

impl Parameters {
    /// The parameters from pairs of name and value.
    pub fn of(pairs: &[(&str, &str)]) -> Self {
        Self(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    /// Replaces a parameter, or adds it.
    #[must_use]
    pub fn with(self, name: &str, value: &str) -> Self {
        self.without(name).and(name, value)
    }

    /// Adds a parameter, even if there is already one with that name.
    #[must_use]
    pub fn and(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Removes a parameter.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.retain(|(key, _)| key != name);
        self
    }

    /// The value of a parameter. Panics if it is missing.
    pub fn get(&self, name: &str) -> &str {
        &self.0.iter().find(|(key, _)| key == name).unwrap_or_else(|| panic!("{name} in {self:?}")).1
    }

    /// The parameters, form-encoded.
    pub fn encoded(&self) -> String {
        Serializer::new(String::new()).extend_pairs(&self.0).finish()
    }

    /// The parameters as a JSON object of strings.
    pub fn json(&self) -> Value {
        self.0.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
    }
}

/// An HTTP request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method: `GET`, `POST`, …
    pub method: String,
    /// The path and the query.
    pub target: String,
    /// The headers. `Host`, `Content-Length` and `Connection` are added if they are missing.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// A request without a body.
    pub fn new(method: &str, target: &str) -> Self {
        Self { method: method.to_owned(), target: target.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    /// A `GET` request.
    pub fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    /// A `GET` request with a query.
    pub fn query(path: &str, parameters: &Parameters) -> Self {
        Self::get(&format!("{path}?{}", parameters.encoded()))
    }

    /// A `POST` request with a form.
    pub fn form(target: &str, parameters: &Parameters) -> Self {
        Self::new("POST", target).typed("application/x-www-form-urlencoded", parameters.encoded())
    }

    /// A `POST` request with JSON.
    pub fn json(target: &str, body: &Value) -> Self {
        Self::new("POST", target).typed("application/json", body.to_string())
    }

    /// Sets the body and its content type.
    #[must_use]
    pub fn typed(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("Content-Type", content_type)
    }

    /// Adds a header, even if there is already one with that name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The fields of the body, which is a form or a JSON object.
    pub fn fields(&self) -> Parameters {
        if self.is_json() {
            let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            let fields = body.as_object().into_iter().flatten();
            return Parameters(fields.map(|(name, value)| (name.clone(), text(value))).collect());
        }
        Parameters(parse(&self.body).into_owned().collect())
    }

    /// Replaces a field in the body, or adds it.
    #[must_use]
    pub fn with_field(mut self, name: &str, value: &str) -> Self {
        if self.is_json() {
            let mut body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
            body[name] = Value::from(value);
            self.body = body.to_string().into_bytes();
        } else {
            self.body = self.fields().and(name, value).encoded().into_bytes();
        }
        self
    }

    fn is_json(&self) -> bool {
        self.headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("content-type") && value.starts_with("application/json")
        })
    }

    /// Adds HTTP Basic authentication.
    #[must_use]
    pub fn basic(self, user: &str, password: &str) -> Self {
        use base64::Engine;
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
        self.header("Authorization", &format!("Basic {pair}"))
    }

    /// Adds a bearer token.
    #[must_use]
    pub fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name))
    }

    fn bytes(&self, host: &str, keep_alive: bool) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        if !self.has("Host") {
            head += &format!("Host: {host}\r\n");
        }
        if !self.has("Content-Length")
            && !self.has("Transfer-Encoding")
            && (!self.body.is_empty() || self.method == "POST")
        {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        if !keep_alive {
            head += "Connection: close\r\n";
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// An HTTP response.
#[derive(Clone)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers, in order.
    pub headers: Vec<(String, String)>,
    /// The body, with its transfer encoding removed.
    pub body: Vec<u8>,
}

impl Response {
    /// The value of a header that occurs once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.all(name);
        let first = values.next();
        assert!(values.next().is_none(), "{name} comes twice: {self:?}");
        first
    }

    /// All values of a header.
    pub fn all<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        self.headers
            .iter()
            .filter(move |(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// A string in the JSON body. Panics if it is missing.
    pub fn field(&self, name: &str) -> String {
        self.json()[name].as_str().unwrap_or_else(|| panic!("{name} in {self:?}")).to_owned()
    }

    /// The error code in the body, or the status if the body has none.
    pub fn error(&self) -> String {
        let json: Option<Value> = serde_json::from_slice(&self.body).ok();
        json.and_then(|json| Some(json["error"].as_str()?.to_owned()))
            .unwrap_or_else(|| self.status.to_string())
    }

    /// The status and the error code, as in the tables: `400 invalid_grant`, or only the status.
    pub fn verdict(&self) -> String {
        let error = self.error();
        if error == self.status.to_string() { error } else { format!("{} {error}", self.status) }
    }

    /// The complete `Location`. Panics if there is none.
    pub fn location(&self) -> &str {
        self.header("Location").unwrap_or_else(|| panic!("not a redirect: {self:?}"))
    }

    /// A parameter in the query of `Location`, form-decoded once.
    pub fn answer(&self, name: &str) -> Option<String> {
        let location = self.location();
        // The query of a redirect URI with a private-use scheme is parsed like any other.
        let (_, query) = location.split_once('?')?;
        parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    /// The names of the parameters in the query of `Location`.
    pub fn answered(&self) -> Vec<String> {
        let url = Url::parse(self.location()).unwrap();
        url.query_pairs().map(|(name, _)| name.into_owned()).collect()
    }

    /// Panics unless the status is this one.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "HTTP {}", self.status)?;
        for (name, value) in &self.headers {
            writeln!(f, "{name}: {value}")?;
        }
        write!(f, "\n{}", self.text().chars().take(2000).collect::<String>())
    }
}

/// One TCP connection.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    /// Opens a connection.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Sends a request and reads the response. The connection stays open.
    pub fn send(&mut self, host: &str, request: &Request) -> io::Result<Response> {
        self.write(&request.bytes(host, true))?;
        self.read(&request.method)
    }

    /// Sends a request that closes the connection.
    pub fn send_last(&mut self, host: &str, request: &Request) -> io::Result<Response> {
        // A server may respond before it has read everything, and close. Its response still counts.
        let written = self.write(&request.bytes(host, false));
        self.read(&request.method).or_else(|error| written.and(Err(error)))
    }

    /// Sends bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Reads the response to a request with this method.
    pub fn read(&mut self, method: &str) -> io::Result<Response> {
        loop {
            let mut response = self.read_head()?;
            if response.status >= 200 {
                response.body = self.read_body(method, &response)?;
                return Ok(response);
            }
        }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        self.stream.read_until(b'\n', &mut line)?;
        let Some(text) = line.strip_suffix(b"\r\n") else {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the connection closed in the middle of a response",
            ));
        };
        Ok(text.iter().map(|byte| char::from(*byte)).collect())
    }

    fn read_head(&mut self) -> io::Result<Response> {
        if self.stream.fill_buf()?.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::ConnectionReset,
                "the connection closed before a response began",
            ));
        }
        let status_line = self.line()?;
        let status = status_line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("not a status line: {status_line}")))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                return Ok(Response { status, headers, body: Vec::new() });
            }
            let (name, value) = line.split_once(':').ok_or_else(|| io::Error::other(line.clone()))?;
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
    }

    fn read_body(&mut self, method: &str, response: &Response) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if method == "HEAD" || matches!(response.status, 204 | 304) {
            return Ok(body);
        }
        if response.header("Transfer-Encoding").is_some() {
            loop {
                let size = usize::from_str_radix(&self.line()?, 16).map_err(io::Error::other)?;
                let start = body.len();
                body.resize(start + size, 0);
                self.stream.read_exact(&mut body[start..])?;
                self.line()?;
                if size == 0 {
                    return Ok(body);
                }
            }
        }
        match response.header("Content-Length") {
            Some(length) => {
                body.resize(length.parse().map_err(io::Error::other)?, 0);
                self.stream.read_exact(&mut body)?;
            }
            None => {
                self.stream.read_to_end(&mut body)?;
            }
        }
        Ok(body)
    }
}
