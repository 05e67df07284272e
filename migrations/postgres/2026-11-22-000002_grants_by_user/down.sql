DROP INDEX grants_by_user;
