-- The column holds more than lifetimes now: lines with the name of a field and its value, for the fields that few clients have. Among them
-- are subject_type and sector_identifier_uri.

ALTER TABLE clients RENAME COLUMN lifetimes TO rare_fields;
