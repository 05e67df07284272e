//! The rules about which crate may depend on which. The table of crates in `docs/architecture.md` is compared
//! with `cargo metadata`.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod circles;
mod documents;
mod sisters;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

/// Crates that would make a pure crate impure: async, serialization, clocks, randomness, input and output.
const IMPURE: [&str; 25] = [
    "tokio",
    "async-trait",
    "futures",
    "futures-util",
    "futures-core",
    "async-std",
    "smol",
    "serde",
    "serde_json",
    "serde_urlencoded",
    "rand",
    "rand_core",
    "getrandom",
    "fastrand",
    "chrono",
    "actix-web",
    "actix-session",
    "diesel",
    "reqwest",
    "ureq",
    "hyper",
    "mio",
    "tracing",
    "log",
    "tempfile",
];

fn workspace() -> Metadata {
    MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"))
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec()
        .expect("cargo metadata")
}

/// The names of a package's declared dependencies.
fn named(package: &Package, kinds: &[DependencyKind]) -> BTreeSet<String> {
    let dependencies = package.dependencies.iter().filter(|dependency| kinds.contains(&dependency.kind));
    dependencies.map(|dependency| dependency.name.clone()).collect()
}

fn ships(package: &Package) -> BTreeSet<String> {
    named(package, &[DependencyKind::Normal, DependencyKind::Build])
}

fn short(package: &Package) -> &str {
    package.name.as_str().trim_start_matches("countersign-")
}

/// The benchmark is a tool that is not shipped. Its baseline does the unavoidable work with the same
/// libraries as the server. So it depends on libraries that otherwise only one crate each may use, but not on
/// the server's own crates.
const MEASURES: &str = "bench";

/// Fails for every package that depends on one of these crates and is not one of the owners.
fn only(crates: &[&str], owners: &[&str], named: impl Fn(&Package) -> BTreeSet<String>) {
    for package in &workspace().packages {
        let wrong: Vec<String> = named(package)
            .into_iter()
            .filter(|name| {
                crates.iter().any(|rule| {
                    name == rule || rule.strip_suffix('*').is_some_and(|start| name.starts_with(start))
                })
            })
            .collect();
        assert!(
            wrong.is_empty() || owners.contains(&short(package)),
            "{} names {wrong:?}; only {owners:?} may",
            package.name
        );
    }
}

#[test]
fn the_table_of_crates_is_the_workspace() {
    let of_ours = |package: &Package| {
        let names = ships(package).into_iter();
        names.filter_map(|name| name.strip_prefix("countersign-").map(str::to_owned)).collect::<BTreeSet<_>>()
    };
    let workspace: BTreeMap<String, BTreeSet<String>> =
        workspace().packages.iter().map(|package| (short(package).to_owned(), of_ours(package))).collect();
    assert_eq!(table_of_crates(), workspace, "left: docs/architecture.md, right: the workspace");
}

/// Every crate in the table of `docs/architecture.md`, with those of our crates that it uses.
fn table_of_crates() -> BTreeMap<String, BTreeSet<String>> {
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/architecture.md");
    let text = std::fs::read_to_string(document).expect("docs/architecture.md");
    let (_, rest) =
        text.split_once("| crate | what it holds | our crates that it uses |").expect("the table's header");
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let rows = rest.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        let [_, name, _, ours, _] = cells[..] else { panic!("a row has three cells: {row}") };
        (names(name).concat(), names(ours).into_iter().collect())
    })
    .collect()
}

#[test]
fn the_domain_is_pure() {
    let workspace = workspace();
    let domain = workspace.packages.iter().find(|package| short(package) == "domain").expect("the domain");
    let ships = ships(domain);
    let ours: Vec<_> = ships.iter().filter(|name| name.starts_with("countersign-")).collect();
    assert!(ours.is_empty(), "the domain names {ours:?}");
    let impure: Vec<_> = ships.iter().filter(|name| IMPURE.contains(&name.as_str())).collect();
    assert!(impure.is_empty(), "the domain names {impure:?}");
}

#[test]
fn the_ports_know_the_domain_and_nothing_else_of_ours() {
    let workspace = workspace();
    let ports = workspace.packages.iter().find(|package| short(package) == "ports").expect("the ports");
    let ours: Vec<String> =
        ships(ports).into_iter().filter(|name| name.starts_with("countersign-")).collect();
    assert_eq!(ours, ["countersign-domain"]);
}

#[test]
fn signing_in_does_not_know_the_wing_of_the_operators() {
    only(&["countersign-operators"], &["app", "http-operators"], ships);
    only(&["countersign-http-operators"], &["app"], ships);
}

#[test]
fn cryptography_of_wallets_and_tokens_is_in_one_adapter() {
    only(&["josekit", "sha3"], &["adapters-crypto", "conformance", MEASURES], ships);
    only(&["k256"], &["adapters-crypto", "conformance"], ships);
    only(&["bitcoin"], &["adapters-crypto", MEASURES], ships);
    only(&["bech32", "ed25519-dalek"], &["adapters-crypto"], ships);
    only(&["bs58"], &["adapters-crypto", "fuzz-checks"], ships);
}

/// B-075.
#[test]
fn diesel_is_in_the_two_adapters_of_storage_and_in_what_they_share() {
    only(
        &["diesel", "diesel_migrations", "libsqlite3-sys", "pq-sys"],
        &["adapters-postgres", "adapters-sqlite", "sql", "tests", MEASURES],
        ships,
    );
}

#[test]
fn mail_is_in_one_adapter() {
    only(&["lettre"], &["adapters-smtp"], ships);
}

#[test]
fn others_are_asked_through_one_crate() {
    only(&["ureq"], &["outbound", "adapters-crypto", "adapters-http"], ships);
    for package in workspace().packages.iter().filter(|package| ships(package).contains("ureq")) {
        let is_guarded = short(package) == "outbound" || ships(package).contains("countersign-outbound");
        assert!(is_guarded, "{} connects to other hosts without the check of their addresses", package.name);
    }
}

#[test]
fn the_web_framework_is_in_two_crates() {
    only(&["tera", "actix-http"], &["http-actix"], ships);
    only(&["paperclip", "actix-session"], &["http-actix", "http-operators"], ships);
    only(&["actix-*"], &["http-actix", "http-operators", "app", MEASURES], ships);
}

#[test]
fn no_adapter_names_another_adapter_and_nobody_inside_names_one() {
    let every_kind = |package: &Package| {
        named(package, &[DependencyKind::Normal, DependencyKind::Build, DependencyKind::Development])
    };
    for package in &workspace().packages {
        let own = package.name.as_str();
        let adapters: Vec<String> = every_kind(package)
            .into_iter()
            .filter(|name| name.starts_with("countersign-adapters-") && name != own)
            .collect();
        // The binary puts the adapters together, fuzzing checks all wallet families, the tests of the record run the
        // use-cases in both stores, and an example beside the benchmark asks the stores; that the benchmark itself
        // does not, another test sees.
        let may = matches!(short(package), "app" | "fuzz-checks" | "tests" | MEASURES);
        assert!(adapters.is_empty() || may, "{own} names {adapters:?}");
    }
}

#[test]
fn the_crates_that_are_tools_know_no_database_and_nothing_of_ours() {
    let workspace = workspace();
    for name in ["group-commit", "outbound", "statement", "strict-json"] {
        let package = workspace.packages.iter().find(|package| short(package) == name).expect(name);
        let named: Vec<String> = ships(package)
            .into_iter()
            .filter(|name| name.starts_with("countersign-") || name == "diesel")
            .collect();
        assert!(named.is_empty(), "{named:?}");
    }
}

#[test]
fn nobody_needs_the_benchmark_and_it_needs_nothing_of_the_server() {
    for package in &workspace().packages {
        let needs_it = ships(package).contains("countersign-bench");
        assert!(!needs_it || short(package) == "tests", "{} ships the benchmark", package.name);
        if short(package) != MEASURES {
            continue;
        }
        // The batching writer knows nothing about the product, so the baseline may use it.
        let tools = ["countersign-conformance", "countersign-group-commit", "countersign-test-postgres"];
        let named = ships(package);
        let ours: Vec<&String> = named
            .iter()
            .filter(|name| name.starts_with("countersign-") && !tools.contains(&name.as_str()))
            .collect();
        assert!(ours.is_empty(), "a baseline made of the server's own parts measures nothing: {ours:?}");
    }
}

#[test]
fn what_is_counted_is_no_business_of_rules_and_storage() {
    for package in &workspace().packages {
        let counts = ships(package).contains("countersign-metrics");
        let may = matches!(short(package), "http-actix" | "http-operators" | "app");
        assert!(!counts || may, "{} depends on countersign-metrics", package.name);
    }
}

#[test]
fn what_tests_are_made_of_is_not_shipped() {
    for package in &workspace().packages {
        let test_crates: Vec<String> = ships(package)
            .into_iter()
            .filter(|name| {
                matches!(
                    name.as_str(),
                    "countersign-conformance"
                        | "countersign-fuzz-checks"
                        | "countersign-test-postgres"
                        | "countersign-tests"
                        | "insta"
                        | "proptest"
                )
            })
            .collect();
        let may = matches!(short(package), "tests" | MEASURES | "conformance");
        assert!(test_crates.is_empty() || may, "{} ships {test_crates:?}", package.name);
    }
}

/// Looking for examples takes two seconds for each crate, so those without any have `doctest = false`.
#[test]
fn the_examples_of_a_crate_are_run_if_it_has_some() {
    for package in &workspace().packages {
        for library in package.targets.iter().filter(|target| target.is_lib()) {
            let source = library.src_path.parent().expect("a folder").as_std_path();
            let mut files = Vec::new();
            documents::files_in(source, &["rs"], &mut files);
            let examples: Vec<_> = files.iter().filter(|file| has_example(file)).collect();
            assert_eq!(library.doctest, !examples.is_empty(), "{}: {examples:?}", package.name);
        }
    }
}

/// Does the documentation in this file have code that is compiled?
fn has_example(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).expect("a source file");
    let lines = text.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
    });
    let fences = lines.filter_map(|line| line.trim().strip_prefix("```"));
    let mut opening = fences.step_by(2);
    opening.any(|language| !matches!(language, "ignore" | "text"))
}
