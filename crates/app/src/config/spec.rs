//! What a setting is: its name, its words, and how much of its value may be shown.

/// A setting: what is said of it, and how its text is read.
pub(crate) struct Setting<T> {
    pub(crate) spec: Spec,
    /// Gives the value or a fragment that says what is wrong, without repeating the text.
    pub(crate) parse: fn(&str) -> Result<T, String>,
}

/// What is said of a setting.
pub(crate) struct Spec {
    /// The name, in lower case with underscores.
    pub(crate) name: &'static str,
    /// The name of the companion that holds a path to the value, for whatever may hold a secret.
    pub(super) file_key: Option<&'static str>,
    /// What it is, in sentences.
    pub(crate) doc: &'static str,
    /// What it takes, after "takes".
    pub(crate) takes: &'static str,
    pub(crate) preset: Preset,
    pub(crate) privacy: Privacy,
}

/// What holds when nobody set it.
#[derive(Clone, Copy)]
pub(crate) enum Preset {
    /// This text, read like any other.
    Text(&'static str),
    /// Nothing; these words say what that means.
    Absent(&'static str),
}

/// How much of a value may be shown.
#[derive(Clone, Copy)]
pub(crate) enum Privacy {
    Public,
    /// What this leaves of it: no password, and of URLs whose paths may be keys the scheme, the host and the port.
    Holds(fn(&str) -> String),
    /// Nothing. There is no flag for it either: everybody on the machine can read command lines (B-073).
    Secret,
}

impl Spec {
    /// The flag's name, if the value may stand on a command line.
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

    /// Is there something in this value that others must not read?
    pub(crate) fn holds_a_secret(&self, value: &str) -> bool {
        match self.privacy {
            Privacy::Public => false,
            Privacy::Holds(shown) => shown(value) != value,
            Privacy::Secret => true,
        }
    }

    /// A value as it may be shown.
    pub(crate) fn mask(&self, value: &str) -> String {
        match self.privacy {
            Privacy::Public => value.replace('\n', ", "),
            Privacy::Holds(masked) => masked(value),
            Privacy::Secret => "(secret)".to_owned(),
        }
    }
}
