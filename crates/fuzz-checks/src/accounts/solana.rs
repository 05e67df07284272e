//! A Solana account.

use super::{Core, Family, Signed, USUAL};

const TEXT: &str = "auth.example.com wants you to sign in with your Solana account:\n4deXwQjwooLs7UximXrtvPpP5ZmvwBaGLgaM2mzjxQB4\n\nSign in to Example App 0\n\nURI: https://auth.example.com/oauth/login\nVersion: 1\nChain ID: mainnet\nNonce: 95a8315b682417e1add0\nIssued At: 2026-01-01T00:00:00Z\nExpiration Time: 2026-01-01T00:05:00Z\nRequest ID: req-0";

/// Base58 as wallets show it, and the usual spellings.
const SPELLINGS: &[fn(&[u8]) -> String] = &[
    |bytes| bs58::encode(bytes).into_string(),
    USUAL[0],
    USUAL[1],
    USUAL[2],
    USUAL[3],
    USUAL[4],
    USUAL[5],
    USUAL[6],
];

/// One text as every kind of wallet signs it: all good rows for it of `tests/vectors/solana/login_signature_forms.json`.
pub static SOLANA: Family = Family::new(
    &[
        Signed {
            address: "4deXwQjwooLs7UximXrtvPpP5ZmvwBaGLgaM2mzjxQB4",
            chain: None,
            text: TEXT,
            signature: "3YT5WU6ATbK3hgMcnYtpt8m7AvNTriAqgep7eQQyLea1YmzxgTA1XXaoSTpbcyjkNxuTdyTq3sRmFBVF2RnE9KDQ",
            core: Core::Exact,
        },
        Signed {
            address: "4deXwQjwooLs7UximXrtvPpP5ZmvwBaGLgaM2mzjxQB4",
            chain: None,
            text: TEXT,
            signature: "fyeq60wkrkLwpB8AKQ9PEq8gNpMXse3BtybDscmCyDccsjsvJB4u6+z0SaETTpOMIQd7Zg31+G6fb5lqvnQ2Bw==",
            core: Core::Exact,
        },
        Signed {
            address: "4deXwQjwooLs7UximXrtvPpP5ZmvwBaGLgaM2mzjxQB4",
            chain: None,
            text: TEXT,
            signature: "0x7f27aaeb4c24ae42f0a41f00290f4f12af20369317b1edc1b726c3b1c982c8371cb23b2f241e2eebecf449a1134e938c21077b660df5f86e9f6f996abe743607",
            core: Core::Exact,
        },
        Signed {
            address: "4deXwQjwooLs7UximXrtvPpP5ZmvwBaGLgaM2mzjxQB4",
            chain: None,
            text: TEXT,
            signature: "yXSXGiFtn6dvhwxvKy9pmDhJb5f4L2kFk7rH89Rxr7DJk6jhXBK9HRNboscsM93idM9hLaUSiwgEVvrWZG94d65",
            core: Core::Exact,
        },
        Signed {
            address: "4deXwQjwooLs7UximXrtvPpP5ZmvwBaGLgaM2mzjxQB4",
            chain: None,
            text: TEXT,
            signature: "2CjEPPJo2iZaCHm2JYmmae3dpBfQ39swHpnoiW72W1wST2GVQ5o6k5dEYB95Zpr52JyBVS5f5GCewQcVBu5vXoPJ",
            core: Core::Exact,
        },
        Signed {
            address: "4deXwQjwooLs7UximXrtvPpP5ZmvwBaGLgaM2mzjxQB4",
            chain: None,
            text: TEXT,
            signature: "55R5ruS25kwhtQKZrGzyAGPaMZRa46MnzCvQwkaGpjVq9XBbMtRvxfZHmCwwexCf4vXvo8LPWEsxsVb8ua72xWZ9",
            core: Core::Exact,
        },
        Signed {
            address: "4deXwQjwooLs7UximXrtvPpP5ZmvwBaGLgaM2mzjxQB4",
            chain: None,
            text: TEXT,
            signature: "4jug5zdZhz388QAh9ch7kjKEKGBjYLVAunfbnyEr6Sst2tNif6C14M1PnbiocmswmjEktHgPJspcvkpLctNWNXZP",
            core: Core::Exact,
        },
    ],
    SPELLINGS,
);
