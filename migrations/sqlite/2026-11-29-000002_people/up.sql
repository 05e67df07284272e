-- Who can sign in: groups of users and of wallets, and blocks.
--
-- A wallet can be in a group, or blocked, before anybody signs in with it. So these tables name it by family and address, as
-- `wallets` does, and do not refer to it.

CREATE TABLE user_groups (
  name TEXT NOT NULL PRIMARY KEY,
  title TEXT,
  created_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TABLE group_users (
  group_name TEXT NOT NULL REFERENCES user_groups (name) ON DELETE CASCADE,
  user_id BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  added_at BIGINT NOT NULL,
  PRIMARY KEY (group_name, user_id)
) WITHOUT ROWID;
CREATE INDEX group_users_by_user ON group_users (user_id, group_name);

CREATE TABLE group_wallets (
  group_name TEXT NOT NULL REFERENCES user_groups (name) ON DELETE CASCADE,
  family TEXT NOT NULL,
  address TEXT NOT NULL,
  chain TEXT NOT NULL,
  added_at BIGINT NOT NULL,
  PRIMARY KEY (group_name, family, address)
) WITHOUT ROWID;
CREATE INDEX group_wallets_by_wallet ON group_wallets (family, address, group_name);

CREATE TABLE blocked_users (
  user_id BLOB NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  blocked_at BIGINT NOT NULL,
  reason TEXT
) WITHOUT ROWID;

CREATE TABLE blocked_wallets (
  family TEXT NOT NULL,
  address TEXT NOT NULL,
  chain TEXT NOT NULL,
  blocked_at BIGINT NOT NULL,
  reason TEXT,
  PRIMARY KEY (family, address)
) WITHOUT ROWID;
