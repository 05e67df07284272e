-- Old secrets end.
DROP TABLE client_secrets;
DROP INDEX clients_by_old_secret_expires_at;
ALTER TABLE clients DROP COLUMN old_secret_expires_at;
ALTER TABLE clients DROP COLUMN old_secret_hash;
