//! `docs/reports/conformance.md` accounts for every module in the suite's lists: a test has its name, or there is a
//! reason why not.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use countersign_tests::server::project;

use crate::plans::{PLANS, Plan};

const BEGIN: &str = "<!-- modules -->\n";
const END: &str = "<!-- /modules -->\n";

/// With `WRITE_DOCS` in the environment, this writes the table. Otherwise, the table must be up to date.
#[test]
fn every_module_of_the_suite_is_a_test_of_its_name_or_has_a_reason() {
    let table: String = PLANS.iter().map(table).collect();
    let path = project().join("docs/reports/conformance.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let right = format!("{before}{BEGIN}{table}{END}{after}");
    if std::env::var_os("WRITE_DOCS").is_some() {
        fs::write(&path, &right).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == right, "WRITE_DOCS=1 mends {}", path.display());
}

/// The table for the modules of a plan. Fails unless each module is accounted for once, and every test has a
/// module of the plan.
fn table(plan: &Plan) -> String {
    let mut tests: BTreeMap<String, (&str, String)> = BTreeMap::new();
    for (file, source) in plan.sources {
        for (name, claim) in tests_of(source) {
            assert!(tests.insert(name.clone(), (file, claim)).is_none(), "{name} comes twice");
        }
    }
    let left_out: BTreeMap<&str, &str> = plan.left_out.iter().copied().collect();
    let mut rows = String::new();
    for module in plan.modules {
        let test = tests.remove(&module.to_lowercase().replace('-', "_"));
        let row = match (test, left_out.get(module)) {
            (Some((file, claim)), None) => format!("| `{module}` | {claim} | `{file}` |"),
            (None, Some(reason)) => format!("| `{module}` | *No test:* {reason} | |"),
            (None, None) => panic!("{module} of {} has neither a test nor a reason in `left_out`", plan.name),
            (Some(_), Some(_)) => panic!("{module} of {} has a test and a reason in `left_out`", plan.name),
        };
        writeln!(rows, "{row}").unwrap();
    }
    assert!(tests.is_empty(), "{tests:?} are not modules of {}", plan.name);
    let (all, without) = (plan.modules.len(), plan.left_out.len());
    format!(
        "\n## {}\n\nPlan `{}`: {} of {all} are tests.\n\n| module | what the test shows | in `tests/openid` |\n|---|---|---|\n{rows}",
        plan.profile,
        plan.name,
        all - without,
    )
}

/// The tests in a file, each with its doc comment.
fn tests_of(source: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = source.lines().collect();
    let is_test = |place: &usize| lines.get(*place) == Some(&"#[test]");
    let named = (0..lines.len()).filter(is_test).map(|place| {
        let name = lines[place + 1].trim_start_matches("fn ").split('(').next().unwrap_or_default();
        let first =
            lines[..place].iter().rposition(|line| !line.starts_with("///")).map_or(0, |before| before + 1);
        let claim = lines[first..place].iter().map(|line| line.trim_start_matches("///").trim());
        let claim = claim.collect::<Vec<_>>().join(" ");
        assert!(!claim.is_empty(), "{name} needs a doc comment that says what it shows");
        (name.to_owned(), claim)
    });
    named.collect()
}
