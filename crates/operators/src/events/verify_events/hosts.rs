//! Texts are signed for a host that the server had at that time, as the record says.
//!
//! Events come in the order of their positions, and the one that names a host comes before everything that is signed for
//! it. Before the first one that is left, texts are signed for the host that it names as the one before. If it names
//! none, the record did not know hosts yet: then texts of any host are counted by their host, for people to judge.

use std::collections::BTreeMap;

use countersign_domain::checkpoint::RecordKey;
use countersign_domain::event::Event;
use countersign_domain::id::EventId;
use countersign_usecases::events::hosts::NotedHost;

use super::signatures::MARGIN;
use super::{Broken, Finding};

/// What is known of the hosts up to an event.
pub(super) struct Hosts<'a> {
    /// The host that texts name if the record names none.
    authority: &'a str,
    /// Recognizes the events in which the server names its host. `None` without the secret.
    key: Option<&'a RecordKey>,
    newest: Option<NotedHost>,
    /// Texts that came before the first event that names a host: the first of each host, and how many.
    early: BTreeMap<String, (u64, EventId, u64)>,
    /// How many texts are signed for which host of the server.
    pub(super) known: BTreeMap<String, u64>,
    /// The same for hosts from before the record named any.
    pub(super) unrecorded: BTreeMap<String, u64>,
}

impl<'a> Hosts<'a> {
    pub(super) const fn new(authority: &'a str, key: Option<&'a RecordKey>) -> Self {
        Self {
            authority,
            key,
            newest: None,
            early: BTreeMap::new(),
            known: BTreeMap::new(),
            unrecorded: BTreeMap::new(),
        }
    }

    /// Takes an event that may name a host.
    pub(super) fn learn(&mut self, event: &Event) -> Result<(), Broken> {
        let Some(noted) = NotedHost::of(event) else { return Ok(()) };
        // Without the secret, only the seal says that the server wrote it.
        if self.key.is_some_and(|key| !noted.is_proven(key)) {
            return Err(Broken { checkpoint: 0, finding: Finding::HostInvented { event: event.id } });
        }
        // An old one can come again after it was forgotten.
        if self.newest.as_ref().is_some_and(|newest| noted.event <= newest.event) {
            return Ok(());
        }
        if self.newest.is_none() {
            match &noted.before {
                Some(before) => {
                    let before = before.clone();
                    self.settle(&before)?;
                }
                None => {
                    for (host, (_, _, texts)) in std::mem::take(&mut self.early) {
                        let into = if host == noted.host { &mut self.known } else { &mut self.unrecorded };
                        *into.entry(host).or_default() += texts;
                    }
                }
            }
        }
        self.newest = Some(noted);
        Ok(())
    }

    /// Judges the host for which texts of an event are signed.
    pub(super) fn judge(&mut self, checkpoint: u64, event: &Event, host: &str) -> Result<(), Finding> {
        let Some(newest) = &self.newest else {
            let early = self.early.entry(host.to_owned()).or_insert((checkpoint, event.id, 0));
            early.2 += 1;
            return Ok(());
        };
        let is_just_replaced = newest.before.as_deref() == Some(host)
            && event.id.at_time() < newest.since().saturating_add(MARGIN);
        if newest.host != host && !is_just_replaced {
            return Err(Finding::SignedOtherwise { event: event.id, what: "another server" });
        }
        *self.known.entry(host.to_owned()).or_default() += 1;
        Ok(())
    }

    /// A record that names no host is that of the server whose settings are here.
    pub(super) fn end(&mut self) -> Result<(), Broken> {
        let authority = self.authority.to_owned();
        self.settle(&authority)
    }

    /// All early texts are signed for this host.
    fn settle(&mut self, host: &str) -> Result<(), Broken> {
        for (of, (checkpoint, event, texts)) in std::mem::take(&mut self.early) {
            if of != host {
                let finding = Finding::SignedOtherwise { event, what: "another server" };
                return Err(Broken { checkpoint, finding });
            }
            *self.known.entry(of).or_default() += texts;
        }
        Ok(())
    }
}
