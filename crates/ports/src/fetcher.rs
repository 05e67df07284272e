//! Fetching what clients point at.

use std::time::Duration;

use async_trait::async_trait;

/// A document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its media type, as it was sent.
    pub content_type: Option<String>,
    /// How long it may be kept, if the server says so.
    pub max_age: Option<Duration>,
    /// The document.
    pub body: Vec<u8>,
}

/// Why there is no document, or nobody was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The URL is not one that is fetched.
    #[error("not an https URL that may be fetched")]
    Url,
    /// Its name leads to an address that is nobody's on the internet.
    #[error("its name leads to an address that may not be asked")]
    Address,
    /// Too many are fetched already.
    #[error("too many wait for documents of others")]
    Busy,
    /// It took too long.
    #[error("it did not answer in time")]
    Late,
    /// It answered with something else than success; redirects are not followed.
    #[error("it answered with HTTP status {0}")]
    Status(u16),
    /// More than anything that makes sense.
    #[error("its answer is too long")]
    TooLong,
    /// It cannot be connected to, or does not speak HTTP.
    #[error("it cannot be reached")]
    Unreachable,
}

/// Asks servers that somebody else named. Only https and only addresses on the internet, judged at the address that is connected
/// to; no redirects, no proxies; little time, few bytes, few at once (B-048, E-31, E-35).
#[async_trait]
pub trait Fetcher: Send + Sync {
    /// Gets a document. It may be one that was fetched a while ago.
    async fn get(&self, url: &str) -> Result<Fetched, FetchError>;

    /// Gets a document anew, because what [`Fetcher::get`] gave lacks something. Who asks again and again gets the old one.
    async fn get_anew(&self, url: &str) -> Result<Fetched, FetchError> {
        self.get(url).await
    }

    /// Gets the keys of a client. Whoever names documents, and whoever waits for them, does not keep anybody from keys.
    async fn get_keys(&self, url: &str) -> Result<Fetched, FetchError> {
        self.get(url).await
    }

    /// Gets the keys of a client anew, as [`Fetcher::get_anew`] does.
    async fn get_keys_anew(&self, url: &str) -> Result<Fetched, FetchError> {
        self.get_anew(url).await
    }

    /// Posts a form and gives the status of the answer.
    async fn post_form(&self, url: &str, form: &[(&str, &str)]) -> Result<u16, FetchError>;
}
