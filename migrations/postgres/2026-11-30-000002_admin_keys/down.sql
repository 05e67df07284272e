DROP TABLE admin_requests;
DROP TABLE admin_keys;
