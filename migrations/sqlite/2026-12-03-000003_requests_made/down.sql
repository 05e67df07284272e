DROP INDEX admin_requests_oldest;
ALTER TABLE admin_requests DROP COLUMN made_at;
ALTER TABLE admin_requests DROP COLUMN waits_since;
