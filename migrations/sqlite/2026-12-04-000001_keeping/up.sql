-- What servers know of each other and of the database as a whole.

-- Which processes run, by ids that they make when they start. `settings`: what replicas must agree on, as a JSON object. `untrusted_proxy`: a
-- peer that forwards for others and is not trusted to.
CREATE TABLE replicas (
  id BLOB NOT NULL PRIMARY KEY,
  version TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  settings TEXT NOT NULL DEFAULT '',
  untrusted_proxy TEXT
) WITHOUT ROWID;
CREATE INDEX replicas_by_seen_at ON replicas (seen_at);

-- What one replica does for all.
CREATE TABLE leases (
  name TEXT NOT NULL PRIMARY KEY,
  holder BLOB NOT NULL,
  held_until BIGINT NOT NULL
) WITHOUT ROWID;

-- One row: what is known of the time (docs/adr/0034-nothing-is-forgotten-by-one-clock.md).
CREATE TABLE time_mark (
  id INTEGER NOT NULL PRIMARY KEY,
  trusted_at BIGINT NOT NULL,
  doubted_for BIGINT NOT NULL
);

-- Restoring a backup begins an epoch: what was handed out before it is good no longer (docs/adr/0048-a-restore-begins-an-epoch.md).
-- The epoch of now is the one with the highest number; without a row, nothing was ever restored. Keys are derived from the id, because
-- the same backup can be restored twice, and the number would come again.
CREATE TABLE epochs (
  number INTEGER NOT NULL PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  raised_at BIGINT NOT NULL
);

-- A row is here while a restore or a copy fills this database. It goes in the commit that finishes the work; until then nothing else
-- may use the database.
CREATE TABLE unfinished (
  work TEXT NOT NULL PRIMARY KEY,
  begun_at BIGINT NOT NULL
) WITHOUT ROWID;

-- Which restore or copy filled this database last: one row, or none. Servers that run compare the id, so that one which stood still notices
-- that the database is another one, also after a restore that keeps tokens and begins no epoch.
CREATE TABLE fillings (
  id BLOB NOT NULL PRIMARY KEY,
  filled_at BIGINT NOT NULL
) WITHOUT ROWID;
