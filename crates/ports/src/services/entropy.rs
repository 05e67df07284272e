//! Randomness.

/// A source of random bytes that are good enough for keys and secrets.
pub trait Entropy: Send + Sync {
    /// Fills the buffer with random bytes.
    fn fill(&self, buffer: &mut [u8]);
}

/// Random values of a known size.
pub trait EntropyExt {
    /// `N` random bytes.
    fn bytes<const N: usize>(&self) -> [u8; N];
}

impl<T: Entropy + ?Sized> EntropyExt for T {
    fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut buffer = [0; N];
        self.fill(&mut buffer);
        buffer
    }
}
