DROP TABLE delayed_events;
DROP TABLE event_pushes;
