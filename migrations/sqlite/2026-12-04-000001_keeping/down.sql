DROP TABLE fillings;
DROP TABLE unfinished;
DROP TABLE epochs;
DROP TABLE time_mark;
DROP TABLE leases;
DROP TABLE replicas;
