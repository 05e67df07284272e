-- Proofs of others that are good once: what clients signed to prove who they are, and proofs of a key (DPoP).
-- The attempt is the request that brought the proof, so that a command that is repeated is known again.
CREATE TABLE spent_proofs (
  digest BLOB NOT NULL PRIMARY KEY,
  attempt BLOB NOT NULL,
  forget_after BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX spent_proofs_by_forget_after ON spent_proofs (forget_after);
