//! People: names, groups, e-mail addresses, pictures, and who is let in.

pub mod admission;
pub mod email;
pub mod group;
pub mod person_name;
pub mod picture;
