DROP VIEW living_tokens;
DROP TABLE access_tokens;
DROP TABLE tokens;
DROP TABLE grants;
