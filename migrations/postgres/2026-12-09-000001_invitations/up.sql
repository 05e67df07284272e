-- Invitations into groups. `hash` is that of the secret in the link. With the group, they are deleted.
--
-- `client_id` refers to no row of `clients`: a client that was deleted leaves an invitation that leads to no application.

CREATE TABLE invitations (
  id UUID NOT NULL PRIMARY KEY,
  hash BYTEA NOT NULL UNIQUE,
  group_name TEXT COLLATE "C" NOT NULL REFERENCES user_groups (name) ON DELETE CASCADE,
  client_id UUID,
  inviter TEXT,
  person_name TEXT,
  uses BIGINT NOT NULL,
  used BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  revoked_at TIMESTAMPTZ
);
CREATE INDEX invitations_by_group ON invitations (group_name, id);

-- The wallets that came in by them. They go with the account of the wallet's user; `used` still counts them.

CREATE TABLE invitation_uses (
  invitation_id UUID NOT NULL REFERENCES invitations (id) ON DELETE CASCADE,
  family TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  chain TEXT NOT NULL,
  used_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (invitation_id, family, address)
);
CREATE INDEX invitation_uses_by_wallet ON invitation_uses (family, address);
