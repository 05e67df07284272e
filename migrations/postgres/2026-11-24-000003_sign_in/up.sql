-- What a sign-in leans on: remembered sessions, consents, requests that wait for a person, and what is good once.

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

-- A consent is everything that was signed: client, destination, audiences and scopes
-- (docs/adr/0030-a-consent-is-everything-that-was-signed.md). The scopes of resources are in a text beside the bits. What is taken away
-- in `consents` is taken away here too.
CREATE TABLE signed_consents (
  user_id UUID NOT NULL,
  client_id UUID NOT NULL,
  destination TEXT NOT NULL,
  audiences TEXT NOT NULL,
  scopes INTEGER NOT NULL,
  granted_at TIMESTAMPTZ NOT NULL,
  last_used_at TIMESTAMPTZ NOT NULL,
  own_scopes TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (user_id, client_id, destination, audiences)
);
CREATE INDEX signed_consents_by_client ON signed_consents (client_id);

CREATE FUNCTION forget_revoked_consents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM signed_consents WHERE user_id = OLD.user_id AND client_id = OLD.client_id;
  RETURN NULL;
END $$;
CREATE FUNCTION forget_consents_of_users() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM signed_consents WHERE user_id = OLD.id;
  RETURN NULL;
END $$;
CREATE FUNCTION forget_consents_of_clients() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM signed_consents WHERE client_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER consents_revoked AFTER DELETE ON consents
  FOR EACH ROW EXECUTE FUNCTION forget_revoked_consents();
CREATE TRIGGER consents_of_deleted_users AFTER DELETE ON users
  FOR EACH ROW EXECUTE FUNCTION forget_consents_of_users();
CREATE TRIGGER consents_of_deleted_clients AFTER DELETE ON clients
  FOR EACH ROW EXECUTE FUNCTION forget_consents_of_clients();

-- Requests that clients pushed. They are gone after minutes, as those of devices.
CREATE TABLE pushed_requests (
  id UUID NOT NULL PRIMARY KEY,
  client_id UUID NOT NULL,
  secret_hash BYTEA NOT NULL,
  parameters TEXT NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX pushed_requests_by_expires_at ON pushed_requests (expires_at);

-- The grant that answers a device has the same id.
CREATE TABLE device_requests (
  id UUID NOT NULL PRIMARY KEY,
  client_id UUID NOT NULL,
  user_code_hash BYTEA NOT NULL UNIQUE,
  code_hash BYTEA NOT NULL,
  scope TEXT NOT NULL,
  resources TEXT NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  denied_at TIMESTAMPTZ,
  forget_after TIMESTAMPTZ NOT NULL
);
CREATE INDEX device_requests_by_forget_after ON device_requests (forget_after);

-- The ids of challenges that linked or unlinked a wallet. That one is there is what makes such a challenge work once.
CREATE TABLE spent_challenges (
  id UUID NOT NULL PRIMARY KEY,
  forget_after TIMESTAMPTZ NOT NULL
);
CREATE INDEX spent_challenges_by_forget_after ON spent_challenges (forget_after);

-- Proofs of others that are good once: what clients signed to prove who they are, and proofs of a key (DPoP).
-- The attempt is the request that brought the proof, so that a command that is repeated is known again.
CREATE TABLE spent_proofs (
  digest BYTEA NOT NULL PRIMARY KEY,
  attempt UUID NOT NULL,
  forget_after TIMESTAMPTZ NOT NULL
);
CREATE INDEX spent_proofs_by_forget_after ON spent_proofs (forget_after);
