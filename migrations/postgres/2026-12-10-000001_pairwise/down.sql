-- What the older release cannot read goes: its clients are public.

UPDATE clients SET rare_fields = NULL WHERE rare_fields LIKE '%subject_type%' OR rare_fields LIKE '%sector_identifier_uri%';
ALTER TABLE clients RENAME COLUMN rare_fields TO lifetimes;
