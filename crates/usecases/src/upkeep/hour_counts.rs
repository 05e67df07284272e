//! Each replica adds what it counted to the counts of the hour, for the overview of the desk. So the charts show all
//! replicas, and a restart does not empty them.
//!
//! Requests only raise counters in memory. Once a minute, and when the server stops, what was counted since is written in
//! one command, so a server that is killed loses its last minute at most. What was counted shortly before the hour ended
//! can be in the next hour. After an error it is not known whether the command was carried out. The same batch is sent
//! again then, unchanged, and storage recognizes it by its number. What was counted meanwhile follows in the next batch.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_domain::figure::Figure;
use countersign_domain::forgetting::Past;
use countersign_domain::hour::Hour;
use countersign_ports::{AddHourCounts, FigureTotal, Figures, HourCount, StoreError};
use time::Duration;

use crate::Context;

/// How long counts are kept.
pub const KEPT: Duration = Duration::days(30);

type Totals = BTreeMap<(Figure, &'static str), u64>;

/// Knows what this replica counted and has not written yet.
#[derive(Debug, Default)]
pub struct HourCounter(Mutex<Written>);

#[derive(Debug, Default)]
struct Written {
    /// The totals up to which everything is stored.
    totals: Totals,
    /// The number of the last batch.
    batch: u64,
    /// The batch that may be stored or not, and the totals when it is.
    unanswered: Option<(Vec<HourCount>, Totals)>,
}

impl HourCounter {
    /// What is not known to be stored, for every label in the order of the source.
    pub fn unwritten(&self, figures: &dyn Figures) -> Vec<FigureTotal> {
        self.written().rest_of(figures)
    }

    /// Writes what this replica counted since the last time. The replica must be noted; until it is, and after an
    /// error, everything is kept for the next time.
    pub async fn write(
        &self,
        context: &Context,
        figures: &dyn Figures,
        replica: [u8; 16],
    ) -> Result<(), StoreError> {
        if self.send(context, replica).await? {
            self.written().begin_batch(figures, Hour::of(context.clock.now()));
            self.send(context, replica).await?;
        }
        Ok(())
    }

    /// Sends the batch that is not answered, if there is one. Returns whether that worked.
    async fn send(&self, context: &Context, replica: [u8; 16]) -> Result<bool, StoreError> {
        let (batch, counts) = match &*self.written() {
            Written { batch, unanswered: Some((counts, _)), .. } => (*batch, counts.clone()),
            Written { unanswered: None, .. } => return Ok(true),
        };
        let is_stored = context.storage.add_hour_counts(AddHourCounts { replica, batch, counts }).await?;
        if is_stored {
            self.written().end_batch(batch);
        }
        Ok(is_stored)
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Written {
    fn rest_of(&self, figures: &dyn Figures) -> Vec<FigureTotal> {
        let mut totals = figures.totals();
        for FigureTotal { figure, label, total } in &mut totals {
            let written = self.totals.get(&(*figure, *label)).copied().unwrap_or_default();
            *total = total.saturating_sub(written);
        }
        totals
    }

    /// Begins a batch with everything that is not written, unless there is nothing or another batch is not answered.
    fn begin_batch(&mut self, figures: &dyn Figures, hour: Hour) {
        let mut totals = self.totals.clone();
        let mut counts = Vec::new();
        for FigureTotal { figure, label, total: count } in self.rest_of(figures) {
            if count > 0 {
                *totals.entry((figure, label)).or_default() += count;
                counts.push(HourCount { hour, figure, label: label.to_owned(), count });
            }
        }
        if !counts.is_empty() && self.unanswered.is_none() {
            self.batch += 1;
            self.unanswered = Some((counts, totals));
        }
    }

    /// The batch with this number is stored.
    fn end_batch(&mut self, batch: u64) {
        if batch == self.batch
            && let Some((_, totals)) = self.unanswered.take()
        {
            self.totals = totals;
        }
    }
}

/// Takes one step through the hours that ended long ago. Returns how many counts it forgot; there may be more unless that
/// is 0.
pub async fn forget_hour_counts(context: &Context, past: Past) -> Result<u64, StoreError> {
    context.storage.forget_hour_counts(past.kept_for(KEPT)).await
}
