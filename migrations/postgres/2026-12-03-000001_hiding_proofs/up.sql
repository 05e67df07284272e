-- What proves that the server itself took the person out of a sealed event, because their account was deleted. Only the
-- operator's secret can make it. Events of accounts that were deleted before have none.
ALTER TABLE events ADD COLUMN hiding_proof BYTEA;
