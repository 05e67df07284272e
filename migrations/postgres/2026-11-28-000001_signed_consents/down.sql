ALTER TABLE clients DROP COLUMN resources;
DROP TRIGGER consents_of_deleted_clients ON clients;
DROP TRIGGER consents_of_deleted_users ON users;
DROP TRIGGER consents_revoked ON consents;
DROP FUNCTION forget_consents_of_clients;
DROP FUNCTION forget_consents_of_users;
DROP FUNCTION forget_revoked_consents;
DROP TABLE signed_consents;
