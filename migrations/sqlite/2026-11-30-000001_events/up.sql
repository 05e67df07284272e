-- What happened. An act writes its event into `fresh_events`, in its own transaction; this table has no index but its key,
-- because sign-ins write to it. A moment later events are sealed: they get a position and a checkpoint, and move to `events`.
-- Either `user_id` or `pseudonym` names the person, or neither. When it happened is in the id.
CREATE TABLE fresh_events (
  id BLOB NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  user_id BLOB,
  pseudonym BLOB,
  family TEXT,
  chain TEXT,
  address TEXT,
  client_id BLOB,
  peer TEXT,
  request TEXT,
  details TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE events (
  position INTEGER NOT NULL PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  user_id BLOB,
  pseudonym BLOB,
  family TEXT,
  chain TEXT,
  address TEXT,
  client_id BLOB,
  peer TEXT,
  request TEXT,
  details TEXT NOT NULL,
  salt BLOB,
  commitment BLOB NOT NULL
);
CREATE INDEX events_by_kind ON events (kind, id);
CREATE INDEX events_by_user ON events (user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX events_by_pseudonym ON events (pseudonym, id) WHERE pseudonym IS NOT NULL;
-- With the kind, because a client can have millions of sign-ins and a handful of changes.
CREATE INDEX events_by_client ON events (client_id, kind, id) WHERE client_id IS NOT NULL;
-- Events about a wallet that had no user then. Those of a user are found by the user.
CREATE INDEX events_by_wallet ON events (address, family, id) WHERE address IS NOT NULL AND user_id IS NULL;

CREATE TABLE checkpoints (
  number INTEGER NOT NULL PRIMARY KEY,
  sealed_at BIGINT NOT NULL,
  first_position BIGINT NOT NULL,
  events INTEGER NOT NULL,
  root BLOB NOT NULL,
  previous BLOB NOT NULL,
  kept_from BIGINT NOT NULL,
  jws TEXT NOT NULL
);
CREATE INDEX checkpoints_by_position ON checkpoints (first_position, number);

-- What one replica does for all.
CREATE TABLE leases (
  name TEXT NOT NULL PRIMARY KEY,
  holder BLOB NOT NULL,
  held_until BIGINT NOT NULL
) WITHOUT ROWID;
