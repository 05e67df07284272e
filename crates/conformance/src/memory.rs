//! The reference store: plain maps behind one lock. It behaves as the ports' documentation says, and keeps
//! nothing when the process ends.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use countersign_domain::admin_key::AdminKey;
use countersign_domain::admission::Block;
use countersign_domain::checkpoint::{SealedEvent, SignedCheckpoint};
use countersign_domain::client::Client;
use countersign_domain::consent::{Consent, ConsentTerms};
use countersign_domain::declaration::{Declaration, DeclaredThing};
use countersign_domain::desk::proposal::Proposal;
use countersign_domain::email::UserEmail;
use countersign_domain::epoch::Epoch;
use countersign_domain::event::Event;
use countersign_domain::event_push::ReceiverId;
use countersign_domain::forgetting::{TimeMark, TimeWitness};
use countersign_domain::grant::{Grant, RevocationReason};
use countersign_domain::group::{Group, GroupName};
use countersign_domain::hour::Hour;
use countersign_domain::id::{
    AdminKeyId, ClientId, EventId, GrantId, InvitationId, PushedRequestId, SessionId, TokenId, UserId,
};
use countersign_domain::invitation::Invitation;
use countersign_domain::login_session::LoginSession;
use countersign_domain::person_name::PersonName;
use countersign_domain::pushed_request::PushedRequest;
use countersign_domain::refresh::{NewestToken, RefreshSnapshot};
use countersign_domain::resource::Resource;
use countersign_domain::signing_key::SealedKey;
use countersign_domain::token::{AccessSnapshot, Token};
use countersign_ports::{
    AddSigningKey, ChangeAccess, ChangeResources, ClientChange, ClientStore, ClientUse, DayCount,
    DeleteClient, DocumentsForgotten, EventPush, ForgetDocuments, ForgetUnused, HourCount, IfClientUnchanged,
    IssueTokens, KeyAdded, KeyStore, KnownAccess, LeftToForget, PurgeExpired, Purged, REQUESTS_REMEMBERED,
    RedeemCode, Redeemed, RegisterClient, Registered, RemoveSigningKey, ReplayStore, Replica, RequestBegun,
    RevokeGrant, RevokeToken, Revoked, RotateRefresh, RotateSecret, Rotated, SecretRecord, SecretUse,
    SortClients, SortedClients, SpendProof, StoreError, TokenStore, TokensIssued, UpdateClient, Upkeep,
    WithdrawSigningKey,
};
use time::{Date, OffsetDateTime};

mod accounts;
mod admin_keys;
mod blocks;
mod client_lists;
mod declarations;
mod desk;
pub mod differences;
mod epoch;
mod event_push;
mod events;
mod forgetting;
mod groups;
mod invitations;
mod login;
mod people;
mod requests;
mod resources;
mod secrets;
mod sessions;
mod suspensions;
mod wallets;

use blocks::BlockedRow;
use forgetting::is_told;
use groups::MemberRow;
use invitations::InvitedRow;
use people::NamedRow;
use requests::DeviceRow;
use secrets::{SecretKey, SecretRow};
use suspensions::SuspendedRow;
use wallets::{WalletKey, WalletRow};

/// A store in memory, as simple as possible.
#[derive(Debug, Default)]
pub struct MemoryStorage {
    tables: Mutex<Tables>,
    /// Held while a request makes something once, which locks the tables several times.
    making: tokio::sync::Mutex<()>,
}

/// The whole content of a store in memory at one moment.
#[derive(Clone, Debug)]
pub struct MemorySnapshot(Tables);

#[derive(Clone, Debug, Default, PartialEq)]
struct Tables {
    clients: BTreeMap<ClientId, Client>,
    secrets: BTreeMap<SecretKey, SecretRow>,
    /// When each was used last.
    client_uses: BTreeMap<ClientId, OffsetDateTime>,
    /// When each was created.
    users: BTreeMap<UserId, OffsetDateTime>,
    /// When each signed in last.
    seen: BTreeMap<UserId, OffsetDateTime>,
    /// The users whom no client was told about, and when each was last looked at.
    untold: BTreeMap<UserId, OffsetDateTime>,
    /// The deleted users some of whose sealed events still name them.
    left_to_forget: BTreeMap<UserId, LeftToForget>,
    mark: Option<TimeMark>,
    wallets: BTreeMap<WalletKey, WalletRow>,
    consents: BTreeMap<(UserId, ClientId, ConsentTerms), Consent>,
    sessions: BTreeMap<SessionId, LoginSession>,
    emails: BTreeMap<UserId, UserEmail>,
    groups: BTreeMap<GroupName, Group>,
    /// When each user was put into the group.
    group_users: BTreeMap<(GroupName, UserId), OffsetDateTime>,
    group_wallets: BTreeMap<(GroupName, WalletKey), MemberRow>,
    invitations: BTreeMap<InvitationId, Invitation>,
    /// The wallets that came in.
    invitation_uses: BTreeMap<(InvitationId, WalletKey), InvitedRow>,
    blocked_users: BTreeMap<UserId, Block>,
    blocked_wallets: BTreeMap<WalletKey, BlockedRow>,
    suspended_wallets: BTreeMap<WalletKey, SuspendedRow>,
    named_users: BTreeMap<UserId, PersonName>,
    named_wallets: BTreeMap<WalletKey, NamedRow>,
    /// When each may be purged.
    spent_challenges: BTreeMap<GrantId, OffsetDateTime>,
    grants: BTreeMap<GrantId, GrantRow>,
    tokens: BTreeMap<TokenId, TokenRow>,
    pushed_requests: BTreeMap<PushedRequestId, PushedRequest>,
    device_requests: BTreeMap<GrantId, DeviceRow>,
    spent_proofs: BTreeMap<[u8; 32], SpendProof>,
    /// The resources by URI.
    resources: BTreeMap<String, Resource>,
    declarations: BTreeMap<DeclaredThing, Declaration>,
    /// The keys by id.
    keys: BTreeMap<String, SealedKey>,
    admin_keys: BTreeMap<AdminKeyId, AdminKey>,
    /// What each key began, by the digest of its name.
    admin_requests: BTreeMap<(AdminKeyId, [u8; 32]), RequestBegun>,
    fresh_events: BTreeMap<EventId, Event>,
    /// The sealed events by position.
    events: BTreeMap<u64, SealedEvent>,
    checkpoints: BTreeMap<u64, SignedCheckpoint>,
    /// Who holds each lease, and until when.
    leases: BTreeMap<&'static str, ([u8; 16], OffsetDateTime)>,
    event_pushes: BTreeMap<ReceiverId, EventPush>,
    proposals: BTreeMap<GrantId, Proposal>,
    /// By day, name of the kind, and family.
    day_counts: BTreeMap<(Date, &'static str, String), DayCount>,
    /// By hour, name of the figure, and label.
    hour_counts: BTreeMap<(Hour, &'static str, String), HourCount>,
    /// The replicas by id.
    replicas: BTreeMap<[u8; 16], ReplicaRow>,
    /// The epochs in their order.
    epochs: Vec<Epoch>,
}

#[derive(Clone, Debug, PartialEq)]
struct GrantRow {
    grant: Grant,
    newest_token: Option<TokenId>,
    revocation: Option<Revocation>,
    forget_after: OffsetDateTime,
}

impl GrantRow {
    /// Revokes an active grant. Returns whether it was active.
    fn revoke(&mut self, revocation: Revocation) -> bool {
        let is_first = !self.grant.revoked;
        self.grant.revoked = true;
        self.revocation.get_or_insert(revocation);
        is_first
    }
}

/// When and why a grant was first revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// The time of the revocation.
    pub at: OffsetDateTime,
    /// The reason that the revocation gave.
    pub reason: RevocationReason,
}

#[derive(Clone, Debug, PartialEq)]
struct ReplicaRow {
    replica: Replica,
    last_batch: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct TokenRow {
    token: Token,
    access_revoked_at: Option<OffsetDateTime>,
}

impl MemoryStorage {
    /// When and why a grant was revoked. No port returns this; operators read it in the database.
    pub fn revocation(&self, id: GrantId) -> Option<Revocation> {
        self.tables().grants.get(&id)?.revocation
    }

    /// The whole content, to compare with later or to go back to.
    pub fn snapshot(&self) -> MemorySnapshot {
        MemorySnapshot(self.tables().clone())
    }

    /// True if the content is the same as then.
    pub fn is_as(&self, snapshot: &MemorySnapshot) -> bool {
        *self.tables() == snapshot.0
    }

    /// Restores the content of that moment.
    pub fn restore(&self, snapshot: &MemorySnapshot) {
        self.tables().clone_from(&snapshot.0);
    }

    /// A panic while the lock is held can only come from a test that fails anyway.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ClientStore for MemoryStorage {
    async fn register_client(&self, command: RegisterClient) -> Result<Registered, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let client = command.client;
        if let Some(present) = tables.clients.get(&client.id) {
            let is_repeated = present.registration_token == client.registration_token;
            return Ok(if is_repeated { Registered::Stored } else { Registered::IdTaken });
        }
        tables.record(command.event)?;
        tables.clients.insert(client.id, client);
        Ok(Registered::Stored)
    }

    async fn update_client(&self, command: UpdateClient) -> Result<bool, StoreError> {
        self.tables_for(command.event.as_deref())?.update_client(command)
    }

    async fn change_resources(&self, command: ChangeResources) -> Result<bool, StoreError> {
        self.tables_for(command.event.as_deref())?.change_resources(command)
    }

    async fn change_access(&self, command: ChangeAccess) -> Result<bool, StoreError> {
        self.tables_for(command.event.as_deref())?.change_access(command)
    }

    async fn rotate_secret(&self, command: RotateSecret) -> Result<bool, StoreError> {
        self.tables_for(command.event.as_deref())?.rotate_secret(command)
    }

    async fn note_secret_uses(&self, uses: Vec<SecretUse>) -> Result<(), StoreError> {
        let mut tables = self.tables();
        uses.into_iter().for_each(|used| tables.note_secret_use(used));
        Ok(())
    }

    async fn note_client_uses(&self, uses: Vec<ClientUse>) -> Result<(), StoreError> {
        let mut tables = self.tables();
        for ClientUse { client, used_at } in uses {
            if tables.clients.contains_key(&client) {
                let known = tables.client_uses.entry(client).or_insert(used_at);
                *known = used_at.max(*known);
            }
        }
        Ok(())
    }

    async fn secrets_of(&self, client: ClientId) -> Result<Vec<SecretRecord>, StoreError> {
        Ok(self.tables().secrets_of(client))
    }

    async fn delete_client(&self, command: DeleteClient) -> Result<bool, StoreError> {
        self.tables_for(command.event.as_deref())?.delete_client(command)
    }

    async fn if_client_unchanged(&self, command: IfClientUnchanged) -> Result<bool, StoreError> {
        let event = match &command.change {
            ClientChange::Update(change) => &change.event,
            ClientChange::Resources(change) => &change.event,
            ClientChange::Access(change) => &change.event,
            ClientChange::Secret(change) => &change.event,
            ClientChange::Delete(change) => &change.event,
        };
        let mut tables = self.tables_for(event.as_deref())?;
        if tables.clients.get(&command.read.id) != Some(&command.read) {
            return Ok(false);
        }
        match command.change {
            ClientChange::Update(change) => tables.update_client(*change),
            ClientChange::Resources(change) => tables.change_resources(change),
            ClientChange::Access(change) => tables.change_access(change),
            ClientChange::Secret(change) => tables.rotate_secret(change),
            ClientChange::Delete(change) => tables.delete_client(change),
        }
    }

    async fn find_client(&self, id: ClientId) -> Result<Option<Client>, StoreError> {
        Ok(self.tables().clients.get(&id).cloned())
    }

    async fn list_clients(&self, after: Option<ClientId>, limit: u32) -> Result<Vec<Client>, StoreError> {
        let tables = self.tables();
        let later = tables.clients.values().filter(|client| after.is_none_or(|after| client.id > after));
        Ok(later.take(count(limit)).cloned().collect())
    }

    async fn sort_clients(&self, question: SortClients) -> Result<SortedClients, StoreError> {
        Ok(self.tables().sort_clients(&question))
    }
}

#[async_trait]
impl TokenStore for MemoryStorage {
    async fn find_grant(&self, id: GrantId) -> Result<Option<Grant>, StoreError> {
        Ok(self.tables().grants.get(&id).map(|row| row.grant.clone()))
    }

    async fn redeem_code(&self, command: RedeemCode) -> Result<Redeemed, StoreError> {
        let mut tables = self.tables();
        let Tables { grants, tokens, .. } = &mut *tables;
        let Some(row) = grants.get_mut(&command.token.grant) else { return Ok(Redeemed::Unknown) };
        if tokens.get(&command.token.id).is_some_and(|known| known.token.grant == command.token.grant) {
            return Ok(Redeemed::Stored);
        }
        if row.grant.redeemed {
            return Ok(Redeemed::Replayed);
        }
        if row.grant.revoked {
            return Ok(Redeemed::Revoked);
        }
        row.grant.redeemed = true;
        row.newest_token = Some(command.token.id);
        row.forget_after = command.forget_after;
        tokens.insert(command.token.id, TokenRow { token: command.token, access_revoked_at: None });
        Ok(Redeemed::Stored)
    }

    async fn issue_tokens(&self, command: IssueTokens) -> Result<TokensIssued, StoreError> {
        let mut tables = self.tables();
        let IssueTokens { grant, token, forget_after, .. } = command;
        if tables.grants.contains_key(&grant.id) {
            let is_repeated = tables.tokens.get(&token.id).is_some_and(|known| known.token.grant == grant.id);
            return Ok(if is_repeated { TokensIssued::Stored } else { TokensIssued::IdTaken });
        }
        if !tables.clients.contains_key(&grant.client) {
            return Ok(TokensIssued::ClientUnknown);
        }
        let newest_token = Some(token.id);
        let row = GrantRow { newest_token, revocation: None, forget_after, grant };
        tables.grants.insert(row.grant.id, row);
        tables.tokens.insert(token.id, TokenRow { token, access_revoked_at: None });
        Ok(TokensIssued::Stored)
    }

    async fn find_refresh(&self, id: TokenId) -> Result<Option<RefreshSnapshot>, StoreError> {
        let tables = self.tables();
        Ok(tables.refresh_snapshot(id))
    }

    async fn rotate_refresh(&self, command: RotateRefresh) -> Result<Rotated, StoreError> {
        let mut tables = self.tables();
        let Tables { grants, tokens, .. } = &mut *tables;
        let Some(row) = grants.get_mut(&command.token.grant) else { return Ok(Rotated::Unknown) };
        if tokens.get(&command.token.id).is_some_and(|known| known.token.grant == command.token.grant) {
            return Ok(Rotated::Stored);
        }
        if row.grant.revoked {
            return Ok(Rotated::Revoked);
        }
        if row.newest_token != Some(command.expected_newest) {
            return Ok(Rotated::Reused);
        }
        row.newest_token = Some(command.token.id);
        row.forget_after = row.forget_after.max(command.forget_after);
        let replaced = (command.token.parent != Some(command.expected_newest))
            .then(|| tokens.get_mut(&command.expected_newest))
            .flatten();
        if let Some(replaced) = replaced {
            replaced.access_revoked_at.get_or_insert(command.now);
        }
        tokens.insert(command.token.id, TokenRow { token: command.token, access_revoked_at: None });
        Ok(Rotated::Stored)
    }

    async fn find_access(&self, id: TokenId) -> Result<Option<AccessSnapshot>, StoreError> {
        let tables = self.tables();
        Ok(tables.access_snapshot(id))
    }

    async fn lives_on(&self, access: KnownAccess) -> Result<bool, StoreError> {
        let found = self.find_access(access.id).await?;
        Ok(found.is_some_and(|found| !found.was_revoked()))
    }

    async fn revoke_token(&self, command: RevokeToken) -> Result<Revoked, StoreError> {
        let mut tables = self.tables();
        let presented = tables.tokens.get_mut(&command.id);
        let presented = presented.filter(|row| row.token.access_hash == command.access_hash);
        let Some(row) = presented else { return Ok(Revoked::Unknown) };
        if row.access_revoked_at.is_some() {
            return Ok(Revoked::AlreadyRevoked);
        }
        row.access_revoked_at = Some(command.now);
        tables.record(command.event)?;
        Ok(Revoked::Revoked)
    }

    async fn revoke_grant(&self, command: RevokeGrant) -> Result<Revoked, StoreError> {
        let mut tables = self.tables();
        let Some(row) = tables.grants.get_mut(&command.id) else { return Ok(Revoked::Unknown) };
        let is_first = row.revoke(Revocation { at: command.now, reason: command.reason });
        if !is_first {
            return Ok(Revoked::AlreadyRevoked);
        }
        tables.record(command.event)?;
        Ok(Revoked::Revoked)
    }
}

impl Tables {
    fn update_client(&mut self, command: UpdateClient) -> Result<bool, StoreError> {
        let UpdateClient { client, event } = command;
        let Some(present) = self.clients.get(&client.id) else { return Ok(false) };
        let after = Client {
            authentication: secrets::updated(present, &client),
            created_at: present.created_at,
            resources: present.resources.clone(),
            access: present.access.clone(),
            ..client
        };
        self.change_client(after, event)
    }

    /// Stores a client that is known, and the event if that changes it.
    fn change_client(&mut self, after: Client, event: Option<Box<Event>>) -> Result<bool, StoreError> {
        let id = after.id;
        if self.clients.get(&id) != Some(&after) {
            self.record(event)?;
            self.clients.insert(id, after);
            self.forget_other_secrets(id);
        }
        Ok(true)
    }

    fn change_resources(&mut self, command: ChangeResources) -> Result<bool, StoreError> {
        let Some(mut client) = self.clients.get(&command.client).cloned() else { return Ok(false) };
        command.change.apply(&mut client.resources);
        self.change_client(client, command.event)
    }

    fn change_access(&mut self, command: ChangeAccess) -> Result<bool, StoreError> {
        let Some(mut client) = self.clients.get(&command.client).cloned() else { return Ok(false) };
        client.access.rule = command.rule;
        if let Some(release) = command.release {
            client.access.release = release;
        }
        self.change_client(client, command.event)
    }

    fn delete_client(&mut self, command: DeleteClient) -> Result<bool, StoreError> {
        let id = command.id;
        if self.clients.contains_key(&id) {
            self.record(command.event)?;
        }
        let Self { grants, tokens, consents, untold, .. } = self;
        grants.retain(|_, row| row.grant.client != id || is_told(untold, row));
        tokens.retain(|_, row| grants.contains_key(&row.token.grant));
        consents.retain(|(_, client, _), _| *client != id);
        let is_deleted = self.clients.remove(&id).is_some();
        self.client_uses.remove(&id);
        self.forget_other_secrets(id);
        Ok(is_deleted)
    }

    fn refresh_snapshot(&self, id: TokenId) -> Option<RefreshSnapshot> {
        let token = &self.tokens.get(&id)?.token;
        let row = self.grants.get(&token.grant)?;
        let newest = &self.tokens.get(&row.newest_token?)?.token;
        Some(RefreshSnapshot {
            token: token.clone(),
            grant: row.grant.clone(),
            newest: NewestToken { id: newest.id, parent: newest.parent, issued_at: newest.issued_at },
        })
    }

    fn access_snapshot(&self, id: TokenId) -> Option<AccessSnapshot> {
        let row = self.tokens.get(&id)?;
        let grant = &self.grants.get(&row.token.grant)?.grant;
        Some(AccessSnapshot {
            id,
            access_hash: row.token.access_hash,
            scope: row.token.scope.clone(),
            issued_at: row.token.issued_at,
            expires_at: row.token.access_expires_at,
            token_revoked: row.access_revoked_at.is_some(),
            grant_revoked: grant.revoked,
            grant: grant.id,
            client: grant.client,
            holder: grant.holder.clone(),
        })
    }
}

#[async_trait]
impl KeyStore for MemoryStorage {
    async fn add_signing_key(&self, command: AddSigningKey) -> Result<KeyAdded, StoreError> {
        let AddSigningKey { key, unless_after, event } = command;
        let mut tables = self.tables_for(event.as_deref())?;
        let is_later = |other: &SealedKey| {
            other.algorithm == key.algorithm
                && other.withdrawn_at.is_none()
                && other.active_from > unless_after
        };
        if tables.keys.contains_key(&key.kid) {
            return Ok(KeyAdded::Stored);
        }
        if tables.keys.values().any(is_later) {
            return Ok(KeyAdded::NotNeeded);
        }
        tables.keys.insert(key.kid.clone(), key);
        tables.record(event)?;
        Ok(KeyAdded::Stored)
    }

    async fn withdraw_signing_key(&self, command: WithdrawSigningKey) -> Result<bool, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let Some(key) = tables.keys.get_mut(&command.kid).filter(|key| key.withdrawn_at.is_none()) else {
            return Ok(false);
        };
        key.withdrawn_at = Some(command.now);
        tables.record(command.event)?;
        Ok(true)
    }

    async fn remove_signing_key(&self, command: RemoveSigningKey) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let is_removed = tables.keys.remove(&command.kid).is_some();
        if is_removed {
            tables.record(command.event)?;
        }
        Ok(is_removed)
    }

    async fn signing_keys(&self) -> Result<Vec<SealedKey>, StoreError> {
        let mut keys: Vec<_> = self.tables().keys.values().cloned().collect();
        keys.sort_by_key(|key| key.created_at);
        Ok(keys)
    }
}

#[async_trait]
impl ReplayStore for MemoryStorage {
    async fn spend_proof(&self, command: SpendProof) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let first = tables.spent_proofs.entry(command.digest).or_insert(command);
        if first.forget_after < command.before {
            *first = command;
        }
        Ok(first.attempt == command.attempt)
    }
}

#[async_trait]
impl Upkeep for MemoryStorage {
    async fn purge_expired(&self, command: PurgeExpired) -> Result<Purged, StoreError> {
        let mut tables = self.tables();
        let (grants, more_grants) =
            oldest_first(tables.grants.iter().map(|(id, row)| (row.forget_after, *id)), command);
        let (tokens, more_tokens) =
            oldest_first(tables.tokens.iter().map(|(id, row)| (row.token.forget_after(), *id)), command);
        let (spent, more_spent) = oldest_first(
            tables.spent_challenges.iter().map(|(id, forget_after)| (*forget_after, *id)),
            command,
        );
        let (proofs, more_proofs) = oldest_first(
            tables.spent_proofs.values().map(|proof| (proof.forget_after, proof.digest)),
            command,
        );
        let (sessions, more_sessions) =
            oldest_first(tables.sessions.values().map(|session| (session.expires_at, session.id)), command);
        let (pushed, more_pushed) = oldest_first(
            tables.pushed_requests.values().map(|request| (request.expires_at, request.id)),
            PurgeExpired { before: command.pushed_before, ..command },
        );
        let (devices, more_devices) =
            oldest_first(tables.device_requests.iter().map(|(id, row)| (row.forget_after, *id)), command);
        let (requests, more_requests) = oldest_first(
            tables.admin_requests.iter().map(|(request, begun)| (begun.begun_at, *request)),
            PurgeExpired { before: command.before.kept_for(REQUESTS_REMEMBERED), ..command },
        );
        let Tables { grants: rows, untold, .. } = &mut *tables;
        rows.retain(|id, row| !grants.contains(id) || is_told(untold, row));
        tables.tokens.retain(|id, _| !tokens.contains(id));
        tables.spent_challenges.retain(|id, _| !spent.contains(id));
        tables.spent_proofs.retain(|digest, _| !proofs.contains(digest));
        tables.sessions.retain(|id, _| !sessions.contains(id));
        tables.pushed_requests.retain(|id, _| !pushed.contains(id));
        tables.device_requests.retain(|id, _| !devices.contains(id));
        tables.admin_requests.retain(|request, _| !requests.contains(request));
        let spent_rows = spent.len() + proofs.len();
        let (secrets, more_secrets) = tables.purge_secrets(command.before.time(), count(command.limit));
        let of_people = grants.len() + tokens.len() + spent_rows + sessions.len();
        let more_of_people = more_grants || more_tokens || more_spent || more_proofs || more_sessions;
        Ok(Purged {
            rows: count_of(of_people + pushed.len() + devices.len() + requests.len() + secrets),
            more: more_of_people || more_pushed || more_devices || more_requests || more_secrets,
        })
    }

    async fn forget_unused(&self, command: ForgetUnused) -> Result<Purged, StoreError> {
        Ok(self.tables().forget_unused(command))
    }

    async fn forget_documents(&self, command: ForgetDocuments) -> Result<DocumentsForgotten, StoreError> {
        Ok(self.tables().forget_documents(command))
    }

    async fn time_witness(&self) -> Result<TimeWitness, StoreError> {
        let tables = self.tables();
        let grants = tables.grants.values().map(|row| row.grant.authenticated_at);
        let newest = grants.chain(tables.tokens.values().map(|row| row.token.issued_at)).max();
        Ok(TimeWitness::Mark(tables.mark.or(newest.map(TimeMark::trusting))))
    }

    async fn mark_time(&self, mark: TimeMark) -> Result<(), StoreError> {
        self.tables().mark = Some(mark);
        Ok(())
    }

    async fn ping(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// The rows to delete, up to the limit, and whether there are more.
fn oldest_first<Id: Ord + Copy>(
    rows: impl Iterator<Item = (OffsetDateTime, Id)>,
    command: PurgeExpired,
) -> (Vec<Id>, bool) {
    let mut expired: Vec<_> =
        rows.filter(|(forget_after, _)| *forget_after < command.before.time()).collect();
    expired.sort_unstable();
    let more = expired.len() > count(command.limit);
    (expired.into_iter().take(count(command.limit)).map(|(_, id)| id).collect(), more)
}

fn count_of(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

fn count(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
