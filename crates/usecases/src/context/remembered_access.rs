//! Access tokens that were presented recently.
//!
//! A client that presents an access token usually presents it again, and what the token means never changes.
//! So that is remembered, and each time storage is only asked what may have changed: whether the token is
//! still valid. Few tokens end early, so that costs the same however many tokens there are (ADR 0028).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use countersign_domain::id::TokenId;
use countersign_domain::token::AccessSnapshot;
use countersign_ports::{KnownAccess, StoreError};
use quick_cache::sync::Cache;

use crate::Context;

/// How long what was read is remembered. A token can outlive rows that were deleted by hand for this long.
const USED_FOR: Duration = Duration::from_secs(60);
/// How many tokens are remembered: the ones presented most often. Each takes about 400 bytes.
const MOST: usize = 16_384;

/// The access tokens that were presented recently.
pub struct RememberedAccess {
    by_id: Cache<TokenId, Remembered>,
}

#[derive(Clone)]
struct Remembered {
    access: Arc<AccessSnapshot>,
    /// By the monotonic clock.
    until: Duration,
}

impl Default for RememberedAccess {
    fn default() -> Self {
        Self { by_id: Cache::new(MOST) }
    }
}

impl Context {
    /// Finds what an access token means, unless the token or its grant was revoked.
    pub async fn find_access(&self, id: TokenId) -> Result<Option<Arc<AccessSnapshot>>, StoreError> {
        let asked_at = self.clock.elapsed();
        if let Some(remembered) = self.access.by_id.get(&id).filter(|known| asked_at < known.until) {
            if self.storage.lives_on(KnownAccess::from(&*remembered.access)).await? {
                return Ok(Some(remembered.access));
            }
            self.access.by_id.remove(&id);
            return Ok(None);
        }
        let found = self.storage.find_access(id).await?;
        let living = found.filter(|found| !found.was_revoked()).map(Arc::new);
        if let Some(access) = &living {
            let remembered = Remembered { access: Arc::clone(access), until: asked_at + USED_FOR };
            self.access.by_id.insert(id, remembered);
        }
        Ok(living)
    }
}

impl fmt::Debug for RememberedAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RememberedAccess").finish_non_exhaustive()
    }
}
