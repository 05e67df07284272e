//! The traits that adapters implement. This documentation is the contract, and `countersign-conformance`
//! tests it.
//!
//! # The seven rules of storage
//!
//! 1. An operation is atomic, and it **answers only after it is durable**.
//! 2. A refusal is an outcome, never an error: a batch of commands is never rolled back for a business
//!    reason.
//! 3. Commands own their data. They carry every id and hash that they create, and the caller's `now`. A
//!    command that is repeated after a lost answer is recognized by those ids and gives the same outcome. The
//!    exceptions are [`WalletStore`], [`RequestStore::take_pushed_request`], and members and blocks, which have
//!    no ids: repeated, they are already there.
//! 4. Dropping the future of a submitted operation does not cancel it.
//! 5. A full queue is [`StoreError::Overloaded`], never an unbounded wait.
//! 6. Secrets arrive hashed.
//! 7. An adapter has no clock, no randomness and no policy.
//!
//! Everything about a record that can never change is checked in `countersign-domain` on a snapshot. An
//! operation re-checks only what can change in between. An adapter needs no knowledge of OAuth.

pub mod account_store;
pub mod admin_key_store;
pub mod archive;
pub mod block_store;
pub mod client_store;
pub mod clock;
pub mod declaration_store;
pub mod desk_store;
pub mod entropy;
pub mod epoch_store;
pub mod error;
pub mod event_push_store;
pub mod event_store;
pub mod fetcher;
pub mod group_store;
pub mod jws_reader;
pub mod key_ring;
pub mod key_store;
pub mod login_store;
pub mod mailer;
pub mod people_store;
pub mod replay_store;
pub mod request_store;
pub mod resource_store;
pub mod session_store;
pub mod storage;
pub mod token_signer;
pub mod token_store;
pub mod upkeep;
pub mod wallet_store;
pub mod wallet_verifier;

pub use account_store::{
    Account, AccountStore, ConfirmEmail, DeleteAccount, EmailConfirmed, EmailPut, PutEmail, RevokeConsent,
    SharedAddress,
};
pub use admin_key_store::{
    AdminKeyCreated, AdminKeyStore, BeginRequest, CreateAdminKey, RequestBegun, RevokeAdminKey,
};
pub use archive::{ArchiveError, ArchiveSink, ArchiveSource, ArchiveTarget, BeginFilling, Holdings, TakeRow};
pub use block_store::{
    AccessEnded, BlockPut, BlockStore, Blocked, BlockedWallet, EndAccess, PutBlock, RemoveBlock,
};
pub use client_store::{
    ChangeAccess, ChangeResources, ClientChange, ClientStore, DeleteClient, IfClientUnchanged,
    RegisterClient, Registered, ResourceChange, RotateSecret, SecretRecord, SecretUse, UpdateClient,
};
pub use clock::Clock;
pub use declaration_store::{DeclarationStore, ForgetDeclarations, PutDeclarations};
pub use desk_store::{DayCount, DeskStore, EndProposal, ProposalPage, PutProposal, Replica, TakeProposal};
pub use entropy::{Entropy, EntropyExt};
pub use epoch_store::{EpochStore, RaiseEpoch};
pub use error::{SignerError, StoreError, VerifierError};
pub use event_push_store::{AdvancePush, BeginPush, EventPush, EventPushStore};
pub use event_store::{
    CheckpointAt, EventAt, EventFilter, EventOrder, EventPage, EventStore, EventSubject, ForgetEvents,
    FoundEvent, SealEvents, Sealed, TakeLease,
};
pub use fetcher::{FetchError, Fetched, Fetcher, Post, Posted};
pub use group_store::{
    ChangeMember, CountedGroup, CreateGroup, DeleteGroup, GroupChange, GroupCreated, GroupMember, GroupStore,
    IfGroupUnchanged, Member, MemberAdded, MemberCursor, RetitleGroup,
};
pub use jws_reader::{JwsReader, JwsRejected, READ_ALGORITHMS, ReadJws};
pub use key_ring::{KeyRing, KeyRingError, KeyRotation, ListedKey, RotatedKeys};
pub use key_store::{AddSigningKey, KeyAdded, KeyStore, RemoveSigningKey, WithdrawSigningKey};
pub use login_store::{CompleteLogin, LoginCompleted, LoginStore};
pub use mailer::{Mail, MailError, Mailer};
pub use people_store::{PeopleFilter, PeopleStore, Person, PersonListed};
pub use replay_store::{ReplayStore, SpendProof};
pub use request_store::{
    BeginDevice, DenyDevice, DeviceBegun, DeviceDenied, RequestStore, TakePushedRequest,
};
pub use resource_store::{
    CreateResource, DeclarationChange, DeleteResource, FindUses, IfResourceUnchanged, ResourceCreated,
    ResourceStore, ResourceUpdated, ResourceUses, UpdateResource,
};
pub use session_store::{
    ContinueSession, EndSession, EndSessions, NewSession, OpenSession, SessionClient, SessionContinued,
    SessionOpened, SessionStore, SignOut,
};
pub use storage::{DirectStorage, Storage};
pub use token_signer::{CheckpointRead, PublicKeys, SecurityEventClaims, TokenSigner};
pub use token_store::{
    IssueTokens, KnownAccess, RedeemCode, Redeemed, RevokeGrant, RevokeToken, Revoked, RotateRefresh,
    Rotated, TokenStore, TokensIssued,
};
pub use upkeep::{DocumentsForgotten, ForgetDocuments, ForgetUnused, PurgeExpired, Purged, Upkeep};
pub use wallet_store::{
    LinkWallet, LinkedWallet, NameWallet, UnlinkWallet, WalletLinked, WalletStore, WalletUnlinked,
};
pub use wallet_verifier::{
    AddressHint, ContractChain, PageModule, RecognizedAccount, SigningHint, Verdict, WalletVerifier,
};
