-- What signatures allowed, and the tokens that came of it.

-- `particulars`: resources, key and signed text; most grants have none of them.
--
-- `review_at`: when upkeep looks at a grant next. A login sets it to `forget_after`; redeeming and refreshing move `forget_after` alone,
-- and upkeep moves this one after it when the time has come and the grant still lives: once for each lifetime of a
-- refresh token, not once for each refresh. So what an exchange and a refresh change in a grant is in no index
-- (docs/adr/0021-expired-rows-are-deleted.md).
CREATE TABLE grants (
  id UUID NOT NULL PRIMARY KEY,
  client_id UUID NOT NULL,
  user_id UUID NOT NULL,
  family TEXT NOT NULL,
  chain TEXT NOT NULL,
  address TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  scope TEXT NOT NULL,
  nonce TEXT,
  code_challenge BYTEA,
  code_hash BYTEA NOT NULL,
  authenticated_at TIMESTAMPTZ NOT NULL,
  code_expires_at TIMESTAMPTZ NOT NULL,
  forget_after TIMESTAMPTZ NOT NULL,
  redeemed_at TIMESTAMPTZ,
  newest_token UUID,
  revoked_at TIMESTAMPTZ,
  revocation_reason TEXT,
  particulars TEXT,
  session_id UUID,
  review_at TIMESTAMPTZ NOT NULL DEFAULT '-infinity'
);
CREATE INDEX grants_by_client ON grants (client_id);
CREATE INDEX grants_by_review_at ON grants (review_at);
-- Unlinking a wallet revokes the user's live grants that were signed with it. It finds them here: by the user's 16 bytes
-- rather than by the wallet's fifty, and only those that live.
CREATE INDEX grants_by_user ON grants (user_id) WHERE revoked_at IS NULL;
-- With `grants_by_user` it finds all grants of a user. Those that ended are few.
CREATE INDEX grants_ended_by_user ON grants (user_id) WHERE revoked_at IS NOT NULL;
-- Grants that ended before their time: few, and in few pages.
CREATE INDEX grants_ended ON grants (id) WHERE revoked_at IS NOT NULL;

-- Pages keep room for one or two new versions of a row, which then need no entry in any index (a HOT update). Rows come and go at the same
-- rate. A fifth of a large table is too much to leave to one vacuum.
ALTER TABLE grants SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE TABLE tokens (
  id UUID NOT NULL PRIMARY KEY,
  grant_id UUID NOT NULL,
  parent_id UUID,
  scope TEXT NOT NULL,
  issued_at TIMESTAMPTZ NOT NULL,
  access_hash BYTEA NOT NULL,
  access_expires_at TIMESTAMPTZ NOT NULL,
  access_revoked_at TIMESTAMPTZ,
  refresh_hash BYTEA,
  refresh_expires_at TIMESTAMPTZ,
  forget_after TIMESTAMPTZ NOT NULL,
  bound_key BYTEA
);
CREATE INDEX tokens_by_forget_after ON tokens (forget_after);
-- Access tokens that ended before their time: few, and in few pages. With `grants_ended` a server that remembers what a token
-- means knows that it lives on, without reading the token (docs/adr/0028-access-tokens-are-remembered.md).
CREATE INDEX tokens_ended ON tokens (id) WHERE access_revoked_at IS NOT NULL;
ALTER TABLE tokens SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);

-- A code that was redeemed made its user known to a client. That must outlive the grant, whatever deletes it: upkeep, the removal of a client,
-- an operator by hand (docs/adr/0035-users-that-no-client-learned-of.md). Upkeep and the removal of a
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
