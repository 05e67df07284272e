//! `countersign challenge verify`: checks a signature at the terminal, for support staff and for authors of
//! wallet adapters.
//!
//! It checks the signature alone. Only the server knows whether it issued the text and whether the text may
//! still be used.

mod batch;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use countersign_domain::wallet::{AccountName, WalletAccount, WalletProof};
use countersign_ports::{RecognizedAccount, Verdict, WalletVerifier};
use countersign_usecases::steps::recognize_account::{NamedChain, RecognizeError, recognize_account};

use crate::cli::{ChallengeCommand, VerifySignature};
use crate::failure::{Failure, chain};

/// Longer texts and signatures are refused: 1 MiB.
const LONGEST: usize = 1 << 20;

/// The path that means standard input.
const STANDARD_INPUT: &str = "-";

/// The family in an answer when the kind of account cannot be determined.
const UNKNOWN_FAMILY: &str = "unknown";

/// A claim to check: this address signed this text with this signature.
#[derive(Debug)]
struct Claim<'a> {
    address: &'a str,
    chain: Option<&'a str>,
    text: &'a str,
    signature: &'a str,
}

/// The verdict on one claim.
#[derive(Debug)]
struct Judgement {
    /// The kind of account in lower case, or [`UNKNOWN_FAMILY`].
    family: String,
    /// The account that signed, or why the signature is not valid.
    outcome: Result<WalletAccount, Cow<'static, str>>,
}

/// Checks one signature, or one for each line of standard input. A signature that is not valid is
/// [`Failure::AnswerIsNo`].
pub(crate) async fn challenge(
    command: ChallengeCommand,
    wallets: &dyn WalletVerifier,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let ChallengeCommand::Verify(arguments) = command;
    let all_valid = if arguments.batch {
        batch::verify_lines(io::stdin().lock(), wallets, out).await?
    } else {
        verify_one(arguments, wallets, out).await?
    };
    if all_valid { Ok(()) } else { Err(Failure::AnswerIsNo) }
}

async fn verify_one(
    arguments: VerifySignature,
    wallets: &dyn WalletVerifier,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let VerifySignature { address, chain, text_file, signature, signature_file, batch: _ } = arguments;
    let (Some(address), Some(text_file)) = (address, text_file) else {
        return Err(Failure::Usage(
            "--address and --text-file are required unless --batch is given".to_owned(),
        ));
    };
    let signature = match (signature, signature_file) {
        (Some(signature), _) => signature,
        (None, Some(path)) if is_standard_input(&path) && is_standard_input(&text_file) => {
            return Err(Failure::Usage(
                "the text and the signature cannot both come from standard input".to_owned(),
            ));
        }
        (None, Some(path)) => read(&path)?,
        (None, None) => return Err(Failure::Usage("--signature or --signature-file is required".to_owned())),
    };
    let text = read(&text_file)?;
    let claim = Claim { address: &address, chain: chain.as_deref(), text: &text, signature: &signature };
    let Judgement { family, outcome } = judge(&claim, wallets).await;
    match &outcome {
        Ok(account) => writeln!(out, "valid: {family}, {}", account.caip10())?,
        Err(reason) => writeln!(out, "not valid: {reason}")?,
    }
    Ok(outcome.is_ok())
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
}

/// Reads a text byte for byte, up to the limit: the file may be a device that never ends.
fn read(path: &Path) -> Result<String, Failure> {
    let name = if is_standard_input(path) { "standard input".into() } else { path.to_string_lossy() };
    let failed = |why: &dyn std::fmt::Display| Failure::Usage(format!("failed to read {name}: {why}"));
    let limit = LONGEST as u64 + 1;
    let mut bytes = Vec::new();
    let ended = if is_standard_input(path) {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    ended.map_err(|error| failed(&error))?;
    if bytes.len() > LONGEST {
        return Err(failed(&"it is longer than 1 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| failed(&"it is not valid UTF-8"))
}

/// Finds the account and verifies the signature.
async fn judge(claim: &Claim<'_>, wallets: &dyn WalletVerifier) -> Judgement {
    let refused = |family: &str, reason: String| Judgement {
        family: family.to_owned(),
        outcome: Err(Cow::Owned(reason)),
    };
    let named = AccountName::read(claim.address, claim.chain).map_err(RecognizeError::from);
    let RecognizedAccount { account, kind, .. } =
        match named.and_then(|name| recognize_account(wallets, name)) {
            Ok(recognized) => recognized,
            Err(RecognizeError::Ambiguous(chains)) => {
                let names = names_of(&chains);
                let reason = format!("the address exists on several chains; name one of them: {names}");
                return refused(&family_of_all(&chains), reason);
            }
            Err(RecognizeError::ChainUnknown(chains)) => {
                let names = names_of(&chains);
                let reason =
                    format!("the address does not belong to the chain that was named; it belongs to {names}");
                return refused(UNKNOWN_FAMILY, reason);
            }
            Err(RecognizeError::AddressUnknown) => {
                return refused(UNKNOWN_FAMILY, "this build does not recognize the address".to_owned());
            }
            Err(RecognizeError::ChainsDiffer(_)) => {
                let reason = "the address names one chain, and the chain given with it is a different one";
                return refused(UNKNOWN_FAMILY, reason.to_owned());
            }
            // At the terminal the signature's kind is not named; the signature itself shows it.
            Err(error @ (RecognizeError::KindUnknown(_) | RecognizeError::KindMissing)) => {
                return refused(UNKNOWN_FAMILY, error.to_string());
            }
        };
    let outcome = match verdict(&account, claim.text, claim.signature, wallets).await {
        Err(reason) => Err(explain(reason, &account, claim, wallets).await),
        valid => valid,
    };
    Judgement { family: kind.to_lowercase(), outcome }
}

async fn verdict(
    account: &WalletAccount,
    text: &str,
    signature: &str,
    wallets: &dyn WalletVerifier,
) -> Result<WalletAccount, Cow<'static, str>> {
    let proof = WalletProof {
        account: account.clone(),
        kind: None,
        text: text.to_owned(),
        signature: signature.to_owned(),
    };
    match wallets.verify(&proof).await {
        Ok(Verdict::Valid(account)) => Ok(account),
        Ok(Verdict::Invalid(reason)) => Err(Cow::Borrowed(reason)),
        Err(error) => Err(Cow::Owned(format!("the signature could not be checked: {}", chain(&error)))),
    }
}

/// Adds what this command can find out and the verifier cannot: the verifier must judge exactly what it is
/// given.
async fn explain(
    reason: Cow<'static, str>,
    account: &WalletAccount,
    claim: &Claim<'_>,
    wallets: &dyn WalletVerifier,
) -> Cow<'static, str> {
    let signature = claim.signature.trim();
    if signature != claim.signature && verdict(account, claim.text, signature, wallets).await.is_ok() {
        return "the signature has white space around it, such as a line break at the end, so a sign-in would \
                refuse it; without it the signature is valid"
            .into();
    }
    if let Some(text) = claim.text.strip_suffix('\n') {
        let text = text.strip_suffix('\r').unwrap_or(text);
        if verdict(account, text, claim.signature, wallets).await.is_ok() {
            return "the text ends with a line break that was not signed; without it the signature is valid"
                .into();
        }
    }
    // An account on an EVM chain may be a contract. Then only the chain can say who signs for it.
    if account.chain.starts_with("eip155:") && !reason.contains("contract") {
        return format!(
            "{reason} (if the account is a contract wallet, its signature cannot be checked offline)"
        )
        .into();
    }
    reason
}

fn names_of(chains: &[NamedChain]) -> String {
    chains.iter().map(|named| named.chain.as_str()).collect::<Vec<_>>().join(", ")
}

/// The family of these chains, if they all have the same one.
fn family_of_all(chains: &[NamedChain]) -> String {
    match chains {
        [first, others @ ..] if others.iter().all(|other| other.kind == first.kind) => {
            first.kind.to_lowercase()
        }
        _ => UNKNOWN_FAMILY.to_owned(),
    }
}

#[cfg(test)]
mod tests;
