ALTER TABLE proposals DROP COLUMN taken_at;
