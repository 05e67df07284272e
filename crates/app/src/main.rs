//! Three lines: everything else is in the library, so that another binary can wire other adapters.
fn main() {}
