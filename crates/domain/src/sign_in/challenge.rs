//! The text that a wallet is asked to sign: ERC-4361 for Ethereum, and the same lines by CAIP-122 for other
//! families.

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
use crate::invitation::AcceptedInvitation;
use crate::public_url::PublicUrl;
use crate::redirect_uri::RedirectUri;
use crate::resource::OURS;
use crate::scope::ScopeSet;
use crate::wallet::{AccountKind, WalletAccount};

/// The longest text that we write for people, in bytes.
pub const MAX_OWN_TEXT: usize = 1_500;
/// The longest text of a change that an operator makes at the desk, in bytes.
pub const MAX_CHANGE_TEXT: usize = 4_000;

/// What every statement ends with.
pub(crate) const PROMISE: &str = " This costs nothing and cannot move funds.";

/// The longest address: bech32 allows 90 characters.
const MAX_ADDRESS: usize = 90;
/// The longest name of a kind of account: an operator's own coin can have 40 letters.
const MAX_KIND: usize = 40;
/// The longest CAIP-2 chain id.
const MAX_CHAIN: usize = 41;

/// The longest rest of a sign-in text, without our own address, the redirect URI, the resources and their
/// scopes, but with every scope of this server and the longest account.
const MAX_REST: usize = 1_000;
/// What comes before each of the resources.
const LINE: usize = "\n- ".len();

/// How many invalid signatures a challenge allows (P-09).
pub const MAX_FAILURES: u8 = 5;

/// Everything that the text says. Clients choose none of its words: neither their name nor their state is in
/// it.
#[derive(Clone, Debug)]
pub struct ChallengeText<'a> {
    /// Our own address; it gives the text's domain and URI.
    pub public_url: &'a PublicUrl,
    /// The account that is asked to sign.
    pub account: &'a WalletAccount,
    /// What the family calls its accounts, for example `Ethereum`.
    pub account_kind: &'a str,
    /// How the family writes the chain, for example `1`.
    pub chain_id: &'a str,
    /// Whether a key or a contract must sign, if the request said so.
    pub signer_kind: Option<AccountKind>,
    /// What signing it does.
    pub purpose: Purpose<'a>,
    /// The invitation that the signer accepts besides, which puts the wallet into a group.
    pub invitation: Option<&'a AcceptedInvitation>,
    /// Completes the nonce, so that we recognize the text as ours later.
    pub key: &'a TextKey,
    /// Fresh randomness for the nonce: 96 bits.
    pub random: [u8; 12],
    /// The id of the sign-in.
    pub id: GrantId,
    /// When the text is issued, in whole seconds.
    pub issued_at: OffsetDateTime,
    /// When the text expires.
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
        scope: &'a ScopeSet,
        /// The resources that its access tokens will be for.
        resources: &'a [String],
    },
    /// The signer signs in on a device that waits for it.
    Device {
        /// The code that the device shows.
        code: UserCode,
        /// Which client asks.
        client: ClientId,
        /// What it asks for.
        scope: &'a ScopeSet,
        /// The resources that its access tokens will be for.
        resources: &'a [String],
    },
    /// The signer signs in to the account page.
    Account,
    /// The signer lets a program in, without a browser.
    Program {
        /// Which client asks.
        client: ClientId,
        /// What it asks for.
        scope: &'a ScopeSet,
        /// The resources that its access tokens will be for.
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
    /// The signer, an operator, makes a change at the desk.
    Change {
        /// What the text says of it.
        words: &'a ChangeWords,
    },
}

/// What the text of a change says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeWords {
    /// The change, as a sentence for people.
    pub statement: String,
    /// The same for programs.
    pub lines: Vec<String>,
    /// Is it signed for the second time?
    pub is_second: bool,
}

/// The prefix of a line with a client's id.
const CLIENT: &str = "urn:countersign:client:";
/// The prefix of a line that says whether a key or a contract signs.
pub(crate) const KIND: &str = "urn:countersign:kind:";
/// The prefix of a line with the id of an invitation.
const INVITATION: &str = "urn:countersign:invitation:";
/// The prefix of a line with the group that an invitation leads into.
const GROUP: &str = "urn:countersign:group:";
/// The prefix of a line with a scope.
const SCOPE: &str = "urn:countersign:scope:";

impl Purpose<'_> {
    /// The path of the endpoint that accepts the signature.
    pub const fn path(&self) -> &'static str {
        match self {
            Self::SignIn { .. } | Self::Device { .. } | Self::Account => "/oauth/login",
            Self::Program { .. } => "/oauth/token",
            Self::Link { .. } | Self::Join { .. } => "/account/wallets/link",
            Self::Unlink { .. } => "/account/wallets/unlink",
            Self::Change { words: ChangeWords { is_second: false, .. } } => "/admin/changes/sign",
            Self::Change { words: ChangeWords { is_second: true, .. } } => "/admin/proposals/sign",
        }
    }

    /// How long its text may be.
    const fn longest(&self) -> usize {
        match self {
            Self::SignIn { .. }
            | Self::Device { .. }
            | Self::Account
            | Self::Program { .. }
            | Self::Link { .. }
            | Self::Join { .. }
            | Self::Unlink { .. } => MAX_OWN_TEXT,
            Self::Change { .. } => MAX_CHANGE_TEXT,
        }
    }

    /// What the person agrees to: as a sentence for people, and as resources for programs.
    fn statement_and_resources(&self) -> (String, Vec<String>) {
        match self {
            Self::SignIn { redirect_uri, client, scope, resources } => {
                let destination = redirect_uri.destination();
                let statement = format!("Sign in to {destination}.");
                let mut named = vec![redirect_uri.origin_at(destination)];
                named.extend(client_and_scopes(*client, scope));
                named.extend(resources.iter().cloned());
                (statement, named)
            }
            Self::Device { code, client, scope, resources } => {
                let mut named = vec![format!("urn:countersign:device:{code}")];
                named.extend(client_and_scopes(*client, scope));
                named.extend(resources.iter().cloned());
                (format!("Sign in on the device that shows {code}."), named)
            }
            Self::Program { client, scope, resources } => {
                let mut named = client_and_scopes(*client, scope);
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
            Self::Change { words } => (words.statement.clone(), words.lines.clone()),
        }
    }
}

/// The other wallet of a change, for people. A key and a contract can share a name, so a contract is always
/// called one.
pub(crate) fn in_words(wallet: &WalletAccount) -> String {
    let kind = match wallet.kind() {
        Some(AccountKind::Contract) => "contract wallet",
        Some(AccountKind::Key) | None => "wallet",
    };
    format!("{kind} {}", wallet.caip10())
}

/// The other wallet of a change, for programs.
fn other_wallet(change: &str, wallet: &WalletAccount) -> Vec<String> {
    let kind = wallet.kind().map(|kind| format!("urn:countersign:other-kind:{}", kind.name()));
    iter::once(format!("{OURS}{change}:{}", wallet.caip10())).chain(kind).collect()
}

/// The resource lines for the client and its scopes.
fn client_and_scopes(client: ClientId, scope: &ScopeSet) -> Vec<String> {
    let scopes = scope.names().map(|name| format!("{SCOPE}{name}"));
    iter::once(format!("{CLIENT}{client}")).chain(scopes).collect()
}

impl ChallengeText<'_> {
    /// Writes the text: printable ASCII and line feeds only, and at most [`MAX_OWN_TEXT`] bytes, or
    /// [`MAX_CHANGE_TEXT`] for a change, if [`fits`] accepted its purpose. Its nonce is the random bytes and a MAC over everything else in the text.
    pub fn render(&self) -> String {
        self.key.complete(self.draft())
    }

    /// The text that the MAC is computed over.
    fn draft(&self) -> String {
        let (mut statement, mut resources) = self.purpose.statement_and_resources();
        let mut also = Vec::new();
        if let Some(AcceptedInvitation { id, group }) = self.invitation {
            statement.push_str(&format!(" Join the group {group} by invitation."));
            also.extend([format!("{INVITATION}{id}"), format!("{GROUP}{group}")]);
        }
        also.extend(self.signer_kind.map(|kind| format!("{KIND}{}", kind.name())));
        if !also.is_empty() {
            // Our own entries stay together, before the resources that access tokens are for.
            let last = resources.iter().rposition(|resource| resource.starts_with(OURS));
            let place = last.map_or(resources.len(), |last| last + 1);
            resources.splice(place..place, also);
        }
        let mut text = format!(
            "{domain} wants you to sign in with your {kind} account:\n\
             {address}\n\
             \n\
             {statement}{PROMISE}\n\
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

/// Does every text for this purpose fit into [`MAX_OWN_TEXT`] bytes, or [`MAX_CHANGE_TEXT`] for a change
/// with any signer? This is checked when a request is checked. Later, a text that is too long could
/// only be cut, and then someone would sign what they cannot read.
pub fn fits(public_url: &PublicUrl, purpose: Purpose<'_>) -> bool {
    fits_with(public_url, purpose, None)
}

/// The same for a text that also accepts an invitation.
pub fn fits_with(
    public_url: &PublicUrl,
    purpose: Purpose<'_>,
    invitation: Option<&AcceptedInvitation>,
) -> bool {
    // Most requests are far below the limit, and each of them is checked, so a text that is surely short is
    // not written out.
    if let (Purpose::SignIn { redirect_uri, resources, scope, .. }, None) = (&purpose, invitation) {
        let resources: usize = resources.iter().map(|uri| uri.len() + LINE).sum();
        let own = scope.own().iter().map(|name| LINE + SCOPE.len() + name.as_str().len());
        let resources = resources + own.sum::<usize>();
        let named = 2 * public_url.as_str().len() + 2 * redirect_uri.as_str().len() + resources;
        if named + MAX_REST <= MAX_OWN_TEXT {
            return true;
        }
    }
    let longest =
        WalletAccount { family: String::new(), chain: String::new(), address: "x".repeat(MAX_ADDRESS) };
    let (kind, chain_id) = ("x".repeat(MAX_KIND), "x".repeat(MAX_CHAIN));
    let most = purpose.longest();
    let draft = ChallengeText {
        public_url,
        account: &longest,
        account_kind: &kind,
        chain_id: &chain_id,
        signer_kind: Some(AccountKind::Contract),
        purpose,
        invitation,
        key: &TextKey::new([0; 32]),
        random: [0; 12],
        id: GrantId::from_uuid(uuid::Uuid::nil()),
        issued_at: OffsetDateTime::UNIX_EPOCH,
        expires_at: OffsetDateTime::UNIX_EPOCH,
    }
    .draft();
    draft.len() + MAC_DIGITS <= most
}

/// What we remember of a challenge that was issued, sealed in the session: enough to recognize its text, but
/// not the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedChallenge {
    /// The id of the sign-in that it would start.
    pub id: GrantId,
    /// The fingerprint of the account and the text.
    pub digest: ChallengeDigest,
    /// When it expires. This time decides, not the time in the text (B-008).
    pub expires_at: OffsetDateTime,
    /// How many invalid signatures were presented.
    pub failures: u8,
    /// The chain, if the address alone does not determine it.
    pub chain: Option<String>,
    /// Whether a key or a contract must sign, if the request said so.
    pub kind: Option<AccountKind>,
}

/// Why a challenge is not accepted. Clients get the same answer for all reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChallengeRejected {
    /// It was not issued for this session, request and account.
    #[error("challenge was not issued for this session, request and account")]
    Unknown,
    /// It has expired.
    #[error("challenge has expired")]
    Expired,
    /// Too many invalid signatures were presented.
    #[error("challenge was answered with too many invalid signatures")]
    Exhausted,
}

impl IssuedChallenge {
    /// Counts an invalid signature.
    pub const fn count_failure(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }

    /// How many more invalid signatures are allowed.
    pub const fn tries_left(&self) -> u8 {
        MAX_FAILURES.saturating_sub(self.failures)
    }

    /// Can this challenge still be answered?
    pub fn admit(&self, now: OffsetDateTime) -> Result<(), ChallengeRejected> {
        if now >= self.expires_at {
            Err(ChallengeRejected::Expired)
        } else if self.tries_left() == 0 {
            Err(ChallengeRejected::Exhausted)
        } else {
            Ok(())
        }
    }

    /// Can this challenge be answered by this account with this text?
    pub fn admit_text(
        &self,
        now: OffsetDateTime,
        account: &WalletAccount,
        text: &str,
    ) -> Result<(), ChallengeRejected> {
        if !self.digest.is(&ChallengeDigest::of(account, text)) {
            return Err(ChallengeRejected::Unknown);
        }
        self.admit(now)
    }
}

/// The fingerprint of an account and a text: 128 bits of SHA-256. It is sealed and the text is ours, so no
/// one can search for collisions, and 128 bits are enough against second preimages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ChallengeDigest([u8; 16]);

impl ChallengeDigest {
    /// Computes the fingerprint of a text for an account.
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

    /// Makes a fingerprint from bytes that the session stored.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes, for the session.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Compares in constant time.
    pub fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl std::fmt::Debug for ChallengeDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChallengeDigest(..)")
    }
}

/// The time in the format used on the wire: whole seconds, UTC, `Z`.
pub fn iso8601(time: OffsetDateTime) -> String {
    let time = time.to_offset(time::UtcOffset::UTC);
    time.replace_nanosecond(0).unwrap_or(time).format(&Rfc3339).unwrap_or_default()
}

#[cfg(test)]
mod tests;
