//! What every use-case works with: the ports and the operator's policy.

pub mod blocks;
pub mod cause;
pub mod clients;
pub mod creating;
pub mod footing;
pub mod known_record;
mod moment;
pub mod remembered_access;
pub mod resources;
pub mod uses;

use std::fmt;
use std::sync::Arc;

use countersign_domain::admission::AccessRule;
use countersign_domain::challenge::TextKey;
use countersign_domain::checkpoint::RecordKey;
use countersign_domain::client::Client;
use countersign_domain::client_assertion::AssertionAudience;
use countersign_domain::desk::operators::DeskPolicy;
use countersign_domain::dpop::DpopNonceKey;
use countersign_domain::event::{Event, EventKind};
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::listener::Listener;
use countersign_domain::own_origin::{OwnOrigin, PLAYGROUND};
use countersign_domain::pairwise::PairwiseKey;
use countersign_domain::picture::PictureKey;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::resource::ResourceRules;
use countersign_ports::{
    Clock, DirectStorage, Entropy, Fetcher, JwsReader, Mailer, RequestName, TokenSigner, WalletVerifier,
};
use time::OffsetDateTime;

use blocks::Blocks;
use cause::{Cause, EventPolicy, SERVER};
use clients::Clients;
use known_record::KnownRecord;
use remembered_access::RememberedAccess;
use resources::Resources;
use uses::Uses;

/// The ports, and the policy. Made once at start.
///
/// Clients are read and changed through [`Clients`], which sees to it that no replica uses old values (ADR
/// 0024):
///
/// ```
/// # use countersign_ports::*;
/// # use countersign_usecases::Context;
/// async fn delete(context: &Context, command: DeleteClient) -> Result<bool, StoreError> {
///     context.clients.delete(command).await
/// }
/// ```
///
/// The field `storage` does not offer that:
///
/// ```compile_fail,E0599
/// # use countersign_ports::*;
/// # use countersign_usecases::Context;
/// async fn delete(context: &Context, command: DeleteClient) -> Result<bool, StoreError> {
///     context.storage.delete_client(command).await
/// }
/// ```
///
/// And [`Clients`] keeps its own port to itself:
///
/// ```compile_fail,E0616
/// # use countersign_ports::*;
/// # use countersign_usecases::Context;
/// async fn delete(context: &Context, command: DeleteClient) -> Result<bool, StoreError> {
///     context.clients.storage.delete_client(command).await
/// }
/// ```
#[derive(Clone)]
pub struct Context {
    /// Stores everything that lasts, except the clients, the resources and the blocks.
    pub storage: Arc<dyn DirectStorage>,
    /// The clients.
    pub clients: Clients,
    /// The resources that the operator declared at the terminal.
    pub resources: Resources,
    /// The blocks.
    pub blocks: Blocks,
    /// What was used, and is not written down yet.
    pub uses: Uses,
    /// What was seen of the record of events, whose checkpoints chain up.
    pub record: Arc<KnownRecord>,
    /// The access tokens that were presented recently, for [`Context::find_access`].
    pub access: Arc<RememberedAccess>,
    /// Verifies wallet signatures.
    pub wallets: Arc<dyn WalletVerifier>,
    /// Signs tokens.
    pub signer: Arc<dyn TokenSigner>,
    /// Verifies what clients signed.
    pub jws: Arc<dyn JwsReader>,
    /// Fetches the documents and keys that clients point to.
    pub fetcher: Arc<dyn Fetcher>,
    /// The time of day, and a monotonic clock.
    pub clock: Arc<dyn Clock>,
    /// The source of random bytes for ids, secrets and codes.
    pub entropy: Arc<dyn Entropy>,
    /// Sends mail; `None` if no mail server is configured.
    pub mailer: Option<Arc<dyn Mailer>>,
    /// The keys of the server itself.
    pub keys: ContextKeys,
    /// What the operator decided.
    pub policy: Policy,
}

/// What the operator's commands need: the part of a [`Context`] without keys and mail server.
#[derive(Clone, Copy)]
pub struct Management<'a> {
    /// Stores everything that lasts, except the clients and the blocks.
    pub storage: &'a dyn DirectStorage,
    /// The clients.
    pub clients: &'a Clients,
    /// The resources that the operator declared at the terminal.
    pub resources: &'a Resources,
    /// The blocks.
    pub blocks: &'a Blocks,
    /// Recognizes the addresses that operators write. No signature is verified, so no chain is asked.
    pub wallets: &'a dyn WalletVerifier,
    /// Checks the keys that a client registers.
    pub jws: &'a dyn JwsReader,
    /// Fetches the list of a client's sector.
    pub fetcher: &'a dyn Fetcher,
    /// The time of day, and a monotonic clock.
    pub clock: &'a dyn Clock,
    /// The source of random bytes for ids, secrets and codes.
    pub entropy: &'a dyn Entropy,
    /// What the operator decided.
    pub policy: &'a Policy,
    /// Who changes something, and from where.
    pub cause: &'a Cause,
    /// The request of a program that must not create anything twice, if it is one.
    pub once: Option<RequestName>,
}

/// What it takes to notify clients that a user's sign-in ended.
#[derive(Clone, Copy)]
pub struct Notifier<'a> {
    /// Knows the clients and the issuer, and posts the logout tokens.
    pub management: Management<'a>,
    /// Signs the logout tokens.
    pub signer: &'a dyn TokenSigner,
    /// Makes the ids by which pairwise clients know people.
    pub pairwise: &'a PairwiseKey,
}

/// How the server recognizes what it issued: a key for each purpose, and since when.
#[derive(Clone, Debug)]
pub struct ContextKeys {
    /// Recognizes the texts that wallets sign.
    pub texts: TextKey,
    /// Recognizes the nonces in DPoP proofs.
    pub nonces: DpopNonceKey,
    /// Names the pictures of users.
    pub pictures: PictureKey,
    /// Makes the ids by which pairwise clients know people.
    pub pairwise: PairwiseKey,
    /// Makes what only the server can make in the record of events.
    pub record: RecordKey,
    /// When a backup was last restored. It is no longer known which assertions of clients were used before.
    pub restored_at: Option<OffsetDateTime>,
}

/// What the operator decided.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Where this server is reached. It is also the issuer.
    pub public_url: PublicUrl,
    /// How long things live.
    pub lifetimes: Lifetimes,
    /// The rule of clients that have none of their own.
    pub default_access: AccessRule,
    /// The resources that tokens are issued for, and for which clients.
    pub resources: ResourceRules,
    /// Are clients accepted that did not register, but are described by a document of their own?
    pub client_documents: bool,
    /// The audience that client assertions must have.
    pub assertion_audience: AssertionAudience,
    /// Do clients that ask for an e-mail address get a made-up one if the user has none on file?
    pub synthetic_email: bool,
    /// How many wallets a user can have. Who has more keeps them.
    pub wallets_per_user: u32,
    /// What is kept of what happened.
    pub events: EventPolicy,
    /// Is there a playground? Its page is the only address of ours that a client may have.
    pub playground: bool,
    /// Who the operators of the desk are; `None` if there is no desk.
    pub desk: Option<DeskPolicy>,
}

impl Context {
    /// The part that managing clients and people needs, for what the server itself does.
    pub fn management(&self) -> Management<'_> {
        self.management_for(&SERVER)
    }

    /// The part that managing clients and people needs, for this cause.
    pub fn management_for<'a>(&'a self, cause: &'a Cause) -> Management<'a> {
        Management {
            storage: &*self.storage,
            clients: &self.clients,
            resources: &self.resources,
            blocks: &self.blocks,
            wallets: &*self.wallets,
            jws: &*self.jws,
            fetcher: &*self.fetcher,
            clock: &*self.clock,
            entropy: &*self.entropy,
            policy: &self.policy,
            cause,
            once: None,
        }
    }

    /// The part that telling clients needs.
    pub fn notifier(&self) -> Notifier<'_> {
        Notifier { management: self.management(), signer: &*self.signer, pairwise: &self.keys.pairwise }
    }
}

impl Context {
    /// Makes the event of an act; `None` if no events are kept.
    pub fn event(
        &self,
        now: OffsetDateTime,
        cause: &Cause,
        kind: EventKind,
        rest: impl FnOnce(&mut Event),
    ) -> Option<Box<Event>> {
        self.policy.events.event(&*self.entropy, now, cause, kind, rest)
    }
}

impl Policy {
    /// Who reads the reason when this client, which proved itself if it can, is refused.
    pub(crate) const fn listener(&self, client: &Client) -> Listener {
        if self.public_url.is_loopback() {
            return Listener::Developer;
        }
        if client.is_public() { Listener::Anyone } else { Listener::ProvenClient }
    }

    /// Our own addresses, which no client may have.
    pub(crate) fn own_origin(&self) -> OwnOrigin<'_> {
        OwnOrigin::new(&self.public_url, self.playground.then_some(PLAYGROUND))
    }
}

impl Management<'_> {
    /// Makes the event of a change; `None` if no events are kept.
    pub fn event(
        &self,
        now: OffsetDateTime,
        kind: EventKind,
        rest: impl FnOnce(&mut Event),
    ) -> Option<Box<Event>> {
        self.policy.events.event(self.entropy, now, self.cause, kind, rest)
    }
}

impl fmt::Debug for Management<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Management").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl fmt::Debug for Notifier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notifier").field("management", &self.management).finish_non_exhaustive()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("policy", &self.policy).finish_non_exhaustive()
    }
}
