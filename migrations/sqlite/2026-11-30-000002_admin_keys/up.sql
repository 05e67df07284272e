-- The keys of the admin interface, as hashes. A revoked one stays, so that its name is not given to another.

CREATE TABLE admin_keys (
  id BLOB NOT NULL PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  scopes TEXT NOT NULL,
  hash BLOB NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  revoked_at BIGINT,
  last_used_at BIGINT
) WITHOUT ROWID;

-- Requests that must not be carried out twice, for a day: digests of their names and of what they ask.
CREATE TABLE admin_requests (
  key_id BLOB NOT NULL REFERENCES admin_keys (id),
  name BLOB NOT NULL,
  asked BLOB NOT NULL,
  begun_at BIGINT NOT NULL,
  PRIMARY KEY (key_id, name)
) WITHOUT ROWID;
CREATE INDEX admin_requests_by_begun_at ON admin_requests (key_id, begun_at);
