-- Identifiers are 16-byte UUIDs, times are microseconds since 1970, lists are lines of one text.
-- Tables whose key comes in the order of time are clustered by it (WITHOUT ROWID): one tree, written at its end.

CREATE TABLE clients (
  id BLOB NOT NULL PRIMARY KEY,
  created_at BIGINT NOT NULL,
  origin TEXT NOT NULL,
  auth_method TEXT NOT NULL,
  secret_hash BLOB,
  registration_token_hash BLOB NOT NULL,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  scopes TEXT NOT NULL,
  grant_types TEXT NOT NULL,
  client_uri TEXT,
  logo_uri TEXT,
  tos_uri TEXT,
  policy_uri TEXT,
  contacts TEXT NOT NULL,
  jwks TEXT,
  jwks_uri TEXT,
  application_type TEXT,
  id_token_signed_response_alg TEXT,
  post_logout_redirect_uris TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE users (
  id BLOB NOT NULL PRIMARY KEY,
  created_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TABLE wallets (
  family TEXT NOT NULL,
  address TEXT NOT NULL,
  user_id BLOB NOT NULL REFERENCES users (id),
  linked_at BIGINT NOT NULL,
  PRIMARY KEY (family, address)
) WITHOUT ROWID;
CREATE INDEX wallets_by_user ON wallets (user_id);

CREATE TABLE grants (
  id BLOB NOT NULL PRIMARY KEY,
  client_id BLOB NOT NULL,
  user_id BLOB NOT NULL,
  family TEXT NOT NULL,
  chain TEXT NOT NULL,
  address TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  scope TEXT NOT NULL,
  nonce TEXT,
  code_challenge BLOB,
  code_hash BLOB NOT NULL,
  authenticated_at BIGINT NOT NULL,
  code_expires_at BIGINT NOT NULL,
  forget_after BIGINT NOT NULL,
  redeemed_at BIGINT,
  newest_token BLOB,
  revoked_at BIGINT,
  revocation_reason TEXT
) WITHOUT ROWID;
CREATE INDEX grants_by_client ON grants (client_id);
CREATE INDEX grants_by_forget_after ON grants (forget_after);

CREATE TABLE tokens (
  id BLOB NOT NULL PRIMARY KEY,
  grant_id BLOB NOT NULL,
  parent_id BLOB,
  scope TEXT NOT NULL,
  issued_at BIGINT NOT NULL,
  access_hash BLOB NOT NULL,
  access_expires_at BIGINT NOT NULL,
  access_revoked_at BIGINT,
  refresh_hash BLOB,
  refresh_expires_at BIGINT,
  forget_after BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX tokens_by_forget_after ON tokens (forget_after);

CREATE TABLE signing_keys (
  kid TEXT NOT NULL PRIMARY KEY,
  algorithm TEXT NOT NULL UNIQUE,
  sealed BLOB NOT NULL,
  created_at BIGINT NOT NULL
) WITHOUT ROWID;
