//! A user's browser: it keeps cookies and does what the page does.

use std::collections::BTreeMap;

use crate::http::{Parameters, Request, Response};
use crate::site::{Client, Site};
use crate::wallet::Wallet;

/// A browser with its cookies.
#[derive(Clone, Debug)]
pub struct Browser {
    /// The server, or the replica, that it talks to.
    pub site: Site,
    /// Its cookies by name.
    pub cookies: BTreeMap<String, String>,
}

impl Browser {
    /// A browser without cookies.
    pub fn new(site: &Site) -> Self {
        Self { site: site.clone(), cookies: BTreeMap::new() }
    }

    /// The request with the browser's cookies.
    pub fn with_cookies(&self, request: Request) -> Request {
        if self.cookies.is_empty() {
            return request;
        }
        let pairs: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        request.header("Cookie", &pairs.join("; "))
    }

    /// Sends a request with the browser's cookies, and keeps the cookies of the response.
    #[track_caller]
    pub fn send(&mut self, request: Request) -> Response {
        let response = self.site.send(&self.with_cookies(request));
        self.keep(&response);
        response
    }

    /// Submits a form: loads the page that shows it, and sends the request with the page's secret. If the
    /// request does not name a pending request, the page's own pending request is meant. Without such a form,
    /// the request is sent as it is.
    #[track_caller]
    pub fn press(&mut self, request: Request) -> Response {
        let request = self.filled(request);
        self.send(request)
    }

    /// Submits a form from a page that was shown before.
    #[track_caller]
    pub fn press_on(&mut self, html: &str, request: Request) -> Response {
        let base = self.site.base_path();
        let path = request.target.strip_prefix(base.as_str()).unwrap_or(&request.target).to_owned();
        let secret = crate::page::secret(html, &path, &[]);
        let secret = secret.unwrap_or_else(|| panic!("there is no form to {path} in {html}"));
        self.send(request.with_field("form", &secret))
    }

    /// The request with the secret of the page that shows its form.
    #[track_caller]
    pub fn filled(&mut self, mut request: Request) -> Request {
        let base = self.site.base_path();
        let path = request.target.strip_prefix(base.as_str()).unwrap_or(&request.target).to_owned();
        let sent = request.fields();
        let of = |name: &str| sent.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let (page, with): (String, Vec<&str>) = match path.as_str() {
            "/oauth/continue" | "/oauth/deny" => ("/auth".to_owned(), Vec::new()),
            "/device" => ("/device".to_owned(), Vec::new()),
            "/oauth/logout" => {
                let named = sent.clone().without("confirm");
                (format!("/oauth/logout?{}", named.encoded()), Vec::new())
            }
            "/account/email/confirm" => {
                (format!("{path}?token={}", of("token").unwrap_or_default()), Vec::new())
            }
            _ => ("/account".to_owned(), vec!["client_id", "session"]),
        };
        let with: Vec<(&str, &str)> = with.into_iter().filter_map(|name| Some((name, of(name)?))).collect();
        let page = match of("redirect_uri") {
            Some(redirect_uri) => {
                let label =
                    label(of("client_id").unwrap_or_default(), redirect_uri, of("state").unwrap_or_default());
                format!("{page}?request={label}")
            }
            None => page,
        };
        let get = Request::get(&format!("{base}{page}")).header("Accept", "text/html");
        let html = self.send(get).text();
        let Some(form) = crate::page::forms(&html).into_iter().find(|form| {
            let has = |(name, value): &(&str, &str)| {
                form.hidden.0.iter().any(|(field, found)| field == name && found == value)
            };
            form.action.ends_with(&path) && with.iter().all(has)
        }) else {
            return request;
        };
        let own = ["client_id", "redirect_uri", "state", "wallet_account", "form"];
        let missing =
            form.hidden.0.into_iter().filter(|(name, _)| own.contains(&name.as_str()) && of(name).is_none());
        let missing: Vec<_> = missing.collect();
        for (name, value) in missing {
            request = request.with_field(&name, &value);
        }
        request
    }

    /// Keeps the cookies of a response.
    pub fn keep(&mut self, response: &Response) {
        for cookie in response.all("Set-Cookie") {
            let mut parts = cookie.split(';').map(str::trim);
            let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { continue };
            let ended = parts.any(|part| part.eq_ignore_ascii_case("max-age=0"));
            if ended || value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    /// Follows the client's authorization request to the server.
    #[track_caller]
    pub fn authorize(&mut self, parameters: &Parameters) -> Response {
        self.send(Request::query("/oauth/authorize", parameters))
    }

    /// Requests a text to sign, as the page does.
    #[track_caller]
    pub fn challenge(&mut self, authorization: &Parameters, wallet: &Wallet) -> String {
        self.send(Self::challenge_request(authorization, &wallet.address())).expect(200).field("challenge")
    }

    /// The page's request for a text to sign.
    pub fn challenge_request(authorization: &Parameters, address: &str) -> Request {
        let body = the_request(authorization).with("wallet_address", address);
        Request::json("/oauth/challenge", &body.json())
    }

    /// Sends a signature as JSON, and expects a redirect.
    #[track_caller]
    pub fn login(&mut self, body: &Parameters) -> Response {
        self.send(Request::json("/oauth/login", &body.json()))
    }

    /// The six fields of a login with a valid signature.
    pub fn login_body(authorization: &Parameters, wallet: &Wallet, challenge: &str) -> Parameters {
        the_request(authorization)
            .with("wallet_address", &wallet.address())
            .with("challenge", challenge)
            .with("signature", &wallet.sign(challenge))
    }

    /// Authorization, challenge and signature: everything before the login.
    #[track_caller]
    pub fn prepare(&mut self, client: &Client, wallet: &Wallet) -> Parameters {
        self.prepare_with(&client.authorization(), wallet)
    }

    /// [`Self::prepare`] for given parameters.
    #[track_caller]
    pub fn prepare_with(&mut self, authorization: &Parameters, wallet: &Wallet) -> Parameters {
        let begun = self.authorize(authorization).expect(302);
        assert!(begun.location().contains("/auth"), "{begun:?}");
        let challenge = self.challenge(authorization, wallet);
        Self::login_body(authorization, wallet, &challenge)
    }

    /// The whole sign-in; returns the code.
    #[track_caller]
    pub fn sign_in(&mut self, client: &Client, wallet: &Wallet) -> String {
        self.sign_in_with(&client.authorization(), wallet)
    }

    /// The whole sign-in for given parameters; returns the code.
    #[track_caller]
    pub fn sign_in_with(&mut self, authorization: &Parameters, wallet: &Wallet) -> String {
        let body = self.prepare_with(authorization, wallet);
        let answered = self.login(&body).expect(303);
        answered.answer("code").unwrap_or_else(|| panic!("there is no code in {answered:?}"))
    }
}

/// The name of a pending request in the URL of its page.
fn label(client_id: &str, redirect_uri: &str, state: &str) -> String {
    let mut hash = ring::digest::Context::new(&ring::digest::SHA256);
    for part in [client_id, redirect_uri, state] {
        hash.update(part.as_bytes());
        hash.update(&[0]);
    }
    hash.finish().as_ref()[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The parameters that tell one pending request from another.
fn the_request(authorization: &Parameters) -> Parameters {
    let kept = ["client_id", "redirect_uri", "state"];
    Parameters(authorization.0.iter().filter(|(name, _)| kept.contains(&name.as_str())).cloned().collect())
}
