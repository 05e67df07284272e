ALTER TABLE signed_consents DROP COLUMN own_scopes;
DROP TABLE resource_scopes;
DROP TABLE resources;
