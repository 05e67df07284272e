//! An operator wants to change something: the change is judged, and the text is made that they sign. Nothing is
//! written to storage.

pub use super::make_text::ChangeText;

use countersign_domain::act::Act;
use countersign_domain::act::written::WrittenChange;
use countersign_domain::challenge::{ReadText, is_ours};
use countersign_domain::desk::pending::{PendingChange, Seen};
use countersign_domain::id::{ClientId, GrantId};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{EntropyExt, StoreError};
use countersign_usecases::account::begin_wallet_change::TextToSign;
use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::steps::recognize_operator::Operator;

use super::make_text::{Making, make_text};
use super::oneself::{self, is_about_oneself};
use super::subject::read_subject;
use super::{Desk, normalized};

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
pub enum BeginChangeError {
    /// The change is not possible.
    #[error(transparent)]
    Refused(ActRefused),
    /// The wallet that should sign does not belong to this operator, or to any.
    #[error("this wallet does not sign for the operator")]
    NotOperator,
    /// The change takes the desk away from the operator, who did not type the word.
    #[error("this is about yourself")]
    AboutOneself,
    /// The subject could not be read.
    #[error("subject could not be read")]
    Store(#[from] StoreError),
}

impl From<ActRefused> for BeginChangeError {
    fn from(refused: ActRefused) -> Self {
        if let ActRefused::Store(error) = refused { error.into() } else { Self::Refused(refused) }
    }
}

/// How an operator is about to sign.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signing<'a> {
    /// The wallet that signs; the first of theirs by default.
    pub signer: Option<&'a WalletAccount>,
    /// The word that confirms a change about themselves.
    pub word: Option<&'a str>,
}

/// Judges a change and makes its text.
pub async fn begin_change(
    desk: Desk<'_>,
    operator: &Operator,
    change: Act,
    signing: Signing<'_>,
) -> Result<(PendingChange, ChangeText), BeginChangeError> {
    let now = desk.context.clock.now();
    let signer = choose_signer(operator, signing.signer)?;
    let change = with_id(desk, change);
    let subject = read_subject(desk, operator.session.user, normalized(&change)?).await?;
    if let Some(refused) = subject.refused {
        return Err(refused.into());
    }
    require_word(desk, operator, &subject.named, signing.word).await?;
    // What is judged is what the text says, with the names that were looked up.
    let change = normalized(&subject.named)?;
    let written = WrittenChange { change, seen: Seen::of(&subject.facts), proposal: None };
    let id = GrantId::at(now, desk.context.entropy.bytes());
    let needs_second = subject.needs_second;
    let making = Making { id, written, facts: subject.facts, needs_second, signer };
    Ok(make_text(desk, now, making)?)
}

/// Refuses a change that takes the desk away from the operator, unless they typed the word.
pub(super) async fn require_word(
    desk: Desk<'_>,
    operator: &Operator,
    change: &Act,
    word: Option<&str>,
) -> Result<(), BeginChangeError> {
    if word != Some(oneself::WORD) && is_about_oneself(desk.context, operator.session.user, change).await? {
        return Err(BeginChangeError::AboutOneself);
    }
    Ok(())
}

/// Returns a text that an operator sent back, if it can still be signed. A page without scripts shows it once more
/// after an invalid signature.
pub fn recall_change(desk: Desk<'_>, pending: &PendingChange, text: &str) -> Option<ChangeText> {
    let context = desk.context;
    pending.admit(context.clock.now(), text).ok()?;
    let written = WrittenChange::of(&ReadText::read(text)?).ok()?;
    let signing_hints = context.wallets.signing_hints(&pending.signer);
    Some(ChangeText {
        change: written.change,
        needs_second: pending.needs_second,
        signer: pending.signer.clone(),
        text: TextToSign { text: text.to_owned(), signing_hints },
        expires_at: pending.challenge.expires_at,
    })
}

/// Reads the change of a text that this server issued with this id, whatever became of it.
pub fn change_of_text(desk: Desk<'_>, id: &str, text: &str) -> Option<Act> {
    let read = ReadText::read(text).filter(|_| is_ours(&desk.context.keys.texts, text))?;
    if read.request_id != Some(id) {
        return None;
    }
    WrittenChange::of(&read).ok().map(|written| written.change)
}

/// The wallet that was named, or the operator's first.
pub(super) fn choose_signer(
    operator: &Operator,
    named: Option<&WalletAccount>,
) -> Result<WalletAccount, BeginChangeError> {
    let signer = match named {
        Some(named) => Some(named).filter(|named| operator.may_sign(named)),
        None => operator.wallets.first(),
    };
    signer.cloned().ok_or(BeginChangeError::NotOperator)
}

/// Gives a client that is to be registered its id. It is in the text, so that the event can be compared with
/// it.
fn with_id(desk: Desk<'_>, change: Act) -> Act {
    if let Act::RegisterClient { id: _, metadata, resources, fields, access } = change {
        let id = ClientId::at(desk.context.clock.now(), desk.context.entropy.bytes());
        Act::RegisterClient { id: Some(id), metadata, resources, fields, access }
    } else {
        change
    }
}
