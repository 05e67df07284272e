//! The steps of an OAuth sign-in, each a function on one connection.
//!
//! A step checks the status and extracts what the next one needs. Any other answer is an error.

use std::borrow::Cow;
use std::fmt::Write;

use countersign_conformance::fakes::TestWallet;
use serde::Deserialize;

use crate::http::{Body, Connection, Cookies, HttpError, Request, Response};

/// The redirect URI for codes; nothing listens there.
pub const REDIRECT_URI: &str = "http://127.0.0.1:7777/cb";
const ENCODED_REDIRECT_URI: &str = "http%3A%2F%2F127.0.0.1%3A7777%2Fcb";
const STATE: &str = "0123456789abcdef";

/// A step did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// There was no answer.
    #[error("{step} got no answer")]
    Http {
        /// The step.
        step: &'static str,
        /// The cause.
        #[source]
        source: HttpError,
    },
    /// The answer has an unexpected status.
    #[error("{step} was answered with {status}: {body}")]
    Status {
        /// The step.
        step: &'static str,
        /// The status.
        status: u16,
        /// The body of the answer.
        body: String,
    },
    /// The answer lacks something that the next step needs.
    #[error("{step} was answered without {lacking}")]
    Incomplete {
        /// The step.
        step: &'static str,
        /// The missing part.
        lacking: &'static str,
    },
}

/// A registered client.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Client {
    /// Its id.
    #[serde(rename = "client_id")]
    pub id: String,
    /// Its secret.
    #[serde(rename = "client_secret")]
    pub secret: String,
}

/// The answer of the token endpoint.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Tokens {
    /// The access token.
    #[serde(rename = "access_token")]
    pub access: String,
    /// The refresh token.
    #[serde(rename = "refresh_token")]
    pub refresh: String,
}

/// An Ethereum wallet and its address.
#[derive(Clone, Debug)]
pub struct Wallet {
    key: TestWallet,
    /// Its address, with the checksum of EIP-55.
    pub address: String,
}

/// A login that is signed but not sent yet.
#[derive(Clone, Debug)]
pub struct SignedLogin {
    cookies: Cookies,
    body: String,
}

#[derive(Deserialize)]
struct Issued<'a> {
    #[serde(borrow)]
    challenge: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Introspected {
    active: bool,
}

impl Wallet {
    /// Makes a wallet. Different seeds give different wallets.
    pub fn from_seed(seed: u64) -> Self {
        let key = TestWallet::from_seed(seed);
        Self { address: key.address(), key }
    }
}

/// Registers a client.
pub async fn register(connection: &mut Connection) -> Result<Client, StepError> {
    let body = format!(r#"{{"client_name":"Benchmark","redirect_uris":["{REDIRECT_URI}"]}}"#);
    let answer = send("register", connection, &Request::json("/oauth/clients", &body), 201).await?;
    json("register", answer.body)
}

/// Starts a sign-in in a fresh browser, and keeps the session cookie.
pub async fn authorize(connection: &mut Connection, client: &Client) -> Result<(), StepError> {
    connection.cookies.clear();
    let target = format!(
        "/oauth/authorize?client_id={}&response_type=code&redirect_uri={ENCODED_REDIRECT_URI}&scope=profile&state={STATE}",
        client.id
    );
    let answer = send("authorize", connection, &Request::get(&target), 302).await?;
    match answer.header("location") {
        Some("/auth") => Ok(()),
        _ => Err(StepError::Incomplete { step: "authorize", lacking: "the redirect to the page" }),
    }
}

/// Requests the page of a started sign-in, and returns its size.
pub async fn page(connection: &mut Connection) -> Result<usize, StepError> {
    let request = Request { target: "/auth", authorization: "", body: Body::Page };
    Ok(send("page", connection, &request, 200).await?.body.len())
}

/// Requests a text to sign, and returns it as it is written in JSON. Changes the cookies.
pub async fn challenge(connection: &mut Connection, wallet: &Wallet) -> Result<String, StepError> {
    let body = format!(r#"{{"wallet_address":"{}"}}"#, wallet.address);
    let answer = send("challenge", connection, &Request::json("/oauth/challenge", &body), 200).await?;
    let issued: Issued<'_> = json("challenge", answer.body)?;
    Ok(issued.challenge.into_owned())
}

/// Signs a text that was just issued on this connection. Sends no request.
pub fn sign(connection: &Connection, client: &Client, wallet: &Wallet, text: &str) -> SignedLogin {
    let (address, id, signature) = (&wallet.address, &client.id, wallet.key.sign(text));
    let mut body = String::with_capacity(1024);
    body.push_str(r#"{"challenge":""#);
    text.split('\n').enumerate().for_each(|(index, line)| {
        // The contract says that the text is ASCII without quotes or backslashes, so only line feeds need
        // escaping.
        body.push_str(if index == 0 { "" } else { "\\n" });
        body.push_str(line);
    });
    let _ = write!(
        body,
        r#"","wallet_address":"{address}","signature":"{signature}","client_id":"{id}","redirect_uri":"{REDIRECT_URI}","state":"{STATE}"}}"#
    );
    SignedLogin { cookies: connection.cookies.clone(), body }
}

/// Presents a signature and returns the code.
pub async fn login(connection: &mut Connection, login: &SignedLogin) -> Result<String, StepError> {
    connection.cookies.clone_from(&login.cookies);
    let answer = send("login", connection, &Request::json("/oauth/login", &login.body), 303).await?;
    let code = answer.header("location").and_then(code_of);
    code.map(ToOwned::to_owned).ok_or(StepError::Incomplete { step: "login", lacking: "a code" })
}

/// Exchanges a code for tokens.
pub async fn exchange(connection: &mut Connection, client: &Client, code: &str) -> Result<Tokens, StepError> {
    connection.cookies.clear();
    let fields = format!(
        "grant_type=authorization_code&code={code}&redirect_uri={ENCODED_REDIRECT_URI}&client_id={}&client_secret={}",
        client.id, client.secret
    );
    let answer = send("exchange", connection, &Request::form("/oauth/token", &fields), 200).await?;
    json("exchange", answer.body)
}

/// Exchanges a refresh token for new tokens.
pub async fn refresh(
    connection: &mut Connection,
    client: &Client,
    refresh_token: &str,
) -> Result<Tokens, StepError> {
    let fields = format!(
        "grant_type=refresh_token&refresh_token={refresh_token}&client_id={}&client_secret={}",
        client.id, client.secret
    );
    let answer = send("refresh", connection, &Request::form("/oauth/token", &fields), 200).await?;
    json("refresh", answer.body)
}

/// Requests userinfo.
pub async fn user_info(connection: &mut Connection, access_token: &str) -> Result<(), StepError> {
    let authorization = format!("Bearer {access_token}");
    let request = Request { target: "/oauth/userinfo", authorization: &authorization, body: Body::None };
    send("userinfo", connection, &request, 200).await.map(drop)
}

/// Introspects a token, which must be active.
pub async fn introspect(
    connection: &mut Connection,
    client: &Client,
    access_token: &str,
) -> Result<(), StepError> {
    let fields = format!("token={access_token}&client_id={}&client_secret={}", client.id, client.secret);
    let answer = send("introspect", connection, &Request::form("/oauth/introspect", &fields), 200).await?;
    match json("introspect", answer.body)? {
        Introspected { active: true } => Ok(()),
        Introspected { active: false } => {
            Err(StepError::Incomplete { step: "introspect", lacking: "a live token" })
        }
    }
}

/// Revokes a token.
pub async fn revoke(connection: &mut Connection, client: &Client, token: &str) -> Result<(), StepError> {
    let body =
        format!(r#"{{"token":"{token}","client_id":"{}","client_secret":"{}"}}"#, client.id, client.secret);
    send("revoke", connection, &Request::json("/oauth/revoke", &body), 200).await.map(drop)
}

/// Requests the server's metadata.
pub async fn discovery(connection: &mut Connection) -> Result<(), StepError> {
    let request = Request::get("/.well-known/openid-configuration");
    send("discovery", connection, &request, 200).await.map(drop)
}

/// Requests the public keys.
pub async fn keys(connection: &mut Connection) -> Result<(), StepError> {
    send("keys", connection, &Request::get("/oauth/jwks"), 200).await.map(drop)
}

/// Goes from the beginning to a signature that is not presented yet.
pub async fn prepare_login(
    connection: &mut Connection,
    client: &Client,
    wallet: &Wallet,
) -> Result<SignedLogin, StepError> {
    authorize(connection, client).await?;
    let text = challenge(connection, wallet).await?;
    Ok(sign(connection, client, wallet, &text))
}

/// A whole sign-in: authorize, page, challenge, login, exchange.
pub async fn sign_in(
    connection: &mut Connection,
    client: &Client,
    wallet: &Wallet,
) -> Result<Tokens, StepError> {
    authorize(connection, client).await?;
    page(connection).await?;
    let text = challenge(connection, wallet).await?;
    let signed = sign(connection, client, wallet, &text);
    let code = login(connection, &signed).await?;
    exchange(connection, client, &code).await
}

async fn send<'a>(
    step: &'static str,
    connection: &'a mut Connection,
    request: &Request<'_>,
    expected: u16,
) -> Result<Response<'a>, StepError> {
    let response = connection.send(request).await.map_err(|source| StepError::Http { step, source })?;
    if response.status == expected {
        return Ok(response);
    }
    let body = String::from_utf8_lossy(response.body).chars().take(300).collect();
    Err(StepError::Status { step, status: response.status, body })
}

fn json<'a, T: Deserialize<'a>>(step: &'static str, body: &'a [u8]) -> Result<T, StepError> {
    serde_json::from_slice(body).map_err(|_| StepError::Incomplete { step, lacking: "the expected JSON" })
}

fn code_of(location: &str) -> Option<&str> {
    let (_, query) = location.split_once('?')?;
    query.split('&').find_map(|field| field.strip_prefix("code="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_wherever_it_stands() {
        assert_eq!(code_of("http://127.0.0.1:7777/cb?state=1&code=abc&iss=x"), Some("abc"));
        assert_eq!(code_of("http://127.0.0.1:7777/cb?error=access_denied"), None);
    }
}
