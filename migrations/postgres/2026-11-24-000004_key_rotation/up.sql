-- Keys are rotated: an algorithm has a key that signs, for a day one that will, and those that signed before. The keys that
-- are there signed from the beginning.
--
-- The release before this one still reads its key here, the oldest of its algorithm; it can no longer make one, which it did on
-- an empty database only.

ALTER TABLE signing_keys DROP CONSTRAINT signing_keys_algorithm_key;
ALTER TABLE signing_keys ADD COLUMN active_from TIMESTAMPTZ;
ALTER TABLE signing_keys ADD COLUMN withdrawn_at TIMESTAMPTZ;
UPDATE signing_keys SET active_from = created_at;
ALTER TABLE signing_keys ALTER COLUMN active_from SET NOT NULL;
