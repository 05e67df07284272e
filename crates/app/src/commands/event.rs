//! `countersign event …`: what happened, and whether anybody altered it.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Write;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::{Duration, Instant};

use countersign_adapters_crypto::CheckpointReader;
use countersign_domain::checkpoint::{Digest256, SignedCheckpoint};
use countersign_domain::event::Event;
use countersign_domain::id::EventId;
use countersign_operators::events::accept_record::{AcceptError, accept_record};
use countersign_operators::events::list_events::{find_subject, list_events};
use countersign_operators::events::verify_events::{Progress, Signatures, VerifyError, verify_events};
use countersign_operators::people::names::{Names, people_of};
use countersign_ports::{CheckpointAt, EventFilter, EventOrder, EventPage};
use countersign_usecases::events::waiting_events::look_at_waiting;
use serde::Deserialize;

use crate::cli::{EventChoice, EventCommand, Output};
use crate::commands::output::event_output;
use crate::commands::people::{names_of, note_more, who};
use crate::config::Config;
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::output::terminal::{is_confirmed, note};
use crate::wiring::Wiring;

/// How often `--follow` looks for what happened.
const LOOK: Duration = Duration::from_secs(1);
/// How long after its time an event may still be stored, for `--follow`.
const LATE: time::Duration = time::Duration::seconds(30);
/// The events or checkpoints that are read at a time.
const PAGE: u32 = 1_000;
/// After this time the terminal shows the progress.
const SILENCE: Duration = Duration::from_secs(1);

/// Runs the command on the database of the settings.
pub(crate) async fn event(
    command: EventCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened, out).await).await
}

async fn carry_out(command: EventCommand, opened: &Opened<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        EventCommand::List { filter, limit, after, follow, output } => {
            let filter = filter_of(opened, filter).await?;
            if follow {
                return follow_events(opened, filter, output.output, out).await;
            }
            let page = EventPage { order: EventOrder::NewestFirst, after, limit };
            list(opened, &filter, page, output.output, out).await
        }
        EventCommand::Show { id, output } => {
            let found = opened.management().storage.find_event(id).await.map_err(|error| store(&error))?;
            let found = found.ok_or_else(|| Failure::Failed(format!("there is no event {id}")))?;
            let names = names_of(opened, &people_of(&found.event)).await?;
            Ok(event_output::event(&found, &names, output.output, out)?)
        }
        EventCommand::Verify { against, keys, output } => {
            verify(opened, against.as_deref(), keys.as_deref(), output.output, out).await
        }
        EventCommand::Accept { yes, output } => accept(opened, yes, output.output, out).await,
        EventCommand::Checkpoints { after, limit, output } => {
            checkpoints(opened, after, limit, output.output, out).await
        }
    }
}

async fn filter_of(opened: &Opened<'_>, choice: EventChoice) -> Result<EventFilter, Failure> {
    let now = opened.wiring.clock.now();
    let who = match &choice.user {
        Some(text) => {
            let found = find_subject(opened.management(), text, None).await;
            Some(found.map_err(|error| who::unclear(text, error))?)
        }
        None => None,
    };
    Ok(EventFilter {
        since: choice.since.map(|since| since.before(now)),
        until: choice.until.map(|until| until.before(now)),
        kinds: choice.kinds,
        who,
        client: choice.client,
    })
}

async fn list(
    opened: &Opened<'_>,
    filter: &EventFilter,
    page: EventPage,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let listed = list_events(opened.management(), filter, page).await.map_err(|error| store(&error))?;
    let names = names_in(opened, &listed.events).await?;
    event_output::events(&listed.events, &names, output, out)?;
    let unsealable =
        opened.management().storage.unsealable_events(1, None).await.map_err(|error| store(&error))?;
    if !unsealable.is_empty() {
        note("some rows among the events are no events and left out: see `countersign event verify`")?;
    }
    match listed.events.last() {
        Some(last) if listed.more => note_more(&last.id.to_string()),
        Some(_) | None => Ok(()),
    }
}

/// Shows events as they happen, until the process is interrupted. An event may be stored a little later than its
/// id says, so the last seconds are read again each time.
async fn follow_events(
    opened: &Opened<'_>,
    filter: EventFilter,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut since = filter.since.unwrap_or_else(|| opened.wiring.clock.now());
    let mut shown: HashSet<EventId> = HashSet::new();
    loop {
        let from = filter.since.map_or(since, |asked| since.max(asked));
        let events = all_since(opened, &EventFilter { since: Some(from), ..filter.clone() }).await?;
        let new: Vec<Event> = events.into_iter().filter(|event| shown.insert(event.id)).collect();
        let names = names_in(opened, &new).await?;
        for event in &new {
            event_output::followed(event, &names, output, out)?;
        }
        out.flush()?;
        since = since.max(opened.wiring.clock.now().saturating_sub(LATE));
        shown.retain(|id| id.at_time() >= since);
        tokio::time::sleep(LOOK).await;
    }
}

/// What operators call the people in these events.
async fn names_in(opened: &Opened<'_>, events: &[Event]) -> Result<Names, Failure> {
    let people: Vec<_> = events.iter().flat_map(people_of).collect();
    names_of(opened, &people).await
}

/// All events to which the filter applies, the oldest first.
async fn all_since(opened: &Opened<'_>, filter: &EventFilter) -> Result<Vec<Event>, Failure> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().map(|event| event.id);
        let page = EventPage { order: EventOrder::OldestFirst, after, limit: PAGE };
        let listed = list_events(opened.management(), filter, page).await.map_err(|error| store(&error))?;
        events.extend(listed.events);
        if !listed.more {
            return Ok(events);
        }
    }
}

async fn checkpoints(
    opened: &Opened<'_>,
    after: u64,
    limit: Option<u32>,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut shown: Vec<SignedCheckpoint> = Vec::new();
    let mut left = limit.unwrap_or(u32::MAX);
    let mut last = after;
    while left > 0 {
        let page = opened.management().storage.checkpoints(last, PAGE.min(left)).await;
        let page = page.map_err(|error| store(&error))?;
        let Some(at) = page.last() else { break };
        last = at.number();
        left = left.saturating_sub(u32::try_from(page.len()).unwrap_or(u32::MAX));
        for at in page {
            match at {
                CheckpointAt::Checkpoint(signed) => shown.push(*signed),
                CheckpointAt::Unreadable { number, problem } => {
                    return Err(Failure::Failed(format!(
                        "checkpoint {number} cannot be read ({problem}): see `countersign event verify`"
                    )));
                }
            }
        }
    }
    Ok(event_output::checkpoints(&shown, output, out)?)
}

/// With the server's secret, or with the keys that it publishes.
async fn verify(
    opened: &Opened<'_>,
    against: Option<&Path>,
    keys: Option<&Path>,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let saved = against.map(read_saved).transpose()?;
    let compared = saved.as_ref().map(BTreeMap::len);
    let mut reader = match keys {
        Some(path) => read_keys(path)?,
        None => opened.checkpoint_reader().await.map_err(Failure::Failed)?,
    };
    let saved = saved.unwrap_or_default();
    let mut last_told = Instant::now();
    let tell = |progress: Progress| {
        if last_told.elapsed() >= SILENCE {
            last_told = Instant::now();
            // A report that cannot be written does not stop the work.
            let _ = note(&event_output::progress(progress));
        }
    };
    let management = opened.management();
    let signatures =
        Signatures { wallets: management.wallets, authority: management.policy.public_url.authority() };
    match verify_events(management.storage, &mut reader, signatures, &saved, tell).await {
        Ok(verified) => {
            let waiting = look_at_waiting(management.storage, &*opened.wiring.clock).await;
            let waiting = waiting.map_err(|error| store(&error))?;
            event_output::verified(&verified, &waiting, compared, keys.is_some(), output, out)?;
            if waiting.is_fine() { Ok(()) } else { Err(Failure::AnswerIsNo) }
        }
        Err(VerifyError::Broken(broken)) => {
            event_output::broken(&broken, output, out)?;
            Err(Failure::AnswerIsNo)
        }
        Err(VerifyError::Store(error)) => Err(store(&error)),
    }
}

/// The keys in a file that has what the server publishes at `/oauth/jwks`.
fn read_keys(path: &Path) -> Result<CheckpointReader, Failure> {
    let shown = path.display();
    let text =
        fs::read_to_string(path).map_err(|error| Failure::because(&format!("read {shown}"), &error))?;
    CheckpointReader::of_keys(&text)
        .map_err(|error| Failure::Usage(format!("{shown} is no JSON Web Key Set with public keys: {error}")))
}

/// The checkpoints in a file that `event checkpoints --output json` wrote.
fn read_saved(path: &Path) -> Result<BTreeMap<u64, Digest256>, Failure> {
    #[derive(Deserialize)]
    struct Saved {
        checkpoint: NonZeroU64,
        hash: String,
    }
    let shown = path.display();
    let text = fs::read(path).map_err(|error| Failure::because(&format!("read {shown}"), &error))?;
    let saved: Vec<Saved> = serde_json::from_slice(&text).map_err(|error| {
        Failure::Usage(format!(
            "{shown} is not what `countersign event checkpoints --output json` writes: {error}"
        ))
    })?;
    let mut hashes = BTreeMap::new();
    for Saved { checkpoint, hash } in saved {
        let checkpoint = checkpoint.get();
        let hash = Digest256::parse(&hash).ok_or_else(|| {
            Failure::Usage(format!("{shown}: the hash of checkpoint {checkpoint} is not a hash"))
        })?;
        if hashes.insert(checkpoint, hash).is_some_and(|other| other != hash) {
            return Err(Failure::Usage(format!("{shown}: checkpoint {checkpoint} has two different hashes")));
        }
    }
    Ok(hashes)
}

/// Goes on after a checkpoint that cannot be authenticated.
async fn accept(opened: &Opened<'_>, yes: bool, output: Output, out: &mut dyn Write) -> Result<(), Failure> {
    let question =
        "Go on after a last checkpoint that is not this server's? Keep a copy of the database first";
    if !yes && !is_confirmed(question)? {
        return Err(Failure::Failed("nothing was accepted".to_owned()));
    }
    let signer = opened.signer().await.map_err(Failure::Failed)?;
    let key = opened.record_key().map_err(Failure::Failed)?;
    let accepted = accept_record(opened.management(), &signer, &key).await.map_err(|error| match error {
        AcceptError::Authentic | AcceptError::Stale => Failure::Failed(error.to_string()),
        AcceptError::Signer(error) => Failure::because("sign the checkpoint", &error),
        AcceptError::Store(error) => store(&error),
    })?;
    event_output::checkpoints(&[accepted], output, out)?;
    note("restart the servers that run: they go on after this checkpoint")
}
