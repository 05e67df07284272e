DROP TRIGGER tokens_forgotten;
DROP TRIGGER tokens_changed;
DROP TRIGGER tokens_stored;
DROP INDEX grants_ended;
DROP TABLE access_tokens;
ALTER TABLE tokens DROP COLUMN place;
