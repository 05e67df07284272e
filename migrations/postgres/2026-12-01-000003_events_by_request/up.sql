-- The desk finds what a request led to. Fresh events have no such index, because sign-ins write to them.
--
-- A migration of its own: events are not sealed while it runs, and sign-ins go on. Where that is too long, make the index
-- before the release with CREATE INDEX CONCURRENTLY; it is found here.

CREATE INDEX IF NOT EXISTS events_by_request ON events (request, id) WHERE request IS NOT NULL;
