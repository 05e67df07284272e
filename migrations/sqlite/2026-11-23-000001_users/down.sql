DROP TABLE emails;
DROP TABLE wallets;
DROP TABLE users;
