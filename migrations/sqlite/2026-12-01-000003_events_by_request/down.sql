DROP INDEX events_by_request;
