//! What is outside of the server: the services that it asks, and the address at which people reach it.

use countersign_adapters_crypto::RpcEndpoint;
use countersign_adapters_http::{Answer, NoAnswer, OwnServer};
use countersign_domain::public_url::PublicUrl;
use countersign_ports::{MailError, Mailer};
use futures_util::future::join_all;
use serde_json::Value;

use crate::failure::chain;
use crate::wiring::{Finding, Health};

/// Asks each service about contract wallets which chain it serves.
pub(super) async fn rpc(endpoints: &[RpcEndpoint]) -> Vec<Finding> {
    join_all(endpoints.iter().map(|endpoint| async move {
        let (chain_id, url) = (endpoint.chain(), endpoint.url());
        match endpoint.check().await {
            Ok(()) => Finding::ok("rpc", format!("chain {chain_id}: {url} answers")),
            Err(error) => Finding::fail(
                "rpc",
                format!("chain {chain_id}: {}", chain(&error)),
                "correct ethereum_rpc, or ask the operator of the service; until then contract wallets of this chain \
                 cannot sign in",
            ),
        }
    }))
    .await
}

/// Talks to the mail server, up to the sender of a mail.
pub(super) async fn smtp(mailer: &dyn Mailer) -> Finding {
    match mailer.check().await {
        Ok(()) => Finding::ok("smtp", "the mail server takes mail from mail_from"),
        Err(error @ MailError::Unavailable(_)) => Finding::fail(
            "smtp",
            chain(&error),
            "correct smtp_url (name, port, TLS, user, password), or look whether this machine may reach it",
        ),
        Err(error @ MailError::Refused(_)) => Finding::fail(
            "smtp",
            chain(&error),
            "set mail_from to an address that the mail server lets this user send from",
        ),
    }
}

/// Asks the public URL as an application does. `kids` are the keys of the database, if they are known.
pub(super) async fn public_url(url: &PublicUrl, asker: &OwnServer, kids: Option<&[String]>) -> Vec<Finding> {
    let discovery = url.join("/.well-known/openid-configuration");
    let document = match asked(asker, &discovery, url).await {
        Ok(document) => document,
        Err(finding) => return vec![finding],
    };
    let issuer = document["issuer"].as_str().unwrap_or_default();
    if issuer != url.as_str() {
        return vec![Finding::fail(
            "public_url",
            format!(
                "{discovery} names the issuer {issuer:?}: another server answers, or one with another public_url"
            ),
            format!("lead {} to this server, or set public_url to what people use", url.as_str()),
        )];
    }
    // Not where the document says: the server there could lead this machine to any address of its network.
    let jwks = url.join("/oauth/jwks");
    let keys = match asked(asker, &jwks, url).await {
        Ok(keys) => keys,
        Err(finding) => return vec![finding],
    };
    let theirs: Vec<&str> =
        keys["keys"].as_array().into_iter().flatten().filter_map(|key| key["kid"].as_str()).collect();
    if let Some(kids) = kids
        && !theirs.iter().any(|kid| kids.iter().any(|ours| ours == kid))
    {
        return vec![Finding::fail(
            "public_url",
            format!(
                "{} is served from another database: none of its signing keys is in this one",
                url.as_str()
            ),
            "correct database_url here or there, or lead the address to the right server",
        )];
    }
    let answering = Finding::ok("public_url", format!("{} answers as this server does", url.as_str()));
    [answering].into_iter().chain(readiness(url, asker).await).collect()
}

/// What the readiness probe says, if the proxy lets it be asked.
async fn readiness(url: &PublicUrl, asker: &OwnServer) -> Option<Finding> {
    let Answer { status, body, .. } = asker.get(&url.join("/health/ready")).await.ok()?;
    let said: Value = serde_json::from_slice(&body).unwrap_or_default();
    if status == 503 {
        let reason = said["error_description"].as_str().unwrap_or("it does not say why");
        return Some(Finding::fail(
            "public_url",
            format!("the server is not ready: {reason}"),
            "look at its log",
        ));
    }
    let clock = said["clock"].as_str().filter(|_| status == 200)?;
    Some(Finding::warn("public_url", format!("the server's clock is {clock}"), "set its clock right (NTP)"))
}

/// Asks for a document.
async fn asked(asker: &OwnServer, address: &str, url: &PublicUrl) -> Result<Value, Finding> {
    let fail = |message: String, advice: &str| Err(Finding::fail("public_url", message, advice));
    let answer = match asker.get(address).await {
        Ok(answer) => answer,
        Err(error) => return fail(format!("{address}: {}", chain(&error)), advice_on(&error, url)),
    };
    match answer {
        Answer { status: 200, body, .. } => match serde_json::from_slice(&body) {
            Ok(document) => Ok(document),
            Err(_) => fail(
                format!("{address} does not answer with JSON"),
                "lead the address to this server; something else answers there",
            ),
        },
        Answer { status: 300..400, location, .. } => fail(
            format!("{address} leads elsewhere: {}", location.as_deref().unwrap_or("it does not say where")),
            "let the proxy pass every path on, or set public_url to the address where people end up",
        ),
        Answer { status: status @ 502..=504, .. } => fail(
            format!("{address} answered {status}: there is a proxy, and no server that is ready behind it"),
            "start the server, and look whether the proxy leads to where it listens (bind)",
        ),
        Answer { status: 429, .. } => fail(
            format!("{address} answered 429: too many requests come from this address"),
            "try again in a minute",
        ),
        Answer { status, .. } => fail(
            format!("{address} answered {status}"),
            "lead the address to this server, with every path as it is; something else answers there",
        ),
    }
}

const fn advice_on(error: &NoAnswer, url: &PublicUrl) -> &'static str {
    match error {
        NoAnswer::Name => "put the name into DNS, or correct public_url",
        NoAnswer::Url | NoAnswer::Reach(_) => "correct public_url, or what its name resolves to",
        NoAnswer::Connection(_) | NoAnswer::Late if url.is_loopback() => "start the server",
        NoAnswer::Connection(_) | NoAnswer::Late => {
            "start the server and the proxy, and open the port; a machine that cannot reach its own public address is no \
             good place to ask from"
        }
        NoAnswer::Certificate(_) => {
            "renew the certificate, or install the whole chain for this name; if it is from a CA of your own, name its \
             certificate with --ca-file"
        }
        NoAnswer::Unreadable(_) => "look at what listens there: it does not speak HTTP, or not with TLS",
    }
}

/// The finding about work that did not end.
pub(super) fn too_slow(check: &'static str) -> Finding {
    Finding::said(check, Health::Fail, "there was no answer within 15 seconds")
}
