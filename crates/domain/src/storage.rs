//! What storage holds as a whole: archives, epochs, and when things are forgotten.

pub mod archive;
pub mod epoch;
pub mod forgetting;
