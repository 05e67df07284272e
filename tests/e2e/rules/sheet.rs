//! One text with an entry for each request and its response. Everything that changes from run to run is
//! masked.

use std::fmt::Write;

use countersign_tests::{Request, Response, Server};
use serde_json::Value;

/// Fields whose values are new in each run.
const VOLATILE: [&str; 17] = [
    "client_id",
    "client_secret",
    "registration_access_token",
    "registration_client_uri",
    "created_at",
    "client_id_issued_at",
    "access_token",
    "refresh_token",
    "sub",
    "address",
    "preferred_username",
    "name",
    "picture",
    "wallet_address",
    "wallet_account",
    "challenge",
    "expires_at",
];

/// Headers that the rule specifies.
const HEADERS: [&str; 5] = ["Allow", "Cache-Control", "Location", "Retry-After", "WWW-Authenticate"];

/// The text, while it is written.
pub(super) struct Sheet<'a> {
    server: &'a Server,
    text: String,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(server: &'a Server) -> Self {
        Self { server, text: String::new() }
    }

    /// Starts a chapter.
    pub(super) fn chapter(&mut self, title: &str) {
        let _ = write!(self.text, "\n# {title}\n");
    }

    /// Sends a request and writes down the response.
    #[track_caller]
    pub(super) fn ask(&mut self, rule: &str, request: Request) -> Response {
        let response = self.server.send(&request);
        self.enter(rule, &response);
        response
    }

    /// Writes down a response.
    pub(super) fn enter(&mut self, rule: &str, response: &Response) {
        let kind = response.header("Content-Type").unwrap_or("no body");
        let _ = write!(self.text, "\n## {rule}\n{} {kind}\n", response.status);
        for name in HEADERS {
            for value in response.all(name) {
                let _ = writeln!(self.text, "{name}: {}", self.masked(value));
            }
        }
        if kind.starts_with("text/html") {
            let page = response.text();
            let title = page
                .split("<title>")
                .nth(1)
                .and_then(|rest| rest.split("</title>").next())
                .unwrap_or("no title");
            let error = page.split("data-error=\"").nth(1).and_then(|rest| rest.split('"').next());
            let message =
                page.split("<p class=\"message alert\">").nth(1).and_then(|rest| rest.split("</p>").next());
            let _ = writeln!(self.text, "page: {}", self.masked(title.trim()));
            if let (Some(error), Some(message)) = (error, message) {
                let _ = writeln!(self.text, "says: {error}: {message}");
            }
        } else if let Ok(mut json) = serde_json::from_slice::<Value>(&response.body) {
            mask_fields(&mut json);
            // Whether the library keeps the order of the names depends on the features that other crates
            // enable.
            json.sort_all_objects();
            let _ = writeln!(self.text, "{}", self.masked(&json.to_string()));
        } else if !response.body.is_empty() {
            let _ = writeln!(self.text, "{}", self.masked(&response.text()));
        }
    }

    pub(super) fn finish(self) -> String {
        self.text.trim_start().to_owned()
    }

    /// Masks our own URL, positions in bodies, codes, and the states that the test harness numbers.
    fn masked(&self, text: &str) -> String {
        let mut text = text.replace(&self.server.public_url, "{public_url}");
        let encoded: String =
            url::form_urlencoded::byte_serialize(self.server.public_url.as_bytes()).collect();
        text = text.replace(&encoded, "{public_url}").replace(&self.server.authority(), "{authority}");
        if let Some((before, _)) = text.clone().split_once(" at line ") {
            let end = text.rfind("\"}").unwrap_or(text.len());
            text = format!("{before} at line …{}", &text[end..]);
        }
        for name in ["code=", "state=state-"] {
            if let Some((before, rest)) = text.clone().split_once(name) {
                let end = rest.find('&').unwrap_or(rest.len());
                if rest[..end].len() > 20 || name != "code=" {
                    text = format!("{before}{name}…{}", &rest[end..]);
                }
            }
        }
        text
    }
}

fn mask_fields(json: &mut Value) {
    for (name, value) in json.as_object_mut().into_iter().flatten() {
        if VOLATILE.contains(&name.as_str()) {
            *value = Value::from(if value.is_number() { "{number}" } else { "{text}" });
        }
    }
}
