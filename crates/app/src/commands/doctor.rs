//! `countersign doctor`: looks at everything that a server needs, and says what is wrong and what to do. It changes
//! nothing, and shows no secret.

mod backups;
mod data;
mod outside;

use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use self::data::Data;
use self::outside::too_slow;
use crate::cli::{DoctorFlags, Output};
use crate::commands::declared;
use crate::commands::healthcheck::asker;
use crate::commands::templates;
use crate::config::Config;
use crate::config::warnings;
use crate::failure::{Failure, chain};
use crate::output::terminal::{count, one_line, visible};
use crate::output::words::in_words;
use crate::wiring::{Finding, Health, Wiring};

/// How long each thing may take. They are looked at side by side.
const LIMIT: Duration = Duration::from_secs(15);
/// How long the public URL may take for one answer.
const ANSWER: Duration = Duration::from_secs(5);

/// The longest message, in characters.
const LONGEST: usize = 600;

/// Looks at everything, and prints what was found. Something that does not work is [`Failure::AnswerIsNo`].
pub(crate) async fn doctor(
    flags: &DoctorFlags,
    config: Result<&Config, Failure>,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let findings = match config {
        Ok(config) => examined(flags, config, wiring).await?,
        Err(Failure::Settings(mistakes)) => {
            mistakes.into_iter().map(|mistake| Finding::said("settings", Health::Fail, mistake.0)).collect()
        }
        Err(failure) => return Err(failure),
    };
    let findings: Vec<Finding> = findings.into_iter().map(readable).collect();
    match flags.output.output {
        Output::Json => {
            let shown: Vec<Value> = findings.iter().map(as_json).collect();
            writeln!(out, "{}", visible(&serde_json::to_string_pretty(&shown).unwrap_or_default()))?;
        }
        Output::Table => write_text(&findings, out)?,
    }
    let is_ill = findings.iter().any(|finding| finding.health == Health::Fail);
    if is_ill { Err(Failure::AnswerIsNo) } else { Ok(()) }
}

async fn examined(flags: &DoctorFlags, config: &Config, wiring: &Wiring) -> Result<Vec<Finding>, Failure> {
    let asker = asker(ANSWER, flags.ca_file.as_deref())?;
    let mailer = config.mail.clone().map(|settings| {
        (wiring.mailer)(
            settings,
            std::sync::Arc::clone(&wiring.clock),
            std::sync::Arc::clone(&wiring.entropy),
        )
    });
    let data = async {
        let looked = timeout(LIMIT, data::look(config, wiring)).await;
        looked.unwrap_or_else(|_| Data { findings: vec![too_slow("database")], kids: None })
    };
    let rpc = async {
        let asked = timeout(LIMIT, outside::rpc(&config.wallets.ethereum_rpc)).await;
        asked.unwrap_or_else(|_| vec![too_slow("rpc")])
    };
    let smtp = async {
        let mailer = mailer.as_ref()?;
        Some(timeout(LIMIT, outside::smtp(mailer.as_ref())).await.unwrap_or_else(|_| too_slow("smtp")))
    };
    let (Data { findings: inside, kids }, rpc, smtp) = tokio::join!(data, rpc, smtp);
    // Which server answers is judged by the keys in the database, so this comes last.
    let public_url = outside::public_url(&config.public_url, &asker, kids.as_deref());
    let public_url = timeout(LIMIT, public_url).await.unwrap_or_else(|_| vec![too_slow("public_url")]);
    let backups = vec![backups::look(config.backup_directory.as_deref(), wiring.clock.now())];
    let parts = [settings(config, wiring), inside, backups, rpc, smtp.into_iter().collect(), public_url];
    Ok(parts.into_iter().flatten().collect())
}

/// The settings, which are valid, and the files that they name.
fn settings(config: &Config, wiring: &Wiring) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut said = |health, text: String| findings.push(Finding::said("settings", health, text));
    for warning in warnings::of(config, wiring) {
        said(Health::Warn, warning);
    }
    match templates::doubts(config, wiring) {
        Ok(doubts) => doubts.into_iter().for_each(|doubt| said(Health::Warn, doubt)),
        Err(error) => said(Health::Fail, templates::named(&chain(&error))),
    }
    match declared::check(&config.apply_files) {
        Ok(()) => {}
        Err(Failure::Settings(mistakes)) => {
            mistakes.into_iter().for_each(|mistake| said(Health::Fail, mistake.0))
        }
        Err(failure) => said(Health::Fail, failure.to_string().trim_end().to_owned()),
    }
    if findings.is_empty() {
        findings
            .push(Finding::ok("settings", "all of them are valid (`countersign check-config` shows them)"));
    }
    findings
}

/// Others wrote parts of a message: libraries, for programmers, and servers, which could write without end.
fn readable(mut finding: Finding) -> Finding {
    finding.message = in_words(&finding.message);
    if let Some((end, _)) = finding.message.char_indices().nth(LONGEST) {
        finding.message.truncate(end);
        finding.message.push('…');
    }
    finding
}

fn as_json(finding: &Finding) -> Value {
    let Finding { check, health, message, advice } = finding;
    json!({ "check": check, "state": health.name(), "message": message, "advice": advice })
}

fn write_text(findings: &[Finding], out: &mut dyn Write) -> Result<(), Failure> {
    let width = findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
    for Finding { check, health, message, advice } in findings {
        writeln!(out, "{:4}  {check:width$}  {}", health.name(), one_line(message))?;
        if let Some(advice) = advice {
            writeln!(out, "      {:width$}  to do: {}", "", one_line(advice))?;
        }
    }
    let number = |health| {
        let such = findings.iter().filter(|finding| finding.health == health).count();
        u64::try_from(such).unwrap_or(u64::MAX)
    };
    match (number(Health::Fail), number(Health::Warn)) {
        (0, 0) => writeln!(out, "all is well")?,
        (0, warnings) => writeln!(out, "{}", count(warnings, "warning"))?,
        (failures, 0) => writeln!(out, "{}", count(failures, "failure"))?,
        (failures, warnings) => {
            writeln!(out, "{}, {}", count(failures, "failure"), count(warnings, "warning"))?;
        }
    }
    Ok(())
}
