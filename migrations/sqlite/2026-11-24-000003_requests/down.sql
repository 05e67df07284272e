DROP TABLE device_requests;
DROP TABLE pushed_requests;
