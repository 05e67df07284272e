DROP TABLE leases;
DROP TABLE checkpoints;
DROP TABLE events;
DROP TABLE fresh_events;
