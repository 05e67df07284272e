//! Translates HTTP to use-cases and back; the only crate that knows both.
