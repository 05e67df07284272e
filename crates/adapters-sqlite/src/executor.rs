//! How a batch of commands becomes one commit.

use countersign_domain::epoch::Epoch;
use countersign_domain::forgetting::TimeMark;
use countersign_domain::pushed_request::PushedRequest;
use countersign_group_commit::Executor;
use countersign_ports::{
    AccessEnded, AddSigningKey, AdminKeyCreated, AdvancePush, BeginDevice, BeginPush, BeginRequest, BlockPut,
    ChangeAccess, ChangeResources, CompleteLogin, ConfirmEmail, ContinueSession, CreateAdminKey, CreateGroup,
    CreateResource, DeleteAccount, DeleteClient, DeleteGroup, DeleteResource, DenyDevice, DeviceBegun,
    DeviceDenied, DocumentsForgotten, EmailConfirmed, EmailPut, EndAccess, EndProposal, EndSession,
    EndSessions, ForgetDeclarations, ForgetDocuments, ForgetEvents, ForgetUnused, GroupCreated,
    IfClientUnchanged, IfGroupUnchanged, IfResourceUnchanged, IssueTokens, KeyAdded, LinkWallet,
    LoginCompleted, MemberAdded, NameWallet, OpenSession, PurgeExpired, Purged, PutBlock, PutDeclarations,
    PutEmail, PutProposal, RaiseEpoch, RedeemCode, Redeemed, RegisterClient, Registered, RemoveBlock,
    RemoveSigningKey, RequestBegun, ResourceCreated, ResourceUpdated, RetitleGroup, RevokeAdminKey,
    RevokeConsent, RevokeGrant, RevokeToken, Revoked, RotateRefresh, RotateSecret, Rotated, SealEvents,
    Sealed, SessionContinued, SessionOpened, SignOut, SpendProof, TakeLease, TakeProposal, TakePushedRequest,
    TokensIssued, UnlinkWallet, UpdateClient, UpdateResource, WalletLinked, WalletUnlinked,
    WithdrawSigningKey,
};
use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;

use crate::checkpointer::Checkpointer;
use crate::error::SqliteError;
use crate::file::{DatabaseFile, FileWatch};
use crate::ops;
use crate::ops::admin_keys::NoteAdminKeyUse;
use crate::ops::change_members::{AddMember, RemoveMember};
use crate::ops::client_secrets::NoteSecretUses;
use crate::ops::overview::{ForgetReplica, NoteReplica};
use crate::ops::ping::Ping;
use crate::ops::proposals::ForgetProposals;
use crate::ops::record_event::RecordEvent;
use crate::ops::remove_email::RemoveEmail;
use crate::options::SqliteOptions;
use crate::pool;

/// The commands: each with its type, its outcome, and the operation that carries it out.
macro_rules! commands {
    ($($name:ident: $command:ty => $outcome:ty, $operation:path;)*) => {
        /// Every command that writes.
        #[derive(Debug)]
        pub(crate) enum Command { $($name($command),)* }

        /// The outcome of a command.
        #[derive(Debug)]
        pub(crate) enum Outcome { $($name($outcome),)* }

        impl Command {
            fn execute(&self, connection: &mut SqliteConnection) -> Result<Outcome, SqliteError> {
                match self {
                    $(Self::$name(command) => $operation(connection, command).map(Outcome::$name),)*
                }
            }
        }

        $(impl Write for $command {
            type Outcome = $outcome;

            fn into_command(self) -> Command {
                Command::$name(self)
            }

            fn outcome(outcome: Outcome) -> Option<$outcome> {
                if let Outcome::$name(outcome) = outcome { Some(outcome) } else { None }
            }
        })*
    };
}

/// A command with its own type of outcome.
pub(crate) trait Write {
    type Outcome;

    fn into_command(self) -> Command;

    /// The outcome, if it belongs to this command.
    fn outcome(outcome: Outcome) -> Option<Self::Outcome>;
}

commands! {
    RegisterClient: RegisterClient => Registered, ops::register_client::register_client;
    UpdateClient: UpdateClient => bool, ops::manage_clients::update_client;
    ChangeResources: ChangeResources => bool, ops::change_resources::change_resources;
    ChangeAccess: ChangeAccess => bool, ops::change_access::change_access;
    RotateSecret: RotateSecret => bool, ops::client_secrets::rotate_secret;
    NoteSecretUses: NoteSecretUses => (), ops::client_secrets::note_secret_uses;
    DeleteClient: DeleteClient => bool, ops::manage_clients::delete_client;
    IfClientUnchanged: IfClientUnchanged => bool, ops::if_unchanged::if_client_unchanged;
    CreateResource: CreateResource => ResourceCreated, ops::resources::create_resource;
    UpdateResource: UpdateResource => ResourceUpdated, ops::resources::update_resource;
    DeleteResource: DeleteResource => bool, ops::resources::delete_resource;
    IfResourceUnchanged: IfResourceUnchanged => ResourceUpdated, ops::if_unchanged::if_resource_unchanged;
    CompleteLogin: CompleteLogin => LoginCompleted, ops::complete_login::complete_login;
    LinkWallet: LinkWallet => WalletLinked, ops::link_wallet::link_wallet;
    UnlinkWallet: UnlinkWallet => WalletUnlinked, ops::unlink_wallet::unlink_wallet;
    NameWallet: NameWallet => bool, ops::name_wallet::name_wallet;
    OpenSession: OpenSession => SessionOpened, ops::open_session::open_session;
    ContinueSession: ContinueSession => SessionContinued, ops::continue_session::continue_session;
    SignOut: SignOut => bool, ops::sign_out::sign_out;
    EndSession: EndSession => bool, ops::end_session::end_session;
    EndSessions: EndSessions => u64, ops::end_session::end_sessions;
    RevokeConsent: RevokeConsent => bool, ops::revoke_consent::revoke_consent;
    PutEmail: PutEmail => EmailPut, ops::put_email::put_email;
    ConfirmEmail: ConfirmEmail => EmailConfirmed, ops::confirm_email::confirm_email;
    RemoveEmail: RemoveEmail => bool, ops::remove_email::remove_email;
    DeleteAccount: DeleteAccount => bool, ops::delete_account::delete_account;
    CreateGroup: CreateGroup => GroupCreated, ops::manage_groups::create_group;
    RetitleGroup: RetitleGroup => bool, ops::manage_groups::retitle_group;
    DeleteGroup: DeleteGroup => bool, ops::manage_groups::delete_group;
    IfGroupUnchanged: IfGroupUnchanged => bool, ops::if_unchanged::if_group_unchanged;
    AddMember: AddMember => MemberAdded, ops::change_members::add_member;
    RemoveMember: RemoveMember => bool, ops::change_members::remove_member;
    PutDeclarations: PutDeclarations => (), ops::declarations::put_declarations;
    ForgetDeclarations: ForgetDeclarations => (), ops::declarations::forget_declarations;
    PutBlock: PutBlock => BlockPut, ops::put_block::put_block;
    RemoveBlock: RemoveBlock => bool, ops::remove_block::remove_block;
    EndAccess: EndAccess => AccessEnded, ops::end_access::end_access;
    RecordEvent: RecordEvent => bool, ops::record_event::record_event;
    SealEvents: SealEvents => Sealed, ops::seal_events::seal_events;
    ForgetEvents: ForgetEvents => u64, ops::forget_events::forget_events;
    BeginPush: BeginPush => bool, ops::event_push::begin_push;
    AdvancePush: AdvancePush => bool, ops::event_push::advance_push;
    PutProposal: PutProposal => bool, ops::proposals::put_proposal;
    TakeProposal: TakeProposal => bool, ops::proposals::take_proposal;
    EndProposal: EndProposal => bool, ops::proposals::end_proposal;
    ForgetProposals: ForgetProposals => u64, ops::proposals::forget_proposals;
    NoteReplica: NoteReplica => (), ops::overview::note_replica;
    RaiseEpoch: RaiseEpoch => Epoch, ops::epoch::raise_epoch;
    ForgetReplica: ForgetReplica => (), ops::overview::forget_replica;
    TakeLease: TakeLease => bool, ops::leases::take_lease;
    RedeemCode: RedeemCode => Redeemed, ops::redeem_code::redeem_code;
    IssueTokens: IssueTokens => TokensIssued, ops::issue_tokens::issue_tokens;
    RotateRefresh: RotateRefresh => Rotated, ops::rotate_refresh::rotate_refresh;
    RevokeToken: RevokeToken => Revoked, ops::revoke::revoke_token;
    RevokeGrant: RevokeGrant => Revoked, ops::revoke::revoke_grant;
    PushRequest: PushedRequest => (), ops::requests::push_request;
    TakePushedRequest: TakePushedRequest => Option<String>, ops::requests::take_pushed_request;
    BeginDevice: BeginDevice => DeviceBegun, ops::requests::begin_device;
    DenyDevice: DenyDevice => DeviceDenied, ops::requests::deny_device;
    AddSigningKey: AddSigningKey => KeyAdded, ops::signing_keys::add_signing_key;
    WithdrawSigningKey: WithdrawSigningKey => bool, ops::signing_keys::withdraw_signing_key;
    RemoveSigningKey: RemoveSigningKey => bool, ops::signing_keys::remove_signing_key;
    CreateAdminKey: CreateAdminKey => AdminKeyCreated, ops::admin_keys::create_admin_key;
    RevokeAdminKey: RevokeAdminKey => bool, ops::admin_keys::revoke_admin_key;
    NoteAdminKeyUse: NoteAdminKeyUse => (), ops::admin_keys::note_admin_key_use;
    BeginRequest: BeginRequest => RequestBegun, ops::admin_keys::begin_request;
    SpendProof: SpendProof => bool, ops::spend_proof::spend_proof;
    PurgeExpired: PurgeExpired => Purged, ops::purge_expired::purge_expired;
    ForgetUnused: ForgetUnused => Purged, ops::forget_unused::forget_unused;
    ForgetDocuments: ForgetDocuments => DocumentsForgotten, ops::forget_documents::forget_documents;
    MarkTime: TimeMark => (), ops::time_witness::mark_time;
    Ping: Ping => (), ops::ping::ping;
}

/// The one connection that writes, on the writer thread, and the thread that copies the log.
pub(crate) struct SqliteExecutor {
    file: DatabaseFile,
    options: SqliteOptions,
    /// `None` while a new connection must be opened.
    connection: Option<SqliteConnection>,
    checkpointer: Checkpointer,
    watch: FileWatch,
}

impl SqliteExecutor {
    pub(crate) fn open(file: DatabaseFile, options: SqliteOptions) -> Result<Self, SqliteError> {
        let connection = pool::connect_writer(&file, &options)?;
        let checkpointer =
            Checkpointer::start(file.clone(), options).map_err(SqliteError::CheckpointerNotStarted)?;
        let watch = FileWatch::of(&file).map_err(SqliteError::File)?;
        Ok(Self { file, options, connection: Some(connection), checkpointer, watch })
    }
}

impl Executor for SqliteExecutor {
    type Command = Command;
    type Outcome = Outcome;
    type Error = SqliteError;

    /// One `BEGIN IMMEDIATE … COMMIT` around all of them. The lock is taken at the beginning, so that no
    /// command finds out halfway that it cannot write.
    fn execute(&mut self, batch: &[Command]) -> Result<Vec<Outcome>, SqliteError> {
        // Whatever happens below, including a panic, the connection is kept only if it is known to be clean.
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                // Opening a file that does not exist would create an empty database.
                self.watch.check()?;
                pool::connect_writer(&self.file, &self.options)?
            }
        };
        // After the commit and before the answer: what went into a file that nobody will find again must not
        // be promised.
        let result =
            commit(&mut connection, batch).and_then(|outcomes| self.watch.check().map(|()| outcomes));
        if result.is_ok() {
            self.checkpointer.committed(batch.len());
        }
        if result.is_ok() || is_clean_again(&mut connection) {
            self.connection = Some(connection);
        } else {
            tracing::warn!("writer opens a new connection, because the old one could not be rolled back");
        }
        result
    }

    fn is_outage(error: &SqliteError) -> bool {
        error.is_outage()
    }
}

fn commit(connection: &mut SqliteConnection, batch: &[Command]) -> Result<Vec<Outcome>, SqliteError> {
    connection.batch_execute("BEGIN IMMEDIATE")?;
    let outcomes =
        batch.iter().map(|command| command.execute(connection)).collect::<Result<Vec<_>, SqliteError>>()?;
    connection.batch_execute("COMMIT")?;
    Ok(outcomes)
}

/// Ends whatever the failed batch left open. After some failures SQLite has already rolled back and
/// `ROLLBACK` is an error, so what counts is whether a new transaction can begin.
fn is_clean_again(connection: &mut SqliteConnection) -> bool {
    let _ = connection.batch_execute("ROLLBACK");
    connection.batch_execute("BEGIN; ROLLBACK").is_ok()
}

#[cfg(test)]
mod tests;
