-- One key for each algorithm is left: the one that signs.
CREATE TABLE single_signing_keys (
  kid TEXT NOT NULL PRIMARY KEY,
  algorithm TEXT NOT NULL UNIQUE,
  sealed BLOB NOT NULL,
  created_at BIGINT NOT NULL
) WITHOUT ROWID;
INSERT INTO single_signing_keys (kid, algorithm, sealed, created_at)
  SELECT kid, algorithm, sealed, created_at FROM (
    SELECT *, row_number() OVER (
      PARTITION BY algorithm
      ORDER BY withdrawn_at IS NOT NULL, active_from > unixepoch() * 1000000, active_from DESC, kid DESC
    ) AS place FROM signing_keys
  ) WHERE place = 1;
DROP TABLE signing_keys;
ALTER TABLE single_signing_keys RENAME TO signing_keys;
