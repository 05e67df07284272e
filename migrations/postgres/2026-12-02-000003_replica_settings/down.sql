ALTER TABLE replicas
  DROP COLUMN untrusted_proxy,
  DROP COLUMN settings;
