ALTER TABLE clients DROP COLUMN resources;
DROP TRIGGER consents_of_deleted_clients;
DROP TRIGGER consents_of_deleted_users;
DROP TRIGGER consents_revoked;
DROP TABLE signed_consents;
