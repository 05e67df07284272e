-- One key for each algorithm is left: the one that signs.
DELETE FROM signing_keys WHERE kid NOT IN (
  SELECT DISTINCT ON (algorithm) kid FROM signing_keys
  ORDER BY algorithm, withdrawn_at IS NOT NULL, active_from > now(), active_from DESC, kid DESC
);
ALTER TABLE signing_keys DROP COLUMN withdrawn_at;
ALTER TABLE signing_keys DROP COLUMN active_from;
ALTER TABLE signing_keys ADD CONSTRAINT signing_keys_algorithm_key UNIQUE (algorithm);
