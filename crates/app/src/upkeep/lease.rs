//! Work that one replica does for all: the holder of its lease does it.

use countersign_ports::{EntropyExt, StoreError, TakeLease};
use countersign_usecases::Context;

/// How long a lease is taken for: longer than a step of the work takes. A replica that is killed is followed by
/// another after this time.
const TERM: time::Duration = time::Duration::seconds(15);

/// The lease of one kind of work, as this replica asks for it.
#[derive(Clone)]
pub(crate) struct Lease {
    context: Context,
    name: &'static str,
    holder: [u8; 16],
}

impl Lease {
    pub(crate) fn new(context: Context, name: &'static str) -> Self {
        let holder = context.entropy.bytes();
        Self { context, name, holder }
    }

    /// Takes the lease, or keeps it. The answer says whether this replica has it now.
    pub(crate) async fn take(&self) -> Result<bool, StoreError> {
        self.hold_for(TERM).await
    }

    /// Gives the lease back, if this replica has it, so that another can take it at once.
    pub(crate) async fn give_back(&self) -> Result<(), StoreError> {
        self.hold_for(time::Duration::ZERO).await.map(drop)
    }

    async fn hold_for(&self, term: time::Duration) -> Result<bool, StoreError> {
        let now = self.context.clock.now();
        let command = TakeLease { name: self.name, holder: self.holder, now, until: now + term };
        self.context.storage.take_lease(command).await
    }
}
