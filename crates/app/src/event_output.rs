//! How events and checkpoints are shown: text for people, JSON for scripts. The names in JSON are fixed.

use std::io::{self, Write};

use countersign_domain::checkpoint::SignedCheckpoint;
use countersign_domain::event::Event;
use countersign_ports::FoundEvent;
use countersign_usecases::events::list_events::EventView;
use countersign_usecases::events::verify_events::{Broken, Progress, Verified};
use serde_json::{Value, json};

use crate::cli::Output;
use crate::table;
use crate::terminal::{count, visible, written};

/// What stands where there is nothing.
const NOTHING: &str = "-";

/// Shows a list of events.
pub(crate) fn events(events: &[Event], output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => {
            let shown: Vec<_> = events.iter().map(EventView::of).collect();
            writeln!(out, "{}", serde_json::to_string_pretty(&shown)?)
        }
        Output::Table if events.is_empty() => writeln!(out, "no events"),
        Output::Table => {
            let heading = ["TIME", "KIND", "ACTOR", "ABOUT", "CLIENT", "ADDRESS", "DETAILS", "ID"];
            let rows = events.iter().map(cells);
            table::write(&std::iter::once(heading.map(str::to_owned)).chain(rows).collect::<Vec<_>>(), out)
        }
    }
}

/// Shows an event that happened just now, as a line of its own.
pub(crate) fn followed(event: &Event, output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => writeln!(out, "{}", serde_json::to_string(&EventView::of(event))?),
        Output::Table => writeln!(out, "{}", cells(event).join("  ")),
    }
}

/// Shows everything about an event.
pub(crate) fn event(found: &FoundEvent, output: Output, out: &mut dyn Write) -> io::Result<()> {
    let view = EventView::of(&found.event);
    match output {
        Output::Json => {
            let mut shown = serde_json::to_value(&view)?;
            if let Value::Object(fields) = &mut shown {
                fields.insert("position".to_owned(), json!(found.position));
            }
            writeln!(out, "{shown:#}")
        }
        Output::Table => {
            let position = match found.position {
                Some(position) => position.to_string(),
                None => "not sealed yet".to_owned(),
            };
            let rows = [
                ("id", Some(view.id)),
                ("at", Some(view.at)),
                ("kind", Some(view.kind.to_owned())),
                ("actor", Some(view.actor)),
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
            let rows: Vec<_> =
                rows.into_iter().map(|(name, value)| [name.to_owned(), shown(value)]).collect();
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

/// How far verifying is.
pub(crate) fn progress(progress: Progress) -> String {
    let Progress { checkpoints, events, expected } = progress;
    if expected == 0 {
        format!("following the chain: {checkpoints} checkpoints so far …")
    } else {
        format!("comparing events: {events} of {expected} …")
    }
}

/// Says that everything holds.
pub(crate) fn verified(
    verified: &Verified,
    saved: usize,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Verified {
        progress,
        forgotten,
        keys_gone,
        ends_withdrawn,
        fresh,
        signatures,
        signatures_unchecked,
        signers,
    } = verified;
    match output {
        Output::Json => writeln!(
            out,
            "{:#}",
            json!({
                "holds": true,
                "checkpoints": progress.checkpoints,
                "events": progress.events,
                "forgotten": forgotten,
                "not_sealed_yet": fresh,
                "keys_gone": keys_gone,
                "ends_with_withdrawn_key": ends_withdrawn,
                "signatures": signatures,
                "signatures_not_checked": signatures_unchecked,
                "signers": signers,
                "compared_with_saved": saved,
            })
        ),
        Output::Table => {
            let what = [count(progress.events, "event"), count(progress.checkpoints, "checkpoint")];
            writeln!(out, "everything holds: {}", what.join(" in "))?;
            if *forgotten > 0 {
                writeln!(out, "forgotten, because their time was over: {}", count(*forgotten, "event"))?;
            }
            if *fresh > 0 {
                writeln!(
                    out,
                    "not sealed yet: {} (they will be in a few seconds, if a server runs)",
                    count(*fresh, "event")
                )?;
            }
            if *signatures > 0 {
                let signatures = count(*signatures, "signature");
                writeln!(out, "valid, under what operators changed at the desk: {signatures}")?;
            }
            for (wallet, signatures) in signers {
                let signatures = count(*signatures, "signature");
                writeln!(out, "  {}: {signatures}", visible(wallet))?;
            }
            if *signatures_unchecked > 0 {
                writeln!(
                    out,
                    "not checked without a chain, because contract wallets made them: {}",
                    count(*signatures_unchecked, "signature")
                )?;
            }
            if *keys_gone > 0 {
                writeln!(
                    out,
                    "held by the chain alone, because the key that signed is gone: {}",
                    count(*keys_gone, "checkpoint")
                )?;
            }
            if *ends_withdrawn {
                writeln!(
                    out,
                    "the last checkpoint is signed with a key that was withdrawn: whoever took that key could have \
                     replaced it (the next checkpoint settles that, in a few seconds, if a server runs)"
                )?;
            }
            if saved > 0 {
                writeln!(
                    out,
                    "the same as saved: {}",
                    count(u64::try_from(saved).unwrap_or(u64::MAX), "checkpoint")
                )?;
            }
            Ok(())
        }
    }
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

fn cells(event: &Event) -> [String; 8] {
    let view = EventView::of(event);
    let about = [view.user, view.wallet].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let details = view.details.to_string();
    let or_nothing = |text: Option<String>| match text {
        Some(text) if !text.is_empty() => visible(&text).into_owned(),
        Some(_) | None => NOTHING.to_owned(),
    };
    [
        view.at,
        view.kind.to_owned(),
        visible(&view.actor).into_owned(),
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
