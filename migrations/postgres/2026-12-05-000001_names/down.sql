DROP TABLE named_wallets;
DROP TABLE named_users;
