//! An operator looks for anybody or anything by one text: an address, an account by CAIP-10, an id, a name, or the
//! id of a request.

use countersign_domain::admin_key::AdminKey;
use countersign_domain::client::Client;
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, EventId, GrantId, UserId};
use countersign_domain::resource::Resource;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_ports::{CountedGroup, ListedKey, StoreError};

use super::Desk;
use crate::people::Who;
use crate::people::find_who::{FindWhoError, find_who};

/// The most that is found.
pub const MOST: usize = 50;
/// The longest text that anything has for a name.
const MAX_TEXT: usize = 512;
/// How many clients and groups are looked through, at most.
const LOOKED_THROUGH: u32 = 5_000;
/// How many are read at once.
const PAGE: u32 = 500;

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A user, with the oldest wallet.
    User(UserId, Option<WalletAccount>),
    /// A wallet, with the user whom it belongs to now. Perhaps nobody ever used it.
    Wallet(WalletAccount, Option<UserId>),
    /// A client.
    Client(Box<Client>),
    /// A group.
    Group(CountedGroup),
    /// A resource.
    Resource(Resource),
    /// A key of the admin interface.
    AdminKey(AdminKey),
    /// A signing key.
    SigningKey(ListedKey),
    /// A change that waits, or waited, for a second operator.
    Proposal(GrantId),
    /// An event.
    Event(EventId),
    /// The request of this id, with the number of its events that were found.
    Request(String, usize),
}

/// Finds what a text can mean. Ids and addresses must be whole; of names a part is enough.
pub async fn search(desk: Desk<'_>, text: &str) -> Result<Vec<Found>, StoreError> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_TEXT {
        return Ok(Vec::new());
    }
    let mut found = by_id(desk, text).await?;
    found.extend(wallets(desk, text).await?);
    found.extend(by_name(desk, text).await?);
    found.truncate(MOST);
    Ok(found)
}

async fn by_id(desk: Desk<'_>, text: &str) -> Result<Vec<Found>, StoreError> {
    let storage = &desk.context.storage;
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    if let Some(user) = UserId::parse(&lower) {
        let wallets = storage.wallets_of(user).await?;
        let oldest = wallets.into_iter().next().map(|wallet| wallet.account);
        found.extend(oldest.map(|oldest| Found::User(user, Some(oldest))));
    }
    if let Some(id) = ClientId::named(&lower).or_else(|| ClientId::named(text)) {
        found.extend(desk.context.clients.find_fresh(id).await?.map(Box::new).map(Found::Client));
    }
    if let Some(id) = GrantId::parse(&lower) {
        found.extend(storage.find_proposal(id).await?.map(|proposal| Found::Proposal(proposal.id)));
    }
    if let Some(id) = EventId::parse(&lower) {
        found.extend(storage.find_event(id).await?.map(|found| Found::Event(found.event.id)));
    }
    let events = storage.events_of_request(text, u32::try_from(MOST).unwrap_or(u32::MAX)).await?;
    if !events.is_empty() {
        found.push(Found::Request(text.to_owned(), events.len()));
    }
    Ok(found)
}

async fn wallets(desk: Desk<'_>, text: &str) -> Result<Vec<Found>, StoreError> {
    let management = desk.management();
    let accounts = match find_who(management, text, None).await {
        Ok(Who::Wallet(account)) => vec![account],
        Ok(Who::User(_)) => Vec::new(),
        Err(FindWhoError::SeveralKnown(accounts)) => accounts,
        Err(FindWhoError::Store(error)) => return Err(error),
        // Whichever it may be, where nobody knows.
        Err(FindWhoError::Unrecognized(_) | FindWhoError::ContractNowhere) => {
            match find_who(management, text, Some(AccountKind::Key)).await {
                Ok(Who::Wallet(account)) => vec![account],
                Err(FindWhoError::Store(error)) => return Err(error),
                Ok(Who::User(_))
                | Err(
                    FindWhoError::Unrecognized(_)
                    | FindWhoError::ContractNowhere
                    | FindWhoError::SeveralKnown(_),
                ) => Vec::new(),
            }
        }
    };
    let mut found = Vec::with_capacity(accounts.len());
    for account in accounts {
        let owner = desk.context.storage.find_owner(account.clone()).await?;
        found.push(Found::Wallet(account, owner));
    }
    Ok(found)
}

async fn by_name(desk: Desk<'_>, text: &str) -> Result<Vec<Found>, StoreError> {
    let lower = text.to_lowercase();
    let has = |name: &str| name.to_lowercase().contains(&lower);
    let mut found = Vec::new();
    let mut after: Option<ClientId> = None;
    for _ in 0..LOOKED_THROUGH / PAGE {
        let page = desk.context.clients.list(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        let named = page.into_iter().filter(|client| {
            has(&client.metadata.name) || client.document.as_deref().is_some_and(|url| url == text)
        });
        found.extend(named.map(Box::new).map(Found::Client));
        if found.len() >= MOST {
            break;
        }
    }
    let mut after: Option<GroupName> = None;
    for _ in 0..LOOKED_THROUGH / PAGE {
        let page = desk.context.storage.list_groups(after.as_ref(), PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.group.name.clone());
        let named = page.into_iter().filter(|counted| {
            has(counted.group.name.as_str())
                || counted.group.title.as_ref().is_some_and(|title| has(title.as_str()))
        });
        found.extend(named.map(Found::Group));
    }
    let catalog = desk.context.resources.read_fresh().await?;
    let resources = catalog.resources().iter().filter(|resource| {
        has(&resource.uri) || resource.scopes.iter().any(|scope| has(scope.name.as_str()))
    });
    found.extend(resources.cloned().map(Found::Resource));
    let keys = desk.context.storage.list_admin_keys().await?;
    let named = keys.into_iter().filter(|key| has(key.name.as_str()) || key.id.to_string() == lower);
    found.extend(named.map(Found::AdminKey));
    let keys = desk.keys.list(desk.context.clock.now()).await?;
    found.extend(keys.into_iter().filter(|key| key.kid == text).map(Found::SigningKey));
    Ok(found)
}
