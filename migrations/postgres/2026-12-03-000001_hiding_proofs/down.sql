ALTER TABLE events DROP COLUMN hiding_proof;
