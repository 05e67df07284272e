//! A login session ended: the clients that got a grant in it are notified, if they registered an address for
//! that (OpenID Connect Back-Channel Logout).

use countersign_domain::id::{ClientId, SessionId, TokenId, UserId};
use countersign_domain::id_token::LogoutClaims;
use countersign_domain::registration::is_web_address;
use countersign_ports::{AccessEnded, DirectStorage, EntropyExt, FetchError, SignerError, StoreError};
use time::Duration;

use crate::{Management, Notifier};

/// How long a logout token is valid.
const LIFETIME: Duration = Duration::minutes(2);

/// A client that may have to be notified that a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogoutNotice {
    /// The user whose session it was.
    pub user: UserId,
    /// The session that ended.
    pub session: SessionId,
    /// The client to tell.
    pub client: ClientId,
}

/// Why a client could not be notified. The caller may try again.
#[derive(Debug, thiserror::Error)]
pub enum NotifyLogoutError {
    /// The client could not be read.
    #[error("client could not be read")]
    Store(#[from] StoreError),
    /// The logout token could not be signed.
    #[error("logout token could not be signed")]
    Signer(#[from] SignerError),
    /// The client could not be reached.
    #[error("client could not be reached")]
    Fetch(#[from] FetchError),
    /// The client answered with something other than 200 or 204.
    #[error("client answered with HTTP status {0}")]
    Refused(u16),
}

/// Notifies one client, once. A client that registered no address for it gets nothing.
pub async fn notify_logout(notifier: Notifier<'_>, notice: LogoutNotice) -> Result<(), NotifyLogoutError> {
    let Notifier { management, signer, pairwise } = notifier;
    let Management { clients, clock, entropy, policy, fetcher, .. } = management;
    let Some(client) = clients.find(notice.client).await? else { return Ok(()) };
    let Some(uri) = &client.metadata.backchannel_logout_uri else { return Ok(()) };
    if !is_web_address(uri) {
        // An older release stored hosts that no DNS has (F-08). No notification can reach them.
        return Ok(());
    }
    let now = clock.now();
    let known_as = pairwise.known_to(&client);
    let claims = LogoutClaims {
        issuer: policy.public_url.as_str().to_owned(),
        audience: client.wire_id(),
        subject: known_as.subject(notice.user),
        session: Some(known_as.sid(notice.session)),
        issued_at: now,
        expires_at: now + LIFETIME,
        id: TokenId::at(now, entropy.bytes()),
    };
    let token = signer.sign_logout_token(client.id_token_algorithm(), &claims).await?;
    match fetcher.post_form(uri, &[("logout_token", &token)]).await? {
        200 | 204 => {
            tracing::info!(user.id = %notice.user, client.id = %notice.client, "client notified of sign-out");
            Ok(())
        }
        status => Err(NotifyLogoutError::Refused(status)),
    }
}

/// The clients that may have to be notified when one or all of a user's sessions end. Callers ask before they
/// end them.
pub async fn notices(
    storage: &dyn DirectStorage,
    user: UserId,
    only: Option<SessionId>,
) -> Result<Vec<LogoutNotice>, StoreError> {
    let clients = storage.clients_of_sessions(user).await?.into_iter();
    let ending = clients.filter(|found| only.is_none_or(|only| found.session == only));
    Ok(ending.map(|found| LogoutNotice { user, session: found.session, client: found.client }).collect())
}

/// The clients that may have to be notified after an operator ended a user's access.
pub fn notices_of(ended: AccessEnded) -> Vec<LogoutNotice> {
    let clients = ended.clients.into_iter();
    clients.map(|(user, found)| LogoutNotice { user, session: found.session, client: found.client }).collect()
}
