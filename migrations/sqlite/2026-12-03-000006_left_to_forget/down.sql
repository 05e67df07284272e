DROP TABLE left_to_forget;
