DROP TABLE time_mark;
DROP INDEX clients_described;
DROP INDEX grants_ended_by_user;
DROP TRIGGER grants_forgotten;
DROP INDEX users_untold;
ALTER TABLE users DROP COLUMN untold_since;
