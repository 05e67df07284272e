//! The countersign binary: settings, wiring, server, command line.
