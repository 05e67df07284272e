-- The desk finds what a request led to. Fresh events have no such index, because sign-ins write to them.
CREATE INDEX events_by_request ON events (request, id) WHERE request IS NOT NULL;
