DROP TABLE signing_keys;
DROP TABLE tokens;
DROP TABLE grants;
DROP TABLE wallets;
DROP TABLE users;
DROP TABLE clients;
