ALTER TABLE replicas DROP COLUMN untrusted_proxy;
ALTER TABLE replicas DROP COLUMN settings;
