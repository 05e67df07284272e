-- Which restore or copy filled this database last: one row, or none. Servers that run compare the id, so that one which stood still notices
-- that the database is another one, also after a restore that keeps tokens and begins no epoch.
CREATE TABLE fillings (
  id UUID NOT NULL PRIMARY KEY,
  filled_at TIMESTAMPTZ NOT NULL
);
