-- What a person keeps here beside their wallets: remembered sign-ins, what they agreed to, and an e-mail address.
-- Rows of one user; a release that knows none of the three leaves them alone.

CREATE TABLE login_sessions (
  id BLOB NOT NULL PRIMARY KEY,
  user_id BLOB NOT NULL,
  family TEXT NOT NULL,
  chain TEXT NOT NULL,
  address TEXT NOT NULL,
  secret_hash BLOB NOT NULL,
  browser TEXT NOT NULL,
  authenticated_at BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX login_sessions_by_user ON login_sessions (user_id);
CREATE INDEX login_sessions_by_expires_at ON login_sessions (expires_at);

-- Scopes are the bits of the scopes' fixed order, because each signature adds to them.
CREATE TABLE consents (
  user_id BLOB NOT NULL,
  client_id BLOB NOT NULL,
  scopes INTEGER NOT NULL,
  granted_at BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL,
  PRIMARY KEY (user_id, client_id)
) WITHOUT ROWID;
CREATE INDEX consents_by_client ON consents (client_id);

CREATE TABLE emails (
  user_id BLOB NOT NULL PRIMARY KEY,
  address TEXT NOT NULL,
  added_at BIGINT NOT NULL,
  verified_at BIGINT,
  confirmation_hash BLOB,
  confirmation_expires_at BIGINT
) WITHOUT ROWID;
