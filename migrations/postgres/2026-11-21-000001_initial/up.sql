-- Lists are lines of one text. There are no foreign keys on the tables of every sign-in: each would cost a look-up a row,
-- and a token without its grant is dead anyway.

CREATE TABLE clients (
  id UUID NOT NULL PRIMARY KEY,
  created_at TIMESTAMPTZ NOT NULL,
  origin TEXT NOT NULL,
  auth_method TEXT NOT NULL,
  secret_hash BYTEA,
  registration_token_hash BYTEA NOT NULL,
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
);

CREATE TABLE users (
  id UUID NOT NULL PRIMARY KEY,
  created_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE wallets (
  family TEXT NOT NULL,
  address TEXT NOT NULL,
  user_id UUID NOT NULL REFERENCES users (id),
  linked_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (family, address)
);
CREATE INDEX wallets_by_user ON wallets (user_id);

CREATE TABLE grants (
  id UUID NOT NULL PRIMARY KEY,
  client_id UUID NOT NULL,
  user_id UUID NOT NULL,
  family TEXT NOT NULL,
  chain TEXT NOT NULL,
  address TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  scope TEXT NOT NULL,
  nonce TEXT,
  code_challenge BYTEA,
  code_hash BYTEA NOT NULL,
  authenticated_at TIMESTAMPTZ NOT NULL,
  code_expires_at TIMESTAMPTZ NOT NULL,
  forget_after TIMESTAMPTZ NOT NULL,
  redeemed_at TIMESTAMPTZ,
  newest_token UUID,
  revoked_at TIMESTAMPTZ,
  revocation_reason TEXT
);
CREATE INDEX grants_by_client ON grants (client_id);
CREATE INDEX grants_by_forget_after ON grants (forget_after);

CREATE TABLE tokens (
  id UUID NOT NULL PRIMARY KEY,
  grant_id UUID NOT NULL,
  parent_id UUID,
  scope TEXT NOT NULL,
  issued_at TIMESTAMPTZ NOT NULL,
  access_hash BYTEA NOT NULL,
  access_expires_at TIMESTAMPTZ NOT NULL,
  access_revoked_at TIMESTAMPTZ,
  refresh_hash BYTEA,
  refresh_expires_at TIMESTAMPTZ,
  forget_after TIMESTAMPTZ NOT NULL
);
CREATE INDEX tokens_by_forget_after ON tokens (forget_after);

CREATE TABLE signing_keys (
  kid TEXT NOT NULL PRIMARY KEY,
  algorithm TEXT NOT NULL UNIQUE,
  sealed BYTEA NOT NULL,
  created_at TIMESTAMPTZ NOT NULL
);
