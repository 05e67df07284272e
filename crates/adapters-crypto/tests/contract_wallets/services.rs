//! Services that serve another chain, are broken or slow, or have gone away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::*;

#[tokio::test]
async fn b_046_a_service_of_another_chain_is_not_believed_and_both_numbers_are_told() {
    let stub = service_of(1, CODE, |_| Reply::Result(json!(YES)));
    let said = unavailable(&asking(&stub)).await;
    assert!(said.contains("chain 8453") && said.contains("chain 1"), "{said}");
    let checked = RpcEndpoint::new(CHAIN, RpcUrl::parse(&stub.url).unwrap(), false).unwrap().check().await;
    assert!(checked.is_err());
    let right = RpcEndpoint::new(1, RpcUrl::parse(&stub.url).unwrap(), false).unwrap().check().await;
    assert!(right.is_ok());
}

#[tokio::test]
async fn b_046_every_verdict_says_of_which_chain_it_is_and_a_service_that_changes_sides_is_not_believed() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let stub = Stub::start(move |_, _| {
        let chain = if count.fetch_add(1, Ordering::SeqCst).is_multiple_of(2) { CHAIN } else { 1 };
        Reply::Result(judged(chain, true, Some(YES)))
    });
    let verifier = asking(&stub);
    for _ in 0..3 {
        assert_eq!(verifier.verify(&of_contract()).await.unwrap(), own_account(&of_contract()));
        assert!(unavailable(&verifier).await.contains("chain 1"));
    }
    assert_eq!((asked.load(Ordering::SeqCst), stub.connections()), (6, 1), "the connection is kept");
}

#[tokio::test]
async fn b_048_a_redirect_is_not_followed() {
    let elsewhere = content();
    for status in [301, 302, 303, 307, 308] {
        let location = format!("Location: {}\r\n", elsewhere.url);
        let stub = Stub::start(move |_, _| Reply::Status(status, location.clone()));
        let said = unavailable(&asking(&stub)).await;
        assert!(said.contains(&status.to_string()), "{said}");
    }
    assert_eq!(elsewhere.connections(), 0);
}

/// What a service does instead of answering.
type Breakage = dyn Fn() -> Reply + Send + Sync;

#[tokio::test]
async fn d_25_whatever_a_broken_service_does_there_is_an_answer_in_time_and_it_is_no_verdict() {
    let body = |text: &'static str| move || Reply::Body(text.as_bytes().to_vec());
    let breakages: Vec<(&str, Box<Breakage>)> = vec![
        ("did not answer in time", Box::new(|| Reply::Hang)),
        ("did not answer in time", Box::new(|| Reply::Trickle)),
        ("cannot be used", Box::new(|| Reply::Close)),
        ("HTTP status 500", Box::new(|| Reply::Status(500, String::new()))),
        ("HTTP status 429", Box::new(|| Reply::Status(429, String::new()))),
        ("longer than 64 KiB", Box::new(|| Reply::Body(vec![b' '; 1 << 20]))),
        ("longer than 64 KiB", Box::new(|| Reply::Result(json!("0".repeat(1 << 20))))),
        ("not a verdict", Box::new(|| Reply::Result(Value::Null))),
        ("not a verdict", Box::new(|| Reply::Result(json!(7)))),
        ("not a verdict", Box::new(|| Reply::Result(json!("0x123")))),
        ("JSON object", Box::new(body(""))),
        ("JSON object", Box::new(body("<html>"))),
        ("JSON object", Box::new(body(r#"[{"jsonrpc":"2.0","id":0,"result":"0x"}]"#))),
        ("duplicate names", Box::new(body(r#"{"jsonrpc":"2.0","id":1,"result":"0x","result":"0x"}"#))),
        ("duplicate names", Box::new(body(r#"{"jsonrpc":"2.0","id":1,"id":1,"result":"0x"}"#))),
        (
            "JSON object",
            Box::new(body(r#"[{"jsonrpc":"2.0","id":0},{"jsonrpc":"2.0","id":1,"result":"0x"}]"#)),
        ),
        ("another request", Box::new(body(r#"{"jsonrpc":"2.0","result":"0x"}"#))),
        ("another request", Box::new(body(r#"{"jsonrpc":"2.0","id":77,"result":"0x"}"#))),
        ("neither", Box::new(body(r#"{"jsonrpc":"2.0","id":1}"#))),
        ("no code or no message", Box::new(body(r#"{"jsonrpc":"2.0","id":1,"error":null}"#))),
    ];
    let count = breakages.len();
    let judgements = breakages.into_iter().enumerate().map(|(number, (expected, breakage))| {
        let stub = Stub::start(move |_, _| breakage());
        tokio::spawn(async move {
            let begun = Instant::now();
            let said = unavailable(&asking(&stub)).await;
            assert!(said.contains(expected), "{number}: {said}");
            assert!(begun.elapsed() < Duration::from_millis(3500), "{number}: {said}");
            let key = proof(CHAIN, &demo().address(), TEXT, &demo().sign(TEXT));
            assert!(matches!(asking(&stub).verify(&key).await, Ok(Verdict::Valid(_))), "B-052: {number}");
        })
    });
    for judgement in judgements.collect::<Vec<_>>() {
        judgement.await.unwrap();
    }
    ran("broken services", count);
}

#[tokio::test]
async fn nobody_who_listens_is_no_verdict_either() {
    let said = unavailable(&asking_at(CHAIN, "http://127.0.0.1:1")).await;
    assert!(said.contains("http://127.0.0.1:1"), "{said}");
}

#[tokio::test]
async fn d_25_after_five_failures_a_service_is_left_alone_for_ten_seconds_and_then_asked_again() {
    let is_well = Arc::new(AtomicUsize::new(0));
    let well = Arc::clone(&is_well);
    let stub = service(CODE, move |_| match well.load(Ordering::SeqCst) {
        0 => Reply::Close,
        _ => Reply::Result(json!(YES)),
    });
    let verifier = asking(&stub);
    for _ in 0..5 {
        unavailable(&verifier).await;
    }
    let connected = stub.connections();
    let begun = Instant::now();
    is_well.store(1, Ordering::SeqCst);
    for _ in 0..20 {
        let said = unavailable(&verifier).await;
        assert!(said.contains("not asked for a while"), "{said}");
    }
    assert_eq!(stub.connections(), connected);
    assert!(begun.elapsed() < Duration::from_secs(1), "a service that is not asked costs no time");
    tokio::time::sleep(Duration::from_millis(10_100)).await;
    assert_eq!(verifier.verify(&of_contract()).await.unwrap(), own_account(&of_contract()));
    assert_eq!(stub.methods().len(), 6);
}

#[tokio::test]
async fn a_contract_cannot_make_others_wait_by_failing() {
    // A contract's owner can make it fail in ways that a node reports in its own words.
    let stub = service(CODE, move |asked| {
        let is_good = asked.data.contains(&hash_of(TEXT));
        if is_good { Reply::Result(json!(YES)) } else { Reply::Error(-32000, "a halt in words unheard of") }
    });
    let verifier = asking(&stub);
    for _ in 0..12 {
        assert!(verifier.verify(&proof(CHAIN, CONTRACT, "", "0xee")).await.is_err());
    }
    assert_eq!(verifier.verify(&of_contract()).await.unwrap(), own_account(&of_contract()));
}

#[tokio::test]
async fn b_083_ten_verdicts_are_asked_for_at_a_time_and_all_are_found() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, peak) = (Arc::clone(&now), Arc::clone(&most));
    let stub = service(CODE, move |_| {
        peak.fetch_max(counted.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(200));
        counted.fetch_sub(1, Ordering::SeqCst);
        Reply::Result(json!(YES))
    });
    let verifier = asking(&stub);
    let logins: Vec<_> = (0..40)
        .map(|_| {
            let verifier = verifier.clone();
            tokio::spawn(async move { verifier.verify(&of_contract()).await.unwrap() })
        })
        .collect();
    for login in logins {
        assert_eq!(login.await.unwrap(), own_account(&of_contract()));
    }
    assert_eq!(most.load(Ordering::SeqCst), 10);
}

/// How many of forty sign-ins at once got a verdict.
async fn found_of_forty(verifier: &EthereumVerifier) -> usize {
    let logins: Vec<_> = (0..40)
        .map(|_| {
            let verifier = verifier.clone();
            tokio::spawn(async move { verifier.verify(&of_contract()).await })
        })
        .collect();
    let mut found = 0;
    for login in logins {
        found += usize::from(login.await.unwrap().is_ok());
    }
    found
}

#[tokio::test]
async fn b_083_who_would_wait_too_long_is_told_so_in_time() {
    let stub = service(CODE, |_| {
        thread::sleep(Duration::from_millis(1_500));
        Reply::Result(json!(YES))
    });
    let verifier = asking(&stub);
    let begun = Instant::now();
    let found = found_of_forty(&verifier).await;
    assert!(begun.elapsed() < Duration::from_millis(3_500), "D-25");
    assert!((10..40).contains(&found), "{found}");
}

#[tokio::test]
async fn a_user_in_the_url_is_sent_by_http_basic_and_nothing_of_the_url_is_told() {
    let stub = content();
    let url = stub.url.replace("http://", "http://ann:hunter2@") + "/v3/hunter2?key=hunter2";
    let verifier = asking_at(CHAIN, &url);
    assert_eq!(verifier.verify(&of_contract()).await.unwrap(), own_account(&of_contract()));
    let heads = stub.heads();
    assert!(heads.contains("POST /v3/hunter2?key=hunter2 HTTP/1.1"), "{heads}");
    assert!(heads.to_lowercase().contains("authorization: basic"), "{heads}");
    assert!(!format!("{verifier:?}").contains("hunter2"), "{verifier:?}");
    let broken = Stub::start(|_, _| Reply::Status(401, String::new()));
    let said = unavailable(&asking_at(CHAIN, &(broken.url.clone() + "/v3/hunter2"))).await;
    assert!(said.contains(&broken.url) && !said.contains("hunter2"), "{said}");
}

#[tokio::test]
async fn f_16_a_slow_honest_service_is_not_switched_off_by_those_who_queue_for_it() {
    let stub = service(CODE, |_| {
        thread::sleep(Duration::from_millis(1_500));
        Reply::Result(json!(YES))
    });
    let verifier = asking(&stub);
    for round in 0..3 {
        let found = found_of_forty(&verifier).await;
        assert!(found >= 10, "{found} in round {round}");
        // Now nobody waits in the queue, and the breaker has not opened.
        assert_eq!(verifier.verify(&of_contract()).await.unwrap(), own_account(&of_contract()), "{round}");
    }
}

#[tokio::test]
async fn f_16_the_curious_pass_a_gate_of_their_own_and_are_not_counted() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, peak) = (Arc::clone(&now), Arc::clone(&most));
    let stub = service(CODE, move |asked| {
        if asked.data.contains(&hash_of(TEXT)) {
            return Reply::Result(json!(YES));
        }
        peak.fetch_max(counted.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(2_500));
        counted.fetch_sub(1, Ordering::SeqCst);
        Reply::Result(json!(YES))
    });
    let verifier = asking(&stub);
    let curious: Vec<_> = (0..60)
        .map(|_| {
            let verifier = verifier.clone();
            tokio::spawn(async move { verifier.examine(&proof(CHAIN, CONTRACT, "heavy", "0x01")).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    for _ in 0..5 {
        let begun = Instant::now();
        assert_eq!(verifier.verify(&of_contract()).await.unwrap(), own_account(&of_contract()));
        assert!(begun.elapsed() < Duration::from_millis(500));
    }
    for question in curious {
        assert!(question.await.unwrap().is_err());
    }
    assert_eq!(most.load(Ordering::SeqCst), 2);
    for _ in 0..6 {
        assert!(verifier.examine(&proof(CHAIN, CONTRACT, "heavy", "0x01")).await.is_err());
    }
    assert_eq!(verifier.verify(&of_contract()).await.unwrap(), own_account(&of_contract()));
    assert!(
        matches!(verifier.examine(&of_contract()).await, Ok(Verdict::Valid(_))),
        "requests made out of curiosity are answered too"
    );
}
