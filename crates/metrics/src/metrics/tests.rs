use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_ports::{RecognizedAccount, Verdict, VerifierError, WalletVerifier};

use super::*;
use crate::source::{PushFigures, SealFigures, SecretFigures, WriterFigures};
use crate::wallets::MeasuredWallets;

struct Known;

impl Source for Known {
    fn signing_key_ages(&self) -> Vec<(&'static str, Duration)> {
        vec![("ES256", Duration::from_millis(90_500))]
    }

    fn secret_uses(&self) -> SecretFigures {
        SecretFigures { current: 7, old: 2 }
    }

    fn pushes(&self) -> PushFigures {
        PushFigures { taken: 7, failed: 2, lost: 1, pending: 6 }
    }

    fn seals(&self) -> SealFigures {
        SealFigures { waited: Duration::from_secs(61), unsealable: 3 }
    }

    fn writer(&self) -> Option<WriterFigures> {
        Some(WriterFigures { commits: 2, commands: 5, largest_batch: 4, failures: 1, waiting: 3 })
    }
}

fn metrics() -> Metrics {
    Metrics::new("1.2.3", &["/oauth/token", "other"], &["login"], Box::new(Known))
}

/// The value that the page shows for a sample.
fn told<'a>(text: &'a str, sample: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '))
}

#[test]
fn the_page_tells_all_that_is_in_the_table_and_nothing_else() {
    let text = metrics().text();
    let told: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    let table: Vec<String> =
        table::ALL.iter().map(|what| format!("{} {}", what.name, what.kind.name())).collect();
    assert_eq!(told, table);
    assert_eq!(table::ALL.iter().map(|what| what.name).collect::<BTreeSet<_>>().len(), table::ALL.len());
}

#[test]
fn what_is_counted_is_told() {
    let metrics = metrics();
    metrics.login(LoginResult::BadChallenge, "bip122");
    metrics.login(LoginResult::SignedIn, "starknet");
    metrics.token_issued(GrantType::DeviceCode);
    metrics.token_refused(OAuthErrorCode::IncompleteForm);
    metrics.token_refused(OAuthErrorCode::Conflict);
    metrics.token_refused(OAuthErrorCode::LoginRequired);
    metrics.answered(Request { route: 0, method: 2, status: 429 }, Duration::from_micros(300));
    metrics.answered(Request { route: 999, method: 999, status: 999 }, Duration::from_micros(300));
    let text = metrics.text();
    for (sample, value) in [
        ("countersign_build_info{version=\"1.2.3\"}", "1"),
        ("countersign_login_total{result=\"bad_challenge\",family=\"bip122\"}", "1"),
        ("countersign_login_total{result=\"signed_in\",family=\"other\"}", "1"),
        ("countersign_login_total{result=\"signed_in\",family=\"eip155\"}", "0"),
        ("countersign_token_issued_total{grant=\"urn:ietf:params:oauth:grant-type:device_code\"}", "1"),
        ("countersign_token_errors_total{error=\"invalid_request\"}", "2"),
        ("countersign_token_errors_total{error=\"other\"}", "1"),
        ("countersign_signing_key_age_seconds{algorithm=\"ES256\"}", "90"),
        ("countersign_client_secret_total{secret=\"current\"}", "7"),
        ("countersign_client_secret_total{secret=\"old\"}", "2"),
        ("countersign_storage_waiting", "3"),
        (
            "http_server_request_duration_seconds_count{route=\"/oauth/token\",method=\"POST\",status=\"4xx\"}",
            "1",
        ),
        ("http_server_request_duration_seconds_count{route=\"other\",method=\"other\",status=\"5xx\"}", "1"),
    ] {
        assert_eq!(told(&text, sample), Some(value), "{sample} in {text}");
    }
    assert_eq!(text.matches("request_duration_seconds_count").count(), 2, "an unused histogram is not shown");
}

#[test]
fn nothing_is_lost_where_many_count_at_once() {
    let metrics = metrics();
    let request = Request { route: 0, method: 0, status: 200 };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    metrics.answered(request, Duration::from_micros(1));
                    metrics.challenges.count();
                }
            });
        }
    });
    let text = metrics.text();
    assert_eq!(told(&text, "countersign_challenge_issued_total"), Some("80000"));
    let labels = "{route=\"/oauth/token\",method=\"GET\",status=\"2xx\"}";
    let count = format!("http_server_request_duration_seconds_count{labels}");
    assert_eq!(told(&text, &count), Some("80000"));
    let sum = format!("http_server_request_duration_seconds_sum{labels}");
    assert_eq!(told(&text, &sum), Some("0.08"));
}

/// Gives every signature the verdict that the test chose.
struct Says(Saying);

type Saying = fn(&WalletProof) -> Result<Verdict, VerifierError>;

#[async_trait]
impl WalletVerifier for Says {
    fn recognize(&self, _: &str, _: Option<&str>) -> Vec<RecognizedAccount> {
        Vec::new()
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        (self.0)(proof)
    }
}

#[tokio::test]
async fn a_verdict_is_measured_by_the_namespace_of_its_family_and_passed_on() {
    let account = WalletAccount {
        family: "bip122:000000000019d6689c085ae165831e93".to_owned(),
        chain: "bip122:000000000019d6689c085ae165831e93".to_owned(),
        address: "1BoatSLRHtKNngkdXEeobR76b53LETtpyT".to_owned(),
    };
    let proof = WalletProof { account, kind: None, text: String::new(), signature: String::new() };
    let metrics = Arc::new(metrics());
    let says: [Saying; 3] = [
        |proof| Ok(Verdict::Valid(proof.account.clone())),
        |_| Ok(Verdict::Invalid("no")),
        |_| Err(VerifierError::Unavailable("away".into())),
    ];
    let mut judged = Vec::new();
    for says in says {
        let measured = MeasuredWallets::new(Arc::new(Says(says)), Arc::clone(&metrics));
        judged.push(measured.verify(&proof).await);
    }
    assert!(matches!(&judged[..], [Ok(Verdict::Valid(_)), Ok(Verdict::Invalid("no")), Err(_)]), "{judged:?}");
    let text = metrics.text();
    for result in ["valid", "invalid", "unavailable"] {
        let labels = format!("{{family=\"bip122\",result=\"{result}\"}}");
        assert_eq!(told(&text, &format!("countersign_signature_verify_seconds_count{labels}")), Some("1"));
    }
    assert!(!text.contains("1Boat") && !text.contains("000000000019"), "{text}");
}

/// B-074: what is written by the hour has as many rows as there are labels. docs/desk.md says how many.
#[test]
fn a_hundred_thousand_requests_of_every_kind_add_no_label_to_the_figures() {
    let metrics = metrics();
    let before = metrics.totals();
    for number in 0..100_000 {
        metrics.refused(RefusedFor::ALL[number % RefusedFor::ALL.len()]);
        metrics.token_issued(GrantType::ALL[number % GrantType::ALL.len()]);
        let took = Duration::from_micros(u64::try_from(number).unwrap() * 30);
        metrics.answered(Request { route: number, method: number, status: 404 }, took);
    }
    let totals = metrics.totals();
    let labels =
        |totals: &[FigureTotal]| totals.iter().map(|total| (total.figure, total.label)).collect::<Vec<_>>();
    assert_eq!(labels(&totals), labels(&before));
    assert_eq!(totals.len() * 24 * 30, 24_480);
    for figure in Figure::ALL {
        let sum: u64 = totals.iter().filter(|total| total.figure == figure).map(|total| total.total).sum();
        assert_eq!(sum, 100_000, "{figure:?}");
    }
}

#[test]
fn a_response_is_in_the_step_of_its_time() {
    let metrics = metrics();
    for (milliseconds, responses) in [(1, 1), (10, 2), (11, 3), (999, 4), (20_000, 5)] {
        for _ in 0..responses {
            let request = Request { route: 0, method: responses, status: 200 };
            metrics.answered(request, Duration::from_millis(milliseconds));
        }
    }
    let expected = [("< 1 ms", 1), ("< 10 ms", 2), ("< 100 ms", 3), ("< 1 s", 4), ("> 1 s", 5)];
    assert_eq!(metrics.answered_in_steps(), expected);
}
