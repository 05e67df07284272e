ALTER TABLE tokens RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_insert_scale_factor);
ALTER TABLE grants RESET (fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_insert_scale_factor);
CREATE INDEX grants_by_forget_after ON grants (forget_after);
ALTER TABLE grants DROP COLUMN review_at;
