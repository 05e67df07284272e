-- What a living access token means, in one row: what `tokens` says of it and `grants` of its owner. Among ten million tokens
-- a look-up in those two reads six pages that are not at hand, and here one (docs/adr/0025-living-access-tokens.md).
--
-- Nothing is true because it is written here. Triggers keep this table beside `tokens`, whatever writes there; a token that is
-- not found here is looked for in `tokens` and `grants`, which know everything. So a row may be missing, and none may outlive
-- what it says: a token that is revoked or forgotten takes its row along, and every read asks `grants_ended` and `clients`.

-- Where a token's row stands here: a number made of its id (time and twelve bits of chance, UUID version 7), so that rows are
-- appended. The release before this one leaves it out, and its tokens have no row here.
ALTER TABLE tokens ADD COLUMN place INTEGER;

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

-- Grants that ended before their time: few, and in few pages.
CREATE INDEX grants_ended ON grants (id) WHERE revoked_at IS NOT NULL;

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
