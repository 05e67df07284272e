//! A person asks what they signed: we read the text, find out who wrote it, and check the signature. Nothing
//! is stored or used up, and no one is signed in.

use std::borrow::Cow;

use countersign_domain::challenge::{ReadText, is_ours};
use countersign_domain::wallet::{AccountName, WalletAccount, WalletProof};
use countersign_ports::{RecognizedAccount, Verdict, VerifierError, WalletVerifier};

use crate::Context;
use crate::steps::recognize_account::{RecognizeError, chains_of, recognize_account};

/// A text that a person wants to know more about.
#[derive(Clone, Copy)]
pub struct TextToVerify<'a> {
    /// The text, byte for byte.
    pub text: &'a str,
    /// Its signature, in any encoding that we accept. Without one only the text is examined.
    pub signature: Option<&'a str>,
    /// The account that should have signed, with or without its chain. Without it, the text's own account
    /// counts.
    pub wallet_address: Option<&'a str>,
    /// Its chain by CAIP-2.
    pub chain: Option<&'a str>,
}

impl std::fmt::Debug for TextToVerify<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextToVerify").finish_non_exhaustive()
    }
}

/// What can be said about a text and its signature.
#[derive(Debug)]
pub struct TextVerified<'a> {
    /// What the text says, if it is a message for signing in.
    pub says: Option<ReadText<'a>>,
    /// Who wrote it.
    pub writer: Writer,
    /// Has the text expired? `None` if it names no time.
    pub has_expired: Option<bool>,
    /// Who signed it.
    pub signature: SignatureFound,
}

/// Who wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// This server. That says nothing about who asked for it.
    ThisServer,
    /// Not this server, although the text names it. It was changed or made up, or the operator has changed
    /// the secret since.
    SomebodyInOurName,
    /// The text is for another site.
    AnotherSite,
    /// The text names no site.
    Unknown,
}

/// Who signed a text.
#[derive(Debug)]
pub enum SignatureFound {
    /// The holder of this account signed exactly this text, and it is the account that the text names, if it
    /// names one.
    Valid(WalletAccount),
    /// The holder of this account signed exactly this text, but the text names another account, chain or
    /// coin.
    NamesAnother(WalletAccount),
    /// The holder of the account did not sign this text. The reason is one of the verifier's fixed sentences.
    Invalid {
        /// The account that should have signed.
        account: WalletAccount,
        /// Why not, in words that follow "signature is not valid: ".
        reason: &'static str,
    },
    /// The signature could not be checked now.
    Undecided {
        /// The account that should have signed.
        account: WalletAccount,
        /// Why it could not be checked.
        error: VerifierError,
    },
    /// Neither the text nor the person names an account.
    NoAccount,
    /// It is not clear which account is meant.
    Unclear(RecognizeError),
    /// There is no signature to judge.
    Absent,
}

/// Finds out what can be said about a text.
pub async fn verify_text<'a>(context: &Context, asked: TextToVerify<'a>) -> TextVerified<'a> {
    let now = context.clock.now();
    let says = ReadText::read(asked.text);
    let has_expired = says.as_ref().and_then(ReadText::expires_at).map(|expires_at| now >= expires_at);
    TextVerified {
        writer: writer(context, asked.text, says.as_ref()),
        signature: judge(context, asked, says.as_ref()).await,
        has_expired,
        says,
    }
}

fn writer(context: &Context, text: &str, says: Option<&ReadText<'_>>) -> Writer {
    let host = context.policy.public_url.authority();
    match says {
        None => Writer::Unknown,
        Some(says) if !says.host().eq_ignore_ascii_case(host) => Writer::AnotherSite,
        Some(_) if is_ours(&context.keys.texts, text) => Writer::ThisServer,
        Some(_) => Writer::SomebodyInOurName,
    }
}

async fn judge(context: &Context, asked: TextToVerify<'_>, says: Option<&ReadText<'_>>) -> SignatureFound {
    let Some(signature) = asked.signature else { return SignatureFound::Absent };
    let Some(address) = asked.wallet_address.or_else(|| says?.address) else {
        return SignatureFound::NoAccount;
    };
    let found = match find_account(&*context.wallets, address, asked.chain, says) {
        Ok(found) => found,
        Err(error) => return SignatureFound::Unclear(error),
    };
    let (text, signature) = (asked.text.to_owned(), signature.to_owned());
    let kind = says.and_then(ReadText::signer_kind);
    let proof = WalletProof { account: found.account.clone(), kind, text, signature };
    match context.wallets.examine(&proof).await {
        Ok(Verdict::Valid(account)) if says.is_none_or(|says| is_named(&*context.wallets, says, &found)) => {
            SignatureFound::Valid(account)
        }
        Ok(Verdict::Valid(account)) => SignatureFound::NamesAnother(account),
        Ok(Verdict::Invalid(reason)) => SignatureFound::Invalid { account: proof.account, reason },
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "signature could not be judged");
            SignatureFound::Undecided { account: proof.account, error }
        }
    }
}

/// Is this the account that a text names by its address, its chain and its coin? Whatever the text does not
/// name may be anything.
fn is_named(wallets: &dyn WalletVerifier, says: &ReadText<'_>, found: &RecognizedAccount) -> bool {
    let RecognizedAccount { account, kind, chain_id } = found;
    let is_address = says.address.is_none_or(|address| {
        AccountName::read(address, Some(&account.chain)).is_ok_and(|name| {
            let named = wallets.recognize(name.address, name.chain);
            named.iter().any(|named| named.account.address == account.address)
        })
    });
    let is_chain = says.chain_id.is_none_or(|id| {
        let reference = account.chain.split_once(':').map(|(_, reference)| reference);
        id == chain_id || id == account.chain || Some(id) == reference
    });
    is_address && is_chain && says.account_kind.eq_ignore_ascii_case(kind)
}

/// Finds the account that an address means, of the kind that the text names, if it names one. A chain that
/// the person names takes precedence over the one in the text.
fn find_account(
    wallets: &dyn WalletVerifier,
    address: &str,
    chain: Option<&str>,
    says: Option<&ReadText<'_>>,
) -> Result<RecognizedAccount, RecognizeError> {
    let name = AccountName::read(address, chain)?;
    let found = match says {
        Some(says) if name.chain.is_none() => find_by_text(wallets, name.address, says)?,
        _ => recognize_account(wallets, name)?,
    };
    let Some(kind) = says.and_then(ReadText::signer_kind) else { return Ok(found) };
    let of_kind = wallets.recognize_as(kind, &found.account.address, Some(&found.account.chain));
    of_kind.into_iter().next().ok_or(RecognizeError::KindUnknown(kind))
}

/// Finds the account that a text means by its own words for chain and kind. They narrow down what the address
/// may mean. If nothing matches them, the address alone decides, because a key signs the same way on every
/// chain.
pub(crate) fn find_by_text(
    wallets: &dyn WalletVerifier,
    address: &str,
    says: &ReadText<'_>,
) -> Result<RecognizedAccount, RecognizeError> {
    let anywhere = wallets.recognize(address, None);
    let named = says.chain_id.map(|id| on_chain(wallets, address, &anywhere, id)).unwrap_or_default();
    let found = if named.is_empty() { anywhere } else { named };
    let (of_kind, of_others): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|one| one.kind.as_ref() == says.account_kind);
    let mut found = if of_kind.is_empty() { of_others } else { of_kind };
    match (found.pop(), found.as_slice()) {
        (Some(only), []) => Ok(only),
        (Some(last), others) => Err(RecognizeError::Ambiguous(chains_of(others.iter().chain([&last])))),
        (None, _) => Err(RecognizeError::AddressUnknown),
    }
}

/// Finds what an address means on the chain that a text calls `id`. That is the family's own word for the
/// chain, the reference of a CAIP-2 name, or the whole name.
fn on_chain(
    wallets: &dyn WalletVerifier,
    address: &str,
    anywhere: &[RecognizedAccount],
    id: &str,
) -> Vec<RecognizedAccount> {
    let mut found: Vec<RecognizedAccount> = Vec::new();
    for RecognizedAccount { account, chain_id, .. } in anywhere {
        let namespace = account.chain.split(':').next().unwrap_or_default();
        let chain: Cow<'_, str> = if chain_id == id {
            Cow::Borrowed(&account.chain)
        } else if id.contains(':') {
            Cow::Borrowed(id)
        } else {
            Cow::Owned(format!("{namespace}:{id}"))
        };
        for one in wallets.recognize(address, Some(&chain)) {
            if !found.contains(&one) {
                found.push(one);
            }
        }
    }
    found
}
