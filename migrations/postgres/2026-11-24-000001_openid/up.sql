-- What OpenID Connect and its neighbors add to clients, grants and tokens.

ALTER TABLE clients ADD COLUMN document TEXT;
ALTER TABLE clients ADD COLUMN backchannel_logout_uri TEXT;
ALTER TABLE clients ADD COLUMN token_endpoint_auth_signing_alg TEXT;
ALTER TABLE clients ADD COLUMN requires_pushed_requests BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE clients ADD COLUMN requires_bound_tokens BOOLEAN NOT NULL DEFAULT FALSE;

-- Resources, key and signed text: most grants have none of them.
ALTER TABLE grants ADD COLUMN particulars TEXT;
ALTER TABLE grants ADD COLUMN session_id UUID;

ALTER TABLE tokens ADD COLUMN bound_key BYTEA;
