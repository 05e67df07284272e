//! A connection to the mail server that is ready for mails: protected as the operator configured, and signed
//! in.

use std::io;
use std::time::Duration;

use lettre::transport::smtp::authentication::DEFAULT_MECHANISMS;
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::extension::ClientId;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use crate::SmtpUrl;
use crate::limited::Limited;
use crate::reply::Trouble;
use crate::smtp_url::Protection;

/// How long one of the server's addresses can take to answer, so that the next one gets its turn within the
/// overall limit.
const CONNECT: Duration = Duration::from_secs(3);

/// Opens a connection. Dropping it at any point closes it.
pub(crate) async fn open(url: &SmtpUrl, us: &ClientId) -> Result<AsyncSmtpConnection, Trouble> {
    let mut connection = match url.protection() {
        Protection::Wrapped(tls) => {
            // The TLS handshake proves the server's identity before the first reply is read.
            AsyncSmtpConnection::connect_tokio1(url.address(), Some(CONNECT), us, Some(tls.clone()), None)
                .await?
        }
        Protection::Required(tls) => {
            let mut connection = plain(url, us).await?;
            if !connection.can_starttls() {
                return Err(Trouble::NoStartTls);
            }
            connection.starttls(tls.clone(), us).await?;
            connection
        }
        Protection::Opportunistic(tls) => {
            let mut connection = plain(url, us).await?;
            if connection.can_starttls() {
                connection.starttls(tls.clone(), us).await?;
            }
            connection
        }
        Protection::Plain => plain(url, us).await?,
    };
    if let Some(credentials) = url.credentials() {
        connection.auth(DEFAULT_MECHANISMS, &credentials).await?;
    }
    Ok(connection)
}

async fn plain(url: &SmtpUrl, us: &ClientId) -> Result<AsyncSmtpConnection, Trouble> {
    let stream = connect(url).await.map_err(Trouble::NotReached)?;
    Ok(AsyncSmtpConnection::connect_with_transport(Box::new(Limited::new(stream)), us).await?)
}

async fn connect(url: &SmtpUrl) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "its name does not resolve");
    for address in lookup_host(url.address()).await? {
        match timeout(CONNECT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last)
}
