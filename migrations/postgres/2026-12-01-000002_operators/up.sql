-- What operators use: keys of the admin interface, files that declare, and changes that need two of them.

-- The keys of the admin interface, as hashes. A revoked one stays, so that its name is not given to another.
CREATE TABLE admin_keys (
  id UUID NOT NULL PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL UNIQUE,
  scopes TEXT NOT NULL,
  hash BYTEA NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ,
  revoked_at TIMESTAMPTZ,
  last_used_at TIMESTAMPTZ
);

-- Requests that must not be carried out twice, for a day: digests of their names and of what they ask. `made_at`: when a request created what
-- it asks for. Until then it waits.
CREATE TABLE admin_requests (
  key_id UUID NOT NULL REFERENCES admin_keys (id),
  name BYTEA NOT NULL,
  asked BYTEA NOT NULL,
  begun_at TIMESTAMPTZ NOT NULL,
  waits_since TIMESTAMPTZ,
  made_at TIMESTAMPTZ,
  PRIMARY KEY (key_id, name)
);
CREATE INDEX admin_requests_by_begun_at ON admin_requests (key_id, begun_at);
-- Upkeep forgets the oldest, whichever key began them.
CREATE INDEX admin_requests_oldest ON admin_requests (begun_at);

-- What a file once declared (docs/declared.md). Only that is ever pruned. `created_at` is that of the thing: another thing that got the same name
-- later is not the one that was declared.
CREATE TABLE declarations (
  kind TEXT COLLATE "C" NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  source TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (kind, key)
);

-- Changes that one operator signed, and that wait for a second one. The change is read from the text. All wallets that the
-- first operator had then are lines of `wallets`. `taken_at`: when the second operator signed. What is not carried out soon after waits again.
CREATE TABLE proposals (
  id UUID NOT NULL PRIMARY KEY,
  user_id UUID NOT NULL,
  wallets TEXT NOT NULL,
  family TEXT NOT NULL,
  chain TEXT NOT NULL,
  address TEXT NOT NULL,
  text TEXT NOT NULL,
  signature TEXT NOT NULL,
  second_user_id UUID,
  second_family TEXT,
  second_chain TEXT,
  second_address TEXT,
  second_text TEXT,
  second_signature TEXT,
  proposed_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  state TEXT NOT NULL,
  taken_at TIMESTAMPTZ
);
CREATE INDEX proposals_by_expires_at ON proposals (expires_at);
CREATE INDEX proposals_by_user ON proposals (user_id);
CREATE INDEX proposals_by_second_user ON proposals (second_user_id) WHERE second_user_id IS NOT NULL;
