-- What operators call users and wallets. No application receives it.
--
-- A wallet can have a name before anyone signs in with it, so its table does not refer to `wallets`. `folded` is the name in small letters,
-- which it is looked up by.

CREATE TABLE named_users (
  user_id UUID NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  folded TEXT COLLATE "C" NOT NULL
);
CREATE INDEX named_users_by_name ON named_users (folded, user_id);

CREATE TABLE named_wallets (
  family TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  chain TEXT NOT NULL,
  name TEXT NOT NULL,
  folded TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (family, address)
);
CREATE INDEX named_wallets_by_name ON named_wallets (folded, family, address);
