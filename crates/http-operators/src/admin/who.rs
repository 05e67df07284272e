//! The person a request is about, as the command line reads it: a user's id, an address, or CAIP-10.

use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_operators::people::find_who::{FindUserError, FindWhoError, find_user, find_who};
use countersign_usecases::Management;
use countersign_usecases::steps::notify_logout::LogoutNotice;
use countersign_usecases::steps::recognize_account::RecognizeError;

use super::problem::Problem;
use super::read::Query;

/// The kind that a parameter names.
pub(super) fn kind(text: Option<&str>) -> Result<Option<AccountKind>, Problem> {
    let Some(text) = text else { return Ok(None) };
    match AccountKind::parse(text) {
        Some(kind) => Ok(Some(kind)),
        None => Err(Problem::invalid("kind", "it is key or contract")),
    }
}

/// Finds a user; a wallet means its user.
pub(super) async fn user(management: Management<'_>, text: &str, query: &Query) -> Result<UserId, Problem> {
    let found = find_user(management, text, kind(query.text("kind"))?).await;
    found.map_err(|error| match error {
        FindUserError::Who(error) => unclear(error),
        FindUserError::NobodyYet(_) => Problem::not_found(error.to_string()).about("who"),
    })
}

/// Finds a wallet. A user's id is none.
pub(super) async fn wallet(
    management: Management<'_>,
    text: &str,
    query: &Query,
) -> Result<WalletAccount, Problem> {
    match either(management, text, kind(query.text("kind"))?).await? {
        Subject::Wallet(account) => Ok(account),
        Subject::User(_) => Err(Problem::invalid("who", "it is a user's id, and this is about wallets")),
    }
}

/// Finds a user by their id, and a wallet by its address.
pub(super) async fn either(
    management: Management<'_>,
    text: &str,
    kind: Option<AccountKind>,
) -> Result<Subject, Problem> {
    find_who(management, text, kind).await.map_err(unclear)
}

/// The ids of the clients that are notified, each once.
pub(super) fn clients_of(notices: &[LogoutNotice]) -> Vec<String> {
    let mut clients: Vec<String> = notices.iter().map(|notice| notice.client.to_string()).collect();
    clients.sort();
    clients.dedup();
    clients
}

/// It is not clear who is meant.
pub(super) fn unclear(error: FindWhoError) -> Problem {
    match error {
        FindWhoError::Unrecognized(error) => unrecognized(&error),
        FindWhoError::SeveralKnown(accounts) => {
            let named = accounts.iter().map(|account| {
                format!("{} ({})", account.caip10(), account.kind().map_or("key", AccountKind::name))
            });
            let names = named.collect::<Vec<_>>().join(", ");
            Problem::conflict(format!(
                "several accounts with this address are known here; name one, with kind=key or kind=contract: {names}"
            ))
            .about("who")
        }
        FindWhoError::ContractNowhere => Problem::invalid("who", error.to_string()),
        FindWhoError::Store(error) => error.into(),
    }
}

fn unrecognized(error: &RecognizeError) -> Problem {
    let detail = match error {
        RecognizeError::AddressUnknown => {
            "it is neither a user's id nor the address of a wallet that this server knows how to read".to_owned()
        }
        RecognizeError::ChainUnknown(_) => "it names a chain that has no such addresses".to_owned(),
        RecognizeError::Ambiguous(chains) => {
            let names: Vec<&str> = chains.iter().map(|named| named.chain.as_str()).collect();
            format!("several chains have such addresses; name one (CAIP-10): {}", names.join(", "))
        }
        RecognizeError::KindMissing => {
            "on this chain it could be a key's account or a contract's, and neither is known here: add kind=key or \
             kind=contract"
                .to_owned()
        }
        RecognizeError::KindUnknown(kind) => {
            return Problem::invalid("kind", format!("{} accounts have no such addresses", kind.name()));
        }
        RecognizeError::ChainsDiffer(error) => error.to_string(),
    };
    Problem::invalid("who", detail)
}
