//! Taking the text of a statement apart, when the program is compiled.

/// The values that a statement has: its fields first, then the columns of each row.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// The fields that are values.
    pub fields: &'static [&'static str],
    /// The fields that are rows.
    pub rows: &'static [Row],
}

/// A field that is a row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The field.
    pub name: &'static str,
    /// The columns, in the order of their values.
    pub columns: &'static [&'static str],
    /// The same as SQL has them in an `INSERT`.
    pub list: &'static str,
}

/// Text, and the number of the value that is bound after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What is sent as it is.
    pub text: &'static str,
    /// None at the end, and where more text follows.
    pub value: Option<usize>,
}

/// Takes a text apart at its names, and counts the pieces. The first `N` of them are returned.
///
/// Panics, which is a compile error where it is called by `statement!` of `countersign-sql`, if the text has a
/// name that is none of the statement's.
pub const fn parse<const N: usize>(text: &'static str, own: Own) -> ([Piece; N], usize) {
    let mut pieces = Pieces { first: [Piece { text: "", value: None }; N], count: 0 };
    let mut rest = text;
    loop {
        let (text, found) = rest.split_at(find(rest, b':'));
        if found.is_empty() {
            pieces = pieces.with(text, None);
            return (pieces.first, pieces.count);
        }
        let (_, found) = found.split_at(1);
        let (name, after) = found.split_at(end_of_name(found));
        let (before_dot, after_dot) = name.split_at(find(name, b'.'));
        if after_dot.is_empty() {
            pieces = pieces.with(text, Some(value(own, name)));
        } else {
            let row = row(own, before_dot);
            let (_, column) = after_dot.split_at(1);
            let first = index_of(own, before_dot);
            if equal(column, "columns") {
                pieces = pieces.with(text, None).with(row.list, None);
            } else if equal(column, "values") {
                pieces = pieces.with(text, Some(first));
                let mut index = 1;
                while index < row.columns.len() {
                    pieces = pieces.with(", ", Some(first + index));
                    index += 1;
                }
            } else {
                let index = position(row.columns, column);
                assert!(index < row.columns.len(), "the row does not have a column that the text names");
                pieces = pieces.with(text, Some(first + index));
            }
        }
        rest = after;
    }
}

/// The number of a field's value, or of the first value of a row.
pub const fn index_of(own: Own, name: &str) -> usize {
    let mut index = position(own.fields, name);
    if index < own.fields.len() {
        return index;
    }
    let mut row = 0;
    while row < own.rows.len() {
        if equal(own.rows[row].name, name) {
            return index;
        }
        index += own.rows[row].columns.len();
        row += 1;
    }
    panic!("the statement does not have a field that its text names");
}

/// Is the field bound somewhere, or, for a row, at least one of its values?
pub const fn is_used(pieces: &[Piece], own: Own, name: &str) -> bool {
    let first = index_of(own, name);
    let count = if first < own.fields.len() { 1 } else { row(own, name).columns.len() };
    let mut index = 0;
    while index < pieces.len() {
        if let Some(value) = pieces[index].value
            && value >= first
            && value < first + count
        {
            return true;
        }
        index += 1;
    }
    false
}

struct Pieces<const N: usize> {
    first: [Piece; N],
    count: usize,
}

impl<const N: usize> Pieces<N> {
    const fn with(mut self, text: &'static str, value: Option<usize>) -> Self {
        if self.count < N {
            self.first[self.count] = Piece { text, value };
        }
        self.count += 1;
        self
    }
}

/// The number of a value that belongs to no row.
const fn value(own: Own, name: &str) -> usize {
    let index = index_of(own, name);
    assert!(index < own.fields.len(), "the text names a row where a value belongs");
    index
}

const fn row(own: Own, name: &str) -> Row {
    let mut index = 0;
    while index < own.rows.len() {
        if equal(own.rows[index].name, name) {
            return own.rows[index];
        }
        index += 1;
    }
    panic!("the statement does not have a row that its text names");
}

/// The position of a name among others: past the end if it is not there.
const fn position(names: &[&str], name: &str) -> usize {
    let mut index = 0;
    while index < names.len() && !equal(names[index], name) {
        index += 1;
    }
    index
}

const fn end_of_name(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() && matches!(bytes[end], b'a'..=b'z' | b'_' | b'.') {
        end += 1;
    }
    end
}

const fn find(text: &str, wanted: u8) -> usize {
    let bytes = text.as_bytes();
    let mut index = 0;
    while index < bytes.len() && bytes[index] != wanted {
        index += 1;
    }
    index
}

const fn equal(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut index = 0;
    while index < one.len() {
        if one[index] != other[index] {
            return false;
        }
        index += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Own = Own {
        fields: &["id", "now"],
        rows: &[Row { name: "token", columns: &["scope", "hash"], list: "scope, hash" }],
    };

    fn told(text: &'static str) -> Vec<(&'static str, Option<usize>)> {
        let (pieces, count) = parse::<16>(text, OWN);
        pieces.iter().take(count).map(|piece| (piece.text, piece.value)).collect()
    }

    #[test]
    fn a_name_is_bound_wherever_it_stands() {
        assert_eq!(told(":now > :id"), [("", Some(1)), (" > ", Some(0)), ("", None)]);
        assert_eq!(told("(:id, :id)"), [("(", Some(0)), (", ", Some(0)), (")", None)]);
    }

    #[test]
    fn a_row_gives_its_columns_its_values_and_each_of_them() {
        assert_eq!(told("(:token.columns)"), [("(", None), ("scope, hash", None), (")", None)]);
        assert_eq!(told("(:token.values)"), [("(", Some(2)), (", ", Some(3)), (")", None)]);
        assert_eq!(told(":token.hash"), [("", Some(3)), ("", None)]);
    }

    #[test]
    fn what_the_text_leaves_out_is_seen() {
        let (pieces, _) = parse::<2>(":token.hash", OWN);
        assert!(is_used(&pieces, OWN, "token"));
        assert!(!is_used(&pieces, OWN, "now"));
    }

    #[test]
    #[should_panic(expected = "does not have a field")]
    fn a_name_that_the_statement_does_not_have_is_refused() {
        told(":nobody");
    }

    #[test]
    #[should_panic(expected = "does not have a column")]
    fn a_column_that_the_row_does_not_have_is_refused() {
        told(":token.nothing");
    }
}
