ALTER TABLE resources DROP COLUMN name;
