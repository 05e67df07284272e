DROP TABLE emails;
DROP TABLE consents;
DROP TABLE login_sessions;
