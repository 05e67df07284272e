ALTER TABLE events DROP COLUMN signed;
ALTER TABLE fresh_events DROP COLUMN signed;
