//! What people are told about a text and its signature.

use std::sync::Arc;

use async_trait::async_trait;
use countersign_domain::challenge::TextKey;
use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_ports::{RecognizedAccount, Verdict, VerifierError, WalletVerifier};
use time::Duration;

use crate::sign_in::issue_challenge::issue_challenge;
use crate::sign_in::verify_text::{SignatureFound, TextToVerify, TextVerified, Writer, verify_text};
use crate::steps::recognize_account::RecognizeError;
use crate::tests::world::{World, named, sign};

const STRANGE: &str = "evil.example wants you to sign in with your Toy account:\ntoy-ann\n\nHello.\n\n\
                       URI: https://evil.example\nVersion: 1\nChain ID: 1\nNonce: 12345678\n\
                       Issued At: 2020-01-01T00:00:00Z";

/// A text that this world's server issued to Ann.
async fn issued(world: &World) -> String {
    let client = world.client().await;
    let mut pending = world.pending(&client, &[]).await;
    issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap().text
}

async fn verified<'a>(world: &World, text: &'a str, signature: &'a str) -> TextVerified<'a> {
    let asked = TextToVerify { text, signature: Some(signature), wallet_address: None, chain: None };
    verify_text(&world.context, asked).await
}

/// The CAIP-10 name of the account that signed.
fn signer(told: &TextVerified<'_>) -> String {
    let SignatureFound::Valid(account) = &told.signature else { panic!("{told:?}") };
    account.caip10()
}

/// The CAIP-10 name of the account that signed a text that names another one.
fn names_another(told: &TextVerified<'_>) -> String {
    let SignatureFound::NamesAnother(account) = &told.signature else { panic!("{told:?}") };
    account.caip10()
}

#[tokio::test]
async fn our_own_text_with_its_signature_is_valid_and_ours() {
    let world = World::new();
    let text = issued(&world).await;
    let signature = sign("toy-ann", &text);
    let told = verified(&world, &text, &signature).await;
    assert_eq!((signer(&told).as_str(), told.writer), ("toy:1:toy-ann", Writer::ThisServer));
    assert_eq!(told.has_expired, Some(false));
    let says = told.says.unwrap();
    assert_eq!((says.domain, says.address), ("auth.example.com", Some("toy-ann")));
}

#[tokio::test]
async fn the_text_of_another_site_is_said_to_be_one_however_well_it_is_signed() {
    let world = World::new();
    let signature = sign("toy-ann", STRANGE);
    let told = verified(&world, STRANGE, &signature).await;
    assert_eq!((signer(&told).as_str(), told.writer), ("toy:1:toy-ann", Writer::AnotherSite));
    assert_eq!(told.has_expired, None, "it gives itself no time");
}

#[tokio::test]
async fn a_changed_text_that_still_names_us_is_not_ours() {
    let world = World::new();
    let text = issued(&world).await;
    let changed = text.replace("photos.example", "evil.example");
    let with_scheme = format!("https://{text}");
    for forged in [changed.as_str(), &with_scheme, &text.replace('\n', "\r\n")] {
        assert_eq!(verified(&world, forged, "").await.writer, Writer::SomebodyInOurName, "{forged}");
    }
    let mut other_server = World::new();
    other_server.context.keys.texts = TextKey::new([8; 32]);
    assert_eq!(verified(&other_server, &text, "").await.writer, Writer::SomebodyInOurName);
}

#[tokio::test]
async fn a_text_expires_by_its_own_words() {
    let world = World::new();
    let text = issued(&world).await;
    world.advance(Duration::seconds(299));
    assert_eq!(verified(&world, &text, "").await.has_expired, Some(false));
    world.advance(Duration::seconds(1));
    assert_eq!(verified(&world, &text, "").await.has_expired, Some(true));
}

#[tokio::test]
async fn b_001_a_signature_of_another_text_or_wallet_is_not_valid_and_the_reason_is_told() {
    let world = World::new();
    let text = issued(&world).await;
    for signature in [sign("toy-ann", "another"), sign("toy-bob", &text), String::new()] {
        let told = verified(&world, &text, &signature).await;
        let SignatureFound::Invalid { account, reason } = told.signature else { panic!("{told:?}") };
        assert_eq!((account.address.as_str(), reason), ("toy-ann", "another sentence"));
    }
}

#[tokio::test]
async fn an_account_that_the_person_names_is_judged_and_is_not_valid_where_the_text_names_another() {
    let world = World::new();
    let text = issued(&world).await;
    let signature = sign("toy-bob", &text);
    let asked = |wallet_address, chain| TextToVerify {
        text: &text,
        signature: Some(&signature),
        wallet_address: Some(wallet_address),
        chain,
    };
    for (address, chain) in [("toy-bob", None), ("toy-bob", Some("toy:1")), ("toy:1:toy-bob", None)] {
        let told = verify_text(&world.context, asked(address, chain)).await;
        assert_eq!(names_another(&told), "toy:1:toy-bob");
    }
    // An account that did not sign the text at all gets that answer.
    let told = verify_text(&world.context, asked("toy-ann", None)).await;
    assert!(matches!(told.signature, SignatureFound::Invalid { .. }), "{told:?}");
    let unclear = async |address, chain| {
        let told = verify_text(&world.context, asked(address, chain)).await;
        let SignatureFound::Unclear(error) = told.signature else { panic!("{told:?}") };
        error
    };
    assert_eq!(unclear("0xA", None).await, RecognizeError::AddressUnknown);
    assert!(matches!(unclear("toy-bob", Some("toy:2")).await, RecognizeError::ChainUnknown(_)));
    assert!(matches!(unclear("toy:1:toy-bob", Some("toy:2")).await, RecognizeError::ChainsDiffer(_)));
}

#[tokio::test]
async fn any_text_can_be_judged_when_the_account_is_named_and_without_one_nobody_is() {
    let world = World::new();
    let signature = sign("toy-ann", "I agree");
    let told = verified(&world, "I agree", &signature).await;
    assert!(matches!(told.signature, SignatureFound::NoAccount), "{told:?}");
    assert_eq!((told.says, told.writer, told.has_expired), (None, Writer::Unknown, None));
    let asked = TextToVerify {
        text: "I agree",
        signature: Some(&signature),
        wallet_address: Some("toy-ann"),
        chain: None,
    };
    assert_eq!(signer(&verify_text(&world.context, asked).await), "toy:1:toy-ann");
}

#[tokio::test]
async fn a_text_can_be_looked_at_before_it_is_signed() {
    let world = World::new();
    let text = issued(&world).await;
    let asked = TextToVerify { text: &text, signature: None, wallet_address: None, chain: None };
    let told = verify_text(&world.context, asked).await;
    assert!(matches!(told.signature, SignatureFound::Absent), "{told:?}");
    assert_eq!(told.writer, Writer::ThisServer);
    assert_eq!(format!("{asked:?}"), "TextToVerify { .. }", "never printed");
}

/// Twins have the same addresses on two chains, and a third family has addresses like theirs. On `down` no
/// signature can be checked.
struct Twins;

#[async_trait]
impl WalletVerifier for Twins {
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        let known = [("twin:one", "Twin", "one"), ("twin:two", "Twin", "2nd"), ("other:one", "Other", "one")];
        let down = ("twin:down", "Twin", "down");
        let on = known
            .into_iter()
            .chain(chain.map(|_| down))
            .filter(|(name, ..)| chain.is_none_or(|it| it == *name));
        on.filter(|_| address == "twin")
            .map(|(chain, kind, chain_id)| RecognizedAccount {
                account: WalletAccount {
                    family: chain.to_owned(),
                    chain: chain.to_owned(),
                    address: address.to_owned(),
                },
                kind: kind.into(),
                chain_id: chain_id.to_owned(),
            })
            .collect()
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        if proof.account.chain == "twin:down" {
            return Err(VerifierError::Unavailable("nobody answers".into()));
        }
        Ok(Verdict::Valid(proof.account.clone()))
    }
}

/// The answer for a text with this account kind and these lines.
async fn found_for(kind: &str, lines: &str) -> SignatureFound {
    let mut world = World::new();
    world.context.wallets = Arc::new(Twins);
    let text = format!("evil.example wants you to sign in with your {kind} account:\ntwin\n\n{lines}");
    let asked = TextToVerify { text: &text, signature: Some("any"), wallet_address: None, chain: None };
    verify_text(&world.context, asked).await.signature
}

#[tokio::test]
async fn the_text_s_own_words_say_which_of_several_chains_is_meant() {
    let expected = [
        ("Twin", "Chain ID: one", "twin:one"),
        ("Twin", "Chain ID: 2nd", "twin:two"),
        ("Twin", "Chain ID: two", "twin:two"),
        ("Twin", "Chain ID: twin:two", "twin:two"),
        ("Other", "Chain ID: one", "other:one"),
        ("Other", "Nonce: 1", "other:one"),
    ];
    for (kind, lines, chain) in expected {
        let SignatureFound::Valid(account) = found_for(kind, lines).await else { panic!("{kind} {lines}") };
        assert_eq!(account.chain, chain, "{kind} {lines}");
    }
}

#[tokio::test]
async fn a_signature_is_not_valid_for_a_chain_or_a_coin_that_the_text_does_not_name() {
    let expected = [
        ("Other", "Chain ID: moon", "other:one"),
        ("Stranger", "Chain ID: 2nd", "twin:two"),
        ("Other", "Chain ID: 2nd", "twin:two"),
        ("Twin", "Chain ID: other:one", "other:one"),
    ];
    for (kind, lines, chain) in expected {
        let SignatureFound::NamesAnother(account) = found_for(kind, lines).await else {
            panic!("{kind} {lines}")
        };
        assert_eq!(account.chain, chain, "{kind} {lines}");
    }
}

#[tokio::test]
async fn a_text_that_does_not_say_which_chain_gets_a_list_to_choose_from() {
    for (kind, lines, count) in [("Twin", "", 2), ("Stranger", "Chain ID: one", 2), ("Stranger", "", 3)] {
        let SignatureFound::Unclear(RecognizeError::Ambiguous(chains)) = found_for(kind, lines).await else {
            panic!("{kind} {lines}")
        };
        assert_eq!(chains.len(), count, "{kind} {lines}");
    }
}

#[tokio::test]
async fn a_chain_that_does_not_answer_leaves_it_open() {
    let found = found_for("Twin", "Chain ID: down").await;
    assert!(
        matches!(&found, SignatureFound::Undecided { account, .. } if account.chain == "twin:down"),
        "{found:?}"
    );
}
