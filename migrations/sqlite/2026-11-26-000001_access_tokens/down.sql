DROP TRIGGER tokens_forgotten;
DROP TRIGGER tokens_changed;
DROP TRIGGER tokens_stored;
DROP VIEW living_tokens;
DROP INDEX grants_ended;
DROP TABLE access_tokens;
ALTER TABLE tokens DROP COLUMN place;
