//! A signature is valid for the account that made it and for no other, whatever the family, coin or encoding.
//!
//! One list names all wallets. To add a family, add one line and a function that signs with a key. A test
//! checks that none is forgotten.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bech32::{Bech32, Hrp};
use bitcoin::hashes::{Hash, hash160};
use countersign_adapters_crypto::{DemoWallet, WalletRouter};
use countersign_conformance::wallet::spellings;
use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_ports::{RecognizedAccount, Verdict, WalletVerifier};
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Value, json};
use sha2::Sha256;
use sha3::{Digest, Keccak256};

/// A text signed by a wallet with some key.
struct Signed {
    /// Its address.
    address: String,
    /// Its CAIP-2 chain id, if the address alone could mean several.
    chain: Option<&'static str>,
    /// Its signatures of the text: every form that it may sign, in every encoding that its family accepts.
    signatures: Vec<String>,
}

/// Signs a text with 32 secret bytes, from which each family makes a key in its own way.
type Sign = fn(secret: [u8; 32], text: &str) -> Signed;

/// Every kind of wallet that can sign in.
const WALLETS: [(&str, Sign); 14] = [
    ("Ethereum", ethereum),
    ("Bitcoin P2PKH", |secret, text| bip137(&BITCOIN, Kind::Key, secret, text)),
    ("Bitcoin P2SH-P2WPKH", |secret, text| bip137(&BITCOIN, Kind::SegwitInScript, secret, text)),
    ("Bitcoin P2WPKH", |secret, text| bip137(&BITCOIN, Kind::Segwit, secret, text)),
    ("Litecoin", |secret, text| bip137(&LITECOIN, Kind::Key, secret, text)),
    ("Litecoin P2SH-P2WPKH", |secret, text| bip137(&LITECOIN, Kind::SegwitInScript, secret, text)),
    ("Litecoin P2WPKH", |secret, text| bip137(&LITECOIN, Kind::Segwit, secret, text)),
    ("Dogecoin", |secret, text| bip137(&DOGECOIN, Kind::Key, secret, text)),
    ("Ravencoin", |secret, text| bip137(&RAVENCOIN, Kind::Key, secret, text)),
    ("Evrmore", |secret, text| bip137(&EVRMORE, Kind::Key, secret, text)),
    ("Solana", solana),
    ("Cosmos", cosmos),
    ("Osmosis", osmosis),
    ("Tron", tron),
];

fn ethereum(secret: [u8; 32], text: &str) -> Signed {
    let wallet = DemoWallet::from_bytes(secret).unwrap();
    let usual = hex::decode(&wallet.sign(text)[2..]).unwrap();
    let mut short = usual.clone();
    short[64] -= 27;
    let signatures = [usual, short].iter().flat_map(|signature| spellings(signature)).collect();
    Signed { address: wallet.address(), chain: None, signatures }
}

fn solana(secret: [u8; 32], text: &str) -> Signed {
    let key = SigningKey::from_bytes(&secret);
    let signer = key.verifying_key().to_bytes();
    let host = text.split(' ').next().unwrap();
    let length = u16::try_from(text.len()).unwrap().to_le_bytes();
    let header = |bytes: &[u8]| [b"\xffsolana offchain", bytes, text.as_bytes()].concat();
    let version_zero = |host: &str, format: u8| {
        let mut domain = [0; 32];
        domain[..host.len()].copy_from_slice(host.as_bytes());
        header(&[&[0], &domain[..], &[format, 1], &signer, &length].concat())
    };
    let forms = [
        text.as_bytes().to_vec(),
        version_zero(host, 0),
        version_zero("", 0),
        version_zero("", 1),
        header(&[&[1, 1], &signer[..]].concat()),
        header(&[&[0, 1], &length[..]].concat()),
    ];
    let spell = |bytes: &Vec<u8>| {
        let signature = key.sign(bytes).to_bytes();
        let mut all = spellings(&signature);
        all.push(bs58::encode(signature).into_string());
        all
    };
    Signed {
        address: bs58::encode(signer).into_string(),
        chain: None,
        signatures: forms.iter().flat_map(spell).collect(),
    }
}

/// The text before a coin's messages, and the prefixes of its addresses.
struct CoinOf {
    chain: &'static str,
    magic: &'static str,
    key_version: u8,
    script_version: u8,
    prefix: &'static str,
}

const BITCOIN: CoinOf = CoinOf {
    chain: "bip122:000000000019d6689c085ae165831e93",
    magic: "\x18Bitcoin Signed Message:\n",
    key_version: 0,
    script_version: 5,
    prefix: "bc",
};
const LITECOIN: CoinOf = CoinOf {
    chain: "bip122:12a765e31ffd4059bada1e25190f6e98",
    magic: "\x19Litecoin Signed Message:\n",
    key_version: 0x30,
    script_version: 5,
    prefix: "ltc",
};
const DOGECOIN: CoinOf = CoinOf {
    chain: "bip122:1a91e3dace36e2be3bf030a65679fe82",
    magic: "\x19Dogecoin Signed Message:\n",
    key_version: 0x1e,
    script_version: 0x16,
    prefix: "",
};
const RAVENCOIN: CoinOf = CoinOf {
    chain: "bip122:0000006b444bc2f2ffe627be9d9e7e7a",
    magic: "\x16Raven Signed Message:\n",
    key_version: 0x3c,
    script_version: 0x7a,
    prefix: "",
};
const EVRMORE: CoinOf = CoinOf {
    chain: "bip122:0000007b11d0481b2420a7c656ef7677",
    magic: "\x18Evrmore Signed Message:\n",
    key_version: 0x21,
    script_version: 0x5c,
    prefix: "",
};

/// What an address is made from.
#[derive(Clone, Copy)]
enum Kind {
    Key,
    SegwitInScript,
    Segwit,
}

fn bip137(coin: &CoinOf, kind: Kind, secret: [u8; 32], text: &str) -> Signed {
    let key = k256::ecdsa::SigningKey::from_slice(&secret).unwrap();
    let hash = hash160::Hash::hash(key.verifying_key().to_sec1_point(true).as_bytes()).to_byte_array();
    let base58 = |version: u8, hash: [u8; 20]| bs58::encode([&[version], &hash[..]].concat()).with_check();
    let (header, address) = match kind {
        Kind::Key => (31, base58(coin.key_version, hash).into_string()),
        Kind::SegwitInScript => {
            let script = hash160::Hash::hash(&[&[0, 20], &hash[..]].concat()).to_byte_array();
            (35, base58(coin.script_version, script).into_string())
        }
        Kind::Segwit => (39, bech32::segwit::encode_v0(Hrp::parse(coin.prefix).unwrap(), &hash).unwrap()),
    };
    let length = u8::try_from(text.len()).unwrap();
    assert!(length < 253, "the length of the text must fit into one byte");
    let message = [coin.magic.as_bytes(), &[length], text.as_bytes()].concat();
    let (signature, recovery) = key.sign_prehash_recoverable(&Sha256::digest(Sha256::digest(message)));
    let header = header + recovery.to_byte();
    let signatures = spellings(&[&[header], &signature.to_bytes()[..]].concat());
    Signed { address, chain: Some(coin.chain), signatures }
}

fn cosmos(secret: [u8; 32], text: &str) -> Signed {
    adr036("cosmos", secret, text)
}

fn osmosis(secret: [u8; 32], text: &str) -> Signed {
    adr036("osmo", secret, text)
}

fn adr036(prefix: &str, secret: [u8; 32], text: &str) -> Signed {
    let key = k256::ecdsa::SigningKey::from_slice(&secret).unwrap();
    let public_key = key.verifying_key().to_sec1_point(true);
    let hash = hash160::Hash::hash(public_key.as_bytes()).to_byte_array();
    let address = bech32::encode::<Bech32>(Hrp::parse(prefix).unwrap(), &hash).unwrap();
    let document = json!({
        "account_number": "0",
        "chain_id": "",
        "fee": {"amount": [], "gas": "0"},
        "memo": "",
        "msgs": [{"type": "sign/MsgSignData", "value": {"data": STANDARD.encode(text), "signer": address}}],
        "sequence": "0",
    });
    let (signature, _) = key.sign_prehash_recoverable(&Sha256::digest(sorted(&document)));
    let whole = json!({
        "pub_key": {
            "type": "tendermint/PubKeySecp256k1",
            "value": STANDARD.encode(public_key.as_bytes()),
        },
        "signature": STANDARD.encode(signature.to_bytes()),
    });
    let mut signatures = spellings(&signature.to_bytes());
    signatures.push(whole.to_string());
    Signed { address, chain: None, signatures }
}

/// JSON with sorted keys, whatever order the library keeps.
fn sorted(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<_, _> = members.iter().collect();
            let members: Vec<_> =
                sorted.into_iter().map(|(name, value)| format!("{name:?}:{}", self::sorted(value))).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

fn tron(secret: [u8; 32], text: &str) -> Signed {
    let key = k256::ecdsa::SigningKey::from_slice(&secret).unwrap();
    let point = key.verifying_key().to_sec1_point(false);
    let hash = Keccak256::digest(&point.as_bytes()[1..]);
    let address = bs58::encode([&[0x41], &hash[12..]].concat()).with_check().into_string();
    let message = format!("\x19TRON Signed Message:\n{}{text}", text.len());
    let (signature, recovery) = key.sign_prehash_recoverable(&Keccak256::digest(message));
    let with =
        |byte: u8| spellings(&[&signature.to_bytes()[..], &[byte + u8::from(recovery.is_y_odd())]].concat());
    Signed { address, chain: None, signatures: [with(27), with(0)].concat() }
}

const TEXT: &str = "auth.example wants you to sign in with your account:\nsome address\n\nNonce: 7f3a9c";

/// Two people. Each has one secret for all wallets.
const SECRETS: [[u8; 32]; 2] = [[0x42; 32], [0x43; 32]];

/// An account with its signatures of the text.
struct Holder {
    name: String,
    recognized: RecognizedAccount,
    signatures: Vec<String>,
}

/// Every wallet of every person.
fn holders() -> Vec<Holder> {
    let holder = |person: usize, name: &str, sign: Sign| {
        let Signed { address, chain, signatures } = sign(SECRETS[person], TEXT);
        let mut recognized = WalletRouter::standard().recognize(&address, chain);
        assert_eq!(recognized.len(), 1, "{name}: name the chain, so that the address means one account");
        let name = format!("{name} of person {person}");
        Holder { name, recognized: recognized.remove(0), signatures }
    };
    WALLETS
        .iter()
        .flat_map(|(name, sign)| (0..SECRETS.len()).map(|person| holder(person, name, *sign)))
        .collect()
}

async fn verdict(account: WalletAccount, signature: &str) -> Verdict {
    let proof = WalletProof { account, kind: None, text: TEXT.to_owned(), signature: signature.to_owned() };
    WalletRouter::standard().verify(&proof).await.unwrap()
}

#[test]
fn no_family_of_the_router_is_missing_in_the_list() {
    let listed: BTreeSet<_> = holders().into_iter().map(|holder| holder.recognized.kind).collect();
    let known: BTreeSet<_> =
        WalletRouter::standard().address_hints().into_iter().map(|hint| hint.kind).collect();
    let missing: Vec<_> = known.difference(&listed).collect();
    assert!(missing.is_empty(), "{missing:?} have no wallet in WALLETS");
}

#[test]
fn one_secret_in_several_families_is_several_accounts() {
    let holders = holders();
    let accounts: BTreeSet<_> = holders
        .iter()
        .map(|holder| (&holder.recognized.account.family, &holder.recognized.account.address))
        .collect();
    assert_eq!(accounts.len(), holders.len());
}

#[tokio::test]
async fn every_signature_of_the_list_is_good_for_its_own_account() {
    let mut ran = 0;
    for Holder { name, recognized, signatures } in holders() {
        assert!(!signatures.is_empty(), "{name}");
        for signature in signatures {
            let account = recognized.account.clone();
            assert_eq!(
                verdict(account.clone(), &signature).await,
                Verdict::Valid(account),
                "{name}: {signature}"
            );
            ran += 1;
        }
    }
    println!("good signatures: {ran} ran");
}

#[tokio::test]
async fn b_005_b_034_no_signature_is_good_for_another_account_of_any_family() {
    let holders = holders();
    let mut ran = 0;
    for signer in &holders {
        for victim in holders.iter().filter(|victim| victim.recognized.account != signer.recognized.account) {
            for signature in &signer.signatures {
                let verdict = verdict(victim.recognized.account.clone(), signature).await;
                assert!(
                    matches!(verdict, Verdict::Invalid(_)),
                    "{} for {}: {signature}",
                    signer.name,
                    victim.name
                );
                ran += 1;
            }
        }
    }
    println!("signatures for others: {ran} ran");
}

/// A session could only contain such an account if something other than the router had written it.
#[tokio::test]
async fn b_034_an_account_with_parts_of_two_families_is_refused_whoever_signs() {
    let holders = holders();
    let mut ran = 0;
    for one in &holders {
        for other in holders.iter().filter(|other| other.recognized.kind != one.recognized.kind) {
            let (one_account, other_account) = (&one.recognized.account, &other.recognized.account);
            let mixed = [
                WalletAccount { family: other_account.family.clone(), ..one_account.clone() },
                WalletAccount { chain: other_account.chain.clone(), ..one_account.clone() },
                WalletAccount { address: other_account.address.clone(), ..one_account.clone() },
            ];
            // Families may share a namespace or an address format. Accounts that exist on their own are
            // covered above.
            let known: Vec<_> = holders.iter().map(|holder| &holder.recognized.account).collect();
            for account in mixed.iter().filter(|account| !known.contains(account)) {
                for signature in one.signatures.iter().chain(&other.signatures) {
                    let verdict = verdict(account.clone(), signature).await;
                    assert!(
                        matches!(verdict, Verdict::Invalid(_)),
                        "{} with {}: {signature}",
                        one.name,
                        other.name
                    );
                    ran += 1;
                }
            }
        }
    }
    println!("mixed accounts: {ran} ran");
}
