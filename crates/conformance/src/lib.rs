//! Contract suites for adapters, the in-memory reference store, fixtures and fakes.
