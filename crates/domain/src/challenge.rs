//! The text that a wallet is asked to sign: ERC-4361 for Ethereum, and by CAIP-122 the same lines for other families.

mod program_text;
mod read_text;
mod text_key;

pub use program_text::ProgramText;
pub use read_text::ReadText;
pub use text_key::{MAX_TEXT, TextKey, is_ours};

use text_key::MAC_DIGITS;

use std::iter;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::device::UserCode;
use crate::id::{ClientId, GrantId};
use crate::public_url::PublicUrl;
use crate::redirect_uri::RedirectUri;
use crate::resource::OURS;
use crate::scope::ScopeSet;
use crate::wallet::{AccountKind, WalletAccount};

/// How long our texts are at most, in bytes.
pub const MAX_OWN_TEXT: usize = 1_500;

/// How long an address is at most: bech32 has 90 characters.
const MAX_ADDRESS: usize = 90;
/// How long the name of a kind of account is at most: the operator's own coins have 40 letters.
const MAX_KIND: usize = 40;
/// How long a chain is at most by CAIP-2.
const MAX_CHAIN: usize = 41;

/// How long a text to sign in is at most without our own address, the redirect URI and the resources: with every scope, and the
/// longest account.
const MAX_REST: usize = 1_000;
/// What stands before and behind each of the resources.
const LINE: usize = "\n- ".len();

/// How often a challenge may be answered with a signature that fails (P-09).
pub const MAX_FAILURES: u8 = 5;

/// Everything that the text says. No word in it can be chosen by a client: not its name, not its state.
#[derive(Clone, Debug)]
pub struct ChallengeText<'a> {
    /// Our own address: domain and URI.
    pub public_url: &'a PublicUrl,
    /// Who should sign.
    pub account: &'a WalletAccount,
    /// What the family calls its accounts, for example `Ethereum`.
    pub account_kind: &'a str,
    /// How the family names the chain, for example `1`.
    pub chain_id: &'a str,
    /// Whether a key or a contract signs, where that was named.
    pub signer_kind: Option<AccountKind>,
    /// What signing it does.
    pub purpose: Purpose<'a>,
    /// What completes the nonce, so that the text is known again as ours.
    pub key: &'a TextKey,
    /// Fresh randomness for the nonce: 96 bits.
    pub random: [u8; 12],
    /// The sign-in.
    pub id: GrantId,
    /// Now, in whole seconds.
    pub issued_at: OffsetDateTime,
    /// When the text stops being good.
    pub expires_at: OffsetDateTime,
}

/// What signing a text does.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'a> {
    /// The signer signs in to a client.
    SignIn {
        /// Where the sign-in leads.
        redirect_uri: &'a RedirectUri,
        /// Which client asks.
        client: ClientId,
        /// What it asks for.
        scope: ScopeSet,
        /// The resources that its access tokens shall be for.
        resources: &'a [String],
    },
    /// The signer signs in on a device, which waits for it.
    Device {
        /// The code that the device shows.
        code: UserCode,
        /// Which client asks.
        client: ClientId,
        /// What it asks for.
        scope: ScopeSet,
        /// The resources that its access tokens shall be for.
        resources: &'a [String],
    },
    /// The signer signs in to the account page.
    Account,
    /// The signer lets a program in, without a browser.
    Program {
        /// Which client asks.
        client: ClientId,
        /// What it asks for.
        scope: ScopeSet,
        /// The resources that its access tokens shall be for.
        resources: &'a [String],
    },
    /// The signer's user gets another wallet.
    Link {
        /// The other wallet.
        wallet: &'a WalletAccount,
    },
    /// The signer becomes a wallet of another wallet's user.
    Join {
        /// The other wallet.
        wallet: &'a WalletAccount,
    },
    /// The signer's user loses one of the wallets.
    Unlink {
        /// Which one.
        wallet: &'a WalletAccount,
    },
}

/// What stands before the client's id.
const CLIENT: &str = "urn:countersign:client:";
/// What stands before the word for what signs, a key or a contract.
const KIND: &str = "urn:countersign:kind:";
/// What stands before the name of a scope.
const SCOPE: &str = "urn:countersign:scope:";

impl Purpose<'_> {
    /// The path that takes the signature.
    pub const fn path(&self) -> &'static str {
        match self {
            Self::SignIn { .. } | Self::Device { .. } | Self::Account => "/oauth/login",
            Self::Program { .. } => "/oauth/token",
            Self::Link { .. } | Self::Join { .. } => "/account/wallets/link",
            Self::Unlink { .. } => "/account/wallets/unlink",
        }
    }

    /// What the person agrees to, in one sentence, and the same for programs.
    fn statement_and_resources(&self) -> (String, Vec<String>) {
        match self {
            Self::SignIn { redirect_uri, client, scope, resources } => {
                let destination = redirect_uri.destination();
                let statement = format!("Sign in to {destination}.");
                let mut named = vec![redirect_uri.origin_at(destination)];
                named.extend(client_and_scopes(*client, *scope));
                named.extend(resources.iter().cloned());
                (statement, named)
            }
            Self::Device { code, client, scope, resources } => {
                let mut named = vec![format!("urn:countersign:device:{code}")];
                named.extend(client_and_scopes(*client, *scope));
                named.extend(resources.iter().cloned());
                (format!("Sign in on the device that shows {code}."), named)
            }
            Self::Program { client, scope, resources } => {
                let mut named = client_and_scopes(*client, *scope);
                named.extend(resources.iter().cloned());
                (
                    "Let a program act as me here, without a browser: whoever asked for this text."
                        .to_owned(),
                    named,
                )
            }
            Self::Account => {
                ("Sign in to my account here.".to_owned(), vec!["urn:countersign:account".to_owned()])
            }
            Self::Link { wallet } => {
                (format!("Let the {} sign in as me here.", in_words(wallet)), other_wallet("link", wallet))
            }
            Self::Join { wallet } => {
                (format!("Join the account of the {} here.", in_words(wallet)), other_wallet("join", wallet))
            }
            Self::Unlink { wallet } => (
                format!("Take the {} off my account here.", in_words(wallet)),
                other_wallet("unlink", wallet),
            ),
        }
    }
}

/// The other wallet of a change, for people. A key and a contract may have one name, so that a contract is always called one.
fn in_words(wallet: &WalletAccount) -> String {
    let kind = match wallet.kind() {
        Some(AccountKind::Contract) => "contract wallet",
        Some(AccountKind::Key) | None => "wallet",
    };
    format!("{kind} {}", wallet.caip10())
}

/// The same for programs.
fn other_wallet(change: &str, wallet: &WalletAccount) -> Vec<String> {
    let kind = wallet.kind().map(|kind| format!("urn:countersign:other-kind:{}", kind.name()));
    iter::once(format!("{OURS}{change}:{}", wallet.caip10())).chain(kind).collect()
}

/// Which client it is, and what it gets.
fn client_and_scopes(client: ClientId, scope: ScopeSet) -> Vec<String> {
    let scopes = scope.iter().map(|scope| format!("{SCOPE}{}", scope.name()));
    iter::once(format!("{CLIENT}{client}")).chain(scopes).collect()
}

impl ChallengeText<'_> {
    /// Writes the text: printable ASCII and line feeds only, [`MAX_OWN_TEXT`] at most where [`fits`] said so of its purpose. Its
    /// nonce is the randomness and a MAC over everything else in it.
    pub fn render(&self) -> String {
        self.key.complete(self.draft())
    }

    /// The text as the MAC sees it.
    fn draft(&self) -> String {
        let (statement, mut resources) = self.purpose.statement_and_resources();
        if let Some(kind) = self.signer_kind {
            // Words of ours stand together, before the resources that access tokens are for.
            let last = resources.iter().rposition(|resource| resource.starts_with(OURS));
            let place = last.map_or(resources.len(), |last| last + 1);
            resources.insert(place, format!("{KIND}{}", kind.name()));
        }
        let mut text = format!(
            "{domain} wants you to sign in with your {kind} account:\n\
             {address}\n\
             \n\
             {statement} This costs nothing and cannot move funds.\n\
             \n\
             URI: {uri}\n\
             Version: 1\n\
             Chain ID: {chain}\n\
             Nonce: {nonce}\n\
             Issued At: {issued_at}\n\
             Expiration Time: {expires_at}\n\
             Request ID: {id}\n\
             Resources:",
            domain = self.public_url.authority(),
            kind = self.account_kind,
            address = self.account.address,
            uri = self.public_url.join(self.purpose.path()),
            chain = self.chain_id,
            nonce = hex::encode(self.random),
            issued_at = iso8601(self.issued_at),
            expires_at = iso8601(self.expires_at),
            id = self.id,
        );
        for resource in resources {
            text.push_str("\n- ");
            text.push_str(&resource);
        }
        text
    }
}

/// Does a text for this purpose keep to [`MAX_OWN_TEXT`], whoever signs it? It is asked when a request is judged: a text that
/// is too long later could only be cut, and then somebody would sign for what they cannot read.
pub fn fits(public_url: &PublicUrl, purpose: Purpose<'_>) -> bool {
    // Requests are mostly far from the limit, and each of them asks: what is surely short is not written out.
    if let Purpose::SignIn { redirect_uri, resources, .. } = &purpose {
        let resources: usize = resources.iter().map(|uri| uri.len() + LINE).sum();
        let named = 2 * public_url.as_str().len() + 2 * redirect_uri.as_str().len() + resources;
        if named + MAX_REST <= MAX_OWN_TEXT {
            return true;
        }
    }
    let longest =
        WalletAccount { family: String::new(), chain: String::new(), address: "x".repeat(MAX_ADDRESS) };
    let (kind, chain_id) = ("x".repeat(MAX_KIND), "x".repeat(MAX_CHAIN));
    let draft = ChallengeText {
        public_url,
        account: &longest,
        account_kind: &kind,
        chain_id: &chain_id,
        signer_kind: Some(AccountKind::Contract),
        purpose,
        key: &TextKey::new([0; 32]),
        random: [0; 12],
        id: GrantId::from_uuid(uuid::Uuid::nil()),
        issued_at: OffsetDateTime::UNIX_EPOCH,
        expires_at: OffsetDateTime::UNIX_EPOCH,
    }
    .draft();
    draft.len() + MAC_DIGITS <= MAX_OWN_TEXT
}

/// What we remember of an issued challenge, sealed in the session: enough to recognize its text, not the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedChallenge {
    /// The sign-in that it would start.
    pub id: GrantId,
    /// The fingerprint of account and text.
    pub digest: ChallengeDigest,
    /// When it stops being good. This decides, not the time in the text (B-008).
    pub expires_at: OffsetDateTime,
    /// How many signatures failed.
    pub failures: u8,
    /// The chain, where the address alone does not say it.
    pub chain: Option<String>,
    /// Whether a key or a contract signs, where that was named.
    pub kind: Option<AccountKind>,
}

/// Why a challenge is not taken. The outside hears one answer for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChallengeRejected {
    /// Not issued for this session, request and account.
    #[error("challenge was not issued for this session, request and account")]
    Unknown,
    /// Too old.
    #[error("challenge has expired")]
    Expired,
    /// Answered wrongly too often.
    #[error("challenge was answered wrongly too often")]
    Exhausted,
}

impl IssuedChallenge {
    /// Counts a signature that failed.
    pub const fn count_failure(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }

    /// How many more signatures may fail.
    pub const fn tries_left(&self) -> u8 {
        MAX_FAILURES.saturating_sub(self.failures)
    }

    /// May this challenge still be answered?
    pub fn admit(&self, now: OffsetDateTime) -> Result<(), ChallengeRejected> {
        if now >= self.expires_at {
            Err(ChallengeRejected::Expired)
        } else if self.tries_left() == 0 {
            Err(ChallengeRejected::Exhausted)
        } else {
            Ok(())
        }
    }
}

/// The fingerprint of an account and a text: 128 bits of SHA-256. It is sealed, and the text is ours, so that
/// nobody can look for collisions; 128 bits are what a second preimage costs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ChallengeDigest([u8; 16]);

impl ChallengeDigest {
    /// Takes the fingerprint of a text for an account.
    pub fn of(account: &WalletAccount, text: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [&account.family, &account.chain, &account.address] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hash.update(text.as_bytes());
        let mut digest = [0; 16];
        digest.copy_from_slice(&hash.finalize()[..16]);
        Self(digest)
    }

    /// Takes a fingerprint that the session kept.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes, for the session.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Compares in a time that does not depend on the answer.
    pub fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl std::fmt::Debug for ChallengeDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChallengeDigest(..)")
    }
}

/// The time as the wire wants it: whole seconds, UTC, `Z`.
pub fn iso8601(time: OffsetDateTime) -> String {
    let time = time.to_offset(time::UtcOffset::UTC);
    time.replace_nanosecond(0).unwrap_or(time).format(&Rfc3339).unwrap_or_default()
}

#[cfg(test)]
mod tests;
