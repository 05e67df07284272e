//! The database and what is in it: the secret, the clock, the keys, who runs on it, and who the operators are.

use countersign_adapters_crypto::{JosekitSigner, OperatorSecret};
use countersign_domain::forgetting::{ClockDoubt, NOTICEABLE, TOLERANCE, TimeWitness, WORRYING};
use countersign_domain::signing_key::SealedKey;
use countersign_ports::{Replica, Storage, StoreError};
use countersign_usecases::events::waiting_events::{Unsealed, look_at_waiting};
use time::OffsetDateTime;

use crate::commands::running;
use crate::config::Config;
use crate::config::agreement::{Agreement, Difference};
use crate::database::admin_group;
use crate::database::operator_secret::{self, OperatorSecretError};
use crate::failure::chain;
use crate::output::terminal::{count, written};
use crate::wiring::{Examination, Finding, Found, Health, OpenError, Wiring};

/// What is known of the database, and the keys in it, by which the server at the public URL is recognized.
#[derive(Default)]
pub(super) struct Data {
    pub(super) findings: Vec<Finding>,
    pub(super) kids: Option<Vec<String>>,
}

/// Looks at the database. Creates none, and does not bring its schema up to date.
pub(super) async fn look(config: &Config, wiring: &Wiring) -> Data {
    let url = &config.database_url;
    let scheme = match wiring.scheme_of(url) {
        Ok(scheme) => scheme,
        Err(reason) => {
            return Data { findings: vec![Finding::said("database", Health::Fail, reason)], kids: None };
        }
    };
    let place = scheme.place(url);
    let unreachable = |error: &OpenError| {
        let reason = url.redact(&chain(error));
        Finding::fail("database", format!("{place}: {reason}"), error.advice())
    };
    let secret = operator_secret::load(config, wiring);
    let found = match scheme.look(url).await {
        Ok(found) => found,
        Err(error) => {
            let findings =
                about_secret(config, secret.as_ref(), false).into_iter().chain([unreachable(&error)]);
            return Data { findings: findings.collect(), kids: None };
        }
    };
    let has_keys = scheme.has_keys(url).await.unwrap_or(false);
    let mut findings: Vec<_> = about_secret(config, secret.as_ref(), has_keys).into_iter().collect();
    match found {
        Found::Ours => {}
        Found::Nothing | Found::Empty => {
            findings.push(Finding::warn(
                "database",
                format!("there is nothing at {place} yet"),
                "`countersign serve` and `countersign migrate` make it; if there should be data, correct database_url",
            ));
            return Data { findings, kids: None };
        }
        Found::Foreign => {
            findings.push(Finding::fail(
                "database",
                format!("{place} is not a database of Countersign"),
                "correct database_url",
            ));
            return Data { findings, kids: None };
        }
    }
    let is_current = match scheme.examine(url).await {
        Ok(Examination { findings: found, is_current }) => {
            findings.extend(found);
            is_current
        }
        Err(error) => {
            findings.push(unreachable(&error));
            false
        }
    };
    if !is_current {
        return Data { findings, kids: None };
    }
    let opened = match scheme.open(url).await {
        Ok(opened) => opened,
        Err(error) => {
            findings.push(unreachable(&error));
            return Data { findings, kids: None };
        }
    };
    let kids = inside(config, wiring, &*opened.storage, secret.ok().as_ref(), &mut findings).await;
    opened.close().await;
    match kids {
        Ok(kids) => Data { findings, kids: Some(kids) },
        Err(error) => {
            findings.push(Finding::fail(
                "database",
                format!("{place} cannot be read: {}", url.redact(&chain(&error))),
                "look at the database's own log",
            ));
            Data { findings, kids: None }
        }
    }
}

/// The finding about the secret. If there is no file yet, the server makes one, unless keys need the one that is gone.
fn about_secret(
    config: &Config,
    secret: Result<&OperatorSecret, &OperatorSecretError>,
    has_keys: bool,
) -> Option<Finding> {
    let origin = config.origin("secret").unwrap_or("default");
    Some(match secret {
        Ok(_) if config.secret.is_some() => Finding::ok("secret", format!("it is set ({origin})")),
        Ok(_) => {
            Finding::ok("secret", "it is in the file beside the database; save it apart from the database")
        }
        Err(OperatorSecretError::NoFile(path)) if has_keys => Finding::fail(
            "secret",
            format!(
                "there is no file {}, and the database has keys that only its secret opens",
                path.display()
            ),
            "put the file back from where it is saved, or set secret_file; the server makes no other one",
        ),
        Err(OperatorSecretError::NoFile(path)) => {
            Finding::ok("secret", format!("the server makes {} when it first starts", path.display()))
        }
        Err(error) => Finding::said("secret", Health::Fail, chain(error)),
    })
}

/// Looks at what is stored, and returns the ids of the published keys.
async fn inside(
    config: &Config,
    wiring: &Wiring,
    storage: &dyn Storage,
    secret: Option<&OperatorSecret>,
    findings: &mut Vec<Finding>,
) -> Result<Vec<String>, StoreError> {
    let now = wiring.clock.now();
    let witness = storage.time_witness().await?;
    findings.push(clock(now, witness));
    let stored = storage.signing_keys().await?;
    findings.push(keys(storage, &stored, secret, now).await);
    let running = running::replicas(storage, &*wiring.clock, witness).await?;
    findings.extend(replicas(&running, &Agreement::of(config)));
    findings.extend(proxies(&running));
    findings.push(events(&look_at_waiting(storage, &*wiring.clock).await?));
    if let Some(settings) = &config.desk {
        findings.push(match admin_group::doubt(&settings.policy, storage).await? {
            Some(doubt) => Finding::said("desk", Health::Warn, doubt),
            None => Finding::ok("desk", "it has operators"),
        });
    }
    Ok(stored.into_iter().map(|key| key.kid).collect())
}

/// The machine's clock against what the database knows of the time.
fn clock(now: OffsetDateTime, witness: TimeWitness) -> Finding {
    let (doubt, other) = match witness {
        TimeWitness::Clock(database) => (ClockDoubt::between(now, database, NOTICEABLE), "the database's"),
        TimeWitness::Mark(mark) => (
            mark.and_then(|mark| ClockDoubt::between(now, mark.trusted_at, TOLERANCE)),
            "what was last written down",
        ),
    };
    let Some(doubt) = doubt else {
        return Finding::ok("clock", format!("it agrees with {other}"));
    };
    let text = format!("it is {} s {} of {other}", doubt.difference().whole_seconds(), doubt.direction());
    match witness {
        TimeWitness::Clock(_) if doubt.difference() > WORRYING => {
            Finding::fail("clock", text, "set both clocks right (NTP): the servers follow the database's")
        }
        TimeWitness::Clock(_) => {
            Finding::warn("clock", text, "set both clocks right (NTP): the servers follow the database's")
        }
        TimeWitness::Mark(_) => Finding::warn(
            "clock",
            text,
            "if the server was off so long, start it once with `countersign serve --clock-is-right`; otherwise set the \
             clock right (NTP)",
        ),
    }
}

/// The events that wait to be sealed.
fn events(unsealed: &Unsealed) -> Finding {
    if unsealed.is_fine() {
        return Finding::ok("events", "all that happened is sealed, or will be in a few seconds");
    }
    Finding::warn(
        "events",
        unsealed.to_string(),
        "look at the server's log for what stops it, and run `countersign event verify`, which names the rows",
    )
}

async fn keys(
    storage: &dyn Storage,
    stored: &[SealedKey],
    secret: Option<&OperatorSecret>,
    now: OffsetDateTime,
) -> Finding {
    if stored.is_empty() {
        return Finding::ok("keys", "there are none yet: the server makes them when it first starts");
    }
    let Some(secret) = secret else {
        return Finding::said("keys", Health::Warn, "they cannot be opened without the secret");
    };
    let opened = match JosekitSigner::new(&[]) {
        Ok(signer) => signer.reload(storage, secret, now).await.map(|_| signer),
        Err(error) => Err(error),
    };
    let signing = match opened {
        Ok(signer) => signer.active_since(),
        Err(error) => {
            return Finding::fail(
                "keys",
                format!("the secret does not open them: {}", chain(&error)),
                "set the secret with which this database was used before; with another one no server starts",
            );
        }
    };
    if signing.is_empty() {
        return Finding::warn(
            "keys",
            "none of them signs now",
            "start the server, which makes what is missing, or look at `countersign key list`",
        );
    }
    let names: Vec<_> = signing.iter().map(|(algorithm, _)| algorithm.name()).collect();
    Finding::ok("keys", format!("the secret opens them; {} sign now", names.join(", ")))
}

fn replicas(running: &[Replica], ours: &Agreement) -> Vec<Finding> {
    if running.is_empty() {
        return vec![Finding::warn(
            "replicas",
            "no server runs on this database",
            "start it; one that was started just now shows in a few seconds",
        )];
    }
    let mut findings = Vec::new();
    let mut versions: Vec<&str> = running.iter().map(|replica| &*replica.version).collect();
    versions.sort_unstable();
    versions.dedup();
    if versions.len() > 1 {
        findings.push(Finding::warn(
            "replicas",
            format!("several releases run: {}", versions.join(", ")),
            "finish the upgrade; until then use nothing that only the newer release has (docs/upgrade.md)",
        ));
    }
    let known = running.iter().filter_map(|replica| Some((replica, Agreement::read(&replica.settings)?)));
    for (replica, theirs) in known {
        for Difference { setting, here, there } in ours.differences(&theirs) {
            findings.push(Finding::warn(
                "replicas",
                format!(
                    "{setting} is {here:?} in these settings and {there:?} in the server that started at {}",
                    written(replica.started_at)
                ),
                "restart that server if its settings were changed since, and give all servers the same",
            ));
        }
    }
    if findings.is_empty() {
        let number = u64::try_from(running.len()).unwrap_or(u64::MAX);
        let text = format!(
            "{} on this database, {}, with these settings",
            count(number, "server"),
            versions.join(", ")
        );
        findings.push(Finding::ok("replicas", text));
    }
    findings
}

/// What the servers that run saw of proxies.
fn proxies(running: &[Replica]) -> Vec<Finding> {
    let mut peers: Vec<_> = running.iter().filter_map(|replica| replica.untrusted_proxy).collect();
    peers.sort_unstable();
    peers.dedup();
    let text = peers.iter().map(|peer| {
        Finding::warn(
            "proxies",
            format!("{peer} forwards requests and is not trusted: the limits see everyone behind it as one address"),
            format!("if it is your proxy, add {peer} to trusted_proxies and restart the server"),
        )
    });
    let text: Vec<_> = text.collect();
    if text.is_empty() && !running.is_empty() {
        return vec![Finding::ok(
            "proxies",
            "no server hears from a proxy nearby that is not in trusted_proxies",
        )];
    }
    text
}

#[cfg(test)]
mod tests {
    use countersign_conformance::fixtures;
    use countersign_domain::forgetting::TimeMark;
    use time::Duration;

    use super::*;

    #[test]
    fn a_clock_is_compared_with_what_the_database_knows() {
        let now = fixtures::NOW;
        let shared = |seconds| clock(now, TimeWitness::Clock(now + Duration::seconds(seconds))).health;
        assert_eq!([4, -4, 6, -6, 31, -31].map(shared), {
            use Health::{Fail, Ok, Warn};
            [Ok, Ok, Warn, Warn, Fail, Fail]
        });
        let marked = |minutes| {
            clock(now, TimeWitness::Mark(Some(TimeMark::trusting(now + Duration::minutes(minutes))))).health
        };
        assert_eq!([29, -29, 31, -31].map(marked), [Health::Ok, Health::Ok, Health::Warn, Health::Warn]);
        assert_eq!(clock(now, TimeWitness::Mark(None)).health, Health::Ok);
    }

    #[test]
    fn servers_that_differ_in_release_or_settings_are_told_and_an_old_one_that_wrote_nothing_is_not() {
        let ours = Agreement::from_iter([("code_ttl", "60".to_owned())]);
        let running = |version: &str, settings: &str| Replica {
            version: version.to_owned(),
            settings: settings.to_owned(),
            untrusted_proxy: None,
            ..fixtures::replica()
        };
        let health = |running: &[Replica]| -> Vec<_> {
            replicas(running, &ours).into_iter().map(|found| found.health).collect()
        };
        let same = running("1.0.0", &ours.written());
        assert_eq!(health(&[]), [Health::Warn]);
        assert_eq!(health(&[same.clone(), running("1.0.0", "")]), [Health::Ok]);
        assert_eq!(health(&[same.clone(), running("1.1.0", "")]), [Health::Warn]);
        let other = running("1.0.0", r#"{"code_ttl":"90"}"#);
        let text = replicas(&[same, other], &ours);
        let [found] = &*text else { panic!("{text:?}") };
        assert!(
            found.message.starts_with("code_ttl is \"60\" in these settings and \"90\" in"),
            "{}",
            found.message
        );
    }

    #[test]
    fn a_proxy_that_is_not_trusted_is_named_once() {
        let near = fixtures::replica();
        let far = Replica { untrusted_proxy: None, ..near.clone() };
        assert_eq!(proxies(&[]), []);
        assert_eq!(proxies(std::slice::from_ref(&far))[0].health, Health::Ok);
        let text = proxies(&[near.clone(), far, near]);
        let [found] = &*text else { panic!("{text:?}") };
        assert!(found.message.starts_with("10.1.2.3 forwards"), "{}", found.message);
    }
}
