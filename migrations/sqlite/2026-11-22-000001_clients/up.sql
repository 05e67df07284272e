-- Clients, their secrets, and the resources that they can have.
--
-- In all tables identifiers are 16-byte UUIDs, times are microseconds since 1970, lists are lines of one text.
-- Tables whose key comes in the order of time are clustered by it (WITHOUT ROWID): one tree, written at its end.

-- `secret_hash` is the current secret. For a while the one before it works, too: requests need these columns alone. `resources`: those that the
-- operator opened to the client by name, one a line. `access_rule`: `everyone`, `nobody` or `groups:a,b`; NULL follows the setting.
-- `released_groups`: `all` or `a,b`; empty follows the rule.
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
  post_logout_redirect_uris TEXT NOT NULL,
  document TEXT,
  backchannel_logout_uri TEXT,
  token_endpoint_auth_signing_alg TEXT,
  requires_pushed_requests BOOLEAN NOT NULL DEFAULT FALSE,
  requires_bound_tokens BOOLEAN NOT NULL DEFAULT FALSE,
  resources TEXT NOT NULL DEFAULT '',
  access_rule TEXT,
  released_groups TEXT NOT NULL DEFAULT '',
  old_secret_hash BLOB,
  old_secret_expires_at BIGINT
) WITHOUT ROWID;
-- The clients that no one registered.
CREATE INDEX clients_described ON clients (id) WHERE document IS NOT NULL;
CREATE INDEX clients_by_old_secret_expires_at ON clients (old_secret_expires_at)
  WHERE old_secret_expires_at IS NOT NULL;

-- What operators see of secrets. A secret without a row was made with its client and has not been used.
CREATE TABLE client_secrets (
  client_id BLOB NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
  hash BLOB NOT NULL,
  created_at BIGINT,
  last_used_at BIGINT,
  PRIMARY KEY (client_id, hash)
) WITHOUT ROWID;

-- Resources that the operator declares, with scopes of their own (docs/adr/0043-scopes-of-the-operators-resources.md). `name` is the operator's,
-- which people read before the URI.
CREATE TABLE resources (
  uri TEXT NOT NULL PRIMARY KEY,
  open_to TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  name TEXT
) WITHOUT ROWID;

-- A name belongs to one resource. The titles in other languages: one a line, each after its language.
CREATE TABLE resource_scopes (
  name TEXT NOT NULL PRIMARY KEY,
  resource TEXT NOT NULL REFERENCES resources (uri) ON DELETE CASCADE,
  title TEXT NOT NULL,
  titles TEXT NOT NULL,
  needs TEXT
) WITHOUT ROWID;
CREATE INDEX resource_scopes_by_resource ON resource_scopes (resource);
