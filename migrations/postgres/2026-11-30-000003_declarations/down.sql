DROP TABLE declarations;
