//! The contract suites of `countersign-conformance`, run on the router, on each family alone, and on the
//! signer.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod router {
    //! As the server uses it, with the wallet of the suite, which shares no code with ours.

    use countersign_adapters_crypto::WalletRouter;
    use countersign_conformance::fakes::TestWallet;

    countersign_conformance::wallet_contract!(WalletRouter::standard(), TestWallet::from_seed);
}

mod ethereum {
    //! The family alone, with the wallet of `countersign demo-wallet`.

    use countersign_adapters_crypto::{DemoWallet, EthereumVerifier};
    use countersign_conformance::wallet::SigningWallet;

    struct Demo(DemoWallet);

    impl SigningWallet for Demo {
        fn address(&self) -> String {
            self.0.address()
        }

        fn sign(&self, text: &str) -> Vec<u8> {
            hex::decode(&self.0.sign(text)[2..]).unwrap()
        }
    }

    fn demo(seed: u64) -> Demo {
        let mut key = [7; 32];
        key[..8].copy_from_slice(&seed.to_be_bytes());
        Demo(DemoWallet::from_bytes(key).unwrap())
    }

    countersign_conformance::wallet_contract!(EthereumVerifier::offline(), demo);
}

mod solana {
    //! The family alone, with one wallet for each byte string that a wallet may sign. Their layouts are
    //! written here a second time.

    use ed25519_dalek::{Signer, SigningKey};

    use countersign_adapters_crypto::SolanaVerifier;
    use countersign_conformance::wallet::SigningWallet;

    struct Wallet {
        key: SigningKey,
        bytes_to_sign: fn(&[u8; 32], &str) -> Vec<u8>,
    }

    impl SigningWallet for Wallet {
        fn address(&self) -> String {
            bs58::encode(self.key.verifying_key()).into_string()
        }

        fn sign(&self, text: &str) -> Vec<u8> {
            let signer = self.key.verifying_key().to_bytes();
            self.key.sign(&(self.bytes_to_sign)(&signer, text)).to_bytes().to_vec()
        }

        fn spell(&self, signature: &[u8]) -> Vec<String> {
            let mut spellings = DigitsOnly.spell(signature);
            // The work of decoding base58 grows with the square of the length. Lengths that no wallet would
            // write are skipped.
            if signature.len() <= 256 {
                spellings.insert(0, bs58::encode(signature).into_string());
            }
            spellings
        }
    }

    /// The encodings that the suite knows by itself.
    struct DigitsOnly;

    impl SigningWallet for DigitsOnly {
        fn address(&self) -> String {
            String::new()
        }

        fn sign(&self, _text: &str) -> Vec<u8> {
            Vec::new()
        }
    }

    /// A wallet whose address has 43 characters and does not begin with a `1`. Without one character, such an
    /// address is 31 bytes. Addresses of 44 characters have no checksum, so about half of them are another
    /// valid address without one character. The suite's clause about cut addresses cannot hold for those.
    fn wallet(seed: u64, bytes_to_sign: fn(&[u8; 32], &str) -> Vec<u8>) -> Wallet {
        let mut key = [7; 32];
        key[..8].copy_from_slice(&seed.to_be_bytes());
        for attempt in 0_u64.. {
            key[8..16].copy_from_slice(&attempt.to_be_bytes());
            let wallet = Wallet { key: SigningKey::from_bytes(&key), bytes_to_sign };
            let address = wallet.address();
            if address.len() == 43 && !address.starts_with('1') {
                return wallet;
            }
        }
        unreachable!("one address in twenty has this form");
    }

    const SIGNING_DOMAIN: &[u8] = b"\xffsolana offchain";

    fn full_header(domain: &[u8], format: u8, signer: &[u8; 32], text: &str) -> Vec<u8> {
        let mut bytes = SIGNING_DOMAIN.to_vec();
        bytes.push(0);
        bytes.extend_from_slice(domain);
        bytes.resize(16 + 1 + 32, 0);
        bytes.extend([format, 1]);
        bytes.extend_from_slice(signer);
        bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes
    }

    fn is_ascii(text: &str, also: &[char]) -> bool {
        text.chars().all(|character| (' '..='~').contains(&character) || also.contains(&character))
    }

    fn format_by_specification(text: &str, longest: usize) -> u8 {
        match text.len() {
            length if length > longest => 2,
            _ if is_ascii(text, &[]) => 0,
            _ => 1,
        }
    }

    mod raw {
        countersign_conformance::wallet_contract!(super::SolanaVerifier, |seed| {
            super::wallet(seed, |_, text| text.as_bytes().to_vec())
        });
    }

    mod ledger_with_host {
        //! If a text names no host, the wallet signs as if it had got none.

        fn bytes_to_sign(signer: &[u8; 32], text: &str) -> Vec<u8> {
            let host = text.split_once(" wants you").map_or("", |(host, _)| host);
            super::full_header(host.as_bytes(), u8::from(!super::is_ascii(text, &['\n'])), signer, text)
        }

        countersign_conformance::wallet_contract!(super::SolanaVerifier, |seed| super::wallet(
            seed,
            bytes_to_sign
        ));
    }

    mod ledger {
        fn bytes_to_sign(signer: &[u8; 32], text: &str) -> Vec<u8> {
            super::full_header(&[], u8::from(!super::is_ascii(text, &['\n'])), signer, text)
        }

        countersign_conformance::wallet_contract!(super::SolanaVerifier, |seed| super::wallet(
            seed,
            bytes_to_sign
        ));
    }

    mod version_zero {
        fn bytes_to_sign(signer: &[u8; 32], text: &str) -> Vec<u8> {
            super::full_header(&[], super::format_by_specification(text, 1_232), signer, text)
        }

        countersign_conformance::wallet_contract!(super::SolanaVerifier, |seed| super::wallet(
            seed,
            bytes_to_sign
        ));
    }

    mod version_one {
        fn bytes_to_sign(signer: &[u8; 32], text: &str) -> Vec<u8> {
            [super::SIGNING_DOMAIN, &[1, 1], signer, text.as_bytes()].concat()
        }

        countersign_conformance::wallet_contract!(super::SolanaVerifier, |seed| super::wallet(
            seed,
            bytes_to_sign
        ));
    }

    mod command_line {
        fn bytes_to_sign(_signer: &[u8; 32], text: &str) -> Vec<u8> {
            let format = super::format_by_specification(text, 1_212);
            let length = u16::try_from(text.len()).unwrap().to_le_bytes();
            [super::SIGNING_DOMAIN, &[0, format], &length, text.as_bytes()].concat()
        }

        countersign_conformance::wallet_contract!(super::SolanaVerifier, |seed| super::wallet(
            seed,
            bytes_to_sign
        ));
    }
}

mod cosmos {
    //! The family alone, on two chains, with a wallet that shares no code with ours.

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use bech32::{Bech32, Hrp};
    use bitcoin::hashes::{Hash, hash160};
    use countersign_adapters_crypto::CosmosVerifier;
    use countersign_conformance::wallet::SigningWallet;
    use k256::ecdsa::SigningKey;
    use serde_json::json;
    use sha2::{Digest, Sha256};

    struct Wallet {
        key: SigningKey,
        prefix: &'static str,
    }

    impl Wallet {
        fn new(seed: u64, prefix: &'static str) -> Self {
            let secret = Sha256::digest([b"cosmos".as_slice(), &seed.to_be_bytes()].concat());
            Self { key: SigningKey::from_slice(&secret).unwrap(), prefix }
        }

        fn public_key(&self) -> Vec<u8> {
            self.key.verifying_key().to_sec1_point(true).as_bytes().to_vec()
        }
    }

    impl SigningWallet for Wallet {
        fn address(&self) -> String {
            let hash = hash160::Hash::hash(&self.public_key()).to_byte_array();
            bech32::encode::<Bech32>(Hrp::parse(self.prefix).unwrap(), &hash).unwrap()
        }

        fn other_spellings(&self) -> Vec<String> {
            vec![self.address().to_uppercase()]
        }

        /// The document's members are in alphabetical order, as amino's JSON requires.
        fn sign(&self, text: &str) -> Vec<u8> {
            let value = json!({ "data": STANDARD.encode(text), "signer": self.address() });
            let document = json!({
                "account_number": "0",
                "chain_id": "",
                "fee": { "amount": [], "gas": "0" },
                "memo": "",
                "msgs": [{ "type": "sign/MsgSignData", "value": value }],
                "sequence": "0",
            });
            let digest = Sha256::digest(document.to_string());
            self.key.sign_prehash_recoverable(&digest).0.to_bytes().to_vec()
        }

        fn spell(&self, signature: &[u8]) -> Vec<String> {
            let base64 = STANDARD.encode(signature);
            let key = STANDARD.encode(self.public_key());
            let pub_key = json!({ "type": "tendermint/PubKeySecp256k1", "value": key });
            let answer = json!({ "pub_key": pub_key, "signature": base64 });
            vec![
                format!("0x{}", hex::encode(signature)),
                hex::encode_upper(signature),
                base64.clone(),
                base64.replace('+', "-").replace('/', "_").trim_end_matches('=').to_owned(),
                answer.to_string(),
                format!("{answer:#}"),
            ]
        }
    }

    mod hub {
        //! The Cosmos Hub.

        countersign_conformance::wallet_contract!(super::CosmosVerifier, |seed| super::Wallet::new(
            seed, "cosmos"
        ));
    }

    mod osmosis {
        //! Osmosis.

        countersign_conformance::wallet_contract!(super::CosmosVerifier, |seed| super::Wallet::new(
            seed, "osmo"
        ));
    }
}

mod tron {
    //! The family alone, with a wallet that shares no code with ours.

    use countersign_adapters_crypto::TronVerifier;
    use countersign_conformance::wallet::SigningWallet;
    use k256::ecdsa::SigningKey;
    use sha3::{Digest, Keccak256};

    struct Wallet(SigningKey);

    impl SigningWallet for Wallet {
        fn address(&self) -> String {
            let point = self.0.verifying_key().to_sec1_point(false);
            let hash = Keccak256::digest(&point.as_bytes()[1..]);
            bs58::encode(&hash[12..]).with_check_version(0x41).into_string()
        }

        fn sign(&self, text: &str) -> Vec<u8> {
            let prefixed = format!("\x19TRON Signed Message:\n{}{text}", text.len());
            let (scalars, recovery) = self.0.sign_prehash_recoverable(&Keccak256::digest(prefixed));
            [scalars.to_bytes().as_slice(), &[27 + recovery.to_byte()]].concat()
        }
    }

    fn wallet(seed: u64) -> Wallet {
        let secret = Keccak256::digest([b"tron".as_slice(), &seed.to_be_bytes()].concat());
        Wallet(SigningKey::from_slice(&secret).unwrap())
    }

    countersign_conformance::wallet_contract!(TronVerifier, wallet);
}

mod coins {
    //! Bitcoin and similar coins, with wallets that share no code with ours except libsecp256k1.

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use bitcoin::absolute::LockTime;
    use bitcoin::consensus::serialize;
    use bitcoin::hashes::{Hash, hash160, sha256, sha256d};
    use bitcoin::key::TapTweak;
    use bitcoin::secp256k1::{All, Keypair, Message, Secp256k1, SecretKey};
    use bitcoin::sighash::{Prevouts, SighashCache};
    use bitcoin::transaction::Version;
    use bitcoin::{
        Amount, EcdsaSighashType, OutPoint, ScriptBuf, Sequence, TapSighashType, Transaction, TxIn, TxOut,
        WPubkeyHash, Witness,
    };
    use countersign_conformance::wallet::SigningWallet;

    struct Keys {
        secp: Secp256k1<All>,
        pair: Keypair,
    }

    impl Keys {
        fn from_seed(seed: u64) -> Self {
            let secp = Secp256k1::new();
            let secret = sha256::Hash::hash(&[b"coins".as_slice(), &seed.to_be_bytes()].concat());
            let secret = SecretKey::from_slice(secret.as_byte_array()).unwrap();
            Self { pair: Keypair::from_secret_key(&secp, &secret), secp }
        }

        fn hash(&self) -> [u8; 20] {
            hash160::Hash::hash(&self.pair.public_key().serialize()).to_byte_array()
        }

        /// The witness program as a script.
        fn program(&self) -> Vec<u8> {
            [&[0, 20], self.hash().as_slice()].concat()
        }

        fn nested(&self, version: u8) -> String {
            let hash = hash160::Hash::hash(&self.program()).to_byte_array();
            bs58::encode([&[version], hash.as_slice()].concat()).with_check().into_string()
        }
    }

    enum Kind {
        /// P2PKH, with the version.
        Key(u8),
        /// P2WPKH in P2SH, with the version, and another version that means the same when the chain is named.
        Nested(u8, Option<(u8, &'static str)>),
        /// P2WPKH, with the HRP.
        Segwit(&'static str),
    }

    /// Signs by BIP-137.
    struct Compact {
        keys: Keys,
        magic: &'static str,
        kind: Kind,
    }

    impl SigningWallet for Compact {
        fn address(&self) -> String {
            match self.kind {
                Kind::Key(version) => bs58::encode([&[version], self.keys.hash().as_slice()].concat())
                    .with_check()
                    .into_string(),
                Kind::Nested(version, _) => self.keys.nested(version),
                Kind::Segwit(hrp) => {
                    bech32::segwit::encode_v0(bech32::Hrp::parse(hrp).unwrap(), &self.keys.hash()).unwrap()
                }
            }
        }

        fn chain(&self) -> Option<String> {
            match self.kind {
                Kind::Nested(_, Some((_, chain))) => Some(chain.to_owned()),
                Kind::Key(_) | Kind::Nested(_, None) | Kind::Segwit(_) => None,
            }
        }

        fn other_spellings(&self) -> Vec<String> {
            match self.kind {
                Kind::Key(_) | Kind::Nested(_, None) => Vec::new(),
                Kind::Nested(_, Some((version, _))) => vec![self.keys.nested(version)],
                Kind::Segwit(_) => vec![self.address().to_uppercase()],
            }
        }

        fn sign(&self, text: &str) -> Vec<u8> {
            let bytes = [serialize(&self.magic.to_owned()), serialize(&text.to_owned())].concat();
            let digest = Message::from_digest(sha256d::Hash::hash(&bytes).to_byte_array());
            let signature = self.keys.secp.sign_ecdsa_recoverable(&digest, &self.keys.pair.secret_key());
            let (candidate, scalars) = signature.serialize_compact();
            let first = match self.kind {
                Kind::Key(_) => 31,
                Kind::Nested(..) => 35,
                Kind::Segwit(_) => 39,
            };
            [&[first + u8::try_from(candidate.to_i32()).unwrap()], scalars.as_slice()].concat()
        }
    }

    /// Signs by the simple form of BIP-322, with P2WPKH or with P2TR.
    struct Simple {
        keys: Keys,
        is_taproot: bool,
    }

    impl Simple {
        fn output_key(&self) -> [u8; 32] {
            self.keys.pair.x_only_public_key().0.tap_tweak(&self.keys.secp, None).0.serialize()
        }

        fn script_pubkey(&self) -> ScriptBuf {
            if self.is_taproot {
                return [&[0x51, 32], self.output_key().as_slice()].concat().into();
            }
            self.keys.program().into()
        }
    }

    fn transaction(
        previous_output: OutPoint,
        script_sig: ScriptBuf,
        script_pubkey: ScriptBuf,
    ) -> Transaction {
        let input = TxIn { previous_output, script_sig, sequence: Sequence::ZERO, witness: Witness::new() };
        let output = TxOut { value: Amount::ZERO, script_pubkey };
        Transaction {
            version: Version(0),
            lock_time: LockTime::ZERO,
            input: vec![input],
            output: vec![output],
        }
    }

    impl SigningWallet for Simple {
        fn address(&self) -> String {
            let bc = bech32::hrp::BC;
            if self.is_taproot {
                return bech32::segwit::encode_v1(bc, &self.output_key()).unwrap();
            }
            bech32::segwit::encode_v0(bc, &self.keys.hash()).unwrap()
        }

        fn other_spellings(&self) -> Vec<String> {
            vec![self.address().to_uppercase()]
        }

        fn sign(&self, text: &str) -> Vec<u8> {
            let Keys { secp, pair } = &self.keys;
            let tag = sha256::Hash::hash(b"BIP0322-signed-message").to_byte_array();
            let hash = sha256::Hash::hash(&[&tag, &tag, text.as_bytes()].concat()).to_byte_array();
            let challenge = [&[0, 32], hash.as_slice()].concat().into();
            let spent = transaction(OutPoint::null(), challenge, self.script_pubkey());
            let spending =
                transaction(OutPoint::new(spent.compute_txid(), 0), ScriptBuf::new(), vec![0x6a].into());
            let mut cache = SighashCache::new(&spending);
            if self.is_taproot {
                let digest = cache
                    .taproot_key_spend_signature_hash(
                        0,
                        &Prevouts::All(&spent.output),
                        TapSighashType::Default,
                    )
                    .unwrap();
                let pair = pair.tap_tweak(secp, None).to_keypair();
                let signature =
                    secp.sign_schnorr_no_aux_rand(&Message::from_digest(digest.to_byte_array()), &pair);
                return serialize(&Witness::from_slice(&[signature.as_ref()]));
            }
            let program = ScriptBuf::new_p2wpkh(&WPubkeyHash::from_byte_array(self.keys.hash()));
            let digest =
                cache.p2wpkh_signature_hash(0, &program, Amount::ZERO, EcdsaSighashType::All).unwrap();
            let signature =
                secp.sign_ecdsa(&Message::from_digest(digest.to_byte_array()), &pair.secret_key());
            let signature = [&signature.serialize_der()[..], &[1]].concat();
            serialize(&Witness::from_slice(&[signature, pair.public_key().serialize().to_vec()]))
        }

        /// BIP-322 has no hex and only one form of base64.
        fn spell(&self, signature: &[u8]) -> Vec<String> {
            let text = STANDARD.encode(signature);
            vec![format!("smp{text}"), text]
        }
    }

    /// The contract suite for a coin and a kind of address, by BIP-137.
    macro_rules! compact {
        ($name:ident, $coin:ident, $magic:literal, $kind:expr) => {
            mod $name {
                use super::{Compact, Keys, Kind};
                use countersign_adapters_crypto::{Coin, CoinVerifier};

                fn wallet(seed: u64) -> Compact {
                    Compact { keys: Keys::from_seed(seed), magic: $magic, kind: $kind }
                }

                countersign_conformance::wallet_contract!(CoinVerifier::new(Coin::$coin()), wallet);
            }
        };
    }

    compact!(bitcoin_key, bitcoin, "Bitcoin Signed Message:\n", Kind::Key(0));
    compact!(bitcoin_nested, bitcoin, "Bitcoin Signed Message:\n", Kind::Nested(5, None));
    compact!(bitcoin_segwit, bitcoin, "Bitcoin Signed Message:\n", Kind::Segwit("bc"));
    compact!(litecoin_key, litecoin, "Litecoin Signed Message:\n", Kind::Key(48));
    compact!(litecoin_segwit, litecoin, "Litecoin Signed Message:\n", Kind::Segwit("ltc"));
    compact!(
        litecoin_nested,
        litecoin,
        "Litecoin Signed Message:\n",
        Kind::Nested(50, Some((5, "bip122:12a765e31ffd4059bada1e25190f6e98")))
    );
    compact!(dogecoin_key, dogecoin, "Dogecoin Signed Message:\n", Kind::Key(30));
    compact!(ravencoin_key, ravencoin, "Raven Signed Message:\n", Kind::Key(60));
    compact!(evrmore_key, evrmore, "Evrmore Signed Message:\n", Kind::Key(33));

    mod bip322_segwit {
        use super::{Keys, Simple};
        use countersign_adapters_crypto::WalletRouter;

        fn wallet(seed: u64) -> Simple {
            Simple { keys: Keys::from_seed(seed), is_taproot: false }
        }

        countersign_conformance::wallet_contract!(WalletRouter::standard(), wallet);
    }

    mod bip322_taproot {
        use super::{Keys, Simple};
        use countersign_adapters_crypto::WalletRouter;

        fn wallet(seed: u64) -> Simple {
            Simple { keys: Keys::from_seed(seed), is_taproot: true }
        }

        countersign_conformance::wallet_contract!(WalletRouter::standard(), wallet);
    }
}

mod signer {
    //! A signer with new keys.

    use countersign_adapters_crypto::{JosekitSigner, SigningKey};
    use countersign_domain::signing_algorithm::SigningAlgorithm;

    fn signer() -> JosekitSigner {
        JosekitSigner::new(&SigningAlgorithm::ALL.map(|algorithm| SigningKey::generate(algorithm).unwrap()))
            .unwrap()
    }

    countersign_conformance::signer_contract!(signer());
}

mod jws_reader {
    //! A reader of what others signed.

    use countersign_adapters_crypto::JosekitReader;

    countersign_conformance::jws_contract!(JosekitReader);
}

mod first_start {
    //! The keys of the first start, in a store that keeps its contract.

    use countersign_adapters_crypto::{OperatorSecret, OsEntropy, SystemClock, load_or_create};
    use countersign_conformance::memory::MemoryStorage;
    use countersign_ports::TokenSigner;

    #[tokio::test]
    async fn every_later_start_signs_with_the_key_of_the_first() {
        let store = MemoryStorage::default();
        let secret = OperatorSecret::generate(&OsEntropy);
        let start = || load_or_create(&store, &secret, &SystemClock, &OsEntropy, &());
        let first = start().await.unwrap();
        for _ in 0..3 {
            assert_eq!(start().await.unwrap().public_keys(), first.public_keys());
        }
    }
}
