-- Unlinking a wallet revokes the user's live grants that were signed with it. It finds them here: by the user's 16 bytes
-- rather than by the wallet's fifty, and only those that live.
--
-- What it costs: 10 MB for a million grants, and 0.7 KB of log for each login; logins per second stayed the same within
-- the noise of the measurement (8 writers, a million grants), because they wait for the disk. Without it each unlinking
-- read the whole table, 0.6 s for a million grants, with the user and the wallet locked.
--
-- A migration of its own: no one can write grants while it runs (1.2 s for a million), and must hold no lock on wallets
-- meanwhile. Where that is too long, make the index before the release with CREATE INDEX CONCURRENTLY; it is found here.

CREATE INDEX IF NOT EXISTS grants_by_user ON grants (user_id) WHERE revoked_at IS NULL;
