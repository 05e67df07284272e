-- How often servers counted what in an hour, by the hour's number since 1970. The labels of a figure are a fixed set, and hours are deleted
-- after 30 days, so the table stays small.
CREATE TABLE hour_counts (
  hour BIGINT NOT NULL,
  figure TEXT COLLATE "C" NOT NULL,
  label TEXT COLLATE "C" NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (hour, figure, label)
);

-- The number of the last batch of counts that the replica added, so that a batch that it sends again is not counted twice.
ALTER TABLE replicas ADD COLUMN last_batch BIGINT NOT NULL DEFAULT 0;
