DROP TABLE blocked_wallets;
DROP TABLE blocked_users;
DROP TABLE group_wallets;
DROP TABLE group_users;
DROP TABLE user_groups;
