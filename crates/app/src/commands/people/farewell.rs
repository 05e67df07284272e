//! Notifies clients that sign-ins ended (OpenID Connect Back-Channel Logout).
//!
//! A command does this itself, with the server's keys: the server learns of ended sessions only when one is
//! presented (docs/adr/0044-a-command-notifies-clients-itself.md). A client that cannot be notified is named.
//! What ended stays ended.

use std::collections::BTreeSet;
use std::time::Duration;

use countersign_usecases::Notifier;
use countersign_usecases::steps::notify_logout::{LogoutNotice, notify_logout};
use futures_util::{StreamExt, stream};
use tokio::time::sleep;

use crate::commands::output::people_output::Notified;
use crate::database::opened::Opened;
use crate::failure::{Failure, chain, store};
use crate::output::terminal::{count, note};

/// How many clients are notified at the same time.
const AT_ONCE: usize = 8;
/// How long to wait before each try.
const TRIES: [Duration; 2] = [Duration::ZERO, Duration::from_secs(2)];
/// How long all of it may take. The tries at one client take less.
const AT_MOST: Duration = Duration::from_secs(15);
/// After this time the terminal shows what the command waits for.
const SILENCE: Duration = Duration::from_secs(1);

/// Notifies these clients, and says on standard error which of them could not be notified.
pub(super) async fn tell(opened: &Opened<'_>, notices: &[LogoutNotice]) -> Result<Notified, Failure> {
    let mut listening = Vec::new();
    for notice in notices {
        let client = opened.management().clients.find(notice.client).await.map_err(|error| store(&error))?;
        if client.is_some_and(|client| client.metadata.backchannel_logout_uri.is_some()) {
            listening.push(*notice);
        }
    }
    if listening.is_empty() {
        return Ok(Notified::default());
    }
    let all: BTreeSet<_> = listening.iter().map(|notice| notice.client).collect();
    let keys = match opened.signer().await {
        Ok(signer) => opened.pairwise().map(|pairwise| (signer, pairwise)),
        Err(reason) => Err(reason),
    };
    let (signer, pairwise) = match keys {
        Ok(keys) => keys,
        Err(reason) => {
            note(&format!(
                "no client could be notified that sign-ins ended: {reason}; not notified: {}",
                all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            ))?;
            return Ok(Notified { notified: BTreeSet::new(), not_notified: all });
        }
    };
    let notifier = Notifier { management: opened.management(), signer: &signer, pairwise: &pairwise };
    let mut left: BTreeSet<_> = (0..listening.len()).collect();
    let posts = listening
        .iter()
        .enumerate()
        .map(|(place, notice)| async move { (place, tell_one(notifier, *notice).await) });
    let mut posts = stream::iter(posts).buffer_unordered(AT_ONCE);
    let (mut over, mut patience) = (Box::pin(sleep(AT_MOST)), Box::pin(sleep(SILENCE)));
    let mut is_announced = false;
    loop {
        tokio::select! {
            next = posts.next() => match next {
                Some((place, Ok(()))) => {
                    left.remove(&place);
                }
                Some((place, Err(reason))) => {
                    let client = listening.get(place).map(|notice| notice.client.to_string());
                    note(&format!("client {} could not be notified: {reason}", client.unwrap_or_default()))?;
                }
                None => break,
            },
            () = &mut patience, if !is_announced => {
                is_announced = true;
                let clients = count(u64::try_from(all.len()).unwrap_or(u64::MAX), "client");
                note(&format!("telling {clients} of it, for at most {} s …", AT_MOST.as_secs()))?;
            }
            () = &mut over => {
                note(&format!("not every client answered within {} s", AT_MOST.as_secs()))?;
                break;
            }
        }
    }
    let not_notified: BTreeSet<_> =
        left.iter().filter_map(|place| listening.get(*place)).map(|notice| notice.client).collect();
    Ok(Notified { notified: all.difference(&not_notified).copied().collect(), not_notified })
}

async fn tell_one(notifier: Notifier<'_>, notice: LogoutNotice) -> Result<(), String> {
    let mut reason = String::new();
    for pause in TRIES {
        sleep(pause).await;
        match notify_logout(notifier, notice).await {
            Ok(()) => return Ok(()),
            Err(error) => reason = chain(&error),
        }
    }
    Err(reason)
}
