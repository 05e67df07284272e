-- What the desk's lists are sorted by.
--
-- `seen_at`: when a user signed in last, as far as it is written down; NULL: not since they were created. `used_at`: the same of a client that
-- people sign in to or that gets tokens. Both are written behind the requests, so they can be some seconds old. NULL counts as `created_at`:
-- the previous release writes neither.

ALTER TABLE users ADD COLUMN seen_at TIMESTAMPTZ;
UPDATE users SET seen_at = seen.last_at FROM (
  SELECT user_id, max(last_used_at) AS last_at FROM (
    SELECT user_id, last_used_at FROM signed_consents
    UNION ALL
    SELECT user_id, last_used_at FROM login_sessions
  ) AS used GROUP BY user_id
) AS seen WHERE users.id = seen.user_id AND seen.last_at > users.created_at;
CREATE INDEX users_by_seen ON users ((coalesce(seen_at, created_at)), id);
CREATE INDEX users_by_created_at ON users (created_at, id);

ALTER TABLE clients ADD COLUMN used_at TIMESTAMPTZ;
CREATE INDEX clients_by_name ON clients (lower(name COLLATE "C"), id);
CREATE INDEX clients_by_use ON clients ((coalesce(used_at, created_at)), id);
CREATE INDEX clients_by_created_at ON clients (created_at, id);
