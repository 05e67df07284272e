-- Who can sign in: groups of users and of wallets, and blocks.
--
-- A wallet can be in a group, or blocked, before anybody signs in with it. So these tables name it by family and address, as
-- `wallets` does, and do not refer to it.

CREATE TABLE user_groups (
  name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  title TEXT,
  created_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE group_users (
  group_name TEXT COLLATE "C" NOT NULL REFERENCES user_groups (name) ON DELETE CASCADE,
  user_id UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  added_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (group_name, user_id)
);
CREATE INDEX group_users_by_user ON group_users (user_id, group_name);

CREATE TABLE group_wallets (
  group_name TEXT COLLATE "C" NOT NULL REFERENCES user_groups (name) ON DELETE CASCADE,
  family TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  chain TEXT NOT NULL,
  added_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (group_name, family, address)
);
CREATE INDEX group_wallets_by_wallet ON group_wallets (family, address, group_name);

CREATE TABLE blocked_users (
  user_id UUID NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  blocked_at TIMESTAMPTZ NOT NULL,
  reason TEXT
);

CREATE TABLE blocked_wallets (
  family TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  chain TEXT NOT NULL,
  blocked_at TIMESTAMPTZ NOT NULL,
  reason TEXT,
  PRIMARY KEY (family, address)
);
