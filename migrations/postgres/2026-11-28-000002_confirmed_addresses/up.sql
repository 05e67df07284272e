-- A user who confirms an address learns whether another user confirmed it before. Few rows, and read only then.
CREATE INDEX emails_confirmed ON emails (lower(address)) WHERE verified_at IS NOT NULL;
