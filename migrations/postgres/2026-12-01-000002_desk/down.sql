DROP TABLE replicas;
DROP TABLE day_counts;
DROP TABLE proposals;
