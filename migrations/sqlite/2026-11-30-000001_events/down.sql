DROP TABLE delayed_events;
DROP TABLE event_pushes;
DROP TABLE day_counts;
DROP TABLE left_to_forget;
DROP TABLE checkpoints;
DROP TABLE events;
DROP TABLE fresh_events;
