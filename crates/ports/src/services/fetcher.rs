//! Fetching documents from URLs that clients name.

use std::time::Duration;

use async_trait::async_trait;
use countersign_domain::secret::Secret;

/// A document that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its media type, as sent.
    pub content_type: Option<String>,
    /// How long it can be kept, if the server says.
    pub max_age: Option<Duration>,
    /// The bytes of the body.
    pub body: Vec<u8>,
}

/// Something to post.
#[derive(Clone, Copy, Debug)]
pub struct Post<'a> {
    /// Where to.
    pub url: &'a str,
    /// Its media type.
    pub content_type: &'static str,
    /// The media type of the answer.
    pub accept: &'static str,
    /// What `Authorization: Bearer` has, if anything.
    pub bearer: Option<&'a Secret>,
    /// The body.
    pub body: &'a str,
}

/// The answer to a [`Post`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// Its status. It can be that of a redirect, which was not followed.
    pub status: u16,
    /// Its body if the status is 400 and the body is short, otherwise nothing.
    pub reason: Vec<u8>,
}

/// Why a document was not fetched, or something not posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The URL is not of a kind that we fetch.
    #[error("not an https URL that may be fetched")]
    Url,
    /// The host name resolves to an address that is not on the public internet.
    #[error("its name resolves to an address that must not be contacted")]
    Address,
    /// Too many requests are already running.
    #[error("too many requests to other servers are waiting")]
    Busy,
    /// It took too long to answer.
    #[error("it did not answer in time")]
    Late,
    /// The status is not a success. Redirects are not followed.
    #[error("it answered with HTTP status {0}")]
    Status(u16),
    /// The answer is longer than any sensible document.
    #[error("its answer is too long")]
    TooLong,
    /// We cannot connect to it, or it does not speak HTTP.
    #[error("it cannot be reached")]
    Unreachable,
}

/// Sends requests to servers that someone else named. Only https, and only addresses on the public internet,
/// checked on the address that is connected to. No redirects and no proxies; tight limits on time, size and
/// concurrency (B-048, E-31, E-35).
#[async_trait]
pub trait Fetcher: Send + Sync {
    /// Gets a document. It can be a cached one.
    async fn get(&self, url: &str) -> Result<Fetched, FetchError>;

    /// Gets a fresh document, because the one from [`Fetcher::get`] lacks something. A caller that asks too
    /// often gets the old one.
    async fn get_anew(&self, url: &str) -> Result<Fetched, FetchError> {
        self.get(url).await
    }

    /// Gets a client's keys. Fetching documents, or waiting for them, never delays fetching keys.
    async fn get_keys(&self, url: &str) -> Result<Fetched, FetchError> {
        self.get(url).await
    }

    /// Gets a fresh copy of a client's keys, as [`Fetcher::get_anew`] does for documents.
    async fn get_keys_anew(&self, url: &str) -> Result<Fetched, FetchError> {
        self.get_anew(url).await
    }

    /// Posts a form and returns the status of the answer.
    async fn post_form(&self, url: &str, form: &[(&str, &str)]) -> Result<u16, FetchError>;

    /// Posts a body, again and again to the same server.
    async fn post(&self, post: Post<'_>) -> Result<Posted, FetchError>;
}
