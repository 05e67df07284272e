//! What operators see of people, and the groups that people are in.

pub mod change_members;
pub mod declarations;
pub mod if_unchanged;
pub mod invitations;
pub mod manage_groups;
pub mod names;
pub mod read_groups;
pub mod read_people;
pub mod sign_ins;
pub mod sort_people;
