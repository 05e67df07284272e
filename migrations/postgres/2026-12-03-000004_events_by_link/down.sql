DROP INDEX events_of_links_by_wallet;
DROP INDEX events_of_links_by_user;
