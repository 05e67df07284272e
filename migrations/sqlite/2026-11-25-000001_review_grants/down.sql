DROP INDEX grants_by_review_at;
CREATE INDEX grants_by_forget_after ON grants (forget_after);
ALTER TABLE grants DROP COLUMN review_at;
