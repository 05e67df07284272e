DROP TABLE spent_proofs;
