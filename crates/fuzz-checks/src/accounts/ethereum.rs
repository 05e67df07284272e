//! Ethereum accounts that a key owns.

use super::{Core, Family, Signed, USUAL};

const LOGIN: &str = "auth.example.com wants you to sign in with your Ethereum account:\n0x279de7BDaaa8eBD7bf7890936853137A914c962B\n\nSign in to Example App 0 (client 5b0e7d2c).\n\nURI: https://auth.example.com/oauth/login\nVersion: 1\nChain ID: 1\nNonce: d79bce1ccdcec64ea199be7b\nIssued At: 2026-01-01T00:00:00Z\nExpiration Time: 2026-01-01T00:05:00Z\nRequest ID: req-0\nResources:\n- https://client.example/cb?x=0";

/// The key of the eth-account documentation, and a row of `tests/vectors/ethereum/login_signature_forms.json`.
pub static ETHEREUM: Family = Family::new(
    &[
        Signed {
            address: "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23",
            chain: None,
            text: "Some data",
            signature: "0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c",
            core: Core::Recoverable,
        },
        Signed {
            address: "0x279de7BDaaa8eBD7bf7890936853137A914c962B",
            chain: Some("eip155:8453"),
            text: LOGIN,
            signature: "0x8dc253b303f39f19781ba47073a94db6fa3d94594bf5f67ea039b9d783b9311f22c759ea2b2aa82dca94cd662cb37b904ab965f3c996cc92e19d2198f23d0e641c",
            core: Core::Recoverable,
        },
    ],
    USUAL,
);
