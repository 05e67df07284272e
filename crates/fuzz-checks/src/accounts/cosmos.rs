//! Cosmos accounts on several chains.

use super::{Core, Family, Signed, USUAL};

const TEXT: &str = "auth.example.com wants you to sign in with your Cosmos account:\ncosmos17gtfgtk3k5vrmdxmvr5h4tfucdd6vvw294c3np\n\nSign in to Example App <x> & more.\n\nURI: https://auth.example.com/oauth/login\nVersion: 1\nChain ID: cosmoshub-4\nNonce: d79bce1ccdcec64ea199be7b\nIssued At: 2026-01-01T00:00:00Z\nExpiration Time: 2026-01-01T00:05:00Z";
const TEXT_2: &str = "auth.example.com wants you to sign in with your Osmosis account:\nosmo10wgf826hx7wc5ttmgk8pvy8g0vcdnn8dm6qj8r\n\nSign in to Example App <x> & more.\n\nURI: https://auth.example.com/oauth/login\nVersion: 1\nChain ID: osmosis-1\nNonce: d79bce1ccdcec64ea199be7b\nIssued At: 2026-01-01T00:00:00Z\nExpiration Time: 2026-01-01T00:05:00Z";
const TEXT_3: &str = "auth.example.com wants you to sign in with your Juno account:\njuno1kacppdfdjewcffg6k03uz069cqcewxc87fcvfp\n\nSign in to Example App <x> & more.\n\nURI: https://auth.example.com/oauth/login\nVersion: 1\nChain ID: juno-1\nNonce: d79bce1ccdcec64ea199be7b\nIssued At: 2026-01-01T00:00:00Z\nExpiration Time: 2026-01-01T00:05:00Z";

/// Rows of `tests/vectors/cosmos/adr036_signed.json`, with the signature alone and with the whole answer of the wallet.
pub static COSMOS: Family = Family::new(
    &[
        Signed {
            address: "cosmos17gtfgtk3k5vrmdxmvr5h4tfucdd6vvw294c3np",
            chain: Some("cosmos:cosmoshub-4"),
            text: TEXT,
            signature: "46zBcDcLkpR8DWJDOojtyEc+iQNEXctvhsTBjAjSUSUnsmF9bzRF0/B511x6IjfJtGGCCBnjuvKJgqJvNv/XiA==",
            core: Core::Exact,
        },
        Signed {
            address: "cosmos17gtfgtk3k5vrmdxmvr5h4tfucdd6vvw294c3np",
            chain: Some("cosmos:cosmoshub-4"),
            text: TEXT,
            signature: "{\"pub_key\":{\"type\":\"tendermint/PubKeySecp256k1\",\"value\":\"A/KTyJb8RHKQrhkG+5mqqDWY4d4A0LfpXfNnyvrelq4/\"},\"signature\":\"46zBcDcLkpR8DWJDOojtyEc+iQNEXctvhsTBjAjSUSUnsmF9bzRF0/B511x6IjfJtGGCCBnjuvKJgqJvNv/XiA==\"}",
            core: Core::Parts(&[
                "e3acc170370b92947c0d62433a88edc8473e8903445dcb6f86c4c18c08d25125",
                "27b2617d6f3445d3f079d75c7a2237c9b461820819e3baf28982a26f36ffd788",
            ]),
        },
        Signed {
            address: "osmo10wgf826hx7wc5ttmgk8pvy8g0vcdnn8dm6qj8r",
            chain: Some("cosmos:osmosis-1"),
            text: TEXT_2,
            signature: "BiqMXQ4SgA7LYB1uFx/RRugzlj5g0U9aSPdekSI2N6Z2925SKrkvPoDwArmiRbu5HOQiFKjHVgjXn00K8HlhsA==",
            core: Core::Exact,
        },
        Signed {
            address: "osmo10wgf826hx7wc5ttmgk8pvy8g0vcdnn8dm6qj8r",
            chain: Some("cosmos:osmosis-1"),
            text: TEXT_2,
            signature: "{\"pub_key\":{\"type\":\"tendermint/PubKeySecp256k1\",\"value\":\"A1BBst7fDLosfenw/zlarLROIoNkgg8mUfszGNV4sISc\"},\"signature\":\"BiqMXQ4SgA7LYB1uFx/RRugzlj5g0U9aSPdekSI2N6Z2925SKrkvPoDwArmiRbu5HOQiFKjHVgjXn00K8HlhsA==\"}",
            core: Core::Parts(&[
                "062a8c5d0e12800ecb601d6e171fd146e833963e60d14f5a48f75e91223637a6",
                "76f76e522ab92f3e80f002b9a245bbb91ce42214a8c75608d79f4d0af07961b0",
            ]),
        },
        Signed {
            address: "juno1kacppdfdjewcffg6k03uz069cqcewxc87fcvfp",
            chain: Some("cosmos:juno-1"),
            text: TEXT_3,
            signature: "bJG0VupHGFfnVj1+WkTmUxF0SFxR2IWtDFo/tIZHNhEmDoZlC+WaDDNK4EcnwqN3dsbdRpUmpApE+QatFjcwog==",
            core: Core::Exact,
        },
        Signed {
            address: "juno1kacppdfdjewcffg6k03uz069cqcewxc87fcvfp",
            chain: Some("cosmos:juno-1"),
            text: TEXT_3,
            signature: "{\"pub_key\":{\"type\":\"tendermint/PubKeySecp256k1\",\"value\":\"A5RODiGw3PYCfsvD/0WsEpi3lHSYOPqIXCsHGn94DT0t\"},\"signature\":\"bJG0VupHGFfnVj1+WkTmUxF0SFxR2IWtDFo/tIZHNhEmDoZlC+WaDDNK4EcnwqN3dsbdRpUmpApE+QatFjcwog==\"}",
            core: Core::Parts(&[
                "6c91b456ea471857e7563d7e5a44e6531174485c51d885ad0c5a3fb486473611",
                "260e86650be59a0c334ae04727c2a37776c6dd469526a40a44f906ad163730a2",
            ]),
        },
    ],
    USUAL,
);
