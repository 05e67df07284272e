ALTER TABLE clients DROP COLUMN lifetimes;
