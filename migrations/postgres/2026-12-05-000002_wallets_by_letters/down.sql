DROP INDEX wallets_by_letters;
