-- Users, the wallets that they sign in with, and what a person keeps here beside them.

-- `untold_since`: since when no client has learned of a user, or when that was looked at last; NULL: one has, or it is not known
-- (docs/adr/0035-users-that-no-client-learned-of.md).
CREATE TABLE users (
  id UUID NOT NULL PRIMARY KEY,
  created_at TIMESTAMPTZ NOT NULL,
  untold_since TIMESTAMPTZ
);
CREATE INDEX users_untold ON users (untold_since) WHERE untold_since IS NOT NULL;

-- One user, many wallets. With the chain a wallet is a CAIP-10 account. `name` is what a person calls it, so that they know it again.
CREATE TABLE wallets (
  family TEXT NOT NULL,
  address TEXT NOT NULL,
  user_id UUID NOT NULL REFERENCES users (id),
  linked_at TIMESTAMPTZ NOT NULL,
  chain TEXT,
  name TEXT,
  PRIMARY KEY (family, address)
);
CREATE INDEX wallets_by_user ON wallets (user_id);

CREATE TABLE emails (
  user_id UUID NOT NULL PRIMARY KEY,
  address TEXT NOT NULL,
  added_at TIMESTAMPTZ NOT NULL,
  verified_at TIMESTAMPTZ,
  confirmation_hash BYTEA,
  confirmation_expires_at TIMESTAMPTZ
);
-- A user who confirms an address learns whether another user confirmed it before. Few rows, and read only then.
CREATE INDEX emails_confirmed ON emails (lower(address)) WHERE verified_at IS NOT NULL;
