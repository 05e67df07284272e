-- Whoever confirms an address is told if somebody else confirmed it before. Few rows, and read only then.
CREATE INDEX emails_confirmed ON emails (lower(address)) WHERE verified_at IS NOT NULL;
