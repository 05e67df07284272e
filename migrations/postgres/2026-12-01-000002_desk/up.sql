-- Changes that one operator signed, and that wait for a second one. The change is read from the text. All wallets that the
-- first operator had then are lines of `wallets`.
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
  state TEXT NOT NULL
);
CREATE INDEX proposals_by_expires_at ON proposals (expires_at);
CREATE INDEX proposals_by_user ON proposals (user_id);
CREATE INDEX proposals_by_second_user ON proposals (second_user_id) WHERE second_user_id IS NOT NULL;

-- How often what happened on a day, by the family of the wallet, or the empty text. It stays when events are forgotten.
CREATE TABLE day_counts (
  day DATE NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  family TEXT COLLATE "C" NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (day, kind, family)
);

-- Which processes run, by ids that they make when they start.
CREATE TABLE replicas (
  id BYTEA NOT NULL PRIMARY KEY,
  version TEXT NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  seen_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX replicas_by_seen_at ON replicas (seen_at);
