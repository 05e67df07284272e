//! An operator looks at one user.

use std::collections::BTreeMap;

use countersign_domain::client::Client;
use countersign_domain::id::{ClientId, UserId};
use countersign_ports::{Person, StoreError};

use countersign_usecases::Management;

/// A user, and the clients that they agreed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonRead {
    /// The user.
    pub person: Person,
    /// The clients that the consents name.
    pub clients: BTreeMap<ClientId, Client>,
}

/// Reads one user; `None` if there is no such user.
pub async fn read_person(management: Management<'_>, user: UserId) -> Result<Option<PersonRead>, StoreError> {
    let now = management.clock.now();
    let Some(person) = management.storage.find_person(user, now).await? else { return Ok(None) };
    let mut clients = BTreeMap::new();
    for consent in &person.consents {
        if !clients.contains_key(&consent.client)
            && let Some(client) = management.clients.find_fresh(consent.client).await?
        {
            clients.insert(client.id, client);
        }
    }
    Ok(Some(PersonRead { person, clients }))
}
