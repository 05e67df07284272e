//! Uses a fetcher that counts and a clock that the test moves.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::time::{advance, sleep};

use super::*;

/// Numbers its answers. Each takes a second.
#[derive(Default)]
struct Counting {
    asked: AtomicUsize,
    max_age: Option<Duration>,
    fails: std::sync::atomic::AtomicBool,
}

#[async_trait]
impl Fetcher for Counting {
    async fn get(&self, _: &str) -> Result<Fetched, FetchError> {
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        sleep(Duration::from_secs(1)).await;
        if self.fails.load(Ordering::SeqCst) {
            return Err(FetchError::Unreachable);
        }
        Ok(Fetched {
            content_type: None,
            max_age: self.max_age,
            body: vec![u8::try_from(number).unwrap_or(255)],
        })
    }

    async fn post_form(&self, _: &str, _: &[(&str, &str)]) -> Result<u16, FetchError> {
        Ok(200)
    }

    async fn post(&self, _: Post<'_>) -> Result<Posted, FetchError> {
        Ok(Posted { status: 200, reason: Vec::new() })
    }
}

fn over(counting: Counting) -> (Arc<Counting>, Arc<CachedDocuments>) {
    let counting = Arc::new(counting);
    let inner: Arc<dyn Fetcher> = Arc::<Counting>::clone(&counting);
    (counting, Arc::new(CachedDocuments::new(inner)))
}

async fn body(documents: &CachedDocuments, url: &str) -> u8 {
    documents.get(url).await.unwrap().body[0]
}

#[tokio::test(start_paused = true)]
async fn of_many_at_once_one_asks() {
    let (counting, documents) = over(Counting::default());
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let documents = Arc::clone(&documents);
        waiting.spawn(async move { body(&documents, "a").await });
    }
    assert!(waiting.join_all().await.iter().all(|number| *number == 0));
    assert_eq!(counting.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn how_long_a_document_is_kept_is_its_servers_word_within_bounds() {
    for (said, kept) in [(None, 300), (Some(0), 60), (Some(120), 120), (Some(u64::MAX), 3600)] {
        let (_, documents) = over(Counting { max_age: said.map(Duration::from_secs), ..Counting::default() });
        assert_eq!(body(&documents, "a").await, 0);
        advance(Duration::from_secs(kept - 1)).await;
        assert_eq!(body(&documents, "a").await, 0, "{said:?}");
        advance(Duration::from_secs(1)).await;
        assert_eq!(body(&documents, "a").await, 1, "{said:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_kept_for_seconds() {
    let (counting, documents) = over(Counting { fails: true.into(), ..Counting::default() });
    for _ in 0..5 {
        assert_eq!(documents.get("a").await, Err(FetchError::Unreachable));
        assert_eq!(documents.get_anew("a").await, Err(FetchError::Unreachable));
    }
    assert_eq!(counting.asked.load(Ordering::SeqCst), 1);
    counting.fails.store(false, Ordering::SeqCst);
    advance(FAILURE_AGE).await;
    assert_eq!(body(&documents, "a").await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_document_is_asked_for_anew_but_not_all_the_time() {
    let (counting, documents) = over(Counting::default());
    let anew = || async { documents.get_anew("a").await.unwrap().body[0] };
    assert_eq!(body(&documents, "a").await, 0);
    for _ in 0..5 {
        assert_eq!(anew().await, 1, "even a fresh document can lack what the caller wants");
    }
    assert_eq!(body(&documents, "a").await, 1);
    // Its server is gone. The earlier answer stays in use until it expires.
    counting.fails.store(true, Ordering::SeqCst);
    advance(ANEW_AFTER).await;
    for _ in 0..5 {
        assert_eq!(anew().await, 1);
    }
    assert_eq!(counting.asked.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn only_so_many_urls_are_known_at_a_time() {
    let (counting, documents) = over(Counting::default());
    for number in 0..MAX_URLS + 10 {
        documents.get(&number.to_string()).await.unwrap();
        assert!(documents.slots(What::Document).len() <= MAX_URLS);
    }
    let asked = counting.asked.load(Ordering::SeqCst);
    documents.get(&(MAX_URLS + 9).to_string()).await.unwrap();
    assert_eq!(counting.asked.load(Ordering::SeqCst), asked, "the newest is kept");
    documents.get("0").await.unwrap();
    assert_eq!(counting.asked.load(Ordering::SeqCst), asked + 1, "the oldest is not kept");
}

#[tokio::test(start_paused = true)]
async fn f_12_many_documents_do_not_push_the_keys_of_a_client_out() {
    let (counting, documents) = over(Counting { max_age: Some(MAX_AGE), ..Counting::default() });
    documents.get_keys("https://client.example/jwks").await.unwrap();
    for number in 0..2 * MAX_URLS {
        documents.get(&format!("https://stranger.example/{number}")).await.unwrap();
    }
    let asked = counting.asked.load(Ordering::SeqCst);
    documents.get_keys("https://client.example/jwks").await.unwrap();
    assert_eq!(counting.asked.load(Ordering::SeqCst), asked, "the keys are still kept");
}
