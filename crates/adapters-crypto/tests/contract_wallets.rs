//! Contract wallets, against RPC services that behave well and others that do not. A real chain is asked in
//! `tests/peers/evm.mjs`.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

#[path = "contract_wallets/services.rs"]
mod services;
#[path = "contract_wallets/stub.rs"]
mod stub;

use std::time::{Duration, Instant};

use countersign_adapters_crypto::{DemoWallet, EthereumVerifier, RpcEndpoint, RpcUrl};
use countersign_domain::wallet::{AccountKind, WalletAccount, WalletProof};
use countersign_ports::{Verdict, VerifierError, WalletVerifier};
use serde_json::{Value, json};
use sha3::{Digest, Keccak256};
use stub::{Reply, Stub};

const CHAIN: u64 = 8453;
const TEXT: &str = "auth.example wants you to sign in with your Ethereum account";
const CONTRACT: &str = "0x4836A472ab1dd406ECb8d0F933A985541ee3921f";
const FACTORY: &str = "bf07a0df119ca234634588fbdb5625594e2a5bca";
const YES: &str = "0x1626ba7e00000000000000000000000000000000000000000000000000000000";
const WRAPPER_END: &str = "6492649264926492649264926492649264926492649264926492649264926492";
const CODE: &str = "0x6001";

/// The one question that is asked for a verdict, as the node receives it.
struct Asked<'a> {
    call: &'a Value,
    /// The judge's instructions and the data after them.
    data: &'a str,
}

/// A service that runs the judge. `code` is the code at the account's address, and `wallet` answers the
/// judge's question.
fn service(code: &'static str, wallet: impl Fn(&Asked<'_>) -> Reply + Send + Sync + 'static) -> Stub {
    service_of(CHAIN, code, wallet)
}

fn service_of(
    chain: u64,
    code: &'static str,
    wallet: impl Fn(&Asked<'_>) -> Reply + Send + Sync + 'static,
) -> Stub {
    Stub::start(move |method, params| match method {
        "eth_chainId" => Reply::Result(json!(format!("0x{chain:x}"))),
        "eth_call" => {
            assert!(params[0].get("to").is_none() && params[1] == "latest" && params.get(2).is_none());
            assert!(params[0]["gas"].is_string());
            let reply = wallet(&Asked { call: &params[0], data: text(&params[0], "data") });
            if let Reply::Result(Value::String(answer)) = &reply {
                Reply::Result(judged(chain, code != "0x", Some(answer)))
            } else {
                reply
            }
        }
        other => panic!("{other} must not be asked"),
    })
}

/// What the judge returns, if the wallet gave this answer or failed.
fn judged(chain: u64, had_code: bool, answer: Option<&str>) -> Value {
    let answer = answer.map(|answer| &answer[2..]);
    let first: String = answer.unwrap_or_default().chars().take(64).collect();
    let length = answer.map_or(0, str::len) / 2;
    let well = u8::from(answer.is_some());
    let had_code = u8::from(had_code);
    json!(format!("0x{well:064x}{had_code:064x}{chain:064x}{length:064x}{first:0<64}"))
}

/// A service whose contracts say yes to everything.
fn content() -> Stub {
    service(CODE, |_| Reply::Result(json!(YES)))
}

fn asking(stub: &Stub) -> EthereumVerifier {
    asking_at(CHAIN, &stub.url)
}

fn asking_at(chain: u64, url: &str) -> EthereumVerifier {
    let url = RpcUrl::parse(url).unwrap();
    EthereumVerifier::with_rpc(vec![RpcEndpoint::new(chain, url, false).unwrap()])
}

/// The same claim for an account that was named as a key's or a contract's.
fn of_kind(proof: &WalletProof, kind: AccountKind) -> WalletProof {
    let family = match kind {
        AccountKind::Key => "eip155".to_owned(),
        AccountKind::Contract => proof.account.chain.clone(),
    };
    WalletProof {
        account: WalletAccount { family, ..proof.account.clone() },
        kind: Some(kind),
        ..proof.clone()
    }
}

fn proof(chain: u64, address: &str, text: &str, signature: &str) -> WalletProof {
    let chain = format!("eip155:{chain}");
    let account =
        EthereumVerifier::offline().recognize(&address.to_lowercase(), Some(&chain)).remove(0).account;
    WalletProof { account, kind: None, text: text.to_owned(), signature: signature.to_owned() }
}

/// A claim that only a contract can accept.
fn of_contract() -> WalletProof {
    proof(CHAIN, CONTRACT, TEXT, "0x0102")
}

fn demo() -> DemoWallet {
    DemoWallet::from_bytes([0x42; 32]).unwrap()
}

/// The account of a contract: one on its own chain (P-10).
fn own_account(proof: &WalletProof) -> Verdict {
    Verdict::Valid(WalletAccount { family: proof.account.chain.clone(), ..proof.account.clone() })
}

/// Why there was no verdict.
async fn unavailable(verifier: &EthereumVerifier) -> String {
    let VerifierError::Unavailable(source) = verifier.verify(&of_contract()).await.unwrap_err();
    source.to_string()
}

async fn is_refused(verifier: &EthereumVerifier, proof: &WalletProof) -> bool {
    matches!(verifier.verify(proof).await.unwrap(), Verdict::Invalid(_))
}

fn wrapped(factory: &str, calldata: &[u8], inner: &[u8]) -> String {
    let bytes = |content: &[u8]| {
        let mut padded = content.to_vec();
        padded.resize(content.len().div_ceil(32) * 32, 0);
        format!("{:064x}{}", content.len(), hex::encode(padded))
    };
    let (first, second) = (bytes(calldata), bytes(inner));
    let offset = 96 + first.len() / 2;
    format!("0x{factory:0>64}{:064x}{offset:064x}{first}{second}{WRAPPER_END}", 96)
}

/// EIP-191, implemented a second time.
fn hash_of(text: &str) -> String {
    let prefixed = format!("\u{19}Ethereum Signed Message:\n{}{text}", text.len());
    hex::encode(Keccak256::digest(prefixed.as_bytes()))
}

#[expect(clippy::print_stdout, reason = "the count belongs in the runner's record")]
fn ran(name: &str, count: usize) {
    println!("{name}: {count} cases ran");
    assert!(count > 0);
}

/// The cases in a file, which are a list or a map by name.
fn cases(file: &str, member: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(file).unwrap();
    let cases = &document[member];
    let list = cases.as_array().map(|list| list.to_vec());
    list.unwrap_or_else(|| cases.as_object().unwrap().values().cloned().collect())
}

fn text<'a>(case: &'a Value, member: &str) -> &'a str {
    case[member].as_str().unwrap_or_else(|| panic!("{member} is missing in {case}"))
}

const VECTORS: &str = include_str!("../../../tests/vectors/ethereum/erc1271_erc6492.json");

mod keys {
    //! The contract suite for keys, where contracts could be asked but there are none.

    use countersign_conformance::fakes::TestWallet;

    fn verifier() -> countersign_adapters_crypto::EthereumVerifier {
        let stub = super::service_of(1, "0x", |_| super::Reply::Result(super::json!("0x")));
        super::asking_at(1, &stub.url)
    }

    countersign_conformance::wallet_contract!(verifier(), TestWallet::from_seed);
}

#[tokio::test]
async fn b_045_the_published_and_the_broken_wrappers_are_judged_as_the_vectors_say() {
    let cases = cases(VECTORS, "cases");
    for case in &cases {
        let name = text(case, "name");
        let signature = case["signature"]
            .as_str()
            .map_or_else(|| wrapped(FACTORY, &vec![0; 262_144], &[0; 65]), str::to_owned);
        let signer = case["signer"].as_str().unwrap_or(CONTRACT);
        let message = hex::decode(&case["message_hex"].as_str().unwrap_or("0x78")[2..]).unwrap();
        let proof = proof(CHAIN, signer, &String::from_utf8(message).unwrap(), &signature);
        assert!(is_refused(&EthereumVerifier::offline(), &proof).await, "without an RPC: {name}");

        // A chain on which the published factory deploys a contract that accepts only the published text.
        let stub = service("0x", |asked| {
            assert!(asked.data.contains(&CONTRACT[2..].to_lowercase()));
            Reply::Result(json!(if asked.data.contains(FACTORY) && asked.data.contains(&hash_of("xqw")) {
                YES
            } else {
                "0x"
            }))
        });
        let verdict = asking(&stub).verify(&proof).await.unwrap();
        let expected = text(case, "expect_with_rpc");
        if expected.starts_with("valid") {
            assert_eq!(verdict, own_account(&proof), "{name}");
        } else {
            assert!(expected.contains("invalid") || expected.contains("refused"), "{expected}");
            assert!(matches!(verdict, Verdict::Invalid(_)), "{name}");
        }
        let may_ask = name.starts_with("ERC-");
        assert_eq!(stub.connections() > 0, may_ask, "without a wrapper nobody is asked: {name}");
    }
    ran("erc1271_erc6492, cases", cases.len());
}

#[tokio::test]
async fn b_047_answers_of_services_are_judged_as_the_vectors_say() {
    let cases = cases(VECTORS, "rpc_answers");
    for case in cases.clone() {
        let name = text(&case, "name").to_owned();
        let expected = text(&case, "expect").to_owned();
        let is_another_chain = name.starts_with("eth_chainId differs");
        let chain = if is_another_chain { 1 } else { CHAIN };
        let code = if case["eth_getCode"] == "0x" { "0x" } else { CODE };
        let stub = service_of(chain, code, move |asked| {
            let from = text(asked.call, "from");
            assert_ne!(from, format!("0x{}", "0".repeat(40)), "contracts know the zero address");
            assert!(asked.data.contains(&CONTRACT[2..].to_lowercase()));
            match text(&case, "eth_call_result") {
                "timeout" => Reply::Hang,
                "error -32005" => Reply::Error(-32005, "rate limited"),
                result => Reply::Result(json!(result)),
            }
        });
        let begun = Instant::now();
        let verdict = asking(&stub).verify(&of_contract()).await;
        assert!(begun.elapsed() < Duration::from_millis(3500), "D-25: {name}");
        if expected.starts_with("valid") {
            assert_eq!(verdict.unwrap(), own_account(&of_contract()), "{name}");
        } else if expected.starts_with("invalid") {
            assert!(matches!(verdict, Ok(Verdict::Invalid(_))), "{name}");
        } else {
            assert!(expected.starts_with("temporarily_unavailable") || is_another_chain, "{expected}");
            assert!(verdict.is_err(), "{name}");
        }
    }
    ran("erc1271_erc6492, rpc_answers", cases.len());
}

#[tokio::test]
async fn a_contract_that_says_no_and_an_address_without_one_are_told_apart_for_support() {
    let no = service(CODE, |_| Reply::Result(json!(format!("0x{}", "0".repeat(64)))));
    let said = asking(&no).verify(&of_contract()).await.unwrap();
    assert_eq!(said, Verdict::Invalid("the contract does not accept it"));
    let nobody = service("0x", |_| Reply::Result(json!("0x")));
    let said = asking(&nobody).verify(&of_contract()).await.unwrap();
    let reason = "it is not the 65-byte signature of a key, and there is no contract at the address (yet)";
    assert_eq!(said, Verdict::Invalid(reason));
}

#[tokio::test]
async fn a_published_contract_signature_is_no_keys_and_the_contract_decides() {
    let cases = cases(include_str!("../../../tests/vectors/siwe/eip1271.json"), "cases");
    for case in &cases {
        let message = text(case, "message");
        let address = message.lines().nth(1).unwrap();
        let proof = proof(CHAIN, address, message, text(case, "signature"));
        assert!(
            is_refused(&EthereumVerifier::offline(), &proof).await,
            "offline it must not pass for a key's signature"
        );
        assert!(is_refused(&asking(&service("0x", |_| Reply::Result(json!("0x")))), &proof).await);
        assert!(is_refused(&asking(&service(CODE, |_| Reply::Result(json!("0x")))), &proof).await);
        let asked_for = [hash_of(message), text(case, "signature")[2..].to_owned()];
        let stub = service(CODE, move |asked| {
            assert!(
                asked.data.contains("1626ba7e") && asked_for.iter().all(|part| asked.data.contains(part))
            );
            Reply::Result(json!(YES))
        });
        assert_eq!(asking(&stub).verify(&proof).await.unwrap(), own_account(&proof));
    }
    ran("siwe/eip1271", cases.len());
}

#[tokio::test]
async fn b_052_a_key_signs_in_without_any_service() {
    let hanging = Stub::start(|_, _| Reply::Hang);
    let verifier = asking(&hanging);
    for chain in [1, CHAIN] {
        let proof = proof(chain, &demo().address(), TEXT, &demo().sign(TEXT));
        let begun = Instant::now();
        assert_eq!(verifier.verify(&proof).await.unwrap(), Verdict::Valid(proof.account));
        assert!(begun.elapsed() < Duration::from_secs(1));
    }
    assert_eq!(hanging.connections(), 0);
}

#[tokio::test]
async fn b_053_the_key_of_an_account_that_delegates_stays_its_key_and_the_delegate_is_a_contract() {
    let stub = service("0xef01001111111111111111111111111111111111111111", |_| Reply::Result(json!(YES)));
    let by_key = proof(CHAIN, &demo().address(), TEXT, &demo().sign(TEXT));
    assert_eq!(asking(&stub).verify(&by_key).await.unwrap(), Verdict::Valid(by_key.account.clone()));
    assert_eq!(stub.connections(), 0);
    let by_delegate = WalletProof { signature: "0x0102".to_owned(), ..by_key.clone() };
    assert_eq!(asking(&stub).verify(&by_delegate).await.unwrap(), own_account(&by_delegate));
}

#[tokio::test]
async fn f_15_where_a_key_is_named_no_contract_is_asked_and_where_a_contract_is_named_no_key_counts() {
    let stub = content();
    let by_key = proof(CHAIN, &demo().address(), TEXT, &demo().sign(TEXT));
    let by_code = WalletProof { signature: "0x0102".to_owned(), ..by_key.clone() };
    let wrapped = WalletProof { signature: wrapped(FACTORY, &[1], &[2; 65]), ..by_key.clone() };
    let (key, contract) = (AccountKind::Key, AccountKind::Contract);
    let verifier = asking(&stub);
    assert_eq!(
        verifier.verify(&of_kind(&by_key, key)).await.unwrap(),
        Verdict::Valid(by_key.account.clone())
    );
    for other in [&by_code, &wrapped, &WalletProof { text: "another".to_owned(), ..by_key.clone() }] {
        assert!(is_refused(&verifier, &of_kind(other, key)).await);
    }
    assert_eq!(stub.connections(), 0);
    // A contract that accepts everything is not asked about a key, and a key does not replace a contract that
    // accepts nothing.
    for proof in [&by_key, &by_code] {
        assert_eq!(verifier.verify(&of_kind(proof, contract)).await.unwrap(), own_account(proof));
    }
    let strict = service(CODE, |_| Reply::Result(json!("0x")));
    assert!(is_refused(&asking(&strict), &of_kind(&by_key, contract)).await);
    assert!(is_refused(&EthereumVerifier::offline(), &of_kind(&by_key, contract)).await);
    // An account that is not of the named kind is not verified either.
    for (proof, kind) in [(of_kind(&by_key, key), contract), (of_kind(&by_key, contract), key)] {
        assert!(is_refused(&verifier, &WalletProof { kind: Some(kind), ..proof }).await);
    }
    assert!(is_refused(&verifier, &WalletProof { kind: None, ..of_kind(&by_key, contract) }).await);
}

#[tokio::test]
async fn p_15_b_046_a_chain_without_a_service_has_no_contract_wallets() {
    let stub = content();
    let elsewhere = proof(10, CONTRACT, TEXT, "0x0102");
    assert!(is_refused(&asking(&stub), &elsewhere).await);
    assert_eq!(stub.connections(), 0, "another chain's service is not asked");
    assert!(is_refused(&EthereumVerifier::default(), &of_contract()).await);
}

#[tokio::test]
async fn b_045_a_wrapper_is_never_a_keys_and_all_of_a_verdict_is_one_call() {
    let signature = hex::decode(&demo().sign(TEXT)[2..]).unwrap();
    let proof = proof(CHAIN, &demo().address(), TEXT, &wrapped(FACTORY, &[1, 2, 3], &signature));
    assert!(is_refused(&EthereumVerifier::offline(), &proof).await);

    for code in [CODE, "0x"] {
        let takes_it = service(code, |_| Reply::Result(json!(YES)));
        assert_eq!(asking(&takes_it).verify(&proof).await.unwrap(), own_account(&proof));
        assert_eq!(takes_it.methods(), ["eth_call"]);
        for no in ["0x", "0x1626ba7e", &YES.replace("1626", "1627")] {
            let no = no.to_owned();
            let stub = service(code, move |_| Reply::Result(json!(no)));
            assert!(is_refused(&asking(&stub), &proof).await);
            assert_eq!(
                stub.methods(),
                ["eth_call"],
                "what was refused is not asked again in another state (F-13)"
            );
        }
    }
}

#[tokio::test]
async fn b_046_an_answer_that_is_not_the_judge_s_or_of_another_chain_is_no_verdict() {
    let good = judged(CHAIN, true, Some(YES));
    let good = good.as_str().unwrap();
    let spoiled = [
        YES.to_owned(),
        "0x".to_owned(),
        good[..good.len() - 64].to_owned(),
        format!("{good}{}", "0".repeat(64)),
        format!("{good}00"),
        good.replacen("01", "02", 1),
        judged(1, true, Some(YES)).as_str().unwrap().to_owned(),
        judged(0, true, Some(YES)).as_str().unwrap().to_owned(),
        // A number whose lower half is right.
        good.replace("0000000000002105", "0000000100002105"),
        good.replace(&format!("{CHAIN:064x}"), &format!("01{CHAIN:062x}")),
    ];
    let count = spoiled.len();
    for answer in spoiled {
        let told = answer.clone();
        let stub = Stub::start(move |_, _| Reply::Result(json!(told)));
        let said = unavailable(&asking(&stub)).await;
        assert!(said.contains("verdict") || said.contains("it serves"), "{answer}: {said}");
    }
    let stub = content();
    assert_eq!(asking(&stub).verify(&of_contract()).await.unwrap(), own_account(&of_contract()));
    ran("answers that are no verdict", count);
}

#[tokio::test]
async fn e_10_a_signature_of_16_kib_reaches_the_contract_and_a_longer_one_nobody() {
    let stub = content();
    let verifier = asking(&stub);
    let long = proof(CHAIN, CONTRACT, TEXT, &format!("0x{}", "ab".repeat(16 * 1024)));
    assert_eq!(verifier.verify(&long).await.unwrap(), own_account(&long));
    let asked = stub.methods().len();
    let longer = proof(CHAIN, CONTRACT, TEXT, &format!("0x{}", "ab".repeat(16 * 1024 + 1)));
    assert!(is_refused(&verifier, &longer).await);
    assert_eq!(stub.methods().len(), asked);
}

#[tokio::test]
async fn what_becomes_of_a_contract_is_its_no_and_other_errors_are_the_services() {
    for (code, message) in
        [(3, "execution reverted: no"), (-32000, "out of gas"), (-32015, "VM execution error.")]
    {
        assert!(
            is_refused(&asking(&service(CODE, move |_| Reply::Error(code, message))), &of_contract()).await
        );
    }
    for (code, message) in
        [(-32005, "limit exceeded"), (-32603, "internal error"), (-32601, "no such method")]
    {
        let said = unavailable(&asking(&service(CODE, move |_| Reply::Error(code, message)))).await;
        assert!(said.contains(&code.to_string()) && said.contains(message), "{said}");
    }
}
