//! The documented way with two roles on PostgreSQL, as the pages have it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use countersign_test_postgres::Cluster;
use countersign_tests::Database;
use countersign_tests::server::{OPERATOR_SECRET, binary, project, signal};

use super::path;

/// What stands in a page between two texts, the first time.
fn between(page: &str, start: &str, end: &str) -> String {
    let text = fs::read_to_string(project().join("docs").join(page)).unwrap();
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("{page} has no {start:?}"));
    rest.split_once(end).unwrap_or_else(|| panic!("{page} has no {end:?} after it")).0.to_owned()
}

/// Runs a line of a page as it stands, in a folder.
#[track_caller]
fn run(folder: &Path, line: &str) -> String {
    let search = format!("{}:{}", binary().parent().unwrap().display(), std::env::var("PATH").unwrap());
    let done = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", search)
        .env("COUNTERSIGN_SECRET", OPERATOR_SECRET)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{line}: {said}");
    said
}

/// F2: `install.md`, "PostgreSQL", and `backup.md`, "Saving" and "With two roles": each line as it stands, but for the port.
#[test]
fn s_15_a_restore_with_the_documented_roles_needs_rights_on_rows_only() {
    let cluster = Arc::new(Cluster::start());
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let sql = between("install.md", "<<'SQL'\n", "\nSQL\n");
    let (roles, rest) = sql.split_once("CREATE DATABASE").unwrap();
    let (create, inside) = rest.split_once("\\connect countersign\n").unwrap();
    cluster.execute("postgres", roles);
    let set_up = |drops: bool| {
        if drops {
            cluster.execute("postgres", "DROP DATABASE countersign WITH (FORCE)");
        }
        cluster.execute("postgres", &format!("CREATE DATABASE{create}"));
        cluster.execute("countersign", inside);
    };
    set_up(false);
    let lines: Vec<String> = between("install.md", "Then make the tables", "systemctl restart")
        .lines()
        .filter(|line| line.starts_with("(umask") || line.starts_with("countersign"))
        .map(|line| line.replace("@localhost/", &format!("@127.0.0.1:{}/", cluster.port())))
        .collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    lines.iter().for_each(|line| drop(run(folder, line)));

    let url = fs::read_to_string(folder.join("database_url")).unwrap();
    let database = Database::reached_by(&cluster, |_| url.trim().to_owned());
    let mut server = database.start();
    server.tokens(&server.register());
    assert!(server.terminate().success());
    let save = between("backup.md", "## Saving", "```\n\nServers");
    let save = save.lines().find(|line| line.starts_with("countersign backup")).unwrap();
    run(folder, &format!("{save} --database-url-file database_url"));

    // The database is lost.
    set_up(true);
    let steps =
        between("backup.md", "<!-- not run: another test runs it, with two roles -->\n```sh\n", "```");
    assert_eq!(steps.lines().count(), 2, "{steps}");
    steps.lines().for_each(|line| drop(run(folder, line)));
    assert_eq!(database.number("SELECT count(*) FROM users"), 1);
    // A copy, and over its data, with the role of the server.
    let source = Database::sqlite();
    run(folder, &format!("countersign copy --from {} --to-file database_url --force", source.url()));
    run(folder, "countersign restore countersign.backup --force --database-url-file database_url");
    let mut server = database.start();
    server.tokens(&server.register());

    // A kill leaves a mark that this role can remove.
    assert!(server.terminate().success());
    let again = "exec countersign restore countersign.backup --force --database-url-file database_url";
    let mut child = Command::new(binary())
        .current_dir(folder)
        .args(again.split(' ').skip(2))
        .env("COUNTERSIGN_SECRET", OPERATOR_SECRET)
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(150));
    signal("KILL", child.id());
    child.wait().unwrap();
    run(folder, "countersign restore --undo --database-url-file database_url");
    let file = folder.join("countersign.backup");
    assert!(file.exists(), "{}", path(&file));
}
