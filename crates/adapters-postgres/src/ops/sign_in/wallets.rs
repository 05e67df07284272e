//! First sign-ins of wallets.

use crate::error::OpResult;

/// How often a login is tried. The second time the wallet is known, unless it was unlinked just now.
const TRIES: u32 = 4;

/// Carries out a login. If its wallet is new and another login took the wallet's key in the meantime, that
/// one is complete, and this one is tried again.
pub(crate) fn until_the_wallet_is_known<T>(mut login: impl FnMut() -> OpResult<T>) -> OpResult<T> {
    let mut tries = 1;
    loop {
        match login() {
            Err(error) if error.is_taken_key() && tries < TRIES => tries += 1,
            done => return done,
        }
    }
}
