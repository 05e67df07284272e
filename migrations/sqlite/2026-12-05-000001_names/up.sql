-- What operators call users and wallets. No application receives it.
--
-- A wallet can have a name before anyone signs in with it, so its table does not refer to `wallets`. `folded` is the name in small letters,
-- which it is looked up by.

CREATE TABLE named_users (
  user_id BLOB NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  folded TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX named_users_by_name ON named_users (folded, user_id);

CREATE TABLE named_wallets (
  family TEXT NOT NULL,
  address TEXT NOT NULL,
  chain TEXT NOT NULL,
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  PRIMARY KEY (family, address)
) WITHOUT ROWID;
CREATE INDEX named_wallets_by_name ON named_wallets (folded, family, address);
