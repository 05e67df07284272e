//! The storage ports, one line for each operation.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_domain::admin_key::AdminKey;
use countersign_domain::admission::{Block, Standing};
use countersign_domain::checkpoint::SignedCheckpoint;
use countersign_domain::client::Client;
use countersign_domain::consent::Consent;
use countersign_domain::declaration::Declaration;
use countersign_domain::desk::proposal::Proposal;
use countersign_domain::device::DeviceRequest;
use countersign_domain::email::UserEmail;
use countersign_domain::epoch::Epoch;
use countersign_domain::event::{Event, Pseudonym};
use countersign_domain::event_push::ReceiverId;
use countersign_domain::forgetting::{TimeMark, TimeWitness};
use countersign_domain::grant::Grant;
use countersign_domain::group::{GroupName, Membership};
use countersign_domain::id::{AdminKeyId, ClientId, EventId, GrantId, SessionId, TokenId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::pushed_request::PushedRequest;
use countersign_domain::refresh::RefreshSnapshot;
use countersign_domain::resource::Resource;
use countersign_domain::secret::SecretHash;
use countersign_domain::signing_key::SealedKey;
use countersign_domain::token::AccessSnapshot;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    AccessEnded, Account, AccountStore, AddSigningKey, AdminKeyCreated, AdminKeyStore, AdvancePush,
    BeginDevice, BeginPush, BeginRequest, BlockPut, BlockStore, BlockedWallet, ChangeAccess, ChangeMember,
    ChangeResources, CheckpointAt, ClientStore, CompleteLogin, ConfirmEmail, ContinueSession, CountedGroup,
    CreateAdminKey, CreateGroup, CreateResource, DayCount, DeclarationStore, DeleteAccount, DeleteClient,
    DeleteGroup, DeleteResource, DenyDevice, DeskStore, DeviceBegun, DeviceDenied, DocumentsForgotten,
    EmailConfirmed, EmailPut, EndAccess, EndProposal, EndSession, EndSessions, EpochStore, EventAt,
    EventFilter, EventPage, EventPush, EventPushStore, EventStore, FindUses, ForgetDeclarations,
    ForgetDocuments, ForgetEvents, ForgetUnused, FoundEvent, GroupCreated, GroupMember, GroupStore,
    IfClientUnchanged, IfGroupUnchanged, IfResourceUnchanged, IssueTokens, KeyAdded, KeyStore, KnownAccess,
    LinkWallet, LinkedWallet, LoginCompleted, LoginStore, MemberAdded, MemberCursor, NameWallet, OpenSession,
    PeopleFilter, PeopleStore, Person, PersonListed, ProposalPage, PurgeExpired, Purged, PutBlock,
    PutDeclarations, PutEmail, PutProposal, RaiseEpoch, RedeemCode, Redeemed, RegisterClient, Registered,
    RemoveBlock, RemoveSigningKey, ReplayStore, Replica, RequestBegun, RequestStore, ResourceCreated,
    ResourceStore, ResourceUpdated, ResourceUses, RetitleGroup, RevokeAdminKey, RevokeConsent, RevokeGrant,
    RevokeToken, Revoked, RotateRefresh, RotateSecret, Rotated, SealEvents, Sealed, SecretRecord, SecretUse,
    SessionClient, SessionContinued, SessionOpened, SessionStore, SignOut, SpendProof, StoreError, TakeLease,
    TakeProposal, TakePushedRequest, TokenStore, TokensIssued, UnlinkWallet, UpdateClient, UpdateResource,
    Upkeep, WalletLinked, WalletStore, WalletUnlinked, WithdrawSigningKey,
};
use time::{Date, OffsetDateTime};

use crate::batch::Batches;
use crate::connection::ConnectionUrl;
use crate::migrate::{self, MigrateError};
use crate::ops::admin_keys::{
    begin_request, create_admin_key, find_admin_key, list_admin_keys, note_admin_key_use, revoke_admin_key,
};
use crate::ops::change_access::change_access;
use crate::ops::change_members::{add_member, remove_member};
use crate::ops::change_resources::change_resources;
use crate::ops::client_secrets::{note_secret_uses, rotate_secret, secrets_of};
use crate::ops::confirm_email::confirm_email;
use crate::ops::continue_session::continue_session;
use crate::ops::declarations::{forget_declarations, list_declarations, put_declarations};
use crate::ops::delete_account::delete_account;
use crate::ops::end_access::end_access;
use crate::ops::end_session::{end_session, end_sessions};
use crate::ops::epoch::{epoch, raise_epoch};
use crate::ops::event_push::{advance_push, begin_push, find_push};
use crate::ops::forget_documents::forget_documents;
use crate::ops::forget_events::forget_events;
use crate::ops::forget_unused::forget_unused;
use crate::ops::if_unchanged::{if_client_unchanged, if_group_unchanged, if_resource_unchanged};
use crate::ops::issue_tokens::issue_tokens;
use crate::ops::leases::take_lease;
use crate::ops::link_wallet::link_wallet;
use crate::ops::manage_clients::{delete_client, update_client};
use crate::ops::manage_groups::{create_group, delete_group, retitle_group};
use crate::ops::name_wallet::name_wallet;
use crate::ops::open_session::open_session;
use crate::ops::overview::{count_sessions, day_counts, forget_replica, note_replica, replicas};
use crate::ops::ping::ping;
use crate::ops::proposals::{
    end_proposal, find_proposal, forget_proposals, list_proposals, put_proposal, take_proposal,
};
use crate::ops::purge_expired::purge_expired;
use crate::ops::put_block::put_block;
use crate::ops::put_email::put_email;
use crate::ops::read::{find_owner, list_clients, wallets_of};
use crate::ops::read_account::{consents_at, find_account, find_email, find_session};
use crate::ops::read_blocks::{block_of_user, blocked_wallets};
use crate::ops::read_events::{
    checkpoints, count_events_of, events_of_request, find_event, fresh_events, last_checkpoint, list_events,
    sealed_events,
};
use crate::ops::read_groups::{find_group, list_groups, list_members, memberships_of};
use crate::ops::read_people::{find_person, list_people};
use crate::ops::record_event::record_event;
use crate::ops::remove_block::remove_block;
use crate::ops::remove_email::remove_email;
use crate::ops::requests::{
    begin_device, deny_device, find_device, find_device_by_user_code, push_request, take_pushed_request,
};
use crate::ops::resources::{create_resource, delete_resource, find_uses, list_resources, update_resource};
use crate::ops::revoke_consent::revoke_consent;
use crate::ops::seal_events::seal_events;
use crate::ops::sign_out::{clients_of_sessions, sign_out};
use crate::ops::signing_keys::{add_signing_key, remove_signing_key, signing_keys, withdraw_signing_key};
use crate::ops::time_witness::time_witness;
use crate::ops::unlink_wallet::unlink_wallet;
use crate::options::PgOptions;
use crate::pool::Pool;
use crate::together::read::{FindAccess, FindClient, FindGrant, FindRefresh, LivesOn};
use crate::together::standing::{AnythingBlocked, FindGroups, FindStanding};

/// Storage in PostgreSQL. Cheap to clone: clones share one pool.
#[derive(Clone)]
pub struct PgStorage {
    pool: Pool,
    batches: Arc<Batches>,
    migrated: Arc<[String]>,
}

impl PgStorage {
    /// Brings the schema up to date and opens a pool. Blocks: call it before serving, or from a thread that
    /// may block.
    ///
    /// The URL is libpq's, `postgres://user:password@host/database?sslmode=verify-full`. Its timeouts and
    /// keepalives replace our defaults. One parameter is ours: `pooler=transaction`, for a pooler that lends
    /// out a server connection for one transaction only. Then each statement is planned again every time.
    pub fn connect(url: &str, options: PgOptions) -> Result<Self, MigrateError> {
        let url = ConnectionUrl::parse(url)?;
        url.check()?;
        let migrated = migrate::run_pending(&url)?.into();
        let pool = Pool::new(url, options);
        let batches = Batches::start(&pool, options).map_err(MigrateError::Threads)?;
        Ok(Self { pool, batches: Arc::new(batches), migrated })
    }

    /// The names of the migrations that ran when the database was opened.
    pub fn migrated(&self) -> &[String] {
        &self.migrated
    }
}

impl fmt::Debug for PgStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgStorage").finish_non_exhaustive()
    }
}

#[async_trait]
impl ClientStore for PgStorage {
    async fn register_client(&self, command: RegisterClient) -> Result<Registered, StoreError> {
        self.batches.register_client.carry_out(command).await
    }

    async fn update_client(&self, command: UpdateClient) -> Result<bool, StoreError> {
        self.pool.run(move |connection| update_client(connection, &command)).await
    }

    async fn change_resources(&self, command: ChangeResources) -> Result<bool, StoreError> {
        self.pool.run(move |connection| change_resources(connection, &command)).await
    }

    async fn change_access(&self, command: ChangeAccess) -> Result<bool, StoreError> {
        self.pool.run(move |connection| change_access(connection, &command)).await
    }

    async fn rotate_secret(&self, command: RotateSecret) -> Result<bool, StoreError> {
        self.pool.run(move |connection| rotate_secret(connection, &command)).await
    }

    async fn note_secret_uses(&self, uses: Vec<SecretUse>) -> Result<(), StoreError> {
        self.pool.run(move |connection| note_secret_uses(connection, &uses)).await
    }

    async fn secrets_of(&self, client: ClientId) -> Result<Vec<SecretRecord>, StoreError> {
        self.pool.run(move |connection| secrets_of(connection, client)).await
    }

    async fn delete_client(&self, command: DeleteClient) -> Result<bool, StoreError> {
        self.pool.run(move |connection| delete_client(connection, &command)).await
    }

    async fn if_client_unchanged(&self, command: IfClientUnchanged) -> Result<bool, StoreError> {
        self.pool.run(move |connection| if_client_unchanged(connection, &command)).await
    }

    async fn find_client(&self, id: ClientId) -> Result<Option<Client>, StoreError> {
        self.batches.find_client.carry_out(FindClient(id)).await
    }

    async fn list_clients(&self, after: Option<ClientId>, limit: u32) -> Result<Vec<Client>, StoreError> {
        self.pool.run(move |connection| list_clients(connection, after, limit)).await
    }
}

#[async_trait]
impl ResourceStore for PgStorage {
    async fn create_resource(&self, command: CreateResource) -> Result<ResourceCreated, StoreError> {
        self.pool.run(move |connection| create_resource(connection, &command)).await
    }

    async fn update_resource(&self, command: UpdateResource) -> Result<ResourceUpdated, StoreError> {
        self.pool.run(move |connection| update_resource(connection, &command)).await
    }

    async fn delete_resource(&self, command: DeleteResource) -> Result<bool, StoreError> {
        self.pool.run(move |connection| delete_resource(connection, &command)).await
    }

    async fn if_resource_unchanged(
        &self,
        command: IfResourceUnchanged,
    ) -> Result<ResourceUpdated, StoreError> {
        self.pool.run(move |connection| if_resource_unchanged(connection, &command)).await
    }

    async fn list_resources(&self) -> Result<Vec<Resource>, StoreError> {
        self.pool.run(list_resources).await
    }

    async fn find_uses(&self, question: FindUses) -> Result<ResourceUses, StoreError> {
        self.pool.run(move |connection| find_uses(connection, &question)).await
    }
}

#[async_trait]
impl LoginStore for PgStorage {
    async fn complete_login(&self, command: CompleteLogin) -> Result<LoginCompleted, StoreError> {
        self.batches.complete_login.carry_out(command).await
    }
}

#[async_trait]
impl WalletStore for PgStorage {
    async fn link_wallet(&self, command: LinkWallet) -> Result<WalletLinked, StoreError> {
        self.pool.run(move |connection| link_wallet(connection, &command)).await
    }

    async fn unlink_wallet(&self, command: UnlinkWallet) -> Result<WalletUnlinked, StoreError> {
        self.pool.run(move |connection| unlink_wallet(connection, &command)).await
    }

    async fn find_owner(&self, wallet: WalletAccount) -> Result<Option<UserId>, StoreError> {
        self.pool.run(move |connection| find_owner(connection, &wallet)).await
    }

    async fn name_wallet(&self, command: NameWallet) -> Result<bool, StoreError> {
        self.pool.run(move |connection| name_wallet(connection, &command)).await
    }

    async fn wallets_of(&self, user: UserId) -> Result<Vec<LinkedWallet>, StoreError> {
        self.pool.run(move |connection| wallets_of(connection, user)).await
    }
}

#[async_trait]
impl SessionStore for PgStorage {
    async fn open_session(&self, command: OpenSession) -> Result<SessionOpened, StoreError> {
        self.pool.run(move |connection| open_session(connection, &command)).await
    }

    async fn find_session(&self, id: SessionId) -> Result<Option<LoginSession>, StoreError> {
        self.pool.run(move |connection| find_session(connection, id)).await
    }

    async fn continue_session(&self, command: ContinueSession) -> Result<SessionContinued, StoreError> {
        self.pool.run(move |connection| continue_session(connection, &command)).await
    }

    async fn sign_out(&self, command: SignOut) -> Result<bool, StoreError> {
        self.pool.run(move |connection| sign_out(connection, &command)).await
    }

    async fn clients_of_sessions(&self, user: UserId) -> Result<Vec<SessionClient>, StoreError> {
        self.pool.run(move |connection| clients_of_sessions(connection, user)).await
    }

    async fn end_session(&self, command: EndSession) -> Result<bool, StoreError> {
        self.pool.run(move |connection| end_session(connection, &command)).await
    }

    async fn end_sessions(&self, command: EndSessions) -> Result<u64, StoreError> {
        self.pool.run(move |connection| end_sessions(connection, &command)).await
    }
}

#[async_trait]
impl AccountStore for PgStorage {
    async fn consents_at(&self, user: UserId, client: ClientId) -> Result<Vec<Consent>, StoreError> {
        self.pool.run(move |connection| consents_at(connection, user, client)).await
    }

    async fn find_account(&self, user: UserId) -> Result<Option<Account>, StoreError> {
        self.pool.run(move |connection| find_account(connection, user)).await
    }

    async fn revoke_consent(&self, command: RevokeConsent) -> Result<bool, StoreError> {
        self.pool.run(move |connection| revoke_consent(connection, &command)).await
    }

    async fn find_email(&self, user: UserId) -> Result<Option<UserEmail>, StoreError> {
        self.pool.run(move |connection| find_email(connection, user)).await
    }

    async fn put_email(&self, command: PutEmail) -> Result<EmailPut, StoreError> {
        self.pool.run(move |connection| put_email(connection, &command)).await
    }

    async fn confirm_email(&self, command: ConfirmEmail) -> Result<EmailConfirmed, StoreError> {
        self.pool.run(move |connection| confirm_email(connection, &command)).await
    }

    async fn remove_email(&self, user: UserId) -> Result<bool, StoreError> {
        self.pool.run(move |connection| remove_email(connection, user)).await
    }

    async fn delete_account(&self, command: DeleteAccount) -> Result<bool, StoreError> {
        self.pool.run(move |connection| delete_account(connection, &command)).await
    }
}

#[async_trait]
impl GroupStore for PgStorage {
    async fn create_group(&self, command: CreateGroup) -> Result<GroupCreated, StoreError> {
        self.pool.run(move |connection| create_group(connection, &command)).await
    }

    async fn retitle_group(&self, command: RetitleGroup) -> Result<bool, StoreError> {
        self.pool.run(move |connection| retitle_group(connection, &command)).await
    }

    async fn delete_group(&self, command: DeleteGroup) -> Result<bool, StoreError> {
        self.pool.run(move |connection| delete_group(connection, &command)).await
    }

    async fn if_group_unchanged(&self, command: IfGroupUnchanged) -> Result<bool, StoreError> {
        self.pool.run(move |connection| if_group_unchanged(connection, &command)).await
    }

    async fn find_group(&self, name: &GroupName) -> Result<Option<CountedGroup>, StoreError> {
        let name = name.clone();
        self.pool.run(move |connection| find_group(connection, &name)).await
    }

    async fn list_groups(
        &self,
        after: Option<&GroupName>,
        limit: u32,
    ) -> Result<Vec<CountedGroup>, StoreError> {
        let after = after.cloned();
        self.pool.run(move |connection| list_groups(connection, after.as_ref(), limit)).await
    }

    async fn add_member(&self, command: ChangeMember) -> Result<MemberAdded, StoreError> {
        self.pool.run(move |connection| add_member(connection, &command)).await
    }

    async fn remove_member(&self, command: ChangeMember) -> Result<bool, StoreError> {
        self.pool.run(move |connection| remove_member(connection, &command)).await
    }

    async fn list_members(
        &self,
        group: &GroupName,
        after: Option<&MemberCursor>,
        limit: u32,
    ) -> Result<Vec<GroupMember>, StoreError> {
        let (group, after) = (group.clone(), after.cloned());
        self.pool.run(move |connection| list_members(connection, &group, after.as_ref(), limit)).await
    }

    async fn memberships_of(&self, user: UserId) -> Result<Vec<Membership>, StoreError> {
        self.pool.run(move |connection| memberships_of(connection, user)).await
    }

    async fn standing_of(&self, wallet: &WalletAccount) -> Result<Standing, StoreError> {
        self.batches.standing_of.carry_out(FindStanding(wallet.clone())).await
    }

    async fn groups_of(&self, user: UserId) -> Result<Vec<GroupName>, StoreError> {
        self.batches.groups_of.carry_out(FindGroups(user)).await
    }
}

#[async_trait]
impl BlockStore for PgStorage {
    async fn put_block(&self, command: PutBlock) -> Result<BlockPut, StoreError> {
        self.pool.run(move |connection| put_block(connection, &command)).await
    }

    async fn remove_block(&self, command: RemoveBlock) -> Result<bool, StoreError> {
        self.pool.run(move |connection| remove_block(connection, &command)).await
    }

    async fn end_access(&self, command: EndAccess) -> Result<AccessEnded, StoreError> {
        self.pool.run(move |connection| end_access(connection, &command)).await
    }

    async fn anything_blocked(&self) -> Result<bool, StoreError> {
        self.batches.anything_blocked.carry_out(AnythingBlocked).await
    }

    async fn block_of_user(&self, user: UserId) -> Result<Option<Block>, StoreError> {
        self.pool.run(move |connection| block_of_user(connection, user)).await
    }

    async fn blocked_wallets(
        &self,
        after: Option<&WalletAccount>,
        limit: u32,
    ) -> Result<Vec<BlockedWallet>, StoreError> {
        let after = after.cloned();
        self.pool.run(move |connection| blocked_wallets(connection, after.as_ref(), limit)).await
    }
}

#[async_trait]
impl DeclarationStore for PgStorage {
    async fn put_declarations(&self, command: PutDeclarations) -> Result<(), StoreError> {
        self.pool.run(move |connection| put_declarations(connection, &command)).await
    }

    async fn forget_declarations(&self, command: ForgetDeclarations) -> Result<(), StoreError> {
        self.pool.run(move |connection| forget_declarations(connection, &command)).await
    }

    async fn list_declarations(&self) -> Result<Vec<Declaration>, StoreError> {
        self.pool.run(list_declarations).await
    }
}

#[async_trait]
impl PeopleStore for PgStorage {
    async fn list_people(
        &self,
        filter: &PeopleFilter,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<PersonListed>, StoreError> {
        let filter = filter.clone();
        self.pool.run(move |connection| list_people(connection, &filter, after, limit)).await
    }

    async fn find_person(&self, user: UserId, now: OffsetDateTime) -> Result<Option<Person>, StoreError> {
        self.pool.run(move |connection| find_person(connection, user, now)).await
    }
}

#[async_trait]
impl EventStore for PgStorage {
    async fn record_event(&self, event: Event) -> Result<bool, StoreError> {
        self.pool.run(move |connection| record_event(connection, &event)).await
    }

    async fn list_events(&self, filter: &EventFilter, page: EventPage) -> Result<Vec<Event>, StoreError> {
        let filter = filter.clone();
        self.pool.run(move |connection| list_events(connection, &filter, page)).await
    }

    async fn find_event(&self, id: EventId) -> Result<Option<FoundEvent>, StoreError> {
        self.pool.run(move |connection| find_event(connection, id)).await
    }

    async fn fresh_events(&self, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.pool.run(move |connection| fresh_events(connection, limit)).await
    }

    async fn seal_events(&self, command: SealEvents) -> Result<Sealed, StoreError> {
        self.pool.run(move |connection| seal_events(connection, &command)).await
    }

    async fn last_checkpoint(&self) -> Result<Option<SignedCheckpoint>, StoreError> {
        self.pool.run(last_checkpoint).await
    }

    async fn checkpoints(&self, after: u64, limit: u32) -> Result<Vec<CheckpointAt>, StoreError> {
        self.pool.run(move |connection| checkpoints(connection, after, limit)).await
    }

    async fn sealed_events(&self, after: u64, limit: u32) -> Result<Vec<EventAt>, StoreError> {
        self.pool.run(move |connection| sealed_events(connection, after, limit)).await
    }

    async fn count_events_of(&self, pseudonym: Pseudonym) -> Result<u64, StoreError> {
        self.pool.run(move |connection| count_events_of(connection, pseudonym)).await
    }

    async fn forget_events(&self, command: ForgetEvents) -> Result<u64, StoreError> {
        self.pool.run(move |connection| forget_events(connection, command)).await
    }

    async fn take_lease(&self, command: TakeLease) -> Result<bool, StoreError> {
        self.pool.run(move |connection| take_lease(connection, &command)).await
    }
}

#[async_trait]
impl EventPushStore for PgStorage {
    async fn begin_push(&self, command: BeginPush) -> Result<bool, StoreError> {
        self.pool.run(move |connection| begin_push(connection, &command)).await
    }

    async fn find_push(&self, receiver: ReceiverId) -> Result<Option<EventPush>, StoreError> {
        self.pool.run(move |connection| find_push(connection, receiver)).await
    }

    async fn advance_push(&self, command: AdvancePush) -> Result<bool, StoreError> {
        self.pool.run(move |connection| advance_push(connection, &command)).await
    }
}

#[async_trait]
impl DeskStore for PgStorage {
    async fn put_proposal(&self, command: PutProposal) -> Result<bool, StoreError> {
        self.pool.run(move |connection| put_proposal(connection, &command)).await
    }

    async fn find_proposal(&self, id: GrantId) -> Result<Option<Proposal>, StoreError> {
        self.pool.run(move |connection| find_proposal(connection, id)).await
    }

    async fn list_proposals(&self, page: ProposalPage) -> Result<Vec<Proposal>, StoreError> {
        self.pool.run(move |connection| list_proposals(connection, page)).await
    }

    async fn take_proposal(&self, command: TakeProposal) -> Result<bool, StoreError> {
        self.pool.run(move |connection| take_proposal(connection, &command)).await
    }

    async fn end_proposal(&self, command: EndProposal) -> Result<bool, StoreError> {
        self.pool.run(move |connection| end_proposal(connection, &command)).await
    }

    async fn forget_proposals(&self, before: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        self.pool.run(move |connection| forget_proposals(connection, before, limit)).await
    }

    async fn events_of_request(&self, request: &str, limit: u32) -> Result<Vec<Event>, StoreError> {
        let request = request.to_owned();
        self.pool.run(move |connection| events_of_request(connection, &request, limit)).await
    }

    async fn day_counts(&self, since: Date) -> Result<Vec<DayCount>, StoreError> {
        self.pool.run(move |connection| day_counts(connection, since)).await
    }

    async fn count_sessions(&self, now: OffsetDateTime, at_most: u32) -> Result<u32, StoreError> {
        self.pool.run(move |connection| count_sessions(connection, now, at_most)).await
    }

    async fn note_replica(&self, replica: Replica, forget_before: OffsetDateTime) -> Result<(), StoreError> {
        self.pool.run(move |connection| note_replica(connection, &replica, forget_before)).await
    }

    async fn forget_replica(&self, id: [u8; 16]) -> Result<(), StoreError> {
        self.pool.run(move |connection| forget_replica(connection, id)).await
    }

    async fn replicas(&self, since: OffsetDateTime) -> Result<Vec<Replica>, StoreError> {
        self.pool.run(move |connection| replicas(connection, since)).await
    }
}

#[async_trait]
impl EpochStore for PgStorage {
    async fn epoch(&self) -> Result<Option<Epoch>, StoreError> {
        self.pool.run(epoch).await
    }

    async fn raise_epoch(&self, command: RaiseEpoch) -> Result<Epoch, StoreError> {
        self.pool.run(move |connection| raise_epoch(connection, &command)).await
    }
}

#[async_trait]
impl TokenStore for PgStorage {
    async fn find_grant(&self, id: GrantId) -> Result<Option<Grant>, StoreError> {
        self.batches.find_grant.carry_out(FindGrant(id)).await
    }

    async fn redeem_code(&self, command: RedeemCode) -> Result<Redeemed, StoreError> {
        self.batches.redeem_code.carry_out(command).await
    }

    async fn issue_tokens(&self, command: IssueTokens) -> Result<TokensIssued, StoreError> {
        self.pool.run(move |connection| issue_tokens(connection, &command)).await
    }

    async fn find_refresh(&self, id: TokenId) -> Result<Option<RefreshSnapshot>, StoreError> {
        self.batches.find_refresh.carry_out(FindRefresh(id)).await
    }

    async fn rotate_refresh(&self, command: RotateRefresh) -> Result<Rotated, StoreError> {
        self.batches.rotate_refresh.carry_out(command).await
    }

    async fn find_access(&self, id: TokenId) -> Result<Option<AccessSnapshot>, StoreError> {
        self.batches.find_access.carry_out(FindAccess(id)).await
    }

    async fn lives_on(&self, access: KnownAccess) -> Result<bool, StoreError> {
        self.batches.lives_on.carry_out(LivesOn(access)).await
    }

    async fn revoke_token(&self, command: RevokeToken) -> Result<Revoked, StoreError> {
        self.batches.revoke_token.carry_out(command).await
    }

    async fn revoke_grant(&self, command: RevokeGrant) -> Result<Revoked, StoreError> {
        self.batches.revoke_grant.carry_out(command).await
    }
}

#[async_trait]
impl RequestStore for PgStorage {
    async fn push_request(&self, request: PushedRequest) -> Result<(), StoreError> {
        self.pool.run(move |connection| push_request(connection, &request)).await
    }

    async fn take_pushed_request(&self, command: TakePushedRequest) -> Result<Option<String>, StoreError> {
        self.pool.run(move |connection| take_pushed_request(connection, command)).await
    }

    async fn begin_device(&self, command: BeginDevice) -> Result<DeviceBegun, StoreError> {
        self.pool.run(move |connection| begin_device(connection, &command)).await
    }

    async fn find_device(&self, id: GrantId) -> Result<Option<DeviceRequest>, StoreError> {
        self.pool.run(move |connection| find_device(connection, id)).await
    }

    async fn find_device_by_user_code(&self, hash: SecretHash) -> Result<Option<DeviceRequest>, StoreError> {
        self.pool.run(move |connection| find_device_by_user_code(connection, hash)).await
    }

    async fn deny_device(&self, command: DenyDevice) -> Result<DeviceDenied, StoreError> {
        self.pool.run(move |connection| deny_device(connection, command)).await
    }
}

#[async_trait]
impl KeyStore for PgStorage {
    async fn add_signing_key(&self, command: AddSigningKey) -> Result<KeyAdded, StoreError> {
        self.pool.run(move |connection| add_signing_key(connection, &command)).await
    }

    async fn withdraw_signing_key(&self, command: WithdrawSigningKey) -> Result<bool, StoreError> {
        self.pool.run(move |connection| withdraw_signing_key(connection, &command)).await
    }

    async fn remove_signing_key(&self, command: RemoveSigningKey) -> Result<bool, StoreError> {
        self.pool.run(move |connection| remove_signing_key(connection, &command)).await
    }

    async fn signing_keys(&self) -> Result<Vec<SealedKey>, StoreError> {
        self.pool.run(signing_keys).await
    }
}

#[async_trait]
impl AdminKeyStore for PgStorage {
    async fn create_admin_key(&self, command: CreateAdminKey) -> Result<AdminKeyCreated, StoreError> {
        self.pool.run(move |connection| create_admin_key(connection, &command)).await
    }

    async fn revoke_admin_key(&self, command: RevokeAdminKey) -> Result<bool, StoreError> {
        self.pool.run(move |connection| revoke_admin_key(connection, &command)).await
    }

    async fn note_admin_key_use(&self, id: AdminKeyId, used_at: OffsetDateTime) -> Result<(), StoreError> {
        self.pool.run(move |connection| note_admin_key_use(connection, id, used_at)).await
    }

    async fn find_admin_key(&self, id: AdminKeyId) -> Result<Option<AdminKey>, StoreError> {
        self.pool.run(move |connection| find_admin_key(connection, id)).await
    }

    async fn list_admin_keys(&self) -> Result<Vec<AdminKey>, StoreError> {
        self.pool.run(list_admin_keys).await
    }

    async fn begin_request(&self, command: BeginRequest) -> Result<RequestBegun, StoreError> {
        self.pool.run(move |connection| begin_request(connection, &command)).await
    }
}

#[async_trait]
impl ReplayStore for PgStorage {
    async fn spend_proof(&self, command: SpendProof) -> Result<bool, StoreError> {
        self.batches.spend_proof.carry_out(command).await
    }
}

#[async_trait]
impl Upkeep for PgStorage {
    async fn purge_expired(&self, command: PurgeExpired) -> Result<Purged, StoreError> {
        self.pool.run(move |connection| purge_expired(connection, command)).await
    }

    async fn forget_unused(&self, command: ForgetUnused) -> Result<Purged, StoreError> {
        self.pool.run(move |connection| forget_unused(connection, command)).await
    }

    async fn forget_documents(&self, command: ForgetDocuments) -> Result<DocumentsForgotten, StoreError> {
        self.pool.run(move |connection| forget_documents(connection, command)).await
    }

    async fn time_witness(&self) -> Result<TimeWitness, StoreError> {
        self.pool.run(time_witness).await
    }

    async fn mark_time(&self, _mark: TimeMark) -> Result<(), StoreError> {
        Ok(())
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.pool.run(ping).await
    }
}
