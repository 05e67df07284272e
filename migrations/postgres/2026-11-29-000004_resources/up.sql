-- Resources that the operator declares at the terminal, with scopes of their own
-- (docs/adr/0043-scopes-of-the-operators-resources.md).
--
-- Clients, grants and tokens have names of scopes in their texts already. A consent has bits, so it gets a text beside them. The
-- release before this one leaves that text alone, and grants no scope that could stand in it.

CREATE TABLE resources (
  uri TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  open_to TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL
);

-- A name belongs to one resource. The titles in other languages: one a line, each after its language.
CREATE TABLE resource_scopes (
  name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  resource TEXT COLLATE "C" NOT NULL REFERENCES resources (uri) ON DELETE CASCADE,
  title TEXT NOT NULL,
  titles TEXT NOT NULL,
  needs TEXT
);
CREATE INDEX resource_scopes_by_resource ON resource_scopes (resource);

ALTER TABLE signed_consents ADD COLUMN own_scopes TEXT NOT NULL DEFAULT '';
