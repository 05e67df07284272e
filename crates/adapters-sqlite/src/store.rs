//! The storage ports: commands go to the writer, look-ups to a reader.

use std::fmt;
use std::path::Path;
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
use countersign_group_commit::{GroupCommit, Limits};
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
use diesel::SqliteConnection;
use time::{Date, OffsetDateTime};
use tokio::sync::Semaphore;

use crate::error::{MigrateError, OpenError, SqliteError, refused, store_error};
use crate::executor::{SqliteExecutor, Write};
use crate::file::DatabaseFile;
use crate::migrate;
use crate::ops::admin_keys::{self, NoteAdminKeyUse};
use crate::ops::change_members::{AddMember, RemoveMember};
use crate::ops::client_secrets::NoteSecretUses;
use crate::ops::overview::{ForgetReplica, NoteReplica};
use crate::ops::ping::Ping;
use crate::ops::proposals::ForgetProposals;
use crate::ops::record_event::RecordEvent;
use crate::ops::remove_email::RemoveEmail;
use crate::ops::{
    client_secrets, declarations, epoch, event_push, overview, proposals, read, read_account, read_blocks,
    read_events, read_groups, read_people, requests, resources, sign_out, signing_keys, time_witness,
};
use crate::options::SqliteOptions;
use crate::pool::{self, Readers};

/// What the writer has done since the database was opened.
pub use countersign_group_commit::Stats as WriteStats;

/// Storage in one SQLite file.
pub struct SqliteStorage {
    file: DatabaseFile,
    writer: Arc<GroupCommit<SqliteExecutor>>,
    readers: Readers,
    /// One permit for each reader, so that no more blocking threads are used than there are connections.
    reading: Arc<Semaphore>,
    /// One permit for each read that is running or waiting.
    admitted: Semaphore,
    migrated: Vec<String>,
}

impl SqliteStorage {
    /// Opens a database and brings its schema up to date. A file that does not exist is created, with its
    /// folder, readable by its owner only. Blocks: call it before serving, or from a thread that may block.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, OpenError> {
        let file = DatabaseFile::at(path)?;
        let migrated = migrate::run(&file)?;
        let connect = |error: SqliteError| OpenError::Connect { path: file.path(), source: Box::new(error) };
        let executor = SqliteExecutor::open(file.clone(), options).map_err(connect)?;
        let readers = pool::connect_readers(&file, &options).map_err(connect)?;
        let limits = Limits { queue: options.waiting_writes, batch: options.batch };
        let writer = Arc::new(GroupCommit::start("sqlite-writer", limits, executor)?);
        let (running, waiting) = (permits(options.readers.max(1)), permits(options.waiting_reads));
        Ok(Self {
            file,
            writer,
            readers,
            reading: Arc::new(Semaphore::new(running)),
            admitted: Semaphore::new(running.saturating_add(waiting).min(Semaphore::MAX_PERMITS)),
            migrated,
        })
    }

    /// The names of the migrations that ran when the database was opened.
    pub fn migrated(&self) -> &[String] {
        &self.migrated
    }

    /// Runs the migrations that the database does not have yet and returns their names. After
    /// [`SqliteStorage::open`] there are none. Blocks.
    pub fn migrate(&self) -> Result<Vec<String>, MigrateError> {
        migrate::run(&self.file)
    }

    /// What the writer has done so far.
    pub fn write_stats(&self) -> WriteStats {
        self.writer.stats()
    }

    /// How many writes are waiting for the writer now.
    pub fn waiting_writes(&self) -> usize {
        self.writer.waiting()
    }

    /// Accepts no more writes and carries out those that are waiting. Reads still work.
    pub async fn shutdown(&self) {
        let writer = Arc::clone(&self.writer);
        if let Err(error) = tokio::task::spawn_blocking(move || writer.shutdown()).await {
            tracing::error!(error = &error as &dyn std::error::Error, "waiting for the writer failed");
        }
    }

    async fn write<C: Write>(&self, command: C) -> Result<C::Outcome, StoreError> {
        let outcome = self.writer.submit(command.into_command()).await.map_err(refused)?;
        C::outcome(outcome).ok_or_else(|| StoreError::Failed("writer answered another command".into()))
    }

    /// Looks something up. If a reader is free, the caller does it at once: reading a few rows by their keys
    /// costs less than waking another thread. Otherwise a thread that may block waits for a reader.
    async fn read<T: Send + 'static>(
        &self,
        look_up: impl FnOnce(&mut SqliteConnection) -> Result<T, SqliteError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let _admitted = self.admitted.try_acquire().map_err(|_| StoreError::Overloaded)?;
        if let Ok(_turn) = self.reading.try_acquire()
            && let Some(mut reader) = self.readers.try_get()
        {
            return look_up(&mut reader).map_err(|error| store_error(Arc::new(error)));
        }
        let turn = Arc::clone(&self.reading)
            .acquire_owned()
            .await
            .map_err(|closed| StoreError::Unavailable(Box::new(closed)))?;
        let readers = self.readers.clone();
        let result = tokio::task::spawn_blocking(move || {
            let found = readers.get().map_err(SqliteError::from).and_then(|mut reader| look_up(&mut reader));
            // Returned here, not when the future ends: otherwise a caller who gives up would let one reader
            // too many in.
            drop(turn);
            found
        });
        match result.await {
            Ok(found) => found.map_err(|error| store_error(Arc::new(error))),
            Err(panicked) => Err(StoreError::Failed(Box::new(panicked))),
        }
    }
}

impl fmt::Debug for SqliteStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStorage")
            .field("file", &self.file)
            .field("writer", &self.writer)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl ClientStore for SqliteStorage {
    async fn register_client(&self, command: RegisterClient) -> Result<Registered, StoreError> {
        self.write(command).await
    }

    async fn update_client(&self, command: UpdateClient) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn change_resources(&self, command: ChangeResources) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn change_access(&self, command: ChangeAccess) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn rotate_secret(&self, command: RotateSecret) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn note_secret_uses(&self, uses: Vec<SecretUse>) -> Result<(), StoreError> {
        self.write(NoteSecretUses(uses)).await
    }

    async fn secrets_of(&self, client: ClientId) -> Result<Vec<SecretRecord>, StoreError> {
        self.read(move |reader| client_secrets::secrets_of(reader, client)).await
    }

    async fn delete_client(&self, command: DeleteClient) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn if_client_unchanged(&self, command: IfClientUnchanged) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn find_client(&self, id: ClientId) -> Result<Option<Client>, StoreError> {
        self.read(move |reader| read::find_client(reader, id)).await
    }

    async fn list_clients(&self, after: Option<ClientId>, limit: u32) -> Result<Vec<Client>, StoreError> {
        self.read(move |reader| read::list_clients(reader, after, limit)).await
    }
}

#[async_trait]
impl ResourceStore for SqliteStorage {
    async fn create_resource(&self, command: CreateResource) -> Result<ResourceCreated, StoreError> {
        self.write(command).await
    }

    async fn update_resource(&self, command: UpdateResource) -> Result<ResourceUpdated, StoreError> {
        self.write(command).await
    }

    async fn delete_resource(&self, command: DeleteResource) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn if_resource_unchanged(
        &self,
        command: IfResourceUnchanged,
    ) -> Result<ResourceUpdated, StoreError> {
        self.write(command).await
    }

    async fn list_resources(&self) -> Result<Vec<Resource>, StoreError> {
        self.read(resources::list_resources).await
    }

    async fn find_uses(&self, question: FindUses) -> Result<ResourceUses, StoreError> {
        self.read(move |reader| resources::find_uses(reader, &question)).await
    }
}

#[async_trait]
impl LoginStore for SqliteStorage {
    async fn complete_login(&self, command: CompleteLogin) -> Result<LoginCompleted, StoreError> {
        self.write(command).await
    }
}

#[async_trait]
impl WalletStore for SqliteStorage {
    async fn link_wallet(&self, command: LinkWallet) -> Result<WalletLinked, StoreError> {
        self.write(command).await
    }

    async fn unlink_wallet(&self, command: UnlinkWallet) -> Result<WalletUnlinked, StoreError> {
        self.write(command).await
    }

    async fn find_owner(&self, wallet: WalletAccount) -> Result<Option<UserId>, StoreError> {
        self.read(move |reader| read::find_owner(reader, &wallet)).await
    }

    async fn name_wallet(&self, command: NameWallet) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn wallets_of(&self, user: UserId) -> Result<Vec<LinkedWallet>, StoreError> {
        self.read(move |reader| read::wallets_of(reader, user)).await
    }
}

#[async_trait]
impl SessionStore for SqliteStorage {
    async fn open_session(&self, command: OpenSession) -> Result<SessionOpened, StoreError> {
        self.write(command).await
    }

    async fn find_session(&self, id: SessionId) -> Result<Option<LoginSession>, StoreError> {
        self.read(move |reader| read_account::find_session(reader, id)).await
    }

    async fn continue_session(&self, command: ContinueSession) -> Result<SessionContinued, StoreError> {
        self.write(command).await
    }

    async fn sign_out(&self, command: SignOut) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn clients_of_sessions(&self, user: UserId) -> Result<Vec<SessionClient>, StoreError> {
        self.read(move |reader| sign_out::clients_of_sessions(reader, user)).await
    }

    async fn end_session(&self, command: EndSession) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn end_sessions(&self, command: EndSessions) -> Result<u64, StoreError> {
        self.write(command).await
    }
}

#[async_trait]
impl AccountStore for SqliteStorage {
    async fn consents_at(&self, user: UserId, client: ClientId) -> Result<Vec<Consent>, StoreError> {
        self.read(move |reader| read_account::consents_at(reader, user, client)).await
    }

    async fn find_account(&self, user: UserId) -> Result<Option<Account>, StoreError> {
        self.read(move |reader| read_account::find_account(reader, user)).await
    }

    async fn revoke_consent(&self, command: RevokeConsent) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn find_email(&self, user: UserId) -> Result<Option<UserEmail>, StoreError> {
        self.read(move |reader| read_account::find_email(reader, user)).await
    }

    async fn put_email(&self, command: PutEmail) -> Result<EmailPut, StoreError> {
        self.write(command).await
    }

    async fn confirm_email(&self, command: ConfirmEmail) -> Result<EmailConfirmed, StoreError> {
        self.write(command).await
    }

    async fn remove_email(&self, user: UserId) -> Result<bool, StoreError> {
        self.write(RemoveEmail { user }).await
    }

    async fn delete_account(&self, command: DeleteAccount) -> Result<bool, StoreError> {
        self.write(command).await
    }
}

#[async_trait]
impl GroupStore for SqliteStorage {
    async fn create_group(&self, command: CreateGroup) -> Result<GroupCreated, StoreError> {
        self.write(command).await
    }

    async fn retitle_group(&self, command: RetitleGroup) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn delete_group(&self, command: DeleteGroup) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn if_group_unchanged(&self, command: IfGroupUnchanged) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn find_group(&self, name: &GroupName) -> Result<Option<CountedGroup>, StoreError> {
        let name = name.clone();
        self.read(move |reader| read_groups::find_group(reader, &name)).await
    }

    async fn list_groups(
        &self,
        after: Option<&GroupName>,
        limit: u32,
    ) -> Result<Vec<CountedGroup>, StoreError> {
        let after = after.cloned();
        self.read(move |reader| read_groups::list_groups(reader, after.as_ref(), limit)).await
    }

    async fn add_member(&self, command: ChangeMember) -> Result<MemberAdded, StoreError> {
        self.write(AddMember(command)).await
    }

    async fn remove_member(&self, command: ChangeMember) -> Result<bool, StoreError> {
        self.write(RemoveMember(command)).await
    }

    async fn list_members(
        &self,
        group: &GroupName,
        after: Option<&MemberCursor>,
        limit: u32,
    ) -> Result<Vec<GroupMember>, StoreError> {
        let (group, after) = (group.clone(), after.cloned());
        self.read(move |reader| read_groups::list_members(reader, &group, after.as_ref(), limit)).await
    }

    async fn memberships_of(&self, user: UserId) -> Result<Vec<Membership>, StoreError> {
        self.read(move |reader| read_groups::memberships_of(reader, user)).await
    }

    async fn standing_of(&self, wallet: &WalletAccount) -> Result<Standing, StoreError> {
        let wallet = wallet.clone();
        self.read(move |reader| read_groups::standing_of(reader, &wallet)).await
    }

    async fn groups_of(&self, user: UserId) -> Result<Vec<GroupName>, StoreError> {
        self.read(move |reader| read_groups::groups_of(reader, user)).await
    }
}

#[async_trait]
impl BlockStore for SqliteStorage {
    async fn put_block(&self, command: PutBlock) -> Result<BlockPut, StoreError> {
        self.write(command).await
    }

    async fn remove_block(&self, command: RemoveBlock) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn end_access(&self, command: EndAccess) -> Result<AccessEnded, StoreError> {
        self.write(command).await
    }

    async fn anything_blocked(&self) -> Result<bool, StoreError> {
        self.read(read_blocks::anything_blocked).await
    }

    async fn block_of_user(&self, user: UserId) -> Result<Option<Block>, StoreError> {
        self.read(move |reader| read_blocks::block_of_user(reader, user)).await
    }

    async fn blocked_wallets(
        &self,
        after: Option<&WalletAccount>,
        limit: u32,
    ) -> Result<Vec<BlockedWallet>, StoreError> {
        let after = after.cloned();
        self.read(move |reader| read_blocks::blocked_wallets(reader, after.as_ref(), limit)).await
    }
}

#[async_trait]
impl DeclarationStore for SqliteStorage {
    async fn put_declarations(&self, command: PutDeclarations) -> Result<(), StoreError> {
        self.write(command).await
    }

    async fn forget_declarations(&self, command: ForgetDeclarations) -> Result<(), StoreError> {
        self.write(command).await
    }

    async fn list_declarations(&self) -> Result<Vec<Declaration>, StoreError> {
        self.read(declarations::list_declarations).await
    }
}

#[async_trait]
impl PeopleStore for SqliteStorage {
    async fn list_people(
        &self,
        filter: &PeopleFilter,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<PersonListed>, StoreError> {
        let filter = filter.clone();
        self.read(move |reader| read_people::list_people(reader, &filter, after, limit)).await
    }

    async fn find_person(&self, user: UserId, now: OffsetDateTime) -> Result<Option<Person>, StoreError> {
        self.read(move |reader| read_people::find_person(reader, user, now)).await
    }
}

#[async_trait]
impl EventStore for SqliteStorage {
    async fn record_event(&self, event: Event) -> Result<bool, StoreError> {
        self.write(RecordEvent(event)).await
    }

    async fn list_events(&self, filter: &EventFilter, page: EventPage) -> Result<Vec<Event>, StoreError> {
        let filter = filter.clone();
        self.read(move |reader| read_events::list_events(reader, &filter, page)).await
    }

    async fn find_event(&self, id: EventId) -> Result<Option<FoundEvent>, StoreError> {
        self.read(move |reader| read_events::find_event(reader, id)).await
    }

    async fn fresh_events(&self, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.read(move |reader| read_events::fresh_events(reader, limit)).await
    }

    async fn seal_events(&self, command: SealEvents) -> Result<Sealed, StoreError> {
        self.write(command).await
    }

    async fn last_checkpoint(&self) -> Result<Option<SignedCheckpoint>, StoreError> {
        self.read(read_events::last_checkpoint).await
    }

    async fn checkpoints(&self, after: u64, limit: u32) -> Result<Vec<CheckpointAt>, StoreError> {
        self.read(move |reader| read_events::checkpoints(reader, after, limit)).await
    }

    async fn sealed_events(&self, after: u64, limit: u32) -> Result<Vec<EventAt>, StoreError> {
        self.read(move |reader| read_events::sealed_events(reader, after, limit)).await
    }

    async fn count_events_of(&self, pseudonym: Pseudonym) -> Result<u64, StoreError> {
        self.read(move |reader| read_events::count_events_of(reader, pseudonym)).await
    }

    async fn forget_events(&self, command: ForgetEvents) -> Result<u64, StoreError> {
        self.write(command).await
    }

    async fn take_lease(&self, command: TakeLease) -> Result<bool, StoreError> {
        self.write(command).await
    }
}

#[async_trait]
impl EventPushStore for SqliteStorage {
    async fn begin_push(&self, command: BeginPush) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn find_push(&self, receiver: ReceiverId) -> Result<Option<EventPush>, StoreError> {
        self.read(move |reader| event_push::find_push(reader, receiver)).await
    }

    async fn advance_push(&self, command: AdvancePush) -> Result<bool, StoreError> {
        self.write(command).await
    }
}

#[async_trait]
impl DeskStore for SqliteStorage {
    async fn put_proposal(&self, command: PutProposal) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn find_proposal(&self, id: GrantId) -> Result<Option<Proposal>, StoreError> {
        self.read(move |reader| proposals::find_proposal(reader, id)).await
    }

    async fn list_proposals(&self, page: ProposalPage) -> Result<Vec<Proposal>, StoreError> {
        self.read(move |reader| proposals::list_proposals(reader, page)).await
    }

    async fn take_proposal(&self, command: TakeProposal) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn end_proposal(&self, command: EndProposal) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn forget_proposals(&self, before: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        self.write(ForgetProposals { before, limit }).await
    }

    async fn events_of_request(&self, request: &str, limit: u32) -> Result<Vec<Event>, StoreError> {
        let request = request.to_owned();
        self.read(move |reader| read_events::events_of_request(reader, &request, limit)).await
    }

    async fn day_counts(&self, since: Date) -> Result<Vec<DayCount>, StoreError> {
        self.read(move |reader| overview::day_counts(reader, since)).await
    }

    async fn count_sessions(&self, now: OffsetDateTime, at_most: u32) -> Result<u32, StoreError> {
        self.read(move |reader| overview::count_sessions(reader, now, at_most)).await
    }

    async fn note_replica(&self, replica: Replica, forget_before: OffsetDateTime) -> Result<(), StoreError> {
        self.write(NoteReplica { replica, forget_before }).await
    }

    async fn forget_replica(&self, id: [u8; 16]) -> Result<(), StoreError> {
        self.write(ForgetReplica { id }).await
    }

    async fn replicas(&self, since: OffsetDateTime) -> Result<Vec<Replica>, StoreError> {
        self.read(move |reader| overview::replicas(reader, since)).await
    }
}

#[async_trait]
impl EpochStore for SqliteStorage {
    async fn epoch(&self) -> Result<Option<Epoch>, StoreError> {
        self.read(epoch::epoch).await
    }

    async fn raise_epoch(&self, command: RaiseEpoch) -> Result<Epoch, StoreError> {
        self.write(command).await
    }
}

#[async_trait]
impl TokenStore for SqliteStorage {
    async fn find_grant(&self, id: GrantId) -> Result<Option<Grant>, StoreError> {
        self.read(move |reader| read::find_grant(reader, id)).await
    }

    async fn redeem_code(&self, command: RedeemCode) -> Result<Redeemed, StoreError> {
        self.write(command).await
    }

    async fn issue_tokens(&self, command: IssueTokens) -> Result<TokensIssued, StoreError> {
        self.write(command).await
    }

    async fn find_refresh(&self, id: TokenId) -> Result<Option<RefreshSnapshot>, StoreError> {
        self.read(move |reader| read::find_refresh(reader, id)).await
    }

    async fn rotate_refresh(&self, command: RotateRefresh) -> Result<Rotated, StoreError> {
        self.write(command).await
    }

    async fn find_access(&self, id: TokenId) -> Result<Option<AccessSnapshot>, StoreError> {
        self.read(move |reader| read::find_access(reader, id)).await
    }

    async fn lives_on(&self, access: KnownAccess) -> Result<bool, StoreError> {
        self.read(move |reader| read::lives_on(reader, access)).await
    }

    async fn revoke_token(&self, command: RevokeToken) -> Result<Revoked, StoreError> {
        self.write(command).await
    }

    async fn revoke_grant(&self, command: RevokeGrant) -> Result<Revoked, StoreError> {
        self.write(command).await
    }
}

#[async_trait]
impl RequestStore for SqliteStorage {
    async fn push_request(&self, request: PushedRequest) -> Result<(), StoreError> {
        self.write(request).await
    }

    async fn take_pushed_request(&self, command: TakePushedRequest) -> Result<Option<String>, StoreError> {
        self.write(command).await
    }

    async fn begin_device(&self, command: BeginDevice) -> Result<DeviceBegun, StoreError> {
        self.write(command).await
    }

    async fn find_device(&self, id: GrantId) -> Result<Option<DeviceRequest>, StoreError> {
        self.read(move |reader| requests::find_device(reader, id)).await
    }

    async fn find_device_by_user_code(&self, hash: SecretHash) -> Result<Option<DeviceRequest>, StoreError> {
        self.read(move |reader| requests::find_device_by_user_code(reader, hash)).await
    }

    async fn deny_device(&self, command: DenyDevice) -> Result<DeviceDenied, StoreError> {
        self.write(command).await
    }
}

#[async_trait]
impl KeyStore for SqliteStorage {
    async fn add_signing_key(&self, command: AddSigningKey) -> Result<KeyAdded, StoreError> {
        self.write(command).await
    }

    async fn withdraw_signing_key(&self, command: WithdrawSigningKey) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn remove_signing_key(&self, command: RemoveSigningKey) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn signing_keys(&self) -> Result<Vec<SealedKey>, StoreError> {
        self.read(signing_keys::signing_keys).await
    }
}

#[async_trait]
impl AdminKeyStore for SqliteStorage {
    async fn create_admin_key(&self, command: CreateAdminKey) -> Result<AdminKeyCreated, StoreError> {
        self.write(command).await
    }

    async fn revoke_admin_key(&self, command: RevokeAdminKey) -> Result<bool, StoreError> {
        self.write(command).await
    }

    async fn note_admin_key_use(&self, id: AdminKeyId, used_at: OffsetDateTime) -> Result<(), StoreError> {
        self.write(NoteAdminKeyUse { id, used_at }).await
    }

    async fn find_admin_key(&self, id: AdminKeyId) -> Result<Option<AdminKey>, StoreError> {
        self.read(move |reader| admin_keys::find_admin_key(reader, id)).await
    }

    async fn list_admin_keys(&self) -> Result<Vec<AdminKey>, StoreError> {
        self.read(admin_keys::list_admin_keys).await
    }

    async fn begin_request(&self, command: BeginRequest) -> Result<RequestBegun, StoreError> {
        self.write(command).await
    }
}

#[async_trait]
impl ReplayStore for SqliteStorage {
    async fn spend_proof(&self, command: SpendProof) -> Result<bool, StoreError> {
        self.write(command).await
    }
}

#[async_trait]
impl Upkeep for SqliteStorage {
    async fn purge_expired(&self, command: PurgeExpired) -> Result<Purged, StoreError> {
        self.write(command).await
    }

    async fn forget_unused(&self, command: ForgetUnused) -> Result<Purged, StoreError> {
        self.write(command).await
    }

    async fn forget_documents(&self, command: ForgetDocuments) -> Result<DocumentsForgotten, StoreError> {
        self.write(command).await
    }

    async fn time_witness(&self) -> Result<TimeWitness, StoreError> {
        self.read(time_witness::time_witness).await
    }

    async fn mark_time(&self, mark: TimeMark) -> Result<(), StoreError> {
        self.write(mark).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.write(Ping).await
    }
}

fn permits(count: u32) -> usize {
    usize::try_from(count).unwrap_or(Semaphore::MAX_PERMITS)
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn more_reads_than_may_wait_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteOptions { readers: 1, waiting_reads: 0, ..SqliteOptions::default() };
        let storage = SqliteStorage::open(&folder.path().join("test.db"), options).unwrap();
        let the_only_turn = storage.reading.acquire().await.unwrap();

        let mut waiting = storage.signing_keys();
        let polled = std::future::poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context))).await;
        assert!(polled.is_pending());
        assert!(matches!(storage.signing_keys().await, Err(StoreError::Overloaded)));

        drop(the_only_turn);
        assert_eq!(waiting.await.unwrap(), []);
    }
}
