ALTER TABLE replicas DROP COLUMN last_batch;
DROP TABLE hour_counts;
