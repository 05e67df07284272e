//! The clauses for a wallet verifier of any family, and the list that turns them into tests.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_ports::{RecognizedAccount, Verdict, WalletVerifier};

use crate::fakes::TestWallet;

/// A wallet that can sign in tests.
pub trait SigningWallet {
    /// The address in its canonical form.
    fn address(&self) -> String;

    /// The CAIP-2 chain id, if the address alone could mean several.
    fn chain(&self) -> Option<String> {
        None
    }

    /// Other forms of the same address that people use.
    fn other_spellings(&self) -> Vec<String> {
        Vec::new()
    }

    /// The signature of a text, decoded.
    fn sign(&self, text: &str) -> Vec<u8>;

    /// Every encoding of a signature that the family accepts, the one that wallets use first.
    fn spell(&self, signature: &[u8]) -> Vec<String> {
        spellings(signature)
    }
}

/// The encodings of bytes that most families accept (P-06).
pub fn spellings(bytes: &[u8]) -> Vec<String> {
    vec![
        format!("0x{}", hex::encode(bytes)),
        format!("0x{}", hex::encode_upper(bytes)),
        hex::encode(bytes),
        STANDARD.encode(bytes),
        STANDARD_NO_PAD.encode(bytes),
        URL_SAFE.encode(bytes),
        URL_SAFE_NO_PAD.encode(bytes),
    ]
}

impl SigningWallet for TestWallet {
    fn address(&self) -> String {
        Self::address(self)
    }

    fn other_spellings(&self) -> Vec<String> {
        let digits = Self::address(self)[2..].to_owned();
        vec![format!("0x{}", digits.to_lowercase()), format!("0x{}", digits.to_uppercase())]
    }

    fn sign(&self, text: &str) -> Vec<u8> {
        self.sign_bytes(text)
    }
}

/// Makes one test of each clause for a wallet verifier.
///
/// The first argument is an expression for a verifier; each clause evaluates it anew. The second is a
/// function from a seed, a `u64`, to a [`SigningWallet`](crate::wallet::SigningWallet); different seeds give
/// different keys.
#[macro_export]
macro_rules! wallet_contract {
    ($verifier:expr, $wallet:expr) => {
        $crate::clauses_on_a_wallet! { $verifier, $wallet, [
            every_spelling_of_an_address_is_one_account,
            an_address_is_recognized_in_its_canonical_form,
            what_is_not_an_address_is_not_recognized,
            a_signature_of_the_holder_is_valid,
            texts_of_every_kind_can_be_signed,
            every_spelling_of_a_signature_is_taken,
            b_001_a_signature_of_another_text_is_refused,
            b_027_a_signature_of_another_wallet_is_refused,
            a_signature_with_any_bit_flipped_is_refused,
            b_024_a_signature_cut_or_stretched_is_refused,
            b_024_garbage_of_every_length_is_refused_without_a_panic,
            an_account_that_is_no_address_is_refused_without_a_panic,
        ] }
    };
}

/// Makes one test of each clause.
#[doc(hidden)]
#[macro_export]
macro_rules! clauses_on_a_wallet {
    ($verifier:expr, $wallet:expr, [$($clause:ident),* $(,)?]) => { $(
        #[test]
        fn $clause() {
            let verifier = $verifier;
            $crate::harness::run($crate::wallet::$clause(&verifier, $wallet));
        }
    )* };
}

const TEXT: &str = "example.org wants you to sign in with your account.\n\nNonce: 7f3a9c\nVersion: 1";

/// The one account that a form of the wallet's address means.
fn recognized(
    verifier: &dyn WalletVerifier,
    wallet: &impl SigningWallet,
    spelling: &str,
) -> RecognizedAccount {
    let mut accounts = verifier.recognize(spelling, wallet.chain().as_deref());
    assert_eq!(accounts.len(), 1, "{spelling} means one account");
    accounts.remove(0)
}

fn account_of(verifier: &dyn WalletVerifier, wallet: &impl SigningWallet) -> WalletAccount {
    recognized(verifier, wallet, &wallet.address()).account
}

async fn is_valid(
    verifier: &dyn WalletVerifier,
    account: &WalletAccount,
    text: &str,
    signature: &str,
) -> bool {
    let proof = WalletProof {
        account: account.clone(),
        kind: None,
        text: text.to_owned(),
        signature: signature.to_owned(),
    };
    verifier.verify(&proof).await.unwrap() == Verdict::Valid(proof.account)
}

/// A person who writes an address in another way is the same person.
pub async fn every_spelling_of_an_address_is_one_account<W: SigningWallet>(
    verifier: &dyn WalletVerifier,
    wallet: impl Fn(u64) -> W,
) {
    for seed in 0..8 {
        let wallet = wallet(seed);
        let canonical = recognized(verifier, &wallet, &wallet.address());
        for spelling in wallet.other_spellings() {
            assert_eq!(recognized(verifier, &wallet, &spelling), canonical, "{spelling}");
        }
    }
}

/// The account contains the family, the chain and the canonical address; other wallets are other accounts.
pub async fn an_address_is_recognized_in_its_canonical_form<W: SigningWallet>(
    verifier: &dyn WalletVerifier,
    wallet: impl Fn(u64) -> W,
) {
    let [one, other] = [1, 2].map(wallet);
    let recognized = recognized(verifier, &one, &one.address());
    assert_eq!(recognized.account.address, one.address());
    assert!(recognized.account.chain.starts_with(&recognized.account.family));
    assert!(recognized.account.chain.contains(':'), "a chain is a CAIP-2 id");
    assert!(!recognized.kind.is_empty() && !recognized.chain_id.is_empty());
    let on_its_chain = verifier.recognize(&one.address(), Some(&recognized.account.chain));
    assert_eq!(on_its_chain, std::slice::from_ref(&recognized));
    for chain in ["", ":", "no:such", "é", &format!("{} ", recognized.account.chain)] {
        assert_eq!(verifier.recognize(&one.address(), Some(chain)), [], "{chain}");
    }
    assert_ne!(account_of(verifier, &other), recognized.account);
}

/// Neither garbage nor an address with something missing or added.
pub async fn what_is_not_an_address_is_not_recognized<W: SigningWallet>(
    verifier: &dyn WalletVerifier,
    wallet: impl Fn(u64) -> W,
) {
    let address = wallet(1).address();
    let changed = [
        String::new(),
        format!(" {address}"),
        format!("{address} "),
        format!("{address}\n"),
        format!("{address}\0"),
        format!("{address}{address}"),
        format!("{address}é"),
        address.chars().skip(1).collect(),
        "🦀".repeat(42),
        "a".repeat(1 << 20),
    ];
    for text in changed {
        assert_eq!(verifier.recognize(&text, None), [], "{:.60}", text);
    }
    for length in 0..address.chars().count() {
        let cut: String = address.chars().take(length).collect();
        assert_eq!(verifier.recognize(&cut, None), [], "{cut}");
    }
}

/// The simple case, for several keys.
pub async fn a_signature_of_the_holder_is_valid<W: SigningWallet>(
    verifier: &dyn WalletVerifier,
    wallet: impl Fn(u64) -> W,
) {
    for seed in 0..16 {
        let wallet = wallet(seed);
        let signature = &wallet.spell(&wallet.sign(TEXT))[0];
        assert!(is_valid(verifier, &account_of(verifier, &wallet), TEXT, signature).await);
    }
}

/// The text is bytes: lengths do not count characters, and line ends are not changed (B-026).
pub async fn texts_of_every_kind_can_be_signed<W: SigningWallet>(
    verifier: &dyn WalletVerifier,
    wallet: impl Fn(u64) -> W,
) {
    let wallet = wallet(1);
    let account = account_of(verifier, &wallet);
    let long = "a".repeat(1_500);
    for text in ["a", "123456789", "1234567890", "e\u{301}", "🦀", "a\r\nb", "a\nb", "nul \0 nul", &long] {
        let signature = &wallet.spell(&wallet.sign(text))[0];
        assert!(is_valid(verifier, &account, text, signature).await, "{text:?}");
    }
    let signature = &wallet.spell(&wallet.sign("a\nb"))[0];
    assert!(!is_valid(verifier, &account, "a\r\nb", signature).await);
}

/// Wallets and libraries encode signatures in different ways.
pub async fn every_spelling_of_a_signature_is_taken<W: SigningWallet>(
    verifier: &dyn WalletVerifier,
    wallet: impl Fn(u64) -> W,
) {
    for seed in 0..8 {
        let wallet = wallet(seed);
        let account = account_of(verifier, &wallet);
        for signature in wallet.spell(&wallet.sign(TEXT)) {
            assert!(is_valid(verifier, &account, TEXT, &signature).await, "{signature}");
        }
    }
}

/// Not one character may differ.
pub async fn b_001_a_signature_of_another_text_is_refused<W: SigningWallet>(
    verifier: &dyn WalletVerifier,
    wallet: impl Fn(u64) -> W,
) {
    let wallet = wallet(1);
    let account = account_of(verifier, &wallet);
    for signature in wallet.spell(&wallet.sign(TEXT)) {
        for text in ["", &TEXT[1..], &format!("{TEXT}\n"), &TEXT.replace("7f3a9c", "7f3a9d")] {
            assert!(!is_valid(verifier, &account, text, &signature).await, "{text:?}");
        }
    }
}

/// A valid signature proves nothing about anyone else.
pub async fn b_027_a_signature_of_another_wallet_is_refused<W: SigningWallet>(
    verifier: &dyn WalletVerifier,
    wallet: impl Fn(u64) -> W,
) {
    let [holder, stranger] = [1, 2].map(wallet);
    let account = account_of(verifier, &holder);
    for signature in stranger.spell(&stranger.sign(TEXT)) {
        assert!(!is_valid(verifier, &account, TEXT, &signature).await);
    }
}

/// Every bit of a signature matters.
pub async fn a_signature_with_any_bit_flipped_is_refused<W: SigningWallet>(
    verifier: &dyn WalletVerifier,
    wallet: impl Fn(u64) -> W,
) {
    let wallet = wallet(1);
    let account = account_of(verifier, &wallet);
    let signature = wallet.sign(TEXT);
    for position in 0..signature.len() * 8 {
        let mut flipped = signature.clone();
        flipped[position / 8] ^= 1 << (position % 8);
        let spelling = &wallet.spell(&flipped)[0];
        assert!(!is_valid(verifier, &account, TEXT, spelling).await, "bit {position}");
    }
}

/// Every shorter one, decoded or as text, and some longer ones.
pub async fn b_024_a_signature_cut_or_stretched_is_refused<W: SigningWallet>(
    verifier: &dyn WalletVerifier,
    wallet: impl Fn(u64) -> W,
) {
    let wallet = wallet(1);
    let account = account_of(verifier, &wallet);
    let signature = wallet.sign(TEXT);
    let mut refused = Vec::new();
    for length in 0..signature.len() {
        refused.extend(wallet.spell(&signature[..length]));
        refused.extend(wallet.spell(&signature[signature.len() - length..]));
    }
    for more in [[0].as_slice(), &[27], &[0; 32], &signature] {
        refused.extend(wallet.spell(&[&signature, more].concat()));
        refused.extend(wallet.spell(&[more, &signature].concat()));
    }
    let usual = &wallet.spell(&signature)[0];
    refused.extend((0..usual.len()).filter_map(|length| usual.get(..length).map(ToOwned::to_owned)));
    refused.extend([" ", "\n", "\0", "0", "=", "é"].map(|end| format!("{usual}{end}")));
    refused.extend([" ", "\n", "0x", "é"].map(|start| format!("{start}{usual}")));
    for text in refused {
        assert!(!is_valid(verifier, &account, TEXT, &text).await, "{text}");
    }
}

/// Every text gets a verdict, and none of these is a signature.
pub async fn b_024_garbage_of_every_length_is_refused_without_a_panic<W: SigningWallet>(
    verifier: &dyn WalletVerifier,
    wallet: impl Fn(u64) -> W,
) {
    let wallet = wallet(1);
    let account = account_of(verifier, &wallet);
    for length in (0..=200).chain([1 << 20]) {
        for filling in ["0", "f", "A", "z", "-", "=", "+", " ", "\0", "é", "🦀", "0x", "７"] {
            assert!(
                !is_valid(verifier, &account, TEXT, &filling.repeat(length)).await,
                "{length} × {filling}"
            );
        }
        for byte in [0, 1, 27, 0x7f, 0x80, 0xff] {
            for spelling in wallet.spell(&vec![byte; length]) {
                assert!(!is_valid(verifier, &account, TEXT, &spelling).await, "{length} bytes {byte}");
            }
        }
    }
}

/// The account of a proof may come from a session that an older version wrote.
pub async fn an_account_that_is_no_address_is_refused_without_a_panic<W: SigningWallet>(
    verifier: &dyn WalletVerifier,
    wallet: impl Fn(u64) -> W,
) {
    let wallet = wallet(1);
    let account = account_of(verifier, &wallet);
    let signature = &wallet.spell(&wallet.sign(TEXT))[0];
    for address in ["", "0x", "é", "0x🦀", &"0".repeat(1 << 20)] {
        let account = WalletAccount { address: address.to_owned(), ..account.clone() };
        assert!(!is_valid(verifier, &account, TEXT, signature).await);
    }
}
