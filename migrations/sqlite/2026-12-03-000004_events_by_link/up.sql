-- Who had which wallet, so that one person never signs as two. Only events of linking and unlinking: other events do not pay
-- for it. A pair is found once, however often it was linked.
CREATE INDEX events_of_links_by_user ON events (user_id, family, address) WHERE kind IN ('wallet_linked', 'wallet_unlinked');
CREATE INDEX events_of_links_by_wallet ON events (address, family, user_id) WHERE kind IN ('wallet_linked', 'wallet_unlinked');
