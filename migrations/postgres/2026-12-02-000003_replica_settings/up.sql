-- What replicas must agree on, as a JSON object of settings, and a peer that forwards for others and is not trusted to.
-- A replica of the release before writes neither.
ALTER TABLE replicas
  ADD COLUMN settings TEXT NOT NULL DEFAULT '',
  ADD COLUMN untrusted_proxy TEXT;
