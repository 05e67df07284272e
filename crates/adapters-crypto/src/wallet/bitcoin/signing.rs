//! Keys that sign as wallets do, for the tests in this folder.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bitcoin::consensus::serialize;
use bitcoin::hashes::Hash;
use bitcoin::key::TapTweak;
use bitcoin::opcodes::all::OP_CHECKSIG;
use bitcoin::script::{Builder, PushBytesBuf};
use bitcoin::secp256k1::{All, Keypair, Message, Secp256k1, SecretKey};
use bitcoin::sighash::{Prevouts, SighashCache};
use bitcoin::{
    Amount, CompressedPublicKey, EcdsaSighashType, PublicKey, ScriptBuf, TapSighashType, Transaction, TxOut,
    Witness,
};
use countersign_domain::wallet::WalletProof;
use countersign_ports::WalletVerifier;

use super::address::{Holder, base58};
use super::bip322::{to_sign, to_spend};
use super::{Coin, CoinVerifier, bip137, judge};

/// The kinds of address that a key can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Uncompressed,
    Compressed,
    Nested,
    Segwit,
    SegwitScript,
    Taproot,
}

/// The kinds that sign by BIP-137, with the first of their headers.
pub(super) const COMPACT: [(Kind, u8); 4] =
    [(Kind::Uncompressed, 27), (Kind::Compressed, 31), (Kind::Nested, 35), (Kind::Segwit, 39)];

/// All kinds.
pub(super) const KINDS: [Kind; 6] =
    [Kind::Uncompressed, Kind::Compressed, Kind::Nested, Kind::Segwit, Kind::SegwitScript, Kind::Taproot];

/// A key, and how it signs.
#[derive(Clone, Debug)]
pub(super) struct Wallet {
    secp: Secp256k1<All>,
    keys: Keypair,
}

impl Wallet {
    pub(super) fn from_bytes(secret: [u8; 32]) -> Option<Self> {
        let secp = Secp256k1::new();
        let secret = SecretKey::from_slice(&secret).ok()?;
        Some(Self { keys: Keypair::from_secret_key(&secp, &secret), secp })
    }

    pub(super) fn compressed(&self) -> CompressedPublicKey {
        CompressedPublicKey(self.keys.public_key())
    }

    fn uncompressed(&self) -> PublicKey {
        PublicKey::new_uncompressed(self.keys.public_key())
    }

    /// `<key> OP_CHECKSIG`.
    fn script(&self) -> ScriptBuf {
        Builder::new().push_slice(self.compressed().to_bytes()).push_opcode(OP_CHECKSIG).into_script()
    }

    pub(super) fn holder(&self, kind: Kind) -> Holder {
        let key = self.compressed();
        match kind {
            Kind::Uncompressed => Holder::Key(self.uncompressed().pubkey_hash()),
            Kind::Compressed => Holder::Key(key.pubkey_hash()),
            Kind::Nested => Holder::Script(ScriptBuf::new_p2wpkh(&key.wpubkey_hash()).script_hash()),
            Kind::Segwit => Holder::SegwitKey(key.wpubkey_hash()),
            Kind::SegwitScript => Holder::SegwitScript(self.script().wscript_hash()),
            Kind::Taproot => {
                let (key, _) = self.keys.x_only_public_key().0.tap_tweak(&self.secp, None);
                Holder::Taproot(key.serialize())
            }
        }
    }

    pub(super) fn address(&self, kind: Kind, coin: &Coin) -> String {
        address_of(&self.holder(kind), coin)
    }

    /// Signs by BIP-137, with the header of the kind.
    pub(super) fn compact(&self, kind: Kind, coin: &Coin, text: &str) -> [u8; 65] {
        let digest = Message::from_digest(bip137::digest(coin.magic(), text));
        let signature = self.secp.sign_ecdsa_recoverable(&digest, &self.keys.secret_key());
        let (candidate, scalars) = signature.serialize_compact();
        let (_, first) = COMPACT.into_iter().find(|(compact, _)| *compact == kind).unwrap();
        let mut bytes = [0; 65];
        bytes[0] = first + u8::try_from(candidate.to_i32()).unwrap();
        bytes[1..].copy_from_slice(&scalars);
        bytes
    }

    /// The transaction of BIP-322, changed before it is signed.
    pub(super) fn signed(
        &self,
        kind: Kind,
        text: &str,
        sighash_type: u8,
        change: impl FnOnce(&mut Transaction),
    ) -> Transaction {
        let script_pubkey = self.holder(kind).script_pubkey();
        let spent = to_spend(script_pubkey.clone(), text);
        let mut transaction = to_sign(spent.compute_txid(), ScriptBuf::new(), Witness::new());
        change(&mut transaction);
        let cache = &mut SighashCache::new(transaction.clone());
        let ecdsa_type = EcdsaSighashType::from_consensus(u32::from(sighash_type));
        let key = self.compressed();
        let input = &mut transaction.input[0];
        let push = |bytes: &[u8]| PushBytesBuf::try_from(bytes.to_vec()).unwrap();
        match kind {
            Kind::Uncompressed | Kind::Compressed => {
                let hash = cache.legacy_signature_hash(0, &script_pubkey, u32::from(sighash_type)).unwrap();
                let signature = self.ecdsa(hash.to_byte_array(), sighash_type);
                let is_compressed = kind == Kind::Compressed;
                let key =
                    if is_compressed { key.to_bytes().to_vec() } else { self.uncompressed().to_bytes() };
                input.script_sig =
                    Builder::new().push_slice(push(&signature)).push_slice(push(&key)).into_script();
            }
            Kind::Nested | Kind::Segwit => {
                let program = ScriptBuf::new_p2wpkh(&key.wpubkey_hash());
                let hash = cache.p2wpkh_signature_hash(0, &program, Amount::ZERO, ecdsa_type).unwrap();
                let signature = self.ecdsa(hash.to_byte_array(), sighash_type);
                input.witness = Witness::from_slice(&[signature, key.to_bytes().to_vec()]);
                if kind == Kind::Nested {
                    input.script_sig = Builder::new().push_slice(push(program.as_bytes())).into_script();
                }
            }
            Kind::SegwitScript => {
                let hash = cache.p2wsh_signature_hash(0, &self.script(), Amount::ZERO, ecdsa_type).unwrap();
                let signature = self.ecdsa(hash.to_byte_array(), sighash_type);
                input.witness = Witness::from_slice(&[signature, self.script().into_bytes()]);
            }
            Kind::Taproot => {
                let prevouts = vec![TxOut { value: Amount::ZERO, script_pubkey }; transaction.input.len()];
                let sighash_type = TapSighashType::from_consensus_u8(sighash_type).unwrap();
                let hash = cache
                    .taproot_key_spend_signature_hash(0, &Prevouts::All(&prevouts), sighash_type)
                    .unwrap();
                let keys = self.keys.tap_tweak(&self.secp, None).to_keypair();
                let digest = Message::from_digest(hash.to_byte_array());
                let signature = self.secp.sign_schnorr_no_aux_rand(&digest, &keys);
                let signature = bitcoin::taproot::Signature { signature, sighash_type };
                transaction.input[0].witness = Witness::from_slice(&[signature.to_vec()]);
            }
        }
        transaction
    }

    /// The witness of BIP-322's simple form.
    pub(super) fn witness(&self, kind: Kind, text: &str) -> Witness {
        self.signed(kind, text, usual_type(kind), |_| {}).input.remove(0).witness
    }

    fn ecdsa(&self, digest: [u8; 32], sighash_type: u8) -> Vec<u8> {
        let signature = self.secp.sign_ecdsa(&Message::from_digest(digest), &self.keys.secret_key());
        [&signature.serialize_der()[..], &[sighash_type]].concat()
    }
}

pub(super) fn wallet() -> Wallet {
    Wallet::from_bytes([0x42; 32]).unwrap()
}

/// The sighash type that wallets use with a kind.
pub(super) fn usual_type(kind: Kind) -> u8 {
    if kind == Kind::Taproot { 0 } else { 1 }
}

pub(super) fn address_of(holder: &Holder, coin: &Coin) -> String {
    let segwit = |version, program: &[u8]| {
        bech32::segwit::encode(coin.hrp().unwrap(), bech32::Fe32::try_from(version).unwrap(), program)
            .unwrap()
    };
    match holder {
        Holder::Key(hash) => base58(coin.p2pkh_versions()[0], &hash.to_byte_array()),
        Holder::Script(hash) => base58(coin.p2sh_versions()[0], &hash.to_byte_array()),
        Holder::SegwitKey(hash) => segwit(0_u8, hash.as_byte_array()),
        Holder::SegwitScript(hash) => segwit(0, hash.as_byte_array()),
        Holder::Taproot(key) => segwit(1, key),
    }
}

pub(super) fn simple(witness: &Witness) -> String {
    format!("smp{}", STANDARD.encode(serialize(witness)))
}

pub(super) fn full(transaction: &Transaction) -> String {
    format!("ful{}", STANDARD.encode(serialize(transaction)))
}

/// The verdict on a signature under a coin's rules, with the chain named.
pub(super) fn judged(coin: &Coin, address: &str, text: &str, signature: &str) -> Result<(), &'static str> {
    let recognized = CoinVerifier::new(coin.clone()).recognize(address, Some(coin.chain()));
    let [recognized] = recognized.as_slice() else {
        return Err("the address is not recognized");
    };
    let account = recognized.account.clone();
    judge(coin, &WalletProof { account, kind: None, text: text.to_owned(), signature: signature.to_owned() })
}
