//! The operating system's randomness. This is the only place in the product that asks the machine for random
//! bytes.

use countersign_ports::Entropy;

/// Random bytes directly from the operating system, without a generator of our own in between.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    /// Ends the process if the operating system has no randomness: anyone could guess whatever a server
    /// issued without it.
    fn fill(&self, buffer: &mut [u8]) {
        if let Err(error) = getrandom::fill(buffer) {
            eprintln!(
                "countersign: the operating system provides no random bytes ({error}); ending the process"
            );
            std::process::abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_ports::EntropyExt;

    use super::*;

    #[test]
    fn no_two_draws_are_equal_and_an_empty_draw_is_fine() {
        OsEntropy.fill(&mut []);
        let draws: std::collections::HashSet<[u8; 16]> = (0..1_000).map(|_| OsEntropy.bytes()).collect();
        assert_eq!(draws.len(), 1_000);
    }
}
