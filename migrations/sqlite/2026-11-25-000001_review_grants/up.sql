-- When upkeep looks at a grant next. A login sets it to `forget_after`; redeeming and refreshing move `forget_after` alone,
-- and upkeep moves this one after it when the time has come and the grant still lives: once for each lifetime of a
-- refresh token, not once for each refresh.
--
-- So what an exchange and a refresh change in a grant is in no index: one page of the table, and not one of the index
-- besides, which of ten million tokens is seldom in memory (docs/adr/0021-expired-rows-are-deleted.md).
--
-- The default is for the rows that are there, and for those that the release before this one still writes: upkeep looks
-- at them at once, and sets their time. That release finds what expired by reading the whole table.

ALTER TABLE grants ADD COLUMN review_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX grants_by_review_at ON grants (review_at);
DROP INDEX grants_by_forget_after;
