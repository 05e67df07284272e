//! Wrong clocks: libfaketime, Debian's package `faketime`.

use std::path::Path;

/// The library that a process must load to have another clock.
///
/// # Panics
///
/// If it is not installed.
pub fn library() -> &'static str {
    let places = ["x86_64", "aarch64"].map(|machine| match machine {
        "x86_64" => "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
        _ => "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    });
    let found = places.into_iter().find(|place| Path::new(place).is_file());
    found.unwrap_or_else(|| panic!("Debian's package faketime is not installed (make setup-test)"))
}

/// The environment of a process whose clock is off by so many seconds all the time. Nothing, if it is right.
pub fn off_by(seconds: i64) -> Vec<(String, String)> {
    if seconds == 0 {
        return Vec::new();
    }
    let off = format!("{seconds:+}");
    let variables = [
        ("LD_PRELOAD", library()),
        ("FAKETIME", &off),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ("DONT_FAKE_MONOTONIC", "1"),
        ("NO_FAKE_STAT", "1"),
    ];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}
