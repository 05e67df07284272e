-- What a file once declared (docs/declared.md). Only that is ever pruned.
--
-- `created_at` is that of the thing: another thing that got the same name later is not the one that was declared. The release before
-- this one leaves the table alone.

CREATE TABLE declarations (
  kind TEXT COLLATE "C" NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  source TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (kind, key)
);
