//! A person's browser: it keeps cookies and does what the page does.

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
    /// A browser that was nowhere yet.
    pub fn new(site: &Site) -> Self {
        Self { site: site.clone(), cookies: BTreeMap::new() }
    }

    /// The request with the cookies that the browser has.
    pub fn with_cookies(&self, request: Request) -> Request {
        if self.cookies.is_empty() {
            return request;
        }
        let pairs: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        request.header("Cookie", &pairs.join("; "))
    }

    /// Sends a request with its cookies and keeps the cookies of the answer.
    #[track_caller]
    pub fn send(&mut self, request: Request) -> Response {
        let response = self.site.send(&self.with_cookies(request));
        self.keep(&response);
        response
    }

    /// Keeps the cookies of an answer.
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

    /// The client sends the person to us.
    #[track_caller]
    pub fn authorize(&mut self, parameters: &Parameters) -> Response {
        self.send(Request::query("/oauth/authorize", parameters))
    }

    /// Asks for a text to sign, as the page does.
    #[track_caller]
    pub fn challenge(&mut self, authorization: &Parameters, wallet: &Wallet) -> String {
        self.send(Self::challenge_request(authorization, &wallet.address())).expect(200).field("challenge")
    }

    /// The page's request for a text.
    pub fn challenge_request(authorization: &Parameters, address: &str) -> Request {
        let body = the_request(authorization).with("wallet_address", address);
        Request::json("/oauth/challenge", &body.json())
    }

    /// Hands a signature in, as the specification says: JSON, and a redirect for an answer.
    #[track_caller]
    pub fn login(&mut self, body: &Parameters) -> Response {
        self.send(Request::json("/oauth/login", &body.json()))
    }

    /// The six fields of a login whose signature is good.
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

    /// The same for given parameters.
    #[track_caller]
    pub fn prepare_with(&mut self, authorization: &Parameters, wallet: &Wallet) -> Parameters {
        let begun = self.authorize(authorization).expect(302);
        assert!(begun.location().contains("/auth"), "{begun:?}");
        let challenge = self.challenge(authorization, wallet);
        Self::login_body(authorization, wallet, &challenge)
    }

    /// The whole sign-in; the answer is the code.
    #[track_caller]
    pub fn sign_in(&mut self, client: &Client, wallet: &Wallet) -> String {
        self.sign_in_with(&client.authorization(), wallet)
    }

    /// The same for given parameters.
    #[track_caller]
    pub fn sign_in_with(&mut self, authorization: &Parameters, wallet: &Wallet) -> String {
        let body = self.prepare_with(authorization, wallet);
        let answered = self.login(&body).expect(303);
        answered.answer("code").unwrap_or_else(|| panic!("a code in {answered:?}"))
    }
}

/// What tells one pending request from another.
fn the_request(authorization: &Parameters) -> Parameters {
    let kept = ["client_id", "redirect_uri", "state"];
    Parameters(authorization.0.iter().filter(|(name, _)| kept.contains(&name.as_str())).cloned().collect())
}
