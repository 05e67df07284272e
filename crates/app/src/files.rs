//! Files: private ones, long ones, and the file systems that they are on.

pub(crate) mod bounded_file;
pub(crate) mod file_system;
pub(crate) mod private_file;
