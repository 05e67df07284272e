-- Since when no client has learned of a user, or when that was looked at last; NULL: one has, or it is not known. The users that
-- are there, and those that the release before this one still makes, count as known: they are not forgotten.
ALTER TABLE users ADD COLUMN untold_since TIMESTAMPTZ;
CREATE INDEX users_untold ON users (untold_since) WHERE untold_since IS NOT NULL;

-- A code that was redeemed made its user known to a client. That must outlive the grant, whatever deletes it: upkeep, the removal of a client,
-- the release before this one, an operator by hand (docs/adr/0035-users-that-no-client-learned-of.md). Upkeep and the removal of a
-- client lock these users before they delete, in the order that all others keep; so this waits for no one there.
CREATE FUNCTION tell_of_users() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE users SET untold_since = NULL
  WHERE id IN (SELECT user_id FROM gone WHERE redeemed_at IS NOT NULL) AND untold_since IS NOT NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER grants_forgotten AFTER DELETE ON grants
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION tell_of_users();

-- With `grants_by_user` it finds all grants of a user. Those that ended are few. The table is read once for it, without its
-- being written meanwhile; where that is too long, make the index before the release with CREATE INDEX CONCURRENTLY.
CREATE INDEX IF NOT EXISTS grants_ended_by_user ON grants (user_id) WHERE revoked_at IS NOT NULL;

-- The clients that no one registered.
CREATE INDEX clients_described ON clients (id) WHERE document IS NOT NULL;
