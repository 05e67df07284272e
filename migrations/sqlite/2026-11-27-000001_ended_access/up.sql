-- Access tokens that ended before their time: few, and in few pages. With `grants_ended` it tells a server that remembers what a token
-- means that it lives on, without reading the token (docs/adr/0028-access-tokens-are-remembered.md).
CREATE INDEX tokens_ended ON tokens (id) WHERE access_revoked_at IS NOT NULL;
