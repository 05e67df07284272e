DROP TABLE spent_challenges;
ALTER TABLE wallets DROP COLUMN chain;
