-- Deleted users some of whose sealed events do not have the pseudonym yet: each step gives it to a few, and the last one deletes the row. The proof
-- is the server's own, so that a row that others wrote hides no one.
CREATE TABLE left_to_forget (
  user_id UUID NOT NULL PRIMARY KEY,
  pseudonym BYTEA NOT NULL,
  proof BYTEA NOT NULL
);
