DROP TABLE unfinished;
DROP TABLE epochs;
