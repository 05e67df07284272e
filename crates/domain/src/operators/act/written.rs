//! A change as it is read back from the text that an operator signed.

use super::{Act, ActUnreadable, CHANGE, WITH};
use crate::challenge::{ChangeWords, KIND, PROMISE, ReadText};
use crate::desk::pending::Seen;
use crate::id::GrantId;

/// The prefix of the line with the mark of the subject.
const SEEN: &str = "urn:countersign:seen:";
/// The prefix of the line that names the proposal that is signed for the second time.
const PROPOSAL: &str = "urn:countersign:proposal:";

/// What a text of the desk says besides who signs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenChange {
    /// The change.
    pub change: Act,
    /// The mark of its subject.
    pub seen: Seen,
    /// The proposal that is signed for the second time; `None` in the text of the first operator.
    pub proposal: Option<GrantId>,
}

impl WrittenChange {
    /// The resources of the text.
    fn lines(&self) -> Vec<String> {
        let Self { change, seen, proposal } = self;
        let mut lines = change.lines();
        lines.push(format!("{SEEN}{seen}"));
        lines.extend(proposal.map(|proposal| format!("{PROPOSAL}{proposal}")));
        lines
    }

    /// What a text says of it.
    pub fn words(&self) -> ChangeWords {
        ChangeWords {
            statement: self.change.statement(),
            lines: self.lines(),
            is_second: self.proposal.is_some(),
        }
    }

    /// Reads a text. Only texts as this server writes them have a change, whose words and lines say the same.
    pub fn of(read: &ReadText<'_>) -> Result<Self, ActUnreadable> {
        let is_of_change = |line: &&&str| line.starts_with(CHANGE) || line.starts_with(WITH);
        let length = read.resources.iter().take_while(is_of_change).count();
        let (change, rest) = read.resources.split_at(length);
        let change = Act::from_lines(change.iter().copied())?;
        let mut rest = rest.iter();
        let mut next = rest.next();
        let mut take = |prefix| {
            let found = next.and_then(|line| line.strip_prefix(prefix));
            if found.is_some() {
                next = rest.next();
            }
            found
        };
        let seen = take(SEEN).and_then(Seen::parse).ok_or(ActUnreadable)?;
        let proposal = match take(PROPOSAL) {
            Some(id) => Some(GrantId::parse(id).ok_or(ActUnreadable)?),
            None => None,
        };
        take(KIND);
        let is_all = next.is_none() && read.other_lines.is_empty();
        let words = format!("{}{PROMISE}", change.statement());
        if !is_all || read.statement.as_deref() != Some(words.as_str()) {
            return Err(ActUnreadable);
        }
        Ok(Self { change, seen, proposal })
    }
}
