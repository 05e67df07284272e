//! Wallet signatures, token signing, sealing of keys, the clock and the entropy.
