//! Tron accounts.

use super::{Core, Family, Signed, USUAL};

/// Rows of `tests/vectors/tron/tip191_signed.json`.
pub static TRON: Family = Family::new(
    &[
        Signed {
            address: "TLRhUiXdddZbwXgPnxyUytkMRV5vn6pUth",
            chain: None,
            text: "auth.example.com wants you to sign in with your Tron account:\nTLRhUiXdddZbwXgPnxyUytkMRV5vn6pUth\n\nSign in to Example App <x> & more.\n\nURI: https://auth.example.com/oauth/login\nVersion: 1\nChain ID: 728126428\nNonce: d79bce1ccdcec64ea199be7b\nIssued At: 2026-01-01T00:00:00Z\nExpiration Time: 2026-01-01T00:05:00Z",
            signature: "0x8f2aae8f86e4f4d2c11046cfad7bac4558384bca79fb54909a1830df704383e835d86d4ad4a0f6c2b6792535ffa44988f71d71ad0c1759d1f4a2ce97dcb59c541c",
            core: Core::Recoverable,
        },
        Signed {
            address: "TK77GFxaCh1p5VWrn7UTh26QMUtGY8nHNJ",
            chain: None,
            text: "auth.example.com wants you to sign in with your Tron account:\nTK77GFxaCh1p5VWrn7UTh26QMUtGY8nHNJ\n\nSign in to Example App <x> & more.\n\nURI: https://auth.example.com/oauth/login\nVersion: 1\nChain ID: 728126428\nNonce: d79bce1ccdcec64ea199be7b\nIssued At: 2026-01-01T00:00:00Z\nExpiration Time: 2026-01-01T00:05:00Z",
            signature: "0x89d3b230abee14414f32609d070837090f596fc961fccda59320055743e236733ec2915377dc46a62880bdba9a03c88f424fbdd0debfac5b4f8231b8984817d31b",
            core: Core::Recoverable,
        },
    ],
    USUAL,
);
