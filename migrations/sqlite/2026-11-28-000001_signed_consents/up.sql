-- A consent is everything that was signed: client, destination, audiences and scopes
-- (docs/adr/0030-a-consent-is-everything-that-was-signed.md).
--
-- What people agreed to before is copied without a destination and without audiences, which match no request: they find it on their
-- page, may revoke it, and are asked once more. The old table stays for one release. What the release before this one writes there
-- counts for nothing here; what it takes away there is taken away here too.

CREATE TABLE signed_consents (
  user_id BLOB NOT NULL,
  client_id BLOB NOT NULL,
  destination TEXT NOT NULL,
  audiences TEXT NOT NULL,
  scopes INTEGER NOT NULL,
  granted_at BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL,
  PRIMARY KEY (user_id, client_id, destination, audiences)
) WITHOUT ROWID;
CREATE INDEX signed_consents_by_client ON signed_consents (client_id);

INSERT INTO signed_consents (user_id, client_id, destination, audiences, scopes, granted_at, last_used_at)
SELECT user_id, client_id, '', '', scopes, granted_at, last_used_at FROM consents WHERE scopes >= 0;

CREATE TRIGGER consents_revoked AFTER DELETE ON consents BEGIN
  DELETE FROM signed_consents WHERE user_id = OLD.user_id AND client_id = OLD.client_id;
END;
CREATE TRIGGER consents_of_deleted_users AFTER DELETE ON users BEGIN
  DELETE FROM signed_consents WHERE user_id = OLD.id;
END;
CREATE TRIGGER consents_of_deleted_clients AFTER DELETE ON clients BEGIN
  DELETE FROM signed_consents WHERE client_id = OLD.id;
END;

-- The resources that the operator opened to a client by name, one a line.
ALTER TABLE clients ADD COLUMN resources TEXT NOT NULL DEFAULT '';
