//! The desk: what operators read, and what they change by signing it.
//!
//! Reading needs a remembered sign-in of an operator. A change needs a text that names it, signed by a wallet of
//! that operator; then the same use-cases are called as by the command line and the admin interface, and their
//! events carry text and signature. What is dangerous waits for the signature of a second person where the
//! settings say so.

pub mod begin_change;
mod carry_out;
pub mod complete_change;
mod make_text;
pub mod oneself;
pub mod overview;
pub mod proposals;
pub mod review;
pub mod search;
mod subject;

use std::fmt;

use countersign_domain::act::Act;
use countersign_domain::desk::pending::{Fact, FactName};
use countersign_domain::desk::proposal::{self, Proposal};
use countersign_ports::KeyRing;
use time::OffsetDateTime;

use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::context::cause::Cause;
use countersign_usecases::{Context, Management};

/// What every use-case of the desk works with.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    /// The ports and the policy.
    pub context: &'a Context,
    /// The signing keys.
    pub keys: &'a dyn KeyRing,
    /// Where the request comes from. A change is made by the wallet that signs it, whatever actor this names.
    pub cause: &'a Cause,
}

impl<'a> Desk<'a> {
    /// For reading.
    fn management(self) -> Management<'a> {
        self.context.management_for(self.cause)
    }
}

impl fmt::Debug for Desk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}

/// The subject of a change is no longer as its operator read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stale {
    /// What is different. Empty if nothing is known about it.
    pub changed: Vec<Changed>,
}

/// One thing about a subject that is different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// What it is about.
    pub name: FactName,
    /// As the operator read it, perhaps shortened. `None` if it was not so, or if only its mark is known.
    pub before: Option<String>,
    /// As it is now. `None` if it is not so any more.
    pub now: Option<String>,
}

impl Stale {
    /// Compares what was remembered with what is.
    fn between(before: &[Fact], now: &[Fact]) -> Self {
        let find = |facts: &[Fact], name: FactName| {
            facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.clone())
        };
        let is_new = |fact: &&Fact| before.iter().all(|before| before.name != fact.name);
        let names = before.iter().chain(now.iter().filter(is_new)).map(|fact| fact.name);
        let changed = names.filter_map(|name| {
            let (before, shown) = (find(before, name), find(now, name));
            let short = shown.as_ref().map(|value| Fact::new(name, value).shortened().value);
            (before != short).then_some(Changed { name, before, now: shown })
        });
        Self { changed: changed.collect() }
    }
}

/// The change as it is read back from its own lines: what is judged is what the text will say.
fn normalized(change: &Act) -> Result<Act, ActRefused> {
    let lines = change.lines();
    let read = Act::from_lines(lines.iter().map(String::as_str));
    read.map_err(|_| ActRefused::Unwritable)
}

/// Does a proposal wait? Its id contains the time when its text was issued, and is signed, so a row cannot
/// make it live longer.
fn waits(context: &Context, proposal: &Proposal, now: OffsetDateTime) -> bool {
    let longest = proposal::LIFETIME + context.policy.lifetimes.challenge;
    proposal.waits(now) && now < proposal.id.issued_at().saturating_add(longest)
}
