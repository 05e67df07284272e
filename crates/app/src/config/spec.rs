//! Describes a setting: its name, its texts, and how much of its value may be shown.

/// A setting: its description, and how its text is parsed.
pub(crate) struct Setting<T> {
    pub(crate) spec: Spec,
    /// Returns the value, or a fragment that says what is wrong without repeating the text.
    pub(crate) parse: fn(&str) -> Result<T, String>,
}

/// The description of a setting.
pub(crate) struct Spec {
    /// The name, in lower case with underscores.
    pub(crate) name: &'static str,
    /// The name of the companion setting that holds a path to the value, for settings that may contain a
    /// secret.
    pub(super) file_key: Option<&'static str>,
    /// What the setting does, in sentences. The first one is the help text of the flag.
    pub(crate) doc: &'static str,
    /// The accepted values, written to follow the word "takes".
    pub(crate) takes: &'static str,
    pub(crate) preset: Preset,
    pub(crate) privacy: Privacy,
}

/// The default.
#[derive(Clone, Copy)]
pub(crate) enum Preset {
    /// This text, parsed like any other value.
    Text(&'static str),
    /// No value; these words say what that means.
    Absent(&'static str),
}

/// How much of a value may be shown.
#[derive(Clone, Copy)]
pub(crate) enum Privacy {
    Public,
    /// What this function keeps of the value: no password, and only scheme, host and port of URLs whose paths
    /// may be keys.
    Holds(fn(&str) -> String),
    /// Nothing. There is no flag for it either: everyone on the machine can read command lines (B-073).
    Secret,
}

impl Spec {
    /// The flag's name, if the value may appear on a command line.
    pub(crate) fn flag(&self) -> Option<&'static str> {
        (!matches!(self.privacy, Privacy::Secret)).then_some(self.name)
    }

    /// The name of the setting that holds a path to the value.
    pub(crate) const fn file_key(&self) -> Option<&'static str> {
        self.file_key
    }

    /// One line for `--help`.
    pub(crate) fn help(&self) -> String {
        let first = self.doc.split_once(". ").map_or(self.doc, |(first, _)| first).trim_end_matches('.');
        match self.preset {
            Preset::Text(text) => format!("{first} [default: {text}]"),
            Preset::Absent(_) => first.to_owned(),
        }
    }

    /// The environment variable of a setting.
    pub(crate) fn variable(name: &str) -> String {
        format!("COUNTERSIGN_{}", name.to_uppercase())
    }

    /// True if this value contains something that others must not read.
    pub(crate) fn holds_a_secret(&self, value: &str) -> bool {
        match self.privacy {
            Privacy::Public => false,
            Privacy::Holds(shown) => shown(value) != value,
            Privacy::Secret => true,
        }
    }

    /// The value with its secrets masked.
    pub(crate) fn mask(&self, value: &str) -> String {
        match self.privacy {
            Privacy::Public => value.replace('\n', ", "),
            Privacy::Holds(masked) => masked(value),
            Privacy::Secret => "(secret)".to_owned(),
        }
    }
}
