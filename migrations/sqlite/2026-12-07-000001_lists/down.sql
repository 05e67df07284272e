DROP INDEX clients_by_created_at;
DROP INDEX clients_by_use;
DROP INDEX clients_by_name;
ALTER TABLE clients DROP COLUMN used_at;
DROP INDEX users_by_created_at;
DROP INDEX users_by_seen;
ALTER TABLE users DROP COLUMN seen_at;
