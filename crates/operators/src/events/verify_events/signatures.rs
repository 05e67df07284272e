//! What operators signed at the desk: every act of theirs carries a text that their wallet signed, and that text
//! says what was done.
//!
//! Only the operators' wallets can make these signatures, not even a thief of the database and the server's
//! keys. No chain is asked, so what a contract wallet signed is counted and not verified.

use std::collections::BTreeMap;

use countersign_domain::act::written::WrittenChange;
use countersign_domain::act::{Act, ActEvent, NamedSubject};
use countersign_domain::challenge::ReadText;
use countersign_domain::desk::proposal;
use countersign_domain::event::{Actor, Event, EventKind, EventPerson};
use countersign_domain::id::{EventId, GrantId};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::{AccountKind, AccountName, WalletAccount, WalletProof};
use countersign_ports::{Verdict, WalletVerifier};
use serde::Deserialize;
use serde_json::{Map, Value};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::Finding;

/// How far apart the end of a text and the act may be: by the work in between, and by the clocks of replicas.
pub(super) const MARGIN: Duration = Duration::minutes(5);

/// Who can tell whether a signature is an operator's.
#[derive(Clone, Copy)]
pub struct Signatures<'a> {
    /// Verifies what keys signed.
    pub wallets: &'a dyn WalletVerifier,
    /// The host, with its port, that the texts name if the record names no host.
    pub authority: &'a str,
}

impl std::fmt::Debug for Signatures<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signatures").field("authority", &self.authority).finish_non_exhaustive()
    }
}

/// The signatures under one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checked {
    /// How many are valid.
    pub(super) valid: u64,
    /// How many could not be checked here.
    pub(super) unchecked: u64,
    /// The wallets (CAIP-10) that signed.
    pub(super) signers: Vec<String>,
    /// The host, with its port, that the texts name.
    pub(super) host: Option<String>,
}

/// The texts that were signed for several events each. The event of a text comes right before those.
#[derive(Debug, Default)]
pub(super) struct Texts(BTreeMap<EventId, SharedText>);

#[derive(Debug)]
enum SharedText {
    Known {
        /// What it says.
        change: Act,
        /// Who signed it last.
        actor: String,
    },
    /// It went with the account of someone it named.
    Gone,
}

/// How many texts are remembered.
const REMEMBERED: usize = 1_000;

impl Texts {
    fn remember(&mut self, event: EventId, text: SharedText) {
        if self.0.len() == REMEMBERED {
            self.0.pop_first();
        }
        self.0.insert(event, text);
    }

    /// Judges an event that names this text. The text may be gone if the events before this checkpoint are.
    fn judge(&self, text: EventId, event: &Event, actor: &str, is_first: bool) -> Result<(), Finding> {
        let judged = match self.0.get(&text) {
            None if is_first => Ok(()),
            None => return Err(Finding::Unsigned { event: event.id }),
            Some(SharedText::Gone) => Ok(()),
            Some(SharedText::Known { actor: signer, .. }) if signer != actor => Err("another actor"),
            Some(SharedText::Known { .. }) if event.id.at_time() != text.at_time() => Err("another time"),
            Some(SharedText::Known { change, .. }) => judge_one_of(change, event),
        };
        judged.map_err(|what| Finding::SignedOtherwise { event: event.id, what })
    }
}

/// What an event has stored under `signed`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSigned {
    change: String,
    signatures: Vec<StoredSignature>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSignature {
    wallet: String,
    kind: Option<String>,
    text: String,
    signature: String,
}

/// A signature with what its text says.
struct Read<'a> {
    stored: &'a StoredSignature,
    text: ReadText<'a>,
    written: WrittenChange,
    issued_at: OffsetDateTime,
    expires_at: OffsetDateTime,
}

/// Judges what operators signed for an event. An event that no operator made has nothing to judge.
/// `is_first`: nothing is kept of what happened before its checkpoint.
pub(super) async fn judge_signatures(
    signatures: Signatures<'_>,
    texts: &mut Texts,
    event: &Event,
    is_first: bool,
) -> Result<Checked, Finding> {
    let actor = match &event.actor {
        Actor::Wallet(caip10) => Some(caip10.as_str()),
        Actor::Person
        | Actor::Client
        | Actor::Server
        | Actor::CommandLine(_)
        | Actor::Key(_)
        | Actor::File(_) => None,
    };
    let differs = |what| Finding::SignedOtherwise { event: event.id, what };
    let (actor, signed) = match (actor, &event.signed) {
        (None, None) => return Ok(Checked::default()),
        (None, Some(_)) => return Err(differs("no one who acted with a wallet")),
        (Some(actor), Some(signed)) => (actor, signed),
        // Deleting an account takes away what names its person.
        (Some(_), None) if matches!(event.person, Some(EventPerson::Deleted(_))) => {
            if event.kind == EventKind::ChangeSigned {
                texts.remember(event.id, SharedText::Gone);
            }
            return Ok(Checked::default());
        }
        (Some(actor), None) => {
            let unsigned = Finding::Unsigned { event: event.id };
            let text = event.details.signed_in().ok_or(unsigned)?;
            return texts.judge(text, event, actor, is_first).map(|()| Checked::default());
        }
    };
    let unreadable = Finding::SignedUnreadable { event: event.id };
    let Ok(stored) = serde_json::from_str::<StoredSigned>(signed.as_str()) else { return Err(unreadable) };
    let read: Option<Vec<Read<'_>>> = stored.signatures.iter().map(read).collect();
    let (Some(change), Some(read)) = (GrantId::parse(&stored.change), read) else { return Err(unreadable) };
    let host = read.first().map(|read| read.text.host().to_owned());
    if read.iter().any(|read| Some(read.text.host()) != host.as_deref()) {
        return Err(differs("another server"));
    }
    let last = judge_set(change, &read).map_err(differs)?;
    if last.stored.wallet != actor {
        return Err(differs("another actor"));
    }
    judge_subject(change, &last.written, event).map_err(differs)?;
    judge_times(&read, event.id.at_time()).map_err(differs)?;
    if event.kind == EventKind::ChangeSigned {
        let change = last.written.change.clone();
        texts.remember(event.id, SharedText::Known { change, actor: actor.to_owned() });
    }
    let mut checked = Checked { host, ..Checked::default() };
    for read in &read {
        checked.signers.push(read.stored.wallet.clone());
        match verify(signatures, read).await.map_err(differs)? {
            Some(true) => checked.valid += 1,
            Some(false) => return Err(Finding::SignatureInvalid { event: event.id }),
            None => checked.unchecked += 1,
        }
    }
    Ok(checked)
}

fn read(stored: &StoredSignature) -> Option<Read<'_>> {
    let text = ReadText::read(&stored.text)?;
    let written = WrittenChange::of(&text).ok()?;
    let issued_at = OffsetDateTime::parse(text.issued_at?, &Rfc3339).ok()?;
    let expires_at = text.expires_at()?;
    Some(Read { stored, text, written, issued_at, expires_at })
}

/// One text is that of the change itself; the second of two names the change, and says the same. Gives the last.
fn judge_set<'a, 'b>(change: GrantId, read: &'b [Read<'a>]) -> Result<&'b Read<'a>, &'static str> {
    let is_of = |read: &Read<'_>| {
        read.text.request_id == Some(change.to_string().as_str()) && read.written.proposal.is_none()
    };
    match read {
        [only] if is_of(only) => Ok(only),
        [first, second] if is_of(first) => {
            let is_same = second.written.proposal == Some(change)
                && second.written.change == first.written.change
                && second.written.seen == first.written.seen;
            if !is_same {
                return Err("two different changes");
            }
            let name = |read: &Read<'_>| read.stored.wallet.to_lowercase();
            if name(first) == name(second) { Err("one wallet twice") } else { Ok(second) }
        }
        _ => Err("another change"),
    }
}

/// Does the event tell what was signed?
fn judge_subject(change: GrantId, written: &WrittenChange, event: &Event) -> Result<(), &'static str> {
    let ActEvent { kinds, user, wallet, client, mut details } = written.change.act_event();
    if event.kind == EventKind::ChangeProposed {
        details = vec![("proposal", change.to_string()), ("change", written.change.name().to_string())];
    } else if written.change.is_about_several() != (event.kind == EventKind::ChangeSigned) {
        return Err("another number of people");
    } else if event.kind != EventKind::ChangeSigned && !kinds.contains(&event.kind) {
        return Err("another kind of act");
    }
    if let Some(user) = user
        && event.person != Some(EventPerson::User(user))
        && !matches!(event.person, Some(EventPerson::Deleted(_)))
    {
        return Err("another user");
    }
    if event.wallet != wallet {
        return Err("another wallet");
    }
    if event.client != client {
        return Err("another client");
    }
    judge_details(&details, event)
}

/// Is the event about one of the people that a text for several names, or about the change as a whole?
fn judge_one_of(change: &Act, event: &Event) -> Result<(), &'static str> {
    let ActEvent { kinds, user: _, wallet: _, client, details } = change.act_event();
    if !kinds.contains(&event.kind) {
        return Err("another kind of act");
    }
    let user = match event.person {
        Some(EventPerson::User(user)) => Some(user),
        Some(EventPerson::Deleted(_)) | None => None,
    };
    let is_member = |member: &NamedSubject| match member {
        Subject::User(named) => user == Some(named.id) && event.wallet.is_none(),
        Subject::Wallet(wallet) => user.is_none() && event.wallet.as_ref() == Some(&wallet.account),
    };
    let is_about_one = EventKind::OF_MEMBERS.contains(&event.kind);
    if is_about_one && !change.members().iter().any(is_member) {
        return Err("another member");
    }
    if event.client != client {
        return Err("another client");
    }
    judge_details(&details, event)
}

fn judge_details(details: &[(&str, String)], event: &Event) -> Result<(), &'static str> {
    let values: Map<String, Value> = serde_json::from_str(event.details.as_str()).unwrap_or_default();
    let is_told =
        |(name, value): &(&str, String)| values.get(*name).and_then(Value::as_str) == Some(value.as_str());
    if details.iter().all(is_told) { Ok(()) } else { Err("other details") }
}

/// Was it done while the texts could be signed? So an old signature is worth nothing to a thief.
fn judge_times(read: &[Read<'_>], at: OffsetDateTime) -> Result<(), &'static str> {
    let last = read.len().saturating_sub(1);
    for (place, read) in read.iter().enumerate() {
        let waited = if place < last { proposal::LIFETIME } else { Duration::ZERO };
        let is_after = read.issued_at <= at.saturating_add(MARGIN);
        if !is_after || at >= read.expires_at.saturating_add(waited).saturating_add(MARGIN) {
            return Err("another time");
        }
    }
    Ok(())
}

/// Is a signature valid? `None` if that cannot be known here.
async fn verify(signatures: Signatures<'_>, read: &Read<'_>) -> Result<Option<bool>, &'static str> {
    let StoredSignature { wallet, kind, text, signature } = read.stored;
    let kind = match kind.as_deref() {
        None => None,
        Some(kind) => Some(AccountKind::parse(kind).ok_or("another wallet")?),
    };
    let name = AccountName::read(wallet, None).map_err(|_| "another wallet")?;
    let is_signer = read.text.address == Some(name.address) && read.text.signer_kind() == kind;
    if !is_signer {
        return Err("another wallet");
    }
    let Some(account) = account(signatures.wallets, wallet, name, kind) else {
        return Ok(None);
    };
    if kind == Some(AccountKind::Contract) {
        return Ok(None);
    }
    let proof = WalletProof { kind, text: text.clone(), signature: signature.clone(), account };
    Ok(match signatures.wallets.examine(&proof).await {
        Ok(Verdict::Valid(found)) => Some(found == proof.account),
        Ok(Verdict::Invalid(_)) => Some(false),
        Err(_) => None,
    })
}

/// The account with this name, if its family is still supported here.
fn account(
    wallets: &dyn WalletVerifier,
    caip10: &str,
    name: AccountName<'_>,
    kind: Option<AccountKind>,
) -> Option<WalletAccount> {
    let found = match kind {
        Some(kind) => wallets.recognize_as(kind, name.address, name.chain),
        None => wallets.recognize(name.address, name.chain),
    };
    let mut accounts = found.into_iter().map(|found| found.account);
    accounts.find(|account| account.caip10() == caip10 && account.kind() == kind)
}
