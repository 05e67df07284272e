-- Lifetimes that the operator gave to a client: lines with the name of a field and its seconds; NULL: those of the settings. Few clients have
-- any, and the table has 32 columns with this one, which is the most that diesel takes without building for longer.

ALTER TABLE clients ADD COLUMN lifetimes TEXT;
