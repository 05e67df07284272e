DROP TABLE suspended_wallets;
