//! Why the record of events does not go on.

use countersign_ports::{SignerError, StoreError};

/// Why the server does not go on with the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unauthentic {
    /// This is not what the server signed.
    #[error("checkpoint {number} is not this server's: it was altered or forged")]
    Forged {
        /// Its number.
        number: u64,
    },
    /// There was a later checkpoint while this server ran.
    #[error("checkpoint {number}, which was the last one, is gone")]
    Gone {
        /// Its number.
        number: u64,
    },
    /// There was another checkpoint while this server ran.
    #[error("checkpoint {number} is not the one that was there before")]
    Replaced {
        /// Its number.
        number: u64,
    },
}

/// Why events were not sealed. They stay fresh.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// To continue would be to vouch for what an attacker wrote.
    #[error("the record of events was altered")]
    Unauthentic(#[from] Unauthentic),
    /// The checkpoint could not be signed.
    #[error("checkpoint could not be signed")]
    Signer(#[from] SignerError),
    /// The events could not be read or stored.
    #[error("events could not be read or sealed")]
    Store(#[from] StoreError),
}
