DROP TABLE tokens;
DROP TABLE grants;
DROP FUNCTION tell_of_users();
