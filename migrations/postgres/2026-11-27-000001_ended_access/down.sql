DROP INDEX grants_ended;
DROP INDEX tokens_ended;
