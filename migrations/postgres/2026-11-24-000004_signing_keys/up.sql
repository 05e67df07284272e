-- Keys are rotated: an algorithm has a key that signs, for a day one that will, and those that signed before.
CREATE TABLE signing_keys (
  kid TEXT NOT NULL PRIMARY KEY,
  algorithm TEXT NOT NULL,
  sealed BYTEA NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  active_from TIMESTAMPTZ NOT NULL,
  withdrawn_at TIMESTAMPTZ
);
