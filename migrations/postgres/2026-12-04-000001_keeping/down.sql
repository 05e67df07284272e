DROP TABLE fillings;
DROP TABLE unfinished;
DROP TABLE epochs;
DROP TABLE leases;
DROP TABLE replicas;
