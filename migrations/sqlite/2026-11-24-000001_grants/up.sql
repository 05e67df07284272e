-- What signatures allowed, and the tokens that came of it.

-- `particulars`: resources, key and signed text; most grants have none of them.
--
-- `review_at`: when upkeep looks at a grant next. A login sets it to `forget_after`; redeeming and refreshing move `forget_after` alone,
-- and upkeep moves this one after it when the time has come and the grant still lives: once for each lifetime of a
-- refresh token, not once for each refresh. So what an exchange and a refresh change in a grant is in no index
-- (docs/adr/0021-expired-rows-are-deleted.md).
CREATE TABLE grants (
  id BLOB NOT NULL PRIMARY KEY,
  client_id BLOB NOT NULL,
  user_id BLOB NOT NULL,
  family TEXT NOT NULL,
  chain TEXT NOT NULL,
  address TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  scope TEXT NOT NULL,
  nonce TEXT,
  code_challenge BLOB,
  code_hash BLOB NOT NULL,
  authenticated_at BIGINT NOT NULL,
  code_expires_at BIGINT NOT NULL,
  forget_after BIGINT NOT NULL,
  redeemed_at BIGINT,
  newest_token BLOB,
  revoked_at BIGINT,
  revocation_reason TEXT,
  particulars TEXT,
  session_id BLOB,
  review_at BIGINT NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX grants_by_client ON grants (client_id);
CREATE INDEX grants_by_review_at ON grants (review_at);
-- Unlinking a wallet revokes the user's live grants that were signed with it. It finds them here: by the user's 16 bytes
-- rather than by the wallet's fifty, and only those that live.
CREATE INDEX grants_by_user ON grants (user_id) WHERE revoked_at IS NULL;
-- With `grants_by_user` it finds all grants of a user. Those that ended are few.
CREATE INDEX grants_ended_by_user ON grants (user_id) WHERE revoked_at IS NOT NULL;
-- Grants that ended before their time: few, and in few pages.
CREATE INDEX grants_ended ON grants (id) WHERE revoked_at IS NOT NULL;

-- `place`: where a token's row stands in `access_tokens`, a number made of its id (time and twelve bits of chance, UUID version 7), so that rows
-- are appended.
CREATE TABLE tokens (
  id BLOB NOT NULL PRIMARY KEY,
  grant_id BLOB NOT NULL,
  parent_id BLOB,
  scope TEXT NOT NULL,
  issued_at BIGINT NOT NULL,
  access_hash BLOB NOT NULL,
  access_expires_at BIGINT NOT NULL,
  access_revoked_at BIGINT,
  refresh_hash BLOB,
  refresh_expires_at BIGINT,
  forget_after BIGINT NOT NULL,
  bound_key BLOB,
  place INTEGER
) WITHOUT ROWID;
CREATE INDEX tokens_by_forget_after ON tokens (forget_after);
-- Access tokens that ended before their time: few, and in few pages. With `grants_ended` a server that remembers what a token
-- means knows that it lives on, without reading the token (docs/adr/0028-access-tokens-are-remembered.md).
CREATE INDEX tokens_ended ON tokens (id) WHERE access_revoked_at IS NOT NULL;

-- A code that was redeemed made its user known to a client. That must outlive the grant, whatever deletes it: upkeep, the removal of a client,
-- an operator by hand (docs/adr/0035-users-that-no-client-learned-of.md).
CREATE TRIGGER grants_forgotten AFTER DELETE ON grants WHEN OLD.redeemed_at IS NOT NULL BEGIN
  UPDATE users SET untold_since = NULL WHERE id = OLD.user_id AND untold_since IS NOT NULL;
END;

-- What a living access token means, in one row: what `tokens` says of it and `grants` of its owner. Among ten million tokens
-- a look-up in those two reads six pages that are not at hand, and here one (docs/adr/0025-living-access-tokens.md).
--
-- Nothing is true because it is written here. Triggers keep this table beside `tokens`, whatever writes there; a token that is
-- not found here is looked for in `tokens` and `grants`, which know everything. So a row may be missing, and none may outlive
-- what it says: a token that is revoked or forgotten takes its row along, and every read asks `grants_ended` and `clients`.
CREATE TABLE access_tokens (
  place INTEGER NOT NULL PRIMARY KEY,
  id BLOB NOT NULL,
  grant_id BLOB NOT NULL,
  client_id BLOB NOT NULL,
  user_id BLOB NOT NULL,
  family TEXT NOT NULL,
  chain TEXT NOT NULL,
  address TEXT NOT NULL,
  scope TEXT NOT NULL,
  issued_at BIGINT NOT NULL,
  access_hash BLOB NOT NULL,
  expires_at BIGINT NOT NULL
);

-- The rows as they have to be, in the order of the columns above.
CREATE VIEW living_tokens AS
  SELECT place, tokens.id, grant_id, client_id, user_id, family, chain, address, tokens.scope, issued_at, access_hash,
    access_expires_at
  FROM tokens JOIN grants ON grants.id = grant_id WHERE access_revoked_at IS NULL;

CREATE TRIGGER tokens_stored AFTER INSERT ON tokens WHEN NEW.place IS NOT NULL BEGIN
  INSERT INTO access_tokens SELECT * FROM living_tokens WHERE id = NEW.id ON CONFLICT (place) DO NOTHING;
END;

CREATE TRIGGER tokens_changed AFTER UPDATE ON tokens WHEN OLD.place IS NOT NULL BEGIN
  DELETE FROM access_tokens WHERE place = OLD.place AND id = OLD.id;
  INSERT INTO access_tokens SELECT * FROM living_tokens WHERE id = NEW.id ON CONFLICT (place) DO NOTHING;
END;

CREATE TRIGGER tokens_forgotten AFTER DELETE ON tokens WHEN OLD.place IS NOT NULL BEGIN
  DELETE FROM access_tokens WHERE place = OLD.place AND id = OLD.id;
END;
