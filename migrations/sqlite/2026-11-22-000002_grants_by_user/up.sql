-- Unlinking a wallet revokes the user's live grants that were signed with it. It finds them here: by the user's 16 bytes
-- rather than by the wallet's fifty, and only those that live.
--
-- What it costs: a page more in the log for each login. A login that commits alone takes as long as before; of bare inserts
-- that share commits in batches of 32, 6,000 a second were left of 7,500 (half a million grants, 20 MB of index). Without it
-- each unlinking read the whole table and kept the one writer for 0.1 to 0.3 s.

CREATE INDEX grants_by_user ON grants (user_id) WHERE revoked_at IS NULL;
