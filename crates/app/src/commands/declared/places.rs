//! Where something is in a text: its line and its column. A file may have very many things, on many lines or
//! on one, so no place is counted from the beginning.

/// How many bytes lie between two places whose characters are counted.
const STEP: usize = 1_024;

/// The places in a text.
pub(super) struct Places<'a> {
    text: &'a [u8],
    /// Where each line begins.
    lines: Vec<usize>,
    /// How many characters begin before each step.
    characters: Vec<usize>,
}

impl<'a> Places<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let text = text.as_bytes();
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        let steps = text.chunks(STEP).scan(0, |before, step| {
            let counted = *before;
            *before += begun(step);
            Some(counted)
        });
        Self { text, lines, characters: steps.collect() }
    }

    /// The line and the column of the character that begins at this byte, from 1. Past the end, it is the end.
    pub(super) fn of_byte(&self, at: usize) -> (usize, usize) {
        let at = at.min(self.text.len());
        let line = self.lines.partition_point(|begin| *begin <= at);
        let begin = self.lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        (line, self.before(at) - self.before(begin) + 1)
    }

    /// How many characters begin before this byte.
    fn before(&self, at: usize) -> usize {
        let step = at / STEP;
        // A text may end with a whole step.
        let (counted, from) = match self.characters.get(step) {
            Some(counted) => (*counted, step * STEP),
            None => (self.characters.last().copied().unwrap_or_default(), step.saturating_sub(1) * STEP),
        };
        counted + begun(self.text.get(from..at).unwrap_or_default())
    }
}

/// How many characters begin in these bytes of UTF-8.
fn begun(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_place_is_that_which_one_gets_by_counting(words in proptest::collection::vec("(a|\n|\u{e9}|\u{1f511}){0,40}", 0..80)) {
            let text = words.concat();
            let places = Places::of(&text);
            for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
                let before = &text[..at];
                let line = before.matches('\n').count() + 1;
                let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
                prop_assert_eq!(places.of_byte(at), (line, column));
            }
            prop_assert_eq!(places.of_byte(text.len() + 9), places.of_byte(text.len()));
        }
    }
}
