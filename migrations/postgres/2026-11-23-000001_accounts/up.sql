-- What a person keeps here beside their wallets: remembered sign-ins, what they agreed to, and an e-mail address.
-- Rows of one user; a release that knows none of the three leaves them alone.

CREATE TABLE login_sessions (
  id UUID NOT NULL PRIMARY KEY,
  user_id UUID NOT NULL,
  family TEXT NOT NULL,
  chain TEXT NOT NULL,
  address TEXT NOT NULL,
  secret_hash BYTEA NOT NULL,
  browser TEXT NOT NULL,
  authenticated_at TIMESTAMPTZ NOT NULL,
  last_used_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX login_sessions_by_user ON login_sessions (user_id);
CREATE INDEX login_sessions_by_expires_at ON login_sessions (expires_at);

-- Scopes are the bits of the scopes' fixed order, because each signature adds to them.
CREATE TABLE consents (
  user_id UUID NOT NULL,
  client_id UUID NOT NULL,
  scopes INTEGER NOT NULL,
  granted_at TIMESTAMPTZ NOT NULL,
  last_used_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (user_id, client_id)
);
CREATE INDEX consents_by_client ON consents (client_id);

CREATE TABLE emails (
  user_id UUID NOT NULL PRIMARY KEY,
  address TEXT NOT NULL,
  added_at TIMESTAMPTZ NOT NULL,
  verified_at TIMESTAMPTZ,
  confirmation_hash BYTEA,
  confirmation_expires_at TIMESTAMPTZ
);
