-- Wallets of suspended operators.
--
-- A suspension is kept for wallets, not for users: it outlives unlinking and the deletion of an account. So this table refers neither to
-- `users` nor to `wallets`. All rows of one suspension have its id, so that they end together.

CREATE TABLE suspended_wallets (
  family TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  chain TEXT NOT NULL,
  suspension_id UUID NOT NULL,
  suspended_at TIMESTAMPTZ NOT NULL,
  reason TEXT,
  PRIMARY KEY (family, address)
);
CREATE INDEX suspended_wallets_by_suspension ON suspended_wallets (suspension_id);
