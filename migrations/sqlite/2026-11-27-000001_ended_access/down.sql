DROP INDEX tokens_ended;
