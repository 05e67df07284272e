//! The address of a running server, and what clients do there.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use url::Url;

use crate::browser::Browser;
use crate::figures::Figures;
use crate::http::{Connection, Parameters, Request, Response};
use crate::invariants;
use crate::secrets::Secrets;
use crate::wallet::Wallet;

/// The example verifier of RFC 7636, appendix B.
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// The challenge for [`VERIFIER`].
pub const CODE_CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
/// The redirect URI of the tests' clients.
pub const REDIRECT_URI: &str = "https://client.example/cb";

static NEXT_STATE: AtomicU64 = AtomicU64::new(1);

/// The address of a server. It can be moved to other threads.
#[derive(Clone, Debug)]
pub struct Site {
    /// The address to connect to.
    pub address: SocketAddr,
    /// The issuer's URL.
    pub public_url: String,
    /// The secrets that were sent or received.
    pub secrets: Arc<Secrets>,
}

/// A registered client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// `client_id`
    pub id: String,
    /// The `client_secret`. A public client has none and uses PKCE instead.
    pub secret: Option<String>,
    /// The redirect URI; empty if the client has none.
    pub redirect_uri: String,
    /// The registration access token.
    pub registration_token: String,
}

impl Client {
    /// Reads a client that was just registered, from the server's response or the command's output.
    pub fn of(body: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
        Self {
            id: text(&body["client_id"]).unwrap(),
            secret: text(&body["client_secret"]),
            redirect_uri: text(&body["redirect_uris"][0]).unwrap_or_default(),
            registration_token: text(&body["registration_access_token"]).unwrap(),
        }
    }
}

/// One response of the token endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// `access_token`
    pub access: String,
    /// `refresh_token`
    pub refresh: String,
}

impl Tokens {
    /// Reads a response. Panics if it has no tokens.
    #[track_caller]
    pub fn of(response: Response) -> Self {
        let response = response.expect(200);
        Self { access: response.field("access_token"), refresh: response.field("refresh_token") }
    }
}

impl Client {
    /// A public client, described by a document at this URL.
    pub fn described_at(id: String, redirect_uri: &str) -> Self {
        Self { id, secret: None, redirect_uri: redirect_uri.to_owned(), registration_token: String::new() }
    }

    /// The shortest valid authorization request: PKCE, no scope and no state.
    pub fn shortest_authorization(&self) -> Parameters {
        Parameters::of(&[
            ("client_id", &self.id),
            ("redirect_uri", &self.redirect_uri),
            ("response_type", "code"),
            ("code_challenge", CODE_CHALLENGE),
            ("code_challenge_method", "S256"),
        ])
    }

    /// The parameters of a valid authorization request, with a new state.
    pub fn authorization(&self) -> Parameters {
        let state = format!("state-{}", NEXT_STATE.fetch_add(1, Ordering::Relaxed));
        let parameters = Parameters::of(&[
            ("client_id", &self.id),
            ("redirect_uri", &self.redirect_uri),
            ("response_type", "code"),
            ("scope", "profile"),
            ("state", &state),
        ]);
        match self.secret {
            Some(_) => parameters,
            None => parameters.with("code_challenge", CODE_CHALLENGE).with("code_challenge_method", "S256"),
        }
    }

    /// The form that exchanges a code.
    pub fn exchange_form(&self, code: &str) -> Parameters {
        let form = Parameters::of(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &self.redirect_uri),
        ]);
        let form = if self.secret.is_none() { form.with("code_verifier", VERIFIER) } else { form };
        self.identify(form)
    }

    /// The form that refreshes a token.
    pub fn refresh_form(&self, refresh_token: &str) -> Parameters {
        self.identify(Parameters::of(&[("grant_type", "refresh_token"), ("refresh_token", refresh_token)]))
    }

    /// The body that revokes a token.
    pub fn revocation(&self, token: &str) -> Parameters {
        self.identify(Parameters::of(&[("token", token)]))
    }

    /// Adds the client's credentials.
    pub fn identify(&self, parameters: Parameters) -> Parameters {
        let parameters = parameters.with("client_id", &self.id);
        match &self.secret {
            Some(secret) => parameters.with("client_secret", secret),
            None => parameters,
        }
    }
}

impl Site {
    /// The host and port of the public URL.
    pub fn authority(&self) -> String {
        let url = Url::parse(&self.public_url).unwrap();
        url.port().map_or_else(
            || url.host_str().unwrap().to_owned(),
            |port| format!("{}:{port}", url.host_str().unwrap()),
        )
    }

    /// The path of the public URL, which all our paths are below. Usually empty.
    pub fn base_path(&self) -> String {
        Url::parse(&self.public_url).unwrap().path().trim_end_matches('/').to_owned()
    }

    /// Does `/health/ready` return 200?
    pub fn is_ready(&self) -> bool {
        let request = Request::get(&format!("{}/health/ready", self.base_path()));
        let answer = |mut connection: Connection| connection.send_last(&self.authority(), &request);
        Connection::open(self.address).and_then(answer).is_ok_and(|response| response.status == 200)
    }

    /// Sends a request on a new connection.
    #[track_caller]
    pub fn send(&self, request: &Request) -> Response {
        self.try_send(request)
            .unwrap_or_else(|error| panic!("{} {}: {error}", request.method, request.target))
    }

    /// The same, if the connection may fail.
    #[track_caller]
    pub fn try_send(&self, request: &Request) -> io::Result<Response> {
        self.secrets.learn_request(request);
        let response = Connection::open(self.address)?.send_last(&self.authority(), request)?;
        self.secrets.learn_response(&response);
        invariants::check(request, &response);
        Ok(response)
    }

    /// Sends a `GET` request.
    #[track_caller]
    pub fn get(&self, target: &str) -> Response {
        self.send(&Request::get(target))
    }

    /// Reads `/metrics`.
    #[track_caller]
    pub fn figures(&self) -> Figures {
        Figures::of(&self.get(&format!("{}/metrics", self.base_path())))
    }

    /// Registers a client with a secret and the scopes `profile` and `email`.
    pub fn register(&self) -> Client {
        self.register_with(&json!({"scopes": ["profile", "email"]}))
    }

    /// Registers a client without a secret.
    pub fn register_public(&self) -> Client {
        self.register_with(&json!({"token_endpoint_auth_method": "none"}))
    }

    /// Registers a client with this redirect URI.
    pub fn register_at(&self, redirect_uri: &str) -> Client {
        self.register_with(&json!({"redirect_uris": [redirect_uri]}))
    }

    /// Registers a client: minimal metadata, with these members added or replaced.
    #[track_caller]
    pub fn register_with(&self, metadata: &Value) -> Client {
        Self::client(&self.send(&Self::registration(metadata)).expect(201))
    }

    /// The request that registers a client.
    pub fn registration(metadata: &Value) -> Request {
        let mut body = json!({"client_name": "Photo Album", "redirect_uris": [REDIRECT_URI]});
        for (name, value) in metadata.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        Request::json("/oauth/clients", &body)
    }

    /// Reads the response to a registration.
    pub fn client(registered: &Response) -> Client {
        Client::of(&registered.json())
    }

    /// A new browser.
    pub fn browser(&self) -> Browser {
        Browser::new(self)
    }

    /// A new user signs in for the client; returns the code.
    #[track_caller]
    pub fn sign_in(&self, client: &Client) -> String {
        self.browser().sign_in(client, &Wallet::fresh())
    }

    /// A new user signs in, and the client exchanges the code.
    #[track_caller]
    pub fn tokens(&self, client: &Client) -> Tokens {
        Tokens::of(self.exchange(client, &self.sign_in(client)))
    }

    /// The client exchanges a code.
    #[track_caller]
    pub fn exchange(&self, client: &Client, code: &str) -> Response {
        self.token(&client.exchange_form(code))
    }

    /// The client refreshes its tokens.
    #[track_caller]
    pub fn refresh(&self, client: &Client, refresh_token: &str) -> Response {
        self.token(&client.refresh_form(refresh_token))
    }

    /// Sends any form to the token endpoint.
    #[track_caller]
    pub fn token(&self, form: &Parameters) -> Response {
        self.send(&Request::form("/oauth/token", form))
    }

    /// Calls userinfo.
    #[track_caller]
    pub fn userinfo(&self, access_token: &str) -> Response {
        self.send(&Request::get("/oauth/userinfo").bearer(access_token))
    }

    /// The client revokes a token, with a JSON body.
    #[track_caller]
    pub fn revoke(&self, client: &Client, token: &str) -> Response {
        self.send(&Request::json("/oauth/revoke", &client.revocation(token).json()))
    }
}
