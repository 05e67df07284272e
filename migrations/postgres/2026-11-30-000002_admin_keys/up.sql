-- The keys of the admin interface, as hashes. A revoked one stays, so that its name is not given to another.

CREATE TABLE admin_keys (
  id UUID NOT NULL PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL UNIQUE,
  scopes TEXT NOT NULL,
  hash BYTEA NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ,
  revoked_at TIMESTAMPTZ,
  last_used_at TIMESTAMPTZ
);

-- Requests that must not be carried out twice, for a day: digests of their names and of what they ask.
CREATE TABLE admin_requests (
  key_id UUID NOT NULL REFERENCES admin_keys (id),
  name BYTEA NOT NULL,
  asked BYTEA NOT NULL,
  begun_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (key_id, name)
);
CREATE INDEX admin_requests_by_begun_at ON admin_requests (key_id, begun_at);
