//! The person that a command is about: what the operator wrote, and the error if it is not clear who is
//! meant.

use countersign_domain::id::{SubjectId, UserId};
use countersign_domain::pairwise::KnownAs;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_operators::people::find_who::{FindUserError, FindWhoError, find_user, find_who};
use countersign_usecases::Management;
use countersign_usecases::steps::recognize_account::{NamedChain, RecognizeError};

use crate::cli::{KindChoice, WalletChoice, WhoChoice};
use crate::commands::client;
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::output::terminal::visible;

/// Finds a user; a wallet means its user.
pub(super) async fn user(management: Management<'_>, choice: &WhoChoice) -> Result<UserId, Failure> {
    let WhoChoice { who, kind } = choice;
    find_user(management, who, kind.kind).await.map_err(|error| match error {
        FindUserError::Who(error) => unclear(who, error),
        FindUserError::NobodyYet(account) => Failure::Failed(format!(
            "no one has signed in with this wallet: `countersign wallet block {}` keeps it out beforehand",
            account.caip10()
        )),
    })
}

/// Finds the user that a client knows by this `sub`.
pub(super) async fn known_to(opened: &Opened<'_>, client: &str, subject: &str) -> Result<UserId, Failure> {
    let client = client::find(opened.management(), client).await?;
    let subject = SubjectId::parse(&subject.to_ascii_lowercase()).ok_or_else(|| {
        Failure::Usage(format!(
            "{subject:?} is no `sub`: with --client, name the user by the id that the client knows"
        ))
    })?;
    let known = match client.metadata.is_pairwise() {
        true => opened.pairwise().map_err(Failure::Failed)?.known_to(&client),
        false => KnownAs::Public,
    };
    let user = known.user(subject);
    let wallets = opened.management().storage.wallets_of(user).await.map_err(|error| store(&error))?;
    let name = visible(&client.metadata.name);
    match wallets.is_empty() {
        false => Ok(user),
        true => Err(Failure::Failed(format!("{name} knows no one by the `sub` {subject}"))),
    }
}

/// Finds a wallet. A user's id is none.
pub(super) async fn wallet(
    management: Management<'_>,
    choice: &WalletChoice,
) -> Result<WalletAccount, Failure> {
    match either(management, &choice.who, choice.kind).await? {
        Subject::Wallet(account) => Ok(account),
        Subject::User(user) => Err(Failure::Usage(format!(
            "{user} is a user's id, and this is about wallets: see `countersign user --help`"
        ))),
    }
}

/// Finds a user by their id, and a wallet by its address.
pub(super) async fn either(
    management: Management<'_>,
    text: &str,
    kind: KindChoice,
) -> Result<Subject, Failure> {
    find_who(management, text, kind.kind).await.map_err(|error| unclear(text, error))
}

/// There is no such user.
pub(super) fn no_user(user: UserId) -> Failure {
    Failure::Failed(format!("there is no user {user}"))
}

/// What a person hears if it is not clear who is meant.
pub(crate) fn unclear(text: &str, error: FindWhoError) -> Failure {
    match error {
        FindWhoError::Unrecognized(error) => unrecognized(text, error),
        FindWhoError::SeveralKnown(accounts) => {
            let named = accounts.iter().map(|account| {
                let kind = account.kind().map_or("key", AccountKind::name);
                format!("{} ({kind})", account.caip10())
            });
            Failure::Failed(format!(
                "several accounts with this address are known here; name one, with --kind key or --kind contract: {}",
                named.collect::<Vec<_>>().join(", ")
            ))
        }
        FindWhoError::ContractNowhere => Failure::Usage(
            "a contract is an account of one chain: name the chain too, as in eip155:1:0x…".to_owned(),
        ),
        FindWhoError::Store(error) => store(&error),
    }
}

fn unrecognized(text: &str, error: RecognizeError) -> Failure {
    match error {
        RecognizeError::AddressUnknown if has_wrong_checksum(text) => Failure::Usage(format!(
            "{text:?} is not an address: its capital letters do not fit (EIP-55); copy it again, or write it in small \
             letters"
        )),
        RecognizeError::AddressUnknown => Failure::Usage(format!(
            "{text:?} is neither a user's id nor the address of a wallet that this server knows how to read"
        )),
        RecognizeError::ChainUnknown(chains) => Failure::Usage(format!(
            "{text:?} names a chain that has no such addresses; this one could be of {}",
            listed(chains.iter().map(|named| named.chain.clone()))
        )),
        RecognizeError::Ambiguous(chains) => {
            let names = chains.iter().map(|NamedChain { chain, kind }| format!("{chain}:{text} ({kind})"));
            Failure::Failed(format!("several chains have such addresses; name one: {}", listed(names)))
        }
        RecognizeError::KindMissing => Failure::Failed(format!(
            "on this chain {text} could be a key's account or a contract's, and neither is known here: add --kind key or \
             --kind contract"
        )),
        RecognizeError::KindUnknown(kind) => {
            Failure::Usage(format!("--kind {}: {} accounts have no such addresses", kind.name(), kind.name()))
        }
        RecognizeError::ChainsDiffer(error) => Failure::Usage(error.to_string()),
    }
}

fn listed(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Is it an EVM address but for its capital letters?
fn has_wrong_checksum(text: &str) -> bool {
    let address = text.rsplit(':').next().unwrap_or(text);
    let digits = address.strip_prefix("0x").unwrap_or_default();
    digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
