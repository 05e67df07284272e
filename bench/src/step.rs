//! The steps that are measured, each with what it needs beforehand.

use std::time::Instant;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::flow::{self, Client, SignedLogin, StepError, Tokens, Wallet};
use crate::http::{Connection, Cookies};

/// A step of the flow, or the whole flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// A client's request starts a session.
    Authorize,
    /// The page of the session.
    Page,
    /// A text to sign.
    Challenge,
    /// A signature is exchanged for a code. Each is presented once.
    Login,
    /// A code is exchanged for tokens. Each is presented once.
    Exchange,
    /// A refresh token is exchanged for the next one: a chain for each connection.
    Refresh,
    /// The userinfo request of a signed-in user.
    Userinfo,
    /// Whether a token is active.
    Introspect,
    /// A token is revoked. Each is presented once.
    Revoke,
    /// A client registers.
    Register,
    /// The server's metadata.
    Discovery,
    /// The public keys.
    Keys,
    /// Authorize, page, challenge, login and exchange, one after the other.
    Flow,
}

impl Step {
    /// All steps, in the order of the tables.
    pub const ALL: [Self; 13] = [
        Self::Authorize,
        Self::Page,
        Self::Challenge,
        Self::Login,
        Self::Exchange,
        Self::Refresh,
        Self::Userinfo,
        Self::Introspect,
        Self::Revoke,
        Self::Register,
        Self::Discovery,
        Self::Keys,
        Self::Flow,
    ];

    /// The name in tables and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Authorize => "authorize",
            Self::Page => "page",
            Self::Challenge => "challenge",
            Self::Login => "login",
            Self::Exchange => "exchange",
            Self::Refresh => "refresh",
            Self::Userinfo => "userinfo",
            Self::Introspect => "introspect",
            Self::Revoke => "revoke",
            Self::Register => "register",
            Self::Discovery => "discovery",
            Self::Keys => "keys",
            Self::Flow => "whole flow",
        }
    }
}

/// What one connection has prepared for its step.
#[derive(Debug)]
pub enum Ready {
    /// Nothing is needed.
    Nothing,
    /// The cookies of a browser that started a sign-in.
    Browser(Cookies),
    /// Signatures that are not presented yet.
    Logins(Vec<SignedLogin>),
    /// Codes that are not presented yet.
    Codes(Vec<String>),
    /// The refresh token of a chain.
    Chain(String),
    /// An access token to use again and again.
    Access(String),
    /// Access tokens to revoke.
    Tokens(Vec<String>),
    /// The refresh tokens of many chains, used in turn.
    Chains(Vec<String>, usize),
    /// Access tokens of many users, used in turn.
    Many(Vec<String>, usize),
}

/// Prepares what the step needs. Of what can be used only once, makes as many as asked for, or as many as it
/// can before the deadline.
pub async fn prepare(
    step: Step,
    connection: &mut Connection,
    client: &Client,
    wallets: &mut impl Iterator<Item = Wallet>,
    until: Instant,
    most: usize,
) -> Result<Ready, StepError> {
    let mut wallet = || wallets.next().unwrap_or_else(|| Wallet::from_seed(0));
    let is_time = |made: usize| made == 0 || (made < most && Instant::now() < until);
    Ok(match step {
        Step::Authorize | Step::Register | Step::Discovery | Step::Keys | Step::Flow => Ready::Nothing,
        Step::Page | Step::Challenge => {
            flow::authorize(connection, client).await?;
            Ready::Browser(connection.cookies.clone())
        }
        Step::Login => {
            let mut logins = Vec::new();
            while is_time(logins.len()) {
                logins.push(flow::prepare_login(connection, client, &wallet()).await?);
            }
            Ready::Logins(logins)
        }
        Step::Exchange => {
            let mut codes = Vec::new();
            while is_time(codes.len()) {
                let signed = flow::prepare_login(connection, client, &wallet()).await?;
                codes.push(flow::login(connection, &signed).await?);
            }
            Ready::Codes(codes)
        }
        Step::Refresh => Ready::Chain(flow::sign_in(connection, client, &wallet()).await?.refresh),
        Step::Userinfo | Step::Introspect => {
            Ready::Access(flow::sign_in(connection, client, &wallet()).await?.access)
        }
        Step::Revoke => {
            let Tokens { access, mut refresh } = flow::sign_in(connection, client, &wallet()).await?;
            let mut tokens = vec![access];
            while is_time(tokens.len()) {
                let next = flow::refresh(connection, client, &refresh).await?;
                tokens.push(next.access);
                refresh = next.refresh;
            }
            Ready::Tokens(tokens)
        }
    })
}

/// Runs the step once. Returns `false` if nothing is left to run it with.
pub async fn perform(
    step: Step,
    connection: &mut Connection,
    client: &Client,
    ready: &mut Ready,
    wallets: &mut impl Iterator<Item = Wallet>,
) -> Result<bool, StepError> {
    match (step, ready) {
        (Step::Page, Ready::Browser(_)) => flow::page(connection).await.map(drop)?,
        (Step::Challenge, Ready::Browser(cookies)) => {
            // The same browser asks again and again; its cookie must not grow.
            connection.cookies.clone_from(cookies);
            let wallet = wallets.next().unwrap_or_else(|| Wallet::from_seed(0));
            flow::challenge(connection, &wallet).await.map(drop)?;
        }
        (_, Ready::Logins(logins)) => {
            let Some(login) = logins.pop() else { return Ok(false) };
            flow::login(connection, &login).await.map(drop)?;
        }
        (_, Ready::Codes(codes)) => {
            let Some(code) = codes.pop() else { return Ok(false) };
            flow::exchange(connection, client, &code).await.map(drop)?;
        }
        (_, Ready::Chain(token)) => *token = flow::refresh(connection, client, token).await?.refresh,
        (_, Ready::Chains(tokens, next)) => {
            *next = (*next + 1) % tokens.len();
            tokens[*next] = flow::refresh(connection, client, &tokens[*next]).await?.refresh;
        }
        (Step::Introspect, Ready::Access(token)) => flow::introspect(connection, client, token).await?,
        (_, Ready::Access(token)) => flow::user_info(connection, token).await?,
        (_, Ready::Many(tokens, next)) => {
            *next = (*next + 1) % tokens.len();
            flow::user_info(connection, &tokens[*next]).await?;
        }
        (_, Ready::Tokens(tokens)) => {
            let Some(token) = tokens.pop() else { return Ok(false) };
            flow::revoke(connection, client, &token).await?;
        }
        (Step::Authorize, _) => flow::authorize(connection, client).await?,
        (Step::Register, _) => flow::register(connection).await.map(drop)?,
        (Step::Discovery, _) => flow::discovery(connection).await?,
        (Step::Keys, _) => flow::keys(connection).await?,
        (_, _) => {
            let wallet = wallets.next().unwrap_or_else(|| Wallet::from_seed(0));
            flow::sign_in(connection, client, &wallet).await.map(drop)?;
        }
    }
    Ok(true)
}
