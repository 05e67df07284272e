-- Keys are rotated: an algorithm has a key that signs, for a day one that will, and those that signed before. The keys that
-- are there signed from the beginning. SQLite drops no constraint, so the table is made anew.
--
-- The release before this one still reads its key here, the oldest of its algorithm.

CREATE TABLE rotated_signing_keys (
  kid TEXT NOT NULL PRIMARY KEY,
  algorithm TEXT NOT NULL,
  sealed BLOB NOT NULL,
  created_at BIGINT NOT NULL,
  active_from BIGINT NOT NULL,
  withdrawn_at BIGINT
) WITHOUT ROWID;
INSERT INTO rotated_signing_keys (kid, algorithm, sealed, created_at, active_from)
  SELECT kid, algorithm, sealed, created_at, created_at FROM signing_keys;
DROP TABLE signing_keys;
ALTER TABLE rotated_signing_keys RENAME TO signing_keys;
