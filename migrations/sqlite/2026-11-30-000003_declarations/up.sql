-- What a file once declared (docs/declared.md). Only that is ever pruned.
--
-- `created_at` is that of the thing: another thing that got the same name later is not the one that was declared. The release before
-- this one leaves the table alone.

CREATE TABLE declarations (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  source TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;
