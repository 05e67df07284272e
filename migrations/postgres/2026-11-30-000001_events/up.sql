-- What happened. An act writes its event into `fresh_events`, in its own transaction; this table has no index but its key,
-- because sign-ins write to it. A moment later events are sealed: they get a position and a checkpoint, and move to `events`.
-- Either `user_id` or `pseudonym` names the person, or neither. When it happened is in the id. `signed`: what operators signed to have it done,
-- as JSON, only where a change was made at the desk.
CREATE TABLE fresh_events (
  id UUID NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  user_id UUID,
  pseudonym BYTEA,
  family TEXT,
  chain TEXT,
  address TEXT,
  client_id UUID,
  peer TEXT,
  request TEXT,
  details TEXT NOT NULL,
  signed TEXT
);

-- `hiding_proof`: what proves that the server itself took the person out of a sealed event, because their account was deleted. Only the
-- operator's secret can make it.
CREATE TABLE events (
  position BIGINT NOT NULL PRIMARY KEY,
  id UUID NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  user_id UUID,
  pseudonym BYTEA,
  family TEXT,
  chain TEXT,
  address TEXT,
  client_id UUID,
  peer TEXT,
  request TEXT,
  details TEXT NOT NULL,
  salt BYTEA,
  commitment BYTEA NOT NULL,
  signed TEXT,
  hiding_proof BYTEA
);
CREATE INDEX events_by_kind ON events (kind, id);
CREATE INDEX events_by_user ON events (user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX events_by_pseudonym ON events (pseudonym, id) WHERE pseudonym IS NOT NULL;
-- With the kind, because a client can have millions of sign-ins and a handful of changes.
CREATE INDEX events_by_client ON events (client_id, kind, id) WHERE client_id IS NOT NULL;
-- Events about a wallet that had no user then. Those of a user are found by the user.
CREATE INDEX events_by_wallet ON events (address, family, id) WHERE address IS NOT NULL AND user_id IS NULL;
-- The desk finds what a request led to. Fresh events have no such index, because sign-ins write to them.
CREATE INDEX events_by_request ON events (request, id) WHERE request IS NOT NULL;
-- Who had which wallet, so that one person never signs as two. Only events of linking and unlinking: other events do not pay
-- for it. A pair is found once, however often it was linked.
CREATE INDEX events_of_links_by_user ON events (user_id, family, address) WHERE kind IN ('wallet_linked', 'wallet_unlinked');
CREATE INDEX events_of_links_by_wallet ON events (address, family, user_id) WHERE kind IN ('wallet_linked', 'wallet_unlinked');

CREATE TABLE checkpoints (
  number BIGINT NOT NULL PRIMARY KEY,
  sealed_at TIMESTAMPTZ NOT NULL,
  first_position BIGINT NOT NULL,
  events INTEGER NOT NULL,
  root BYTEA NOT NULL,
  previous BYTEA NOT NULL,
  kept_from BIGINT NOT NULL,
  jws TEXT NOT NULL
);
CREATE INDEX checkpoints_by_position ON checkpoints (first_position, number);

-- Deleted users some of whose sealed events do not have the pseudonym yet: each step gives it to a few, and the last one deletes the row. The proof
-- is the server's own, so that a row that others wrote hides no one.
CREATE TABLE left_to_forget (
  user_id UUID NOT NULL PRIMARY KEY,
  pseudonym BYTEA NOT NULL,
  proof BYTEA NOT NULL
);

-- How often what happened on a day, by the family of the wallet, or the empty text. It stays when events are forgotten.
CREATE TABLE day_counts (
  day DATE NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  family TEXT COLLATE "C" NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (day, kind, family)
);

-- How far events were pushed to a receiver, which is known by the hash of its URL. All events up to `position` were
-- taken, given up, or are delayed.
CREATE TABLE event_pushes (
  receiver BYTEA NOT NULL PRIMARY KEY,
  position BIGINT NOT NULL,
  round BIGINT NOT NULL
);

-- What a receiver did not take yet. The event itself stays in `events`, so that deleting an account reaches it.
CREATE TABLE delayed_events (
  receiver BYTEA NOT NULL,
  position BIGINT NOT NULL,
  delayed_at TIMESTAMPTZ NOT NULL,
  next_at TIMESTAMPTZ NOT NULL,
  tries INTEGER NOT NULL,
  PRIMARY KEY (receiver, position)
);
