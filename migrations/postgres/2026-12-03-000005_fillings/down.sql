DROP TABLE fillings;
