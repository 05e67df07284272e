-- A client can have two secrets: the current one, in `secret_hash`, and for a while the one before it. Requests need
-- these columns alone. An older release that runs beside us does not know the old secret and refuses it.

ALTER TABLE clients ADD COLUMN old_secret_hash BLOB;
ALTER TABLE clients ADD COLUMN old_secret_expires_at BIGINT;
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

-- Until now, it was not recorded when a secret was made.
INSERT INTO client_secrets (client_id, hash) SELECT id, secret_hash FROM clients WHERE secret_hash IS NOT NULL;
