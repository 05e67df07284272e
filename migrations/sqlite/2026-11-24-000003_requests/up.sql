-- Requests that wait for a person: those that clients pushed, and those of devices. Both are gone after minutes.

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
