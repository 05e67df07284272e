//! The code in `docs/style.md` is from this repository.

use super::{project, read};

#[test]
fn every_example_of_style_stands_in_the_file_that_it_names() {
    let style = read("docs/style.md");
    let blocks = style.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let mut checked = 0;
    for block in blocks {
        let mut lines = block.lines();
        let file = lines.next().and_then(|line| line.strip_prefix("// ")).expect("an example names its file");
        assert!(project().join(file).exists(), "docs/style.md shows {file}, which no longer exists");
        let source = read(file);
        // Comments may be shortened, and omitted code is shown as dots.
        let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//") && *line != "…";
        for line in lines.map(str::trim).filter(is_code) {
            assert!(source.lines().any(|known| known.trim() == line), "{file} no longer has `{line}`");
            checked += 1;
        }
    }
    assert!(checked > 20, "there are examples: {checked} lines");
}
