ALTER TABLE tokens DROP COLUMN bound_key;
ALTER TABLE grants DROP COLUMN session_id;
ALTER TABLE grants DROP COLUMN particulars;
ALTER TABLE clients DROP COLUMN requires_bound_tokens;
ALTER TABLE clients DROP COLUMN requires_pushed_requests;
ALTER TABLE clients DROP COLUMN token_endpoint_auth_signing_alg;
ALTER TABLE clients DROP COLUMN backchannel_logout_uri;
ALTER TABLE clients DROP COLUMN document;
