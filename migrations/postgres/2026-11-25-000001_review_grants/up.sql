-- When upkeep looks at a grant next. A login sets it to `forget_after`; redeeming and refreshing move `forget_after` alone,
-- and upkeep moves this one after it when the time has come and the grant still lives: once for each lifetime of a
-- refresh token, not once for each refresh.
--
-- So what an exchange and a refresh change in a grant is in no index, and with room in its page the new version needs no
-- entry in any of the four (a HOT update). Of ten million tokens, each refresh of any of them then writes 7.6 KB of log
-- and not 21.3 (docs/adr/0021-expired-rows-are-deleted.md).
--
-- The default is for the rows that are there, and for those that the release before this one still writes: upkeep looks
-- at them at once, and sets their time. That release finds what expired by reading the whole table.

ALTER TABLE grants ADD COLUMN review_at TIMESTAMPTZ NOT NULL DEFAULT '-infinity';
CREATE INDEX grants_by_review_at ON grants (review_at);
DROP INDEX grants_by_forget_after;

-- Pages that are written from now on keep room for one or two new versions.
ALTER TABLE grants SET (fillfactor = 85);

-- Rows come and go at the same rate. A fifth of a large table is too much to leave to one vacuum.
ALTER TABLE grants SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE tokens SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
