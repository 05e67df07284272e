//! The Cosmos chains that we know: their address prefixes, their names and their chain ids.
//!
//! A chain belongs here if the key of an ordinary account is plain secp256k1, so that the address is the hash
//! of a key by SHA-256 and RIPEMD-160. Chains whose accounts have `ethsecp256k1` keys (Injective, Evmos,
//! Cronos EVM, Dymension, …), or that mix the two, do not: their addresses look the same and mean something
//! else. Prefixes and chain ids come from the public chain registry of the Cosmos projects.

/// A Cosmos chain.
#[derive(Debug)]
pub(super) struct Chain {
    /// The prefix of addresses, which bech32 calls the human-readable part.
    pub(super) prefix: &'static str,
    /// The kind of account in the challenge.
    pub(super) kind: &'static str,
    /// The CAIP-2 chain id.
    pub(super) id: &'static str,
}

impl Chain {
    /// The chain's own id, without the namespace of CAIP-2.
    pub(super) fn reference(&self) -> &'static str {
        self.id.strip_prefix(NAMESPACE).unwrap_or(self.id)
    }
}

/// The CAIP-2 namespace of these chains.
pub(super) const NAMESPACE: &str = "cosmos:";

const fn chain(prefix: &'static str, kind: &'static str, id: &'static str) -> Chain {
    Chain { prefix, kind, id }
}

/// All known chains. Two chains may share a prefix; then the address alone means an account on either.
pub(super) const CHAINS: [Chain; 40] = [
    chain("cosmos", "Cosmos", "cosmos:cosmoshub-4"),
    chain("osmo", "Osmosis", "cosmos:osmosis-1"),
    chain("agoric", "Agoric", "cosmos:agoric-3"),
    chain("akash", "Akash", "cosmos:akashnet-2"),
    chain("archway", "Archway", "cosmos:archway-1"),
    chain("atone", "AtomOne", "cosmos:atomone-1"),
    chain("axelar", "Axelar", "cosmos:axelar-dojo-1"),
    chain("band", "Band", "cosmos:laozi-mainnet"),
    chain("bbn", "Babylon", "cosmos:bbn-1"),
    chain("bitsong", "BitSong", "cosmos:bitsong-2b"),
    chain("celestia", "Celestia", "cosmos:celestia"),
    chain("cheqd", "cheqd", "cosmos:cheqd-mainnet-1"),
    chain("chihuahua", "Chihuahua", "cosmos:chihuahua-1"),
    chain("core", "Coreum", "cosmos:coreum-mainnet-1"),
    chain("cro", "Cronos POS", "cosmos:crypto-org-chain-mainnet-1"),
    chain("dydx", "dYdX", "cosmos:dydx-mainnet-1"),
    chain("fetch", "Fetch.ai", "cosmos:fetchhub-4"),
    chain("jkl", "Jackal", "cosmos:jackal-1"),
    chain("juno", "Juno", "cosmos:juno-1"),
    chain("kujira", "Kujira", "cosmos:kaiyo-1"),
    chain("kyve", "KYVE", "cosmos:kyve-1"),
    chain("maya", "Maya", "cosmos:mayachain-mainnet-v1"),
    chain("migaloo", "Migaloo", "cosmos:migaloo-1"),
    chain("neutron", "Neutron", "cosmos:neutron-1"),
    chain("noble", "Noble", "cosmos:noble-1"),
    chain("nolus", "Nolus", "cosmos:pirin-1"),
    chain("persistence", "Persistence", "cosmos:core-1"),
    chain("quick", "Quicksilver", "cosmos:quicksilver-2"),
    chain("regen", "Regen", "cosmos:regen-1"),
    chain("saga", "Saga", "cosmos:ssc-1"),
    chain("secret", "Secret", "cosmos:secret-4"),
    chain("seda", "SEDA", "cosmos:seda-1"),
    chain("sent", "Sentinel", "cosmos:sentinelhub-2"),
    chain("somm", "Sommelier", "cosmos:sommelier-3"),
    chain("stars", "Stargaze", "cosmos:stargaze-1"),
    chain("stride", "Stride", "cosmos:stride-1"),
    chain("terra", "Terra", "cosmos:phoenix-1"),
    chain("terra", "Terra Classic", "cosmos:columbus-5"),
    chain("thor", "THORChain", "cosmos:thorchain-1"),
    chain("zig", "ZIGChain", "cosmos:zigchain-1"),
];
