//! The wallet clauses can be met: a minimal verifier of Ethereum signatures meets them with the test wallet.
//! They can also be failed: a verifier that accepts everything fails them.

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use countersign_conformance::fakes::TestWallet;
use countersign_conformance::wallet;
use countersign_domain::wallet::{WalletAccount, WalletProof, signature_bytes};
use countersign_ports::{RecognizedAccount, Verdict, VerifierError, WalletVerifier};
use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use sha3::{Digest, Keccak256};

struct ShortVerifier;

#[async_trait]
impl WalletVerifier for ShortVerifier {
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        let on_chain = |_: &String| chain.is_none_or(|chain| chain == "eip155:1");
        let account = |address| RecognizedAccount {
            account: WalletAccount { family: "eip155".to_owned(), chain: "eip155:1".to_owned(), address },
            kind: "Ethereum".into(),
            chain_id: "1".to_owned(),
        };
        canonical(address).filter(on_chain).map(account).into_iter().collect()
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        let is_valid = recover(&proof.text, &proof.signature).is_some_and(|who| who == proof.account.address);
        Ok(if is_valid { Verdict::Valid(proof.account.clone()) } else { Verdict::Invalid("another signer") })
    }
}

fn canonical(address: &str) -> Option<String> {
    let digits = address.strip_prefix("0x").filter(|digits| digits.len() == 40)?;
    let canonical = checksummed(&hex::decode(digits).ok()?);
    let has_one_case = digits == digits.to_lowercase() || digits == digits.to_uppercase();
    (has_one_case || canonical == address).then_some(canonical)
}

fn recover(text: &str, signature: &str) -> Option<String> {
    let bytes = signature_bytes(signature, 65)?;
    let parity = bytes[64].checked_sub(27).filter(|parity| *parity < 2)?;
    let signature = Signature::from_slice(&bytes[..64]).ok()?;
    if signature.normalize_s() != signature {
        return None;
    }
    let prefix = format!("\x19Ethereum Signed Message:\n{}", text.len());
    let hash = Keccak256::digest([prefix.as_bytes(), text.as_bytes()].concat());
    let key = VerifyingKey::recover_from_prehash(&hash, &signature, RecoveryId::from_byte(parity)?).ok()?;
    Some(checksummed(&Keccak256::digest(&key.to_sec1_point(false).as_bytes()[1..])[12..]))
}

fn checksummed(address: &[u8]) -> String {
    let digits = hex::encode(address);
    let checksum = hex::encode(Keccak256::digest(digits.as_bytes()));
    let cased = digits
        .chars()
        .zip(checksum.chars())
        .map(|(digit, check)| if check >= '8' { digit.to_ascii_uppercase() } else { digit });
    format!("0x{}", cased.collect::<String>())
}

countersign_conformance::wallet_contract!(ShortVerifier, TestWallet::from_seed);

struct Credulous;

#[async_trait]
impl WalletVerifier for Credulous {
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        ShortVerifier.recognize(address, chain)
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        Ok(Verdict::Valid(proof.account.clone()))
    }
}

#[tokio::test]
#[should_panic(expected = "bit 0")]
async fn a_verifier_that_believes_everything_fails() {
    wallet::a_signature_with_any_bit_flipped_is_refused(&Credulous, TestWallet::from_seed).await;
}

#[test]
fn the_test_wallet_spells_its_signature_as_the_domain_reads_it() {
    let wallet = TestWallet::from_seed(3);
    assert_eq!(signature_bytes(&wallet.sign("text"), 65), Some(wallet.sign_bytes("text")));
    assert_eq!(STANDARD.decode(wallet.sign_base64("text")).unwrap(), wallet.sign_bytes("text"));
}
