//! Checks three invariants with random sequences of requests to the real handlers (`docs/testing.md`):
//!
//! 1. *Every value of every token can be traced to a text that the person signed.*
//! 2. *Nothing changes on a cookie alone.*
//! 3. *Nothing that operators decide about changes at the desk without a text that an operator signed.*
//!
//! [`model`] says what must be true. It follows the contract (`docs/http-api.md`) and not the code: it knows
//! what wallets signed, what was requested, and what came back over HTTP. The store is the reference store,
//! the clock is moved by hand, and each sequence has a number, its seed.
//!
//! `SEQUENCES` sets how many sequences are run, and `SEED` the number of the first. Without them, it is as
//! many as fit into a short run. A failure prints the sequence's number and the shortest sequence that still
//! fails.

mod desk;
mod dice;
mod governed;
mod model;
mod walk;

use std::time::{Duration, Instant};

use crate::site::Site;
use dice::{Step, sequence};
use walk::{Tally, Walk};

/// How long a run takes if `SEQUENCES` is not set.
const SHORT: Duration = Duration::from_secs(30);
/// The maximum number of sequences in such a run, so that it is the same on all fast machines.
const AT_MOST: u64 = 10_000;
/// The minimum number of sequences in such a run.
const AT_LEAST: u64 = 300;

#[actix_web::test]
async fn f_01_f_02_f_03_k_02_tokens_say_what_was_signed_and_nothing_changes_on_a_cookie_alone() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (wanted, first) = (number("SEQUENCES"), number("SEED").unwrap_or(1));
    let started = Instant::now();
    let site = desk::site().await;
    let mut tally = Tally::default();
    let mut done = 0;
    while done < wanted.unwrap_or(AT_MOST) {
        if wanted.is_none() && done >= AT_LEAST && started.elapsed() > SHORT {
            break;
        }
        let seed = first + done;
        let steps = sequence(seed);
        if let Err(failure) = run(&site, &steps, &mut tally).await {
            let (shortest, failure) = shrink(&site, steps, failure).await;
            panic!(
                "sequence {seed} (SEED={seed} SEQUENCES=1) after {done} good ones: {}\n\n{} steps:\n{}\n\nwhat happened:\n{}",
                failure.what,
                shortest.len(),
                shortest.iter().map(|step| format!("  {step:?}\n")).collect::<String>(),
                failure.trace.join("\n"),
            );
        }
        done += 1;
    }
    println!("{done} sequences from seed {first} in {:.1} s: {tally}", started.elapsed().as_secs_f64());
    // If no request succeeded, the invariants would always hold.
    tally.assert_lively(done);
}

/// What went wrong, and what happened before.
struct Failure {
    what: String,
    trace: Vec<String>,
}

async fn run(site: &Site, steps: &[Step], tally: &mut Tally) -> Result<(), Failure> {
    let mut walk = Walk::new(site).await;
    for step in steps {
        if let Err(what) = walk.take(*step).await {
            return Err(Failure { what, trace: walk.trace });
        }
    }
    tally.add(&walk.tally);
    Ok(())
}

/// Leaves out steps that the failure does not need: first halves of the sequence, in the end single steps.
async fn shrink(site: &Site, mut steps: Vec<Step>, mut failure: Failure) -> (Vec<Step>, Failure) {
    let mut length = (steps.len() / 2).max(1);
    loop {
        let mut place = 0;
        let mut is_shorter = false;
        while place < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(place..(place + length).min(steps.len()));
            match run(site, &fewer, &mut Tally::default()).await {
                Err(still) => (steps, failure, is_shorter) = (fewer, still, true),
                Ok(()) => place += length,
            }
        }
        if length == 1 && !is_shorter {
            return (steps, failure);
        }
        length = (length / 2).max(1);
    }
}
