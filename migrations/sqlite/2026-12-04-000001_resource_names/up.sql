-- The operator's name for a resource, which people read before its URI.
ALTER TABLE resources ADD COLUMN name TEXT;
