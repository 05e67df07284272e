//! What an operator sees and decides about people: who they are, which groups they are in, who is blocked,
//! and who can sign in to a client.
//!
//! The caller has been admitted elsewhere: the command line by the machine. What people read is not made
//! here.

pub mod add_members;
pub mod block;
pub mod change_access;
pub mod delete_user;
pub mod find_who;
pub mod groups;
pub mod invitations;
pub mod list_groups;
pub mod list_operators;
pub mod list_people;
pub mod list_wallets;
pub mod look_up_client;
mod members;
pub mod names;
pub(crate) mod one_person;
pub mod read_access;
pub mod read_group;
pub mod read_person;
pub mod remove_members;
pub mod sign_out_user;
pub mod suspend;
pub mod try_sign_in;
pub mod unblock;

use countersign_domain::client::Client;
use countersign_domain::group::{GroupName, Through};
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_ports::{AccessEnded, StoreError};

use countersign_usecases::Management;
use countersign_usecases::steps::notify_logout::{LogoutNotice, notices_of};

/// How many rows are read at once where all are wanted.
const PAGE: u32 = 500;

/// The access that ended by an operator's command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// How many sessions.
    pub sessions: u64,
    /// How many grants.
    pub grants: u64,
    /// The clients to tell.
    pub notices: Vec<LogoutNotice>,
}

impl From<AccessEnded> for Ended {
    fn from(ended: AccessEnded) -> Self {
        Self { sessions: ended.sessions, grants: ended.grants, notices: notices_of(ended) }
    }
}

/// Reads all clients, in the order of their ids.
pub(crate) async fn all_clients(management: Management<'_>) -> Result<Vec<Client>, StoreError> {
    let mut read: Vec<Client> = Vec::new();
    loop {
        let after = read.last().map(|client| client.id);
        let page = management.clients.list(after, PAGE).await?;
        if page.is_empty() {
            return Ok(read);
        }
        read.extend(page);
    }
}

/// The clients whose own rule names this group.
async fn clients_for(management: Management<'_>, group: &GroupName) -> Result<Vec<Client>, StoreError> {
    let mut clients = all_clients(management).await?;
    clients.retain(|client| client.access.rule.as_ref().is_some_and(|rule| rule.groups().contains(group)));
    Ok(clients)
}

/// Every way in which this member's user is in a group.
pub(crate) async fn ways_into(
    management: Management<'_>,
    group: &GroupName,
    user: UserId,
) -> Result<Vec<Subject>, StoreError> {
    let memberships = management.storage.memberships_of(user).await?.into_iter();
    let here = memberships.filter(|membership| membership.group == *group);
    Ok(here
        .map(|membership| match membership.through {
            Through::User => Subject::User(user),
            Through::Wallet(account) => Subject::Wallet(account),
        })
        .collect())
}

/// Is there such a user? Everyone has at least one wallet.
pub(crate) async fn exists(management: Management<'_>, user: UserId) -> Result<bool, StoreError> {
    Ok(!management.storage.wallets_of(user).await?.is_empty())
}
