//! A page that tests write on and read.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Keeps what is written; its clones share it.
#[derive(Clone, Default)]
pub(super) struct Page(Arc<Mutex<Vec<u8>>>);

impl Page {
    /// What stands there.
    pub(super) fn read(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
