-- One user, many wallets. The chain makes a wallet a CAIP-10 account. It may be missing: the rows from before have none,
-- nor have those that the release before this one still writes beside us.
-- That release reads linked wallets as it should, but its logins take no lock: one that runs in the same instant as the
-- unlinking of its wallet may keep a grant of the old user. End it before people unlink.

ALTER TABLE wallets ADD COLUMN chain TEXT;

-- The ids of challenges that linked or unlinked a wallet. That one is there is what makes such a challenge work once.
CREATE TABLE spent_challenges (
  id UUID NOT NULL PRIMARY KEY,
  forget_after TIMESTAMPTZ NOT NULL
);
CREATE INDEX spent_challenges_by_forget_after ON spent_challenges (forget_after);
