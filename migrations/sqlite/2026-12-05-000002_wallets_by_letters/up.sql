-- An operator looks for a wallet by the beginning of its address, as pages and logs shorten it.
CREATE INDEX wallets_by_letters ON wallets (lower(address));
