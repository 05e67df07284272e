//! An operator looks for anybody or anything by one text: an address, an account by CAIP-10, an id, a name, the id of a
//! request, or the `sub` that an application knows a person by.

use std::fmt;

use countersign_domain::admin_key::AdminKey;
use countersign_domain::client::Client;
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, EventId, GrantId, SubjectId, UserId};
use countersign_domain::redirect_uri::Destination;
use countersign_domain::resource::Resource;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_ports::{CountedGroup, FindWallets, ListedKey, StoreError};

use super::Desk;
use super::overview::Counted;
use crate::people::find_who::{FindWhoError, find_who};

/// The most that is found.
pub const MOST: usize = 50;
/// The longest text that anything has for a name.
const MAX_TEXT: usize = 512;
/// How many clients and groups are looked through at once. Then the answer says where to go on.
const LOOKED_THROUGH: usize = 5_000;
/// What is written for the middle of an address.
const SHORTENED: [&str; 2] = ["…", "..."];
/// How many letters of an address are looked for at least.
const LEAST_LETTERS: usize = 4;
/// How many are read at once.
const PAGE: u32 = 500;

/// What a search found, and where it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    /// What was found.
    pub found: Vec<Found>,
    /// Where to go on, if not everything was looked through (F-23).
    pub next: Option<SearchFrom>,
}

/// The place after which a search by name goes on: clients come first, then groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchFrom {
    /// After this client.
    Client(ClientId),
    /// After this group.
    Group(GroupName),
}

impl SearchFrom {
    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':')? {
            ("client", id) => ClientId::named(id).map(Self::Client),
            ("group", name) => GroupName::parse(name).ok().map(Self::Group),
            _ => None,
        }
    }
}

impl fmt::Display for SearchFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(id) => write!(f, "client:{id}"),
            Self::Group(name) => write!(f, "group:{name}"),
        }
    }
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A user, with the oldest wallet.
    User(UserId, Option<WalletAccount>),
    /// A wallet, with the user it belongs to now. It may never have been used.
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
    /// The request of this id, with the number of its events.
    Request(String, Counted),
}

/// Finds what a text can mean. Ids must be whole; of addresses and of the names of people the beginning is enough, and of
/// other names and of the places of redirect URIs a part. Clients and groups are looked
/// through a few thousand at a time: `from` is where an earlier answer said to go on.
pub async fn search(desk: Desk<'_>, text: &str, from: Option<SearchFrom>) -> Result<Searched, StoreError> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_TEXT {
        return Ok(Searched { found: Vec::new(), next: None });
    }
    let mut found = Vec::new();
    if from.is_none() {
        found.extend(by_id(desk, text).await?);
        let is_shortened = SHORTENED.iter().any(|mark| text.contains(mark));
        if !is_shortened {
            found.extend(wallets(desk, text).await?);
        }
        if found.is_empty() {
            found.extend(by_letters(desk, text).await?);
        }
        found.extend(named(desk, text).await?);
        found.extend(by_short_lists(desk, text).await?);
    }
    let next = by_name(desk, text, from, &mut found).await?;
    Ok(Searched { found, next })
}

async fn by_id(desk: Desk<'_>, text: &str) -> Result<Vec<Found>, StoreError> {
    let storage = &desk.context.storage;
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    if let Some(user) = UserId::parse(&lower) {
        found.extend(person(desk, user).await?);
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
    let limit = u32::try_from(MOST).unwrap_or(u32::MAX).saturating_add(1);
    let events = storage.events_of_request(text, None, limit).await?;
    if !events.is_empty() {
        let is_limit = events.len() > MOST;
        let count = u32::try_from(events.len().min(MOST)).unwrap_or(u32::MAX);
        found.push(Found::Request(text.to_owned(), Counted { count, is_limit }));
    }
    Ok(found)
}

/// The user with this id, if there is one: each has a wallet.
async fn person(desk: Desk<'_>, user: UserId) -> Result<Option<Found>, StoreError> {
    let oldest = desk.context.storage.wallets_of(user).await?.into_iter().next();
    Ok(oldest.map(|wallet| Found::User(user, Some(wallet.account))))
}

async fn wallets(desk: Desk<'_>, text: &str) -> Result<Vec<Found>, StoreError> {
    let management = desk.management();
    let accounts = match find_who(management, text, None).await {
        Ok(Subject::Wallet(account)) => vec![account],
        Ok(Subject::User(_)) => Vec::new(),
        Err(FindWhoError::SeveralKnown(accounts)) => accounts,
        Err(FindWhoError::Store(error)) => return Err(error),
        // Either of them, where it is not known.
        Err(FindWhoError::Unrecognized(_) | FindWhoError::ContractNowhere) => {
            match find_who(management, text, Some(AccountKind::Key)).await {
                Ok(Subject::Wallet(account)) => vec![account],
                Err(FindWhoError::Store(error)) => return Err(error),
                Ok(Subject::User(_))
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

/// Wallets of users by the beginning of the address, or as pages and logs shorten one: `0x50f2…4286`, perhaps after its
/// chain.
async fn by_letters(desk: Desk<'_>, text: &str) -> Result<Vec<Found>, StoreError> {
    let address = text.rsplit(':').next().unwrap_or(text);
    let parts = SHORTENED.iter().find_map(|mark| address.split_once(mark));
    let (beginning, end) = parts.unwrap_or((address, ""));
    if beginning.chars().count() < LEAST_LETTERS || !beginning.is_ascii() {
        return Ok(Vec::new());
    }
    let question = FindWallets {
        beginning: beginning.to_owned(),
        end: end.to_owned(),
        limit: u32::try_from(MOST).unwrap_or(u32::MAX),
    };
    let found = desk.context.storage.find_wallets(question).await?.into_iter();
    Ok(found.map(|(account, user)| Found::Wallet(account, Some(user))).collect())
}

/// Users and wallets by what operators call them.
async fn named(desk: Desk<'_>, text: &str) -> Result<Vec<Found>, StoreError> {
    let storage = &desk.context.storage;
    let mut found = Vec::new();
    for person in storage.find_named(text, u32::try_from(MOST).unwrap_or(u32::MAX)).await? {
        found.push(match person.who {
            Subject::User(user) => {
                let wallets = storage.wallets_of(user).await?;
                Found::User(user, wallets.into_iter().next().map(|wallet| wallet.account))
            }
            Subject::Wallet(account) => {
                let owner = storage.find_owner(account.clone()).await?;
                Found::Wallet(account, owner)
            }
        });
    }
    Ok(found)
}

/// Looks through clients and then through groups, from where an earlier search stopped. Returns where to go on, if
/// enough was looked through or found.
async fn by_name(
    desk: Desk<'_>,
    text: &str,
    from: Option<SearchFrom>,
    found: &mut Vec<Found>,
) -> Result<Option<SearchFrom>, StoreError> {
    let lower = text.to_lowercase();
    let has = |name: &str| name.to_lowercase().contains(&lower);
    let subject = SubjectId::parse(&lower).filter(|_| found.is_empty());
    let mut seen = 0;
    let (mut after, mut after_group) = match from {
        None => (None, None),
        Some(SearchFrom::Client(id)) => (Some(id), None),
        Some(SearchFrom::Group(name)) => (None, Some(name)),
    };
    if after_group.is_none() {
        // A search that stopped at the last client goes on after it.
        loop {
            let page = desk.context.clients.list(after, PAGE).await?;
            if page.is_empty() {
                break;
            }
            for client in page {
                (after, seen) = (Some(client.id), seen + 1);
                let leads_there = client.metadata.redirect_uris.iter().any(|uri| match uri.destination() {
                    Destination::Host(place) | Destination::ThisComputer(place) | Destination::App(place) => {
                        has(&place)
                    }
                    Destination::Device(_) => false,
                });
                if let Some(subject) = subject.filter(|_| client.metadata.is_pairwise()) {
                    let user = desk.context.keys.pairwise.known_to(&client).user(subject);
                    found.extend(person(desk, user).await?.filter(|person| !found.contains(person)));
                }
                if has(&client.metadata.name) || leads_there || client.document.as_deref() == Some(text) {
                    found.push(Found::Client(Box::new(client)));
                }
                if found.len() >= MOST || seen >= LOOKED_THROUGH {
                    return Ok(after.map(SearchFrom::Client));
                }
            }
        }
    }
    loop {
        let page = desk.context.storage.list_groups(after_group.as_ref(), PAGE).await?;
        if page.is_empty() {
            return Ok(None);
        }
        for counted in page {
            seen += 1;
            let name = counted.group.name.clone();
            let title = counted.group.title.as_ref().map(|title| title.as_str());
            if has(name.as_str()) || title.is_some_and(has) {
                found.push(Found::Group(counted));
            }
            if found.len() >= MOST || seen >= LOOKED_THROUGH {
                return Ok(Some(SearchFrom::Group(name)));
            }
            after_group = Some(name);
        }
    }
}

/// Resources and keys, which are few.
async fn by_short_lists(desk: Desk<'_>, text: &str) -> Result<Vec<Found>, StoreError> {
    let lower = text.to_lowercase();
    let has = |name: &str| name.to_lowercase().contains(&lower);
    let mut found = Vec::new();
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
