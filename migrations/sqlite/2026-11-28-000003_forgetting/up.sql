-- Since when no client has learned of a user, or when that was looked at last; NULL: one has, or it is not known. The users that
-- are there, and those that the release before this one still makes, count as known: they are not forgotten.
ALTER TABLE users ADD COLUMN untold_since BIGINT;
CREATE INDEX users_untold ON users (untold_since) WHERE untold_since IS NOT NULL;

-- A code that was redeemed made its user known to a client. That must outlive the grant, whatever deletes it: upkeep, the removal of a client,
-- the release before this one, an operator by hand (docs/adr/0035-users-that-no-client-learned-of.md).
CREATE TRIGGER grants_forgotten AFTER DELETE ON grants WHEN OLD.redeemed_at IS NOT NULL BEGIN
  UPDATE users SET untold_since = NULL WHERE id = OLD.user_id AND untold_since IS NOT NULL;
END;

-- With `grants_by_user` it finds all grants of a user. Those that ended are few.
CREATE INDEX grants_ended_by_user ON grants (user_id) WHERE revoked_at IS NOT NULL;

-- The clients that no one registered.
CREATE INDEX clients_described ON clients (id) WHERE document IS NOT NULL;

-- One row: what is known of the time (docs/adr/0034-nothing-is-forgotten-by-one-clock.md).
CREATE TABLE time_mark (
  id INTEGER NOT NULL PRIMARY KEY,
  trusted_at BIGINT NOT NULL,
  doubted_for BIGINT NOT NULL
);
