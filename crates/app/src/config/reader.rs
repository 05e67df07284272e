//! Reads single settings from the sources. Collects what to show and what is wrong.

use std::path::Path;

use super::settings::{self, Preset, Setting, Spec};
use super::sources::{Origin, Sources};
use crate::failure::Mistake;
use crate::files::private_file;

/// A setting as `check-config` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) name: &'static str,
    /// The value, without anything secret.
    pub(crate) value: String,
    /// Where the value comes from.
    pub(crate) origin: String,
}

pub(super) struct Reader<'a> {
    sources: &'a Sources,
    shown: Vec<Shown>,
    mistakes: Vec<Mistake>,
    warnings: Vec<String>,
}

/// The text of a setting, and where it was found.
struct Found {
    text: String,
    /// The setting and its source, as the operator wrote it.
    place: String,
    /// The mode of the file it comes from, if others may read or change that file.
    exposed: Option<u32>,
    /// Does it stand on the command line, where everyone on the machine can read it?
    in_sight: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(sources: &'a Sources) -> Self {
        Self { sources, shown: Vec::new(), mistakes: sources.mistakes.clone(), warnings: Vec::new() }
    }

    /// Reads a setting. `None` if it is not set and has no default, or if it has a mistake, which is
    /// recorded.
    pub(super) fn read<T>(&mut self, setting: &Setting<T>) -> Option<T> {
        let spec = &setting.spec;
        let found = match (self.find(spec), spec.preset) {
            (Err(mistake), _) => {
                self.mistakes.push(mistake);
                return None;
            }
            (Ok(Some(found)), _) => found,
            (Ok(None), Preset::Text(text)) => Found {
                text: text.to_owned(),
                place: Origin::Default.of(spec.name),
                exposed: None,
                in_sight: false,
            },
            (Ok(None), Preset::Absent(meaning)) => {
                self.show(spec, format!("({})", meaning.replace('`', "")), Origin::Default.of(spec.name));
                return None;
            }
        };
        if let Some(mode) = found.exposed.filter(|_| spec.holds_a_secret(&found.text)) {
            let place = &found.place;
            self.warnings.push(format!(
                "{place}: the file has mode {mode:03o}, so others on this machine may read or change it; run \
                 `chmod 600`"
            ));
        }
        if found.in_sight && spec.holds_a_secret(&found.text) {
            let (place, variable) = (&found.place, Spec::variable(spec.name));
            self.warnings.push(format!(
                "{place}: it contains a secret, and everyone on this machine can read command lines; use {variable} or a \
                 file"
            ));
        }
        match (setting.parse)(&found.text) {
            Ok(value) => {
                self.show(spec, spec.mask(&found.text), found.place);
                Some(value)
            }
            Err(reason) => {
                self.mistakes.push(mistake(spec, &found, &reason));
                None
            }
        }
    }

    /// True if the setting is given, even with a mistake.
    pub(super) fn is_given<T>(&self, setting: &Setting<T>) -> bool {
        let name = setting.spec.name;
        let mut layers = self.sources.layers.iter();
        layers.any(|layer| {
            layer.texts.contains_key(name)
                || setting.spec.file_key().is_some_and(|key| layer.texts.contains_key(key))
        })
    }

    /// Records that a setting can be parsed but not used.
    pub(super) fn mistaken<T>(&mut self, setting: &Setting<T>, reason: &str) {
        if let Ok(found) = self.find(&setting.spec) {
            let place = Origin::Default.of(setting.spec.name);
            let found = found.unwrap_or(Found { text: String::new(), place, exposed: None, in_sight: false });
            self.mistakes.push(mistake(&setting.spec, &found, reason));
        }
    }

    /// Records that a required setting is not set.
    pub(super) fn missing<T>(&mut self, setting: &Setting<T>, reason: &str) {
        let Spec { name, takes, .. } = setting.spec;
        let variable = Spec::variable(name);
        self.mistakes.push(Mistake(format!("{variable}: not set, and {reason}; {name} takes {takes}")));
    }

    /// Shows a value that follows from other settings.
    pub(super) fn derive<T>(&mut self, setting: &Setting<T>, value: &str, why: &str) {
        self.show(&setting.spec, value.to_owned(), why.to_owned());
    }

    /// What to show, in the order of the table, and every mistake.
    pub(super) fn finish(self) -> (Vec<Shown>, Vec<Mistake>) {
        let latest = |spec: &&Spec| self.shown.iter().rfind(|shown| shown.name == spec.name).cloned();
        (settings::ALL.iter().filter_map(latest).collect(), self.mistakes)
    }

    /// Finds the source with the highest precedence that has the setting, as a value or as a path.
    fn find(&self, spec: &Spec) -> Result<Option<Found>, Mistake> {
        for layer in &self.sources.layers {
            let direct = layer.texts.get(spec.name);
            let path = spec.file_key().and_then(|key| Some((key, layer.texts.get(key)?)));
            match (direct, path) {
                (None, None) => {}
                (Some(text), None) => {
                    return Ok(Some(Found {
                        text: text.clone(),
                        place: layer.origin.of(spec.name),
                        exposed: None,
                        in_sight: layer.origin == Origin::Flag,
                    }));
                }
                (None, Some((key, path))) => {
                    let place = format!("{} ({path})", layer.origin.of(key));
                    return match private_file::read_handed_over(Path::new(path)) {
                        Ok((_, Some(mode))) if matches!(spec.privacy, settings::Privacy::Secret) => {
                            Err(Mistake(format!(
                                "{place}: the file has mode {mode:03o}, so others on this machine may read \
                                 or change it; take that access away (`chmod 600`, or `chmod 640` for a \
                                 group that must read it), and replace its content if someone may have seen \
                                 it"
                            )))
                        }
                        Ok((text, exposed)) => {
                            Ok(Some(Found { text: text.trim().to_owned(), place, exposed, in_sight: false }))
                        }
                        Err(error) => Err(Mistake(format!("{place}: the file cannot be read: {error}"))),
                    };
                }
                (Some(_), Some((key, _))) => {
                    let (one, other) = (layer.origin.of(spec.name), layer.origin.of(key));
                    return Err(Mistake(format!("{one} and {other}: both are set; keep one of them")));
                }
            }
        }
        Ok(None)
    }

    /// Settings that are valid but may still be wrong.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        self.warnings.clone().into_iter().chain(self.exposed_file())
    }

    /// The warning about a settings file that contains a secret and is not private.
    fn exposed_file(&self) -> Option<String> {
        let mode = self.sources.exposed?;
        let layer = self.sources.layers.iter().find(|layer| matches!(layer.origin, Origin::File(_)))?;
        let held = settings::ALL
            .iter()
            .find(|spec| layer.texts.get(spec.name).is_some_and(|text| spec.holds_a_secret(text)))?;
        let place = layer.origin.of(held.name);
        Some(format!(
            "{place}: the file has mode {mode:03o}, so others on this machine may read it; run `chmod 600`"
        ))
    }

    fn show(&mut self, spec: &Spec, value: String, origin: String) {
        self.shown.push(Shown { name: spec.name, value, origin });
    }
}

fn mistake(spec: &Spec, found: &Found, reason: &str) -> Mistake {
    let Spec { name, takes, privacy, .. } = spec;
    let place = &found.place;
    Mistake(match privacy {
        settings::Privacy::Public => format!("{place}: {:?}: {reason}; {name} takes {takes}", found.text),
        settings::Privacy::Holds(_) | settings::Privacy::Secret => {
            format!("{place}: {reason}; {name} takes {takes}")
        }
    })
}
