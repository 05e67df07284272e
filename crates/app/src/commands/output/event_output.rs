//! How events and checkpoints are shown: text for people, JSON for scripts. The names in JSON are fixed.

use std::io::{self, Write};

use countersign_domain::checkpoint::SignedCheckpoint;
use countersign_domain::event::{Event, EventPerson};
use countersign_domain::subject::Subject;
use countersign_operators::events::verify_events::{Accepted, Broken, Progress, Verified};
use countersign_operators::people::names::Names;
use countersign_ports::{FoundEvent, UnsealableEvent};
use countersign_usecases::events::event_view::EventView;
use countersign_usecases::events::waiting_events::Unsealed;
use serde_json::{Value, json};
use time::Duration;

use crate::cli::Output;
use crate::config::duration;
use crate::output::table;
use crate::output::terminal::{count, visible, without_nulls, written};

/// What is shown where there is nothing.
const NOTHING: &str = "-";

/// Shows a list of events.
pub(crate) fn events(events: &[Event], names: &Names, output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => {
            let shown: Vec<_> = events.iter().map(EventView::of).collect();
            writeln!(out, "{:#}", without_nulls(serde_json::to_value(&shown)?))
        }
        Output::Table if events.is_empty() => writeln!(out, "no events"),
        Output::Table => {
            let heading = ["TIME", "KIND", "ACTOR", "ABOUT", "CLIENT", "ADDRESS", "DETAILS", "ID"];
            let rows = events.iter().map(|event| cells(event, names));
            table::write(&std::iter::once(heading.map(str::to_owned)).chain(rows).collect::<Vec<_>>(), out)
        }
    }
}

/// Shows an event that happened just now, as a line of its own.
pub(crate) fn followed(event: &Event, names: &Names, output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => writeln!(out, "{}", without_nulls(serde_json::to_value(EventView::of(event))?)),
        Output::Table => writeln!(out, "{}", cells(event, names).join("  ")),
    }
}

/// Shows everything about an event.
pub(crate) fn event(
    found: &FoundEvent,
    names: &Names,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let view = EventView::of(&found.event);
    match output {
        Output::Json => {
            let mut shown = serde_json::to_value(&view)?;
            if let Value::Object(fields) = &mut shown {
                fields.insert("position".to_owned(), json!(found.position));
            }
            writeln!(out, "{:#}", without_nulls(shown))
        }
        Output::Table => {
            let position = match found.position {
                Some(position) => position.to_string(),
                None => "not sealed yet".to_owned(),
            };
            let first = [
                ("id", Some(view.id)),
                ("at", Some(view.at)),
                ("kind", Some(view.kind.to_owned())),
                ("actor", Some(by_name(view.actor, names.of_actor(&found.event.actor)))),
            ];
            // Few have a name.
            let name = name_of(&found.event, names).map(|name| ("name", Some(name.to_owned())));
            let last = [
                ("user", view.user),
                ("wallet", view.wallet),
                ("client", view.client),
                ("address", view.address),
                ("request", view.request),
                ("details", Some(view.details.to_string())),
                ("position", Some(position)),
            ];
            let signed = view.signed;
            let shown = |value: Option<String>| visible(value.as_deref().unwrap_or(NOTHING)).into_owned();
            let rows = first.into_iter().chain(name).chain(last);
            let rows: Vec<_> = rows.map(|(name, value)| [name.to_owned(), shown(value)]).collect();
            table::write(&rows, out)?;
            signed.map_or(Ok(()), |signed| signatures(&signed, out))
        }
    }
}

/// Shows what operators signed, line by line, so that it can be copied and checked by other means.
fn signatures(signed: &Value, out: &mut dyn Write) -> io::Result<()> {
    let of = |signature: &Value, name: &str| signature[name].as_str().unwrap_or(NOTHING).to_owned();
    let Some(signatures) = signed["signatures"].as_array() else {
        return writeln!(out, "\nsigned: {}", visible(&signed.to_string()));
    };
    for signature in signatures {
        writeln!(out, "\nsigned by {}:\n", visible(&of(signature, "wallet")))?;
        for line in of(signature, "text").lines() {
            writeln!(out, "    {}", visible(line))?;
        }
        writeln!(out, "\nsignature: {}", visible(&of(signature, "signature")))?;
    }
    Ok(())
}

/// Shows checkpoints.
pub(crate) fn checkpoints(
    checkpoints: &[SignedCheckpoint],
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => {
            let shown: Vec<_> = checkpoints.iter().map(object).collect();
            writeln!(out, "{:#}", Value::Array(shown))
        }
        Output::Table if checkpoints.is_empty() => writeln!(out, "no checkpoints"),
        Output::Table => {
            let heading = ["CHECKPOINT", "SEALED", "EVENTS", "FIRST POSITION", "HASH"].map(str::to_owned);
            let rows = checkpoints.iter().map(|signed| {
                let checkpoint = &signed.checkpoint;
                [
                    checkpoint.number.to_string(),
                    written(checkpoint.sealed_at),
                    checkpoint.events.to_string(),
                    checkpoint.first.to_string(),
                    signed.hash().to_string(),
                ]
            });
            table::write(&std::iter::once(heading).chain(rows).collect::<Vec<_>>(), out)
        }
    }
}

/// A row that cannot be sealed, as JSON.
fn unsealable(row: &UnsealableEvent) -> Value {
    json!({ "id": row.id.map(|id| id.to_string()), "problem": row.problem })
}

/// How far verifying is.
pub(crate) fn progress(progress: Progress) -> String {
    let Progress { checkpoints, events, expected } = progress;
    if expected == 0 {
        format!("following the chain: {checkpoints} checkpoints so far …")
    } else {
        format!("comparing events: {events} of {expected} …")
    }
}

/// Says that everything that is sealed holds, and what is not sealed though it should be.
pub(crate) fn verified(
    verified: &Verified,
    waiting: &Unsealed,
    saved: Option<usize>,
    has_keys_only: bool,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    if output == Output::Json {
        return writeln!(out, "{:#}", verified_as_json(verified, waiting, saved, has_keys_only));
    }
    write_waiting(verified, waiting, out)?;
    write_doubts(verified, out)?;
    write_signatures(verified, out)?;
    write_keys(verified, has_keys_only, out)?;
    match saved {
        None => {}
        Some(0) => writeln!(out, "compared with nothing: the file with saved checkpoints is empty")?,
        Some(saved) => writeln!(
            out,
            "the same as saved: {}",
            count(u64::try_from(saved).unwrap_or(u64::MAX), "checkpoint")
        )?,
    }
    Ok(())
}

fn verified_as_json(
    verified: &Verified,
    waiting: &Unsealed,
    saved: Option<usize>,
    has_keys_only: bool,
) -> Value {
    let Verified {
        progress,
        forgotten,
        forgotten_between,
        retention,
        accepted,
        reach,
        misdated,
        unproven_deletions,
        keys_gone,
        ends_withdrawn,
        fresh,
        signatures,
        signatures_unchecked,
        signers,
        hosts,
        hosts_unrecorded,
    } = verified;
    json!({
        "holds": waiting.is_fine(),
        "checkpoints": progress.checkpoints,
        "events": progress.events,
        "forgotten": forgotten,
        "forgotten_from": forgotten_between.map(|(from, _)| written(from)),
        "forgotten_to": forgotten_between.map(|(_, to)| written(to)),
        "shortest_retention": retention.map(Duration::whole_seconds),
        "accepted": accepted.iter().map(|Accepted { from, checkpoint, by }| {
            json!({ "from": from, "checkpoint": checkpoint, "by": by })
        }).collect::<Vec<_>>(),
        "misdated": misdated.events,
        "first_misdated": misdated.first.map(|id| id.to_string()),
        "unproven_deletions": unproven_deletions.events,
        "first_unproven_deletion": unproven_deletions.first.map(|id| id.to_string()),
        "keys_reach": has_keys_only.then_some(reach),
        "not_sealed_yet": fresh,
        "waiting_too_long": waiting.late,
        "cannot_be_sealed": waiting.unsealable.iter().map(unsealable).collect::<Vec<_>>(),
        "keys_gone": keys_gone,
        "ends_with_withdrawn_key": ends_withdrawn,
        "signatures": signatures,
        "signatures_not_checked": signatures_unchecked,
        "signers": signers,
        "hosts": hosts,
        "hosts_unrecorded": hosts_unrecorded,
        "compared_with_saved": saved.unwrap_or_default(),
    })
}

/// What holds, and what waits for a seal.
fn write_waiting(verified: &Verified, waiting: &Unsealed, out: &mut dyn Write) -> io::Result<()> {
    let what = [count(verified.progress.events, "event"), count(verified.progress.checkpoints, "checkpoint")];
    let holds = if waiting.is_fine() { "everything holds" } else { "what is sealed holds" };
    writeln!(out, "{holds}: {}", what.join(" in "))?;
    if waiting.late > 0 {
        let late = count(waiting.late, "event");
        writeln!(out, "should be sealed for more than a minute, and can be altered until it is: {late}")?;
    }
    for row in &waiting.unsealable {
        let id = row.id.map_or_else(|| NOTHING.to_owned(), |id| id.to_string());
        writeln!(out, "cannot be sealed, because the server did not write it so: {id} ({})", row.problem)?;
    }
    Ok(())
}

/// What is gone, and what the server does not vouch for.
fn write_doubts(verified: &Verified, out: &mut dyn Write) -> io::Result<()> {
    if verified.forgotten > 0 {
        write!(out, "forgotten, because their time was over: {}", count(verified.forgotten, "event"))?;
        if let Some((from, to)) = verified.forgotten_between {
            write!(out, ", sealed from {} to {}", written(from), written(to))?;
        }
        match verified.retention {
            Some(retention) => writeln!(out, " (kept for at least {})", duration::written(retention))?,
            None => writeln!(out)?,
        }
    }
    for Accepted { from, checkpoint, by } in &verified.accepted {
        let by = visible(by);
        writeln!(
            out,
            "not vouched for: {by} decided to go on with checkpoint {checkpoint}, after what was not this \
             server's from checkpoint {from} on"
        )?;
    }
    if let Some(first) = verified.misdated.first {
        let events = count(verified.misdated.events, "event");
        writeln!(
            out,
            "with a time that does not fit: {events} (stored late, by a wrong clock, or made up; the first is {first})"
        )?;
    }
    if let Some(first) = verified.unproven_deletions.first {
        let events = count(verified.unproven_deletions.events, "event");
        writeln!(
            out,
            "deletions without the server's proof: {events} (by an older server, or made up; they hide no one; \
             the first is {first})"
        )?;
    }
    if verified.fresh > 0 {
        let or_more = if verified.fresh >= 1_000 { " or more" } else { "" };
        writeln!(
            out,
            "not sealed yet: {}{or_more} (they will be in a few seconds, if a server runs)",
            count(verified.fresh, "event")
        )?;
    }
    Ok(())
}

/// What operators signed, with which wallets and for which hosts.
fn write_signatures(verified: &Verified, out: &mut dyn Write) -> io::Result<()> {
    if verified.signatures > 0 {
        let signatures = count(verified.signatures, "signature");
        writeln!(out, "valid, under what operators changed at the desk: {signatures}")?;
    }
    for (wallet, signatures) in &verified.signers {
        let signatures = count(*signatures, "signature");
        writeln!(out, "  {}: {signatures}", visible(wallet))?;
    }
    for (host, texts) in &verified.hosts {
        writeln!(out, "signed for {}: {}", visible(host), count(*texts, "change"))?;
    }
    for (host, texts) in &verified.hosts_unrecorded {
        writeln!(
            out,
            "signed for {}, before the record said which host the server has (check that it was yours): {}",
            visible(host),
            count(*texts, "change")
        )?;
    }
    if verified.signatures_unchecked > 0 {
        writeln!(
            out,
            "not checked without a chain, because contract wallets made them: {}",
            count(verified.signatures_unchecked, "signature")
        )?;
    }
    Ok(())
}

/// How far the keys reach.
fn write_keys(verified: &Verified, has_keys_only: bool, out: &mut dyn Write) -> io::Result<()> {
    if verified.keys_gone > 0 {
        writeln!(
            out,
            "held by the chain alone, because the key that signed is gone: {}",
            count(verified.keys_gone, "checkpoint")
        )?;
    }
    if verified.ends_withdrawn {
        writeln!(
            out,
            "the last checkpoint is signed with a key that was withdrawn: a thief of that key could have \
             replaced it (the next checkpoint settles that, in a few seconds, if a server runs)"
        )?;
    }
    if has_keys_only {
        writeln!(out, "the keys verify the record from checkpoint {} on", verified.reach)?;
    }
    Ok(())
}

/// Names the first checkpoint that does not hold.
pub(crate) fn broken(broken: &Broken, output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => writeln!(
            out,
            "{:#}",
            json!({ "holds": false, "checkpoint": broken.checkpoint, "problem": broken.to_string() })
        ),
        Output::Table => writeln!(out, "does not hold: {}", visible(&broken.to_string())),
    }
}

/// What operators call the user that an event is about, or else the wallet.
fn name_of<'a>(event: &Event, names: &'a Names) -> Option<&'a str> {
    let user = match event.person {
        Some(EventPerson::User(user)) => names.text(&Subject::User(user)),
        Some(EventPerson::Deleted(_)) | None => None,
    };
    user.or_else(|| names.text(&Subject::Wallet(event.wallet.clone()?)))
}

/// A name in quotes before what it names.
fn by_name(what: String, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{name:?} {what}"),
        None => what,
    }
}

fn cells(event: &Event, names: &Names) -> [String; 8] {
    let view = EventView::of(event);
    let about = [view.user, view.wallet].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let about = by_name(about, name_of(event, names));
    let actor = by_name(view.actor, names.of_actor(&event.actor));
    let details = view.details.to_string();
    let or_nothing = |text: Option<String>| match text {
        Some(text) if !text.is_empty() => visible(&text).into_owned(),
        Some(_) | None => NOTHING.to_owned(),
    };
    [
        view.at,
        view.kind.to_owned(),
        visible(&actor).into_owned(),
        or_nothing(Some(about)),
        or_nothing(view.client),
        or_nothing(view.address),
        or_nothing(Some(details).filter(|details| details != "{}")),
        view.id,
    ]
}

fn object(signed: &SignedCheckpoint) -> Value {
    let checkpoint = &signed.checkpoint;
    json!({
        "checkpoint": checkpoint.number,
        "sealed_at": written(checkpoint.sealed_at),
        "first_position": checkpoint.first,
        "events": checkpoint.events,
        "root": checkpoint.root.to_string(),
        "previous": checkpoint.previous.to_string(),
        "kept_from": checkpoint.kept_from,
        "hash": signed.hash().to_string(),
        "signed": signed.jws,
    })
}
