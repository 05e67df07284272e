//! Ports that no other test takes.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};

static NEXT: AtomicU16 = AtomicU16::new(0);
static TAKEN: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// A free port below the range for outgoing connections, so that none of those can take it. No other test gets it before
/// this process ends: each port has a file that is locked until then.
///
/// # Panics
///
/// If the folder for temporary files cannot be written to.
pub fn free_port() -> u16 {
    let start = u16::try_from(std::process::id() % 180 * 100).expect("at most 17,900");
    let folder = std::env::temp_dir().join("countersign-test-ports");
    fs::create_dir_all(&folder).expect("the folder for temporary files can be written to");
    loop {
        let port = 12_000 + (start + NEXT.fetch_add(1, Ordering::Relaxed)) % 18_000;
        let file = File::create(folder.join(port.to_string()));
        let file = file.expect("the folder for temporary files can be written to");
        if file.try_lock().is_ok() && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            TAKEN.lock().unwrap_or_else(PoisonError::into_inner).push(file);
            return port;
        }
    }
}
