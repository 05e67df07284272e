-- One user, many wallets. The chain makes a wallet a CAIP-10 account. It may be missing: the rows from before have none,
-- nor have those that the release before this one still writes beside us.

ALTER TABLE wallets ADD COLUMN chain TEXT;

-- The ids of challenges that linked or unlinked a wallet. That one is there is what makes such a challenge work once.
CREATE TABLE spent_challenges (
  id BLOB NOT NULL PRIMARY KEY,
  forget_after BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX spent_challenges_by_forget_after ON spent_challenges (forget_after);
