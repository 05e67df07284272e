//! Grants, codes and tokens: which servers they are for, and what they say about a person.

pub mod audience;
pub mod code;
pub mod grant;
pub mod id_token;
pub mod pairwise;
pub mod particulars;
pub mod refresh;
pub mod resource;
pub mod token;
pub mod user_info;
