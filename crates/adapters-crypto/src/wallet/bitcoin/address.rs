//! Addresses of Bitcoin and similar coins: base58 with a version, and segwit by BIP-173 and BIP-350.

use bech32::Fe32;
use bitcoin::hashes::Hash;
use bitcoin::opcodes::all::OP_PUSHNUM_1;
use bitcoin::script::Builder;
use bitcoin::{PubkeyHash, ScriptBuf, ScriptHash, WPubkeyHash, WScriptHash};

use super::Coin;

/// The most characters that a version, twenty bytes and a checksum take in base58.
const BASE58_LIMIT: usize = 35;

/// An address of a coin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The canonical form, which is the one we store.
    pub(super) canonical: String,
    /// Who may spend what was sent to the address.
    pub(super) holder: Holder,
}

/// What an address commits to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// P2PKH: a key, compressed or not.
    Key(PubkeyHash),
    /// P2SH: a script. Here it is always P2WPKH inside P2SH.
    Script(ScriptHash),
    /// P2WPKH: a compressed key.
    SegwitKey(WPubkeyHash),
    /// P2WSH: a script.
    SegwitScript(WScriptHash),
    /// P2TR: a key, possibly with hidden scripts.
    Taproot([u8; 32]),
}

impl Address {
    /// Reads an address. Legacy versions belong to another coin today, so they count only if the chain was
    /// named.
    ///
    /// Base58 is never case-folded. Segwit addresses may be all upper case, as in QR codes (B-033). Addresses
    /// whose signatures could not be verified are refused: future segwit versions, and scripts and Taproot
    /// for coins without BIP-322.
    pub(super) fn read(text: &str, coin: &Coin, chain_is_named: bool) -> Option<Self> {
        Self::read_segwit(text, coin).or_else(|| Self::read_base58(text, coin, chain_is_named))
    }

    fn read_segwit(text: &str, coin: &Coin) -> Option<Self> {
        // Checks the length, the checksum for the witness version and the padding, and refuses mixed case.
        let (hrp, version, program) = bech32::segwit::decode(text).ok()?;
        if Some(hrp) != coin.hrp() {
            return None;
        }
        let holder = match (version, program.len()) {
            (Fe32::Q, 20) => Holder::SegwitKey(WPubkeyHash::from_slice(&program).ok()?),
            (Fe32::Q, 32) if coin.signs_by_bip322() => {
                Holder::SegwitScript(WScriptHash::from_slice(&program).ok()?)
            }
            (Fe32::P, 32) if coin.signs_by_bip322() => Holder::Taproot(program.try_into().ok()?),
            _ => return None,
        };
        Some(Self { canonical: text.to_ascii_lowercase(), holder })
    }

    fn read_base58(text: &str, coin: &Coin, chain_is_named: bool) -> Option<Self> {
        if text.len() > BASE58_LIMIT {
            return None;
        }
        let bytes = bs58::decode(text).with_check(None).into_vec().ok()?;
        let (version, hash) = bytes.split_first()?;
        let hash: [u8; 20] = hash.try_into().ok()?;
        let is_script = coin.p2sh_versions().contains(version)
            || (chain_is_named && coin.legacy_p2sh_versions().contains(version));
        let (holder, versions) = if coin.p2pkh_versions().contains(version) {
            (Holder::Key(PubkeyHash::from_byte_array(hash)), coin.p2pkh_versions())
        } else if is_script {
            (Holder::Script(ScriptHash::from_byte_array(hash)), coin.p2sh_versions())
        } else {
            return None;
        };
        // The same hash with another version of the coin is the same account.
        let canonical = base58(*versions.first()?, &hash);
        Some(Self { canonical, holder })
    }
}

impl Holder {
    /// The script that locks coins sent to the address.
    pub(super) fn script_pubkey(&self) -> ScriptBuf {
        match self {
            Self::Key(hash) => ScriptBuf::new_p2pkh(hash),
            Self::Script(hash) => ScriptBuf::new_p2sh(hash),
            Self::SegwitKey(hash) => ScriptBuf::new_p2wpkh(hash),
            Self::SegwitScript(hash) => ScriptBuf::new_p2wsh(hash),
            Self::Taproot(key) => Builder::new().push_opcode(OP_PUSHNUM_1).push_slice(key).into_script(),
        }
    }
}

/// Encodes a version and a hash with their checksum.
pub(super) fn base58(version: u8, hash: &[u8; 20]) -> String {
    bs58::encode([&[version], hash.as_slice()].concat()).with_check().into_string()
}
