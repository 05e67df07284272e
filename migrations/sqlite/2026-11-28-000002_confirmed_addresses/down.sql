DROP INDEX emails_confirmed;
