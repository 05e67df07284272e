-- Requests that wait for a person: those that clients pushed, and those of devices. Both are gone after minutes.

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
