-- Everything that kept people out is forgotten: the release before this one lets everyone in.
ALTER TABLE clients DROP COLUMN released_groups;
ALTER TABLE clients DROP COLUMN access_rule;
DROP TABLE blocked_wallets;
DROP TABLE blocked_users;
DROP TABLE group_wallets;
DROP TABLE group_users;
DROP TABLE user_groups;
