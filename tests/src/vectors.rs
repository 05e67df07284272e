//! The tables in `tests/vectors`, row by row.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The rows of a table.
#[derive(Debug)]
pub struct Table {
    name: &'static str,
    rows: Vec<Value>,
}

impl Table {
    /// Reads `tests/vectors/oauth/<name>.json`.
    pub fn oauth(name: &'static str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("vectors/oauth/{name}.json"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let table: Value = serde_json::from_str(&text).unwrap();
        Self { name, rows: table["cases"].as_array().unwrap().clone() }
    }

    /// Gives every row to the judge. A row passes if the judge returns `Ok`. A row that the judge does not
    /// know fails the test.
    pub fn each(&self, mut judge: impl FnMut(&Value) -> Result<(), String>) {
        let mut wrong = Vec::new();
        for row in &self.rows {
            if let Err(why) = judge(row) {
                wrong.push(format!(
                    "{why}\n    row: {}",
                    row.to_string().chars().take(300).collect::<String>()
                ));
            }
        }
        println!("{}: {} rows, {} wrong", self.name, self.rows.len(), wrong.len());
        assert!(
            wrong.is_empty(),
            "{} of {} rows of {}:\n{}",
            wrong.len(),
            self.rows.len(),
            self.name,
            wrong.join("\n")
        );
        assert!(!self.rows.is_empty(), "{} has no rows", self.name);
    }
}

/// A judge's verdict: the result must be one of the allowed ones.
pub fn one_of(what: &str, came: &str, allowed: &[&str]) -> Result<(), String> {
    if allowed.contains(&came) {
        Ok(())
    } else {
        Err(format!("{what}: {came} instead of {}", allowed.join(" or ")))
    }
}
