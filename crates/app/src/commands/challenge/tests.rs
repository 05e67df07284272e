//! The command's answers for verdicts from verifiers that the binary does not include.

use async_trait::async_trait;
use countersign_ports::VerifierError;

use super::*;

/// Recognizes addresses in capital letters on the chains of its coins. Only the signature `good` of the text
/// `text` is valid.
struct Coins(&'static [(&'static str, &'static str)]);

#[async_trait]
impl WalletVerifier for Coins {
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        if address.is_empty() || !address.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Vec::new();
        }
        let coins = self.0.iter().filter(|(_, id)| chain.is_none_or(|chain| chain == *id));
        coins
            .map(|(kind, id)| RecognizedAccount {
                account: WalletAccount {
                    family: (*id).to_owned(),
                    chain: (*id).to_owned(),
                    address: address.to_owned(),
                },
                kind: (*kind).into(),
                chain_id: "1".to_owned(),
            })
            .collect()
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        Ok(match (proof.text.as_str(), proof.signature.as_str()) {
            ("text", "good") => Verdict::Valid(proof.account.clone()),
            ("text", "slow") => return Err(VerifierError::Unavailable("no answer in 3 seconds".into())),
            _ => Verdict::Invalid("it was made by another key"),
        })
    }
}

const TWO: Coins = Coins(&[("Bitcoin", "bip122:1"), ("Litecoin", "bip122:2")]);

/// The family, and the account or the reason.
async fn judged(wallets: &Coins, address: &str, text: &str, signature: &str) -> (String, String) {
    let claim = Claim { address, chain: None, text, signature };
    let judgement = judge(&claim, wallets).await;
    let outcome = judgement.outcome.map(|account| account.caip10());
    (judgement.family, outcome.unwrap_or_else(|reason| reason.into_owned()))
}

fn pair(family: &str, outcome: &str) -> (String, String) {
    (family.to_owned(), outcome.to_owned())
}

#[tokio::test]
async fn an_address_of_several_chains_is_refused_with_their_names_until_one_is_named() {
    let reason = "the address exists on several chains; name one of them: bip122:1, bip122:2";
    assert_eq!(judged(&TWO, "AB", "text", "good").await, pair("unknown", reason));
    assert_eq!(judged(&TWO, "bip122:2:AB", "text", "good").await, pair("litecoin", "bip122:2:AB"));
    let claim = Claim { address: "AB", chain: Some("bip122:1"), text: "text", signature: "good" };
    assert_eq!(judge(&claim, &TWO).await.family, "bitcoin");
}

#[tokio::test]
async fn several_chains_of_one_kind_have_the_family_of_the_kind() {
    let forks = Coins(&[("Ethereum", "eip155:1"), ("Ethereum", "eip155:2")]);
    assert_eq!(judged(&forks, "AB", "text", "good").await.0, "ethereum");
}

#[tokio::test]
async fn an_address_of_another_chain_is_told_its_own() {
    let expected =
        "the address does not belong to the chain that was named; it belongs to bip122:1, bip122:2";
    assert_eq!(judged(&TWO, "bip122:3:AB", "text", "good").await, pair("unknown", expected));
    let expected = "this build does not recognize the address";
    assert_eq!(judged(&TWO, "bip122:3:ab", "text", "good").await, pair("unknown", expected));
}

#[tokio::test]
async fn a_line_break_that_nobody_signed_is_named_and_the_signature_stays_invalid() {
    let one = Coins(&[("Tron", "tron:1")]);
    let expected = "the text ends with a line break that was not signed; without it the signature is valid";
    for text in ["text\n", "text\r\n"] {
        assert_eq!(judged(&one, "AB", text, "good").await, pair("tron", expected), "{text:?}");
    }
    for text in ["text\n\n", "text\r", "\ntext", "text ", "\n", ""] {
        assert_eq!(
            judged(&one, "AB", text, "good").await,
            pair("tron", "it was made by another key"),
            "{text:?}"
        );
    }
    assert_eq!(judged(&one, "AB", "text\n", "bad").await, pair("tron", "it was made by another key"));
}

#[tokio::test]
async fn a_verdict_that_cannot_be_found_is_no_verdict_on_the_signature() {
    let one = Coins(&[("Tron", "tron:1")]);
    let expected =
        "the signature could not be checked: wallet verifier is unavailable: no answer in 3 seconds";
    assert_eq!(judged(&one, "AB", "text", "slow").await, pair("tron", expected));
}

#[tokio::test]
async fn an_account_that_may_be_a_contract_is_said_to_need_its_chain() {
    let ethereum = Coins(&[("Ethereum", "eip155:1")]);
    let expected = "it was made by another key (if the account is a contract wallet, its signature cannot be \
                    checked offline)";
    assert_eq!(judged(&ethereum, "AB", "text", "bad").await, pair("ethereum", expected));
    assert_eq!(judged(&ethereum, "AB", "text", "good").await, pair("ethereum", "eip155:1:AB"));
}
