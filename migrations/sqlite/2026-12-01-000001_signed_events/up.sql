-- What operators signed to have it done: JSON, only where a change was made at the desk. The release before does not read it.
ALTER TABLE fresh_events ADD COLUMN signed TEXT;
ALTER TABLE events ADD COLUMN signed TEXT;
