//! Tables with aligned columns, for people.

use std::io::{self, Write};

/// Writes rows with aligned columns. The last column is not padded.
pub(crate) fn write<const COLUMNS: usize>(rows: &[[String; COLUMNS]], out: &mut dyn Write) -> io::Result<()> {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    for row in rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}
