-- Proofs of others that are good once: what clients signed to prove who they are, and proofs of a key (DPoP).
-- The attempt is the request that brought the proof, so that a command that is repeated is known again.
CREATE TABLE spent_proofs (
  digest BYTEA NOT NULL PRIMARY KEY,
  attempt UUID NOT NULL,
  forget_after TIMESTAMPTZ NOT NULL
);
CREATE INDEX spent_proofs_by_forget_after ON spent_proofs (forget_after);
