-- Restoring a backup begins an epoch: what was handed out before it is good no longer (docs/adr/0048-a-restore-begins-an-epoch.md).
-- The epoch of now is the one with the highest number; without a row, nothing was ever restored. Keys are derived from the id, because
-- the same backup can be restored twice, and the number would come again.
CREATE TABLE epochs (
  number BIGINT NOT NULL PRIMARY KEY,
  id UUID NOT NULL UNIQUE,
  raised_at TIMESTAMPTZ NOT NULL
);

-- A row is here while a restore or a copy fills this database. It goes in the commit that finishes the work; until then nothing else
-- may use the database.
CREATE TABLE unfinished (
  work TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  begun_at TIMESTAMPTZ NOT NULL
);
