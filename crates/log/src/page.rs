//! A buffer that tests write the log to and read it from.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Keeps everything written to it. Clones share the same buffer.
#[derive(Clone, Default)]
pub(super) struct Page(Arc<Mutex<Vec<u8>>>);

impl Page {
    /// Everything written so far.
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
