//! The mailer: sends one mail after another over a connection that is kept while it works.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use countersign_ports::{Clock, Entropy, EntropyExt, Mail, MailError, Mailer};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands;
use lettre::transport::smtp::extension::ClientId;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::SmtpSettings;
use crate::connection;
use crate::message::{self, Composed};
use crate::post::Post;
use crate::reply::{Stage, Trouble};

/// How long one mail can take, including the wait for its turn.
const LIMIT: Duration = Duration::from_secs(10);
/// How many mails are sent at once. The others wait.
const AT_ONCE: usize = 4;
/// How long a connection is kept for the next mail. Servers close idle connections after minutes.
const IDLE: Duration = Duration::from_secs(30);
/// How long a kept connection can take to prove that it works.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);
/// How many mails go over one connection. Servers have limits of their own.
const MAILS: u32 = 50;

/// How much later than [`LIMIT`] a caller is answered if the mail thread overruns.
const SLACK: Duration = Duration::from_secs(1);

/// Sends mail over the operator's server.
pub struct SmtpMailer {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    office: Arc<Office>,
    /// The mail thread, or the reason why it could not start.
    post: Result<Post, io::ErrorKind>,
}

/// Everything that is needed to send a mail.
struct Office {
    settings: SmtpSettings,
    us: ClientId,
    turns: Semaphore,
    kept: Mutex<Option<Connection>>,
}

/// A connection between two mails. During a mail it belongs to the future that sends it. So a caller who
/// stops waiting closes it, and no mail starts in the middle of another.
struct Connection {
    smtp: AsyncSmtpConnection,
    last_used: Instant,
    mails: u32,
}

impl SmtpMailer {
    /// Makes a mailer. It connects when the first mail is sent.
    pub fn new(settings: SmtpSettings, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        let us = settings.url.client_id(settings.sender.domain());
        let office = Office { settings, us, turns: Semaphore::new(AT_ONCE), kept: Mutex::new(None) };
        let post = Post::start().map_err(|error| error.kind());
        Self { clock, entropy, office: Arc::new(office), post }
    }
}

impl Office {
    async fn deliver(&self, composed: &Composed) -> Result<(), (Stage, Trouble)> {
        // The semaphore is never closed. If it were, mails would go without waiting.
        let _turn = self.turns.acquire().await;
        let mut connection = match self.kept_and_alive().await {
            Some(connection) => connection,
            None => {
                let opened = connection::open(&self.settings.url, &self.us).await;
                let smtp = opened.map_err(|trouble| (Stage::Before, trouble))?;
                Connection { smtp, last_used: Instant::now(), mails: 0 }
            }
        };
        let sent = connection.smtp.send(&composed.envelope, &composed.bytes).await;
        sent.map_err(|error| (Stage::Asked, Trouble::from(error)))?;
        connection.last_used = Instant::now();
        connection.mails += 1;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection);
        Ok(())
    }

    /// Goes as far as a mail's sender, on a connection of its own.
    async fn try_out(&self) -> Result<(), (Stage, Trouble)> {
        let opened = connection::open(&self.settings.url, &self.us).await;
        let mut smtp = opened.map_err(|trouble| (Stage::Before, trouble))?;
        let sender = self.settings.sender.mailbox().email;
        let asked = smtp.command(commands::Mail::new(Some(sender), Vec::new())).await;
        asked.map_err(|error| (Stage::Asked, Trouble::from(error)))?;
        // The answer is known. Whether the server hears the end of the conversation makes no difference.
        let _ = smtp.quit().await;
        Ok(())
    }

    async fn kept_and_alive(&self) -> Option<Connection> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        if kept.last_used.elapsed() > IDLE || kept.mails >= MAILS {
            return None;
        }
        timeout(SIGN_OF_LIFE, kept.smtp.test_connected()).await.is_ok_and(|alive| alive).then_some(kept)
    }
}

impl SmtpMailer {
    /// Does work with the mail server on the mail thread, within the limit.
    async fn within_the_limit(
        &self,
        work: impl Future<Output = Result<(), (Stage, Trouble)>> + Send + 'static,
    ) -> Result<(), (Stage, Trouble)> {
        let post = match &self.post {
            Ok(post) => post,
            Err(kind) => return Err((Stage::Before, Trouble::NotReached((*kind).into()))),
        };
        let working = post.carry(async move { timeout(LIMIT, work).await });
        match timeout(LIMIT + SLACK, working).await {
            Ok(Ok(Ok(done))) => done,
            Ok(Ok(Err(_))) | Err(_) => Err((Stage::Asked, Trouble::TooSlow)),
            Ok(Err(broken)) => Err((Stage::Asked, Trouble::NotReached(broken))),
        }
    }
}

#[async_trait]
impl Mailer for SmtpMailer {
    async fn send(&self, mail: Mail) -> Result<(), MailError> {
        let settings = &self.office.settings;
        let url = &settings.url;
        let server = url.to_string();
        let mut private = url.spellings_of_credentials();
        private.push(mail.to.clone());
        let judge = |(stage, trouble): (Stage, Trouble)| trouble.judge(stage, &server, &private);
        let composed = message::compose(&mail, &settings.sender, self.clock.now(), self.entropy.bytes())
            .map_err(|trouble| judge((Stage::Before, trouble)))?;
        let office = Arc::clone(&self.office);
        self.within_the_limit(Box::pin(async move { office.deliver(&composed).await })).await.map_err(judge)
    }

    async fn check(&self) -> Result<(), MailError> {
        let url = &self.office.settings.url;
        let (server, private) = (url.to_string(), url.spellings_of_credentials());
        let office = Arc::clone(&self.office);
        let tried = self.within_the_limit(Box::pin(async move { office.try_out().await })).await;
        tried.map_err(|(stage, trouble)| trouble.judge(stage, &server, &private))
    }
}

impl fmt::Debug for SmtpMailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmtpMailer").field("settings", &self.office.settings).finish_non_exhaustive()
    }
}
