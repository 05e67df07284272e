//! The members and the other people that a file names.

use std::collections::BTreeMap;

use countersign_domain::declaration::DeclaredThing;
use countersign_domain::group::GroupName;
use countersign_domain::subject::Subject;
use countersign_ports::StoreError;
use countersign_usecases::Management;
use countersign_usecases::steps::recognize_account::{NamedChain, RecognizeError};

use super::{FileGroup, FilePerson, FileWallet, Item, Mistake};
use crate::people::exists;
use crate::people::find_who::{FindWhoError, find_who};

/// A member as what a file declares.
pub(super) fn member_thing(group: &GroupName, member: &Subject) -> DeclaredThing {
    DeclaredThing::member_of(group, member)
}

/// Finds out who the members of a group are: users who must exist, and wallets, which may be unknown.
pub(super) async fn named_members(
    management: Management<'_>,
    item: &Item<FileGroup>,
    mistakes: &mut Vec<Mistake>,
) -> Result<Vec<Subject>, StoreError> {
    let FileGroup { name, title: _, users, wallets } = &item.value;
    let mut named: Vec<(String, Subject)> = Vec::with_capacity(users.len() + wallets.len());
    for (place, user) in users.iter().enumerate() {
        let field = format!("users[{place}]");
        if exists(management, *user).await? {
            named.push((field, Subject::User(*user)));
        } else {
            let what = format!("there is no user {user} in this database");
            mistakes.push(item.mistake("group", &field, what));
        }
    }
    for (place, wallet) in wallets.iter().enumerate() {
        let field = format!("wallets[{place}]");
        let name = &wallet.name;
        let kinds = format!("{{ wallet = \"{name}\", kind = \"key\" }}, or kind = \"contract\"");
        match who_is(management, wallet, &kinds).await? {
            Ok(Subject::User(user)) => {
                let what = format!("{user} is a user's id: users stand in `users`");
                mistakes.push(item.mistake("group", &field, what));
            }
            Ok(who @ Subject::Wallet(_)) => named.push((field, who)),
            Err(what) => mistakes.push(item.mistake("group", &field, what)),
        }
    }
    let mut first: BTreeMap<DeclaredThing, String> = BTreeMap::new();
    let mut once = Vec::with_capacity(named.len());
    for (field, who) in named {
        if let Some(before) = first.get(&member_thing(name, &who)) {
            mistakes.push(item.mistake("group", &field, format!("{before} is the same member")));
            continue;
        }
        first.insert(member_thing(name, &who), field);
        once.push(who);
    }
    Ok(once)
}

/// Finds the user or wallet whose name a file declares. A user must exist.
pub(super) async fn named_person(
    management: Management<'_>,
    item: &Item<FilePerson>,
    mistakes: &mut Vec<Mistake>,
) -> Result<Option<Subject>, StoreError> {
    let found = who_is(management, &item.value.who, "kind = \"key\", or kind = \"contract\"").await?;
    let found = match found {
        Ok(Subject::User(user)) if !exists(management, user).await? => {
            Err(format!("there is no user {user} in this database"))
        }
        found => found,
    };
    Ok(found.map_err(|what| mistakes.push(item.mistake("person", "who", what))).ok())
}

/// Finds the user or wallet that is meant, or says why it is not clear. `kinds` is how a file says whether a key or a contract
/// is behind an address.
async fn who_is(
    management: Management<'_>,
    wallet: &FileWallet,
    kinds: &str,
) -> Result<Result<Subject, String>, StoreError> {
    let name = &wallet.name;
    let error = match find_who(management, name, wallet.kind).await {
        Ok(found) => return Ok(Ok(found)),
        Err(FindWhoError::Store(error)) => return Err(error),
        Err(error) => error,
    };
    let of_kind = format!("{name} could be a key's account or a contract's: write {kinds}");
    Ok(Err(match error {
        FindWhoError::Unrecognized(error) => match error {
            RecognizeError::AddressUnknown => {
                format!("{name:?} is not the address of a wallet that this server knows how to read")
            }
            RecognizeError::ChainUnknown(chains) => format!(
                "{name} names a chain that has no such addresses; it could be of {}",
                chains.iter().map(|named| named.chain.as_str()).collect::<Vec<_>>().join(", ")
            ),
            RecognizeError::Ambiguous(chains) => {
                let names = chains.iter().map(|NamedChain { chain, .. }| format!("{chain}:{name}"));
                let names = names.collect::<Vec<_>>().join(", ");
                format!("several chains have such addresses; write one of {names}")
            }
            RecognizeError::KindUnknown(kind) => {
                format!("{} accounts have no such addresses", kind.name())
            }
            RecognizeError::KindMissing => of_kind,
            RecognizeError::ChainsDiffer(error) => error.to_string(),
        },
        FindWhoError::SeveralKnown(_) => of_kind,
        FindWhoError::ContractNowhere => {
            format!("a contract is an account of one chain: write the chain too, as in eip155:1:{name}")
        }
        FindWhoError::Store(error) => return Err(error),
    }))
}
