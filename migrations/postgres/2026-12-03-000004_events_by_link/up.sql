-- Who had which wallet, so that one person never signs as two. Only events of linking and unlinking: other events do not pay
-- for it. A pair is found once, however often it was linked.
--
-- A migration of its own: events are not sealed while it runs, and sign-ins go on. Where that is too long, make the indexes
-- before the release with CREATE INDEX CONCURRENTLY; they are found here.

CREATE INDEX IF NOT EXISTS events_of_links_by_user ON events (user_id, family, address) WHERE kind IN ('wallet_linked', 'wallet_unlinked');
CREATE INDEX IF NOT EXISTS events_of_links_by_wallet ON events (address, family, user_id) WHERE kind IN ('wallet_linked', 'wallet_unlinked');
