-- The name that a person gives a wallet, so that they know it again. Few wallets have one: those from before have none,
-- nor have those that the release before this one stores beside us.

ALTER TABLE wallets ADD COLUMN name TEXT;
