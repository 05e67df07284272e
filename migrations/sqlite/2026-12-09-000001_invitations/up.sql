-- Invitations into groups. `hash` is that of the secret in the link. With the group, they are deleted.
--
-- `client_id` refers to no row of `clients`: a client that was deleted leaves an invitation that leads to no application.

CREATE TABLE invitations (
  id BLOB NOT NULL PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  group_name TEXT NOT NULL REFERENCES user_groups (name) ON DELETE CASCADE,
  client_id BLOB,
  inviter TEXT,
  person_name TEXT,
  uses BIGINT NOT NULL,
  used BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  revoked_at BIGINT
);
CREATE INDEX invitations_by_group ON invitations (group_name, id);

-- The wallets that came in by them. They go with the account of the wallet's user; `used` still counts them.

CREATE TABLE invitation_uses (
  invitation_id BLOB NOT NULL REFERENCES invitations (id) ON DELETE CASCADE,
  family TEXT NOT NULL,
  address TEXT NOT NULL,
  chain TEXT NOT NULL,
  used_at BIGINT NOT NULL,
  PRIMARY KEY (invitation_id, family, address)
) WITHOUT ROWID;
CREATE INDEX invitation_uses_by_wallet ON invitation_uses (family, address);
