-- When the second operator signed. What is not carried out soon after waits again.
ALTER TABLE proposals ADD COLUMN taken_at TIMESTAMPTZ;
