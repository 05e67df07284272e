DROP TABLE proposals;
DROP TABLE declarations;
DROP TABLE admin_requests;
DROP TABLE admin_keys;
