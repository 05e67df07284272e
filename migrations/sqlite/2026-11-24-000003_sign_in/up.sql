-- What a sign-in leans on: remembered sessions, consents, requests that wait for a person, and what is good once.

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

-- A consent is everything that was signed: client, destination, audiences and scopes
-- (docs/adr/0030-a-consent-is-everything-that-was-signed.md). The scopes of resources are in a text beside the bits. What is taken away
-- in `consents` is taken away here too.
CREATE TABLE signed_consents (
  user_id BLOB NOT NULL,
  client_id BLOB NOT NULL,
  destination TEXT NOT NULL,
  audiences TEXT NOT NULL,
  scopes INTEGER NOT NULL,
  granted_at BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL,
  own_scopes TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (user_id, client_id, destination, audiences)
) WITHOUT ROWID;
CREATE INDEX signed_consents_by_client ON signed_consents (client_id);

CREATE TRIGGER consents_revoked AFTER DELETE ON consents BEGIN
  DELETE FROM signed_consents WHERE user_id = OLD.user_id AND client_id = OLD.client_id;
END;
CREATE TRIGGER consents_of_deleted_users AFTER DELETE ON users BEGIN
  DELETE FROM signed_consents WHERE user_id = OLD.id;
END;
CREATE TRIGGER consents_of_deleted_clients AFTER DELETE ON clients BEGIN
  DELETE FROM signed_consents WHERE client_id = OLD.id;
END;

-- Requests that clients pushed. They are gone after minutes, as those of devices.
CREATE TABLE pushed_requests (
  id BLOB NOT NULL PRIMARY KEY,
  client_id BLOB NOT NULL,
  secret_hash BLOB NOT NULL,
  parameters TEXT NOT NULL,
  expires_at BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX pushed_requests_by_expires_at ON pushed_requests (expires_at);

-- The grant that answers a device has the same id.
CREATE TABLE device_requests (
  id BLOB NOT NULL PRIMARY KEY,
  client_id BLOB NOT NULL,
  user_code_hash BLOB NOT NULL UNIQUE,
  code_hash BLOB NOT NULL,
  scope TEXT NOT NULL,
  resources TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  denied_at BIGINT,
  forget_after BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX device_requests_by_forget_after ON device_requests (forget_after);

-- The ids of challenges that linked or unlinked a wallet. That one is there is what makes such a challenge work once.
CREATE TABLE spent_challenges (
  id BLOB NOT NULL PRIMARY KEY,
  forget_after BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX spent_challenges_by_forget_after ON spent_challenges (forget_after);

-- Proofs of others that are good once: what clients signed to prove who they are, and proofs of a key (DPoP).
-- The attempt is the request that brought the proof, so that a command that is repeated is known again.
CREATE TABLE spent_proofs (
  digest BLOB NOT NULL PRIMARY KEY,
  attempt BLOB NOT NULL,
  forget_after BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX spent_proofs_by_forget_after ON spent_proofs (forget_after);
