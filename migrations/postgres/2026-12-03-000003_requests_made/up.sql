-- When a request created what it asks for. Until then it waits; what an earlier release began does not, and counts as
-- made when it was begun.
ALTER TABLE admin_requests ADD COLUMN waits_since TIMESTAMPTZ;
ALTER TABLE admin_requests ADD COLUMN made_at TIMESTAMPTZ;

-- Upkeep forgets the oldest, whichever key began them.
CREATE INDEX admin_requests_oldest ON admin_requests (begun_at);
