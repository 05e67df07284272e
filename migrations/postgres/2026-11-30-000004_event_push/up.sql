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
