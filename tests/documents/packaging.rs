//! The files in `packaging/` are right, as far as that can be seen without installing them. `make package-check` does
//! the rest.

use std::fs;
use std::process::Command;

use super::read;

/// What a unit may expose at most, in tenths, by systemd's own count.
const EXPOSURE: u32 = 20;

/// Runs systemd's judge, which must agree.
fn judged(arguments: &[&str]) {
    let output = Command::new("systemd-analyze").args(arguments).output();
    let output = output.expect("systemd-analyze runs: install Debian's package systemd");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{said}");
}

#[test]
fn the_units_are_right_and_let_the_server_do_little() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut paths = Vec::new();
    for name in [
        "countersign.service",
        "countersign-backup.service",
        "countersign.socket",
        "countersign-backup.timer",
    ] {
        let unit = read(&format!("packaging/systemd/{name}"));
        let path = folder.path().join(name);
        // The program is not installed here.
        fs::write(&path, unit.replace("/usr/bin/countersign", "/bin/true")).expect("a unit");
        paths.push(path.to_str().expect("a path").to_owned());
    }
    let all: Vec<_> = paths.iter().map(String::as_str).collect();
    judged(&[&["verify", "--man=no"], &all[..]].concat());
    for service in &all[..2] {
        judged(&["security", "--offline=yes", &format!("--threshold={EXPOSURE}"), service]);
    }
}

#[test]
fn the_commands_to_install_it_are_run_by_the_check_of_the_packages() {
    let page = read("docs/install.md");
    // What needs no package runs as all commands of the documentation do.
    let (page, _) = page.split_once("\n## By hand\n").expect("the part without packages");
    let mark = "<!-- not run: `make package-check` runs it in a machine of its own -->\n```sh\n";
    let run = page.matches(mark).count();
    let others = page.matches("<!-- not run: it needs a c").count();
    assert_eq!(run + others, page.matches("```sh\n").count());
    assert!(run >= 6, "{run}");
}
