//! Runs other people's code as a judge: a script in a folder of `tests`, with the packages that are installed
//! there.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use crate::server::project;

/// A folder of judges. `make test` installs what they need.
#[derive(Clone, Debug)]
pub struct Judges {
    folder: PathBuf,
}

impl Judges {
    /// The judges in this folder of `tests`.
    pub fn of(folder: &str) -> Self {
        Self { folder: project().join("tests").join(folder) }
    }

    /// Node, with the folder's packages.
    #[track_caller]
    pub fn node(&self) -> Command {
        self.installed("node_modules/.installed");
        Command::new("node")
    }

    /// Python, with the folder's packages.
    #[track_caller]
    pub fn python(&self) -> Command {
        self.installed(".venv/.installed");
        Command::new(self.folder.join(".venv/bin/python"))
    }

    /// Runs a script with these arguments. If it fails, its output is the panic's message. Otherwise, the
    /// output is printed, and the test runner shows it if it is told to show the output of passing tests.
    #[track_caller]
    pub fn examine(&self, script: &str, mut program: Command, objects: &[&OsStr]) {
        let output = program
            .arg(self.folder.join(script))
            .args(objects)
            .current_dir(&self.folder)
            .output()
            .unwrap_or_else(|error| {
                panic!("{script} cannot be run ({error}): run `make test`, which installs what it needs")
            });
        let said = String::from_utf8_lossy(&output.stdout);
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}: {}\n{said}\n{complained}", output.status);
        println!("{said}");
    }

    #[track_caller]
    fn installed(&self, stamp: &str) {
        let stamp = self.folder.join(stamp);
        assert!(
            stamp.is_file(),
            "{} is missing: run `make test`, which installs the judges",
            stamp.display()
        );
    }
}
