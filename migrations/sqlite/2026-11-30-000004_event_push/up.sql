-- How far events were pushed to a receiver, which is known by the hash of its URL. All events up to `position` were
-- taken, given up, or are delayed.
CREATE TABLE event_pushes (
  receiver BLOB NOT NULL PRIMARY KEY,
  position BIGINT NOT NULL,
  round BIGINT NOT NULL
) WITHOUT ROWID;

-- What a receiver did not take yet. The event itself stays in `events`, so that deleting an account reaches it.
CREATE TABLE delayed_events (
  receiver BLOB NOT NULL,
  position BIGINT NOT NULL,
  delayed_at BIGINT NOT NULL,
  next_at BIGINT NOT NULL,
  tries INTEGER NOT NULL,
  PRIMARY KEY (receiver, position)
) WITHOUT ROWID;
