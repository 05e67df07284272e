//! `make package` still makes what it should. It takes a release build, which is too long to wait for at every change. So
//! the recipes are run here with the program that the tests start, and whether a release fits is judged by how large that
//! one is. `make package-check` judges the packages themselves.

use std::fs;
use std::path::Path;
use std::process::Command;

use countersign_tests::server::binary;

/// How large the program of the tests may be, in bytes that are loaded. A release of it has half of that. If it grows
/// beyond, let `make package` say whether the image still has less than 40 MB, and write down the new number.
const MOST: u64 = 77_500_000;

#[test]
fn the_packages_are_made_of_the_program_that_the_tests_start() {
    let folder = tempfile::tempdir().unwrap();
    // Most of what it has is for debuggers.
    let (program, out) = (folder.path().join("countersign"), folder.path().join("out"));
    run(Command::new("strip").arg("--strip-debug").arg("-o").arg(&program).arg(binary()));
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut package = Command::new(project.join("packaging/package.sh"));
    package.arg(&program).arg(&out).env("SOURCE_DATE_EPOCH", "1700000000");
    run(package.env("PACKING", "-Znone").env("MOST", "200000000"));
    let mut made: Vec<String> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect();
    made.sort();
    let version = env!("CARGO_PKG_VERSION");
    let kinds: Vec<String> = made
        .iter()
        .map(|name| name.replace(version, "V").replace("amd64", "A").replace("arm64", "A"))
        .collect();
    let expected = [
        "SHA256SUMS",
        "compose.yaml",
        "countersign-V-image.tar",
        "countersign-V-image.tar.digest",
        "countersign-V.tgz",
        "countersign-dbgsym_V_A.deb",
        "countersign.cdx.json",
        "countersign_V_A.deb",
        "third-party-licenses",
    ];
    assert_eq!(kinds, expected);
    run(Command::new("sha256sum").args(["--check", "--quiet", "SHA256SUMS"]).current_dir(&out));
}

#[test]
fn a_release_of_this_program_fits_into_the_image() {
    let output = Command::new("readelf").args(["--segments", "--wide"]).arg(binary()).output().unwrap();
    let loaded = String::from_utf8(output.stdout).unwrap();
    let segments = loaded.lines().filter_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let [kind, _, _, _, size, ..] = columns[..] else { return None };
        (kind == "LOAD").then(|| u64::from_str_radix(size.trim_start_matches("0x"), 16).unwrap())
    });
    let size: u64 = segments.sum();
    println!("{size} bytes are loaded");
    assert!(size > 10_000_000 && size <= MOST, "{size}: run `make package`, and see MOST");
}

#[track_caller]
fn run(command: &mut Command) {
    let ended = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
    assert!(ended.status.success(), "{command:?}: {said}");
}
