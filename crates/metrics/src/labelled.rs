//! One counter or histogram for each combination of the values of its labels.

/// The values are fixed at the start. An unknown value is counted as the last one, which is there for that
/// purpose.
#[derive(Debug)]
pub struct Labelled<T, const N: usize> {
    values: [Box<[&'static str]>; N],
    cells: Box<[T]>,
}

impl<T: Default, const N: usize> Labelled<T, N> {
    /// Makes one for each combination of these values.
    pub fn new(values: [&[&'static str]; N]) -> Self {
        let size = values.iter().map(|values| values.len()).product();
        let cells = std::iter::repeat_with(T::default).take(size).collect();
        Self { values: values.map(Box::from), cells }
    }

    /// The one whose values have these indices.
    pub fn at(&self, places: [usize; N]) -> &T {
        let mut cell = 0;
        for (values, place) in self.values.iter().zip(places) {
            cell = cell * values.len() + place.min(values.len() - 1);
        }
        &self.cells[cell]
    }

    /// The one for these values.
    pub fn of(&self, values: [&str; N]) -> &T {
        let mut places = [0; N];
        for ((place, known), value) in places.iter_mut().zip(&self.values).zip(values) {
            *place = known.iter().position(|known| *known == value).unwrap_or(usize::MAX);
        }
        self.at(places)
    }

    /// All of them, with their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ([&'static str; N], &T)> {
        self.cells.iter().enumerate().map(|(cell, value)| {
            let mut rest = cell;
            let mut values = [""; N];
            for (value, known) in values.iter_mut().zip(&self.values).rev() {
                *value = known[rest % known.len()];
                rest /= known.len();
            }
            (values, value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Counter;

    #[test]
    fn every_combination_has_its_own_and_what_is_unknown_counts_as_the_last() {
        let labelled: Labelled<Counter, 2> = Labelled::new([&["a", "b", "other"], &["x", "y"]]);
        labelled.of(["b", "x"]).count();
        labelled.at([1, 0]).count();
        labelled.of(["0xc0ffee", "y"]).count();
        labelled.at([7, 7]).count();
        let counted: Vec<_> = labelled.iter().map(|(values, counter)| (values, counter.read())).collect();
        let expected = [
            (["a", "x"], 0),
            (["a", "y"], 0),
            (["b", "x"], 2),
            (["b", "y"], 0),
            (["other", "x"], 0),
            (["other", "y"], 2),
        ];
        assert_eq!(counted, expected);
    }
}
