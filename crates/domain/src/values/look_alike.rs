//! Whether a host that a text names looks like ours, and where it differs. People read a host as a picture:
//! one letter that is exchanged for a similar one goes unnoticed, and so does what follows a familiar
//! beginning.

use crate::readable::is_hidden;

/// A part of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The characters. An invisible one is written as its number, for example `U+200B`.
    pub text: String,
    /// Does the other host have something else here, or nothing?
    pub differs: bool,
}

/// Two hosts that look alike, part by part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookAlike {
    /// The host in the text.
    pub theirs: Vec<Part>,
    /// Our own.
    pub ours: Vec<Part>,
}

/// The longest host, in characters (RFC 1035), with a port.
const MAX_LENGTH: usize = 260;
/// One letter in so many may differ.
const LETTERS_FOR_EACH_CHANGE: usize = 6;

/// Compares two hosts with their ports. `None` if they are the same, or if no one would take one for the
/// other. A host below ours is as much ours.
pub fn look_alike(ours: &str, theirs: &str) -> Option<LookAlike> {
    let (our_letters, their_letters): (Vec<char>, Vec<char>) =
        (ours.chars().collect(), theirs.chars().collect());
    let is_too_long = our_letters.len().max(their_letters.len()) > MAX_LENGTH;
    if is_too_long || name_of(ours) == name_of(theirs) || is_below(theirs, ours) {
        return None;
    }
    let changes = Changes::between(&our_letters, &their_letters);
    let is_near = changes.count() <= (our_letters.len() / LETTERS_FOR_EACH_CHANGE).max(1);
    let is_alike = skeleton(ours) == skeleton(theirs)
        || is_near
        || contains(theirs, ours)
        || has_other_end(theirs, ours);
    is_alike.then(|| changes.parts(&our_letters, &their_letters))
}

/// The host without its port.
fn name_of(host: &str) -> &str {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name)
}

fn is_below(host: &str, above: &str) -> bool {
    name_of(host).strip_suffix(name_of(above)).is_some_and(|rest| rest.ends_with('.'))
}

/// Is our name in theirs, perhaps with hyphens for its dots?
fn contains(theirs: &str, ours: &str) -> bool {
    name_of(theirs).to_lowercase().replace('-', ".").contains(&name_of(ours).to_lowercase().replace('-', "."))
}

/// Do they differ only in what comes after the last dot, such as `com`?
fn has_other_end(theirs: &str, ours: &str) -> bool {
    let start = |host| name_of(host).rsplit_once('.').map(|(start, _)| start.to_lowercase());
    start(theirs).is_some_and(|theirs| start(ours) == Some(theirs))
}

/// What a host looks like at a glance: similar characters become one. Not all of Unicode's confusables, only
/// those that look the same in most fonts; others are found by the number of changes.
pub(crate) fn skeleton(host: &str) -> String {
    let letters: String = host.to_lowercase().chars().filter(|c| !is_hidden(*c)).map(at_a_glance).collect();
    letters.replace("rn", "m").replace("vv", "w").replace("cl", "d")
}

const fn at_a_glance(character: char) -> char {
    match character {
        '0' | 'ο' | 'о' | 'օ' => 'o',
        '1' | 'i' | 'ı' | 'і' | 'ӏ' | 'ι' | '|' => 'l',
        '5' | 'ѕ' => 's',
        'а' | 'α' => 'a',
        'е' => 'e',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'у' | 'γ' => 'y',
        'х' | 'χ' => 'x',
        'ј' => 'j',
        'һ' => 'h',
        'ԁ' => 'd',
        'ν' => 'v',
        'ո' => 'n',
        'ɡ' => 'g',
        'к' | 'κ' => 'k',
        other => other,
    }
}

/// The fewest changes that turn our host into theirs, as the table of their number.
struct Changes {
    table: Vec<Vec<usize>>,
}

impl Changes {
    fn between(ours: &[char], theirs: &[char]) -> Self {
        let mut table = vec![(0..=theirs.len()).collect::<Vec<usize>>()];
        for (row, our) in ours.iter().enumerate() {
            let mut next = vec![row + 1];
            if let Some(above) = table.last() {
                for ((their, pair), left_of) in theirs.iter().zip(above.windows(2)).zip(0..) {
                    let &[diagonal, up] = pair else { continue };
                    let left: usize = next.get(left_of).copied().unwrap_or_default();
                    next.push((diagonal + usize::from(our != their)).min(up + 1).min(left + 1));
                }
            }
            table.push(next);
        }
        Self { table }
    }

    fn at(&self, row: usize, column: usize) -> usize {
        self.table.get(row).and_then(|row| row.get(column)).copied().unwrap_or(usize::MAX)
    }

    fn count(&self) -> usize {
        self.table.last().and_then(|row| row.last()).copied().unwrap_or_default()
    }

    /// Walks back from the end, and notes on both sides what stays and what changes.
    fn parts(&self, ours: &[char], theirs: &[char]) -> LookAlike {
        let (mut row, mut column) = (ours.len(), theirs.len());
        let (mut our_marks, mut their_marks) = (vec![true; row], vec![true; column]);
        while row > 0 && column > 0 {
            let (our, their) = (ours.get(row - 1), theirs.get(column - 1));
            let here = self.at(row, column);
            if here == self.at(row - 1, column - 1) + usize::from(our != their) {
                (row, column) = (row - 1, column - 1);
                if our == their {
                    if let Some(mark) = our_marks.get_mut(row) {
                        *mark = false;
                    }
                    if let Some(mark) = their_marks.get_mut(column) {
                        *mark = false;
                    }
                }
            } else if here == self.at(row - 1, column) + 1 {
                row -= 1;
            } else {
                column -= 1;
            }
        }
        LookAlike { theirs: marked(theirs, &their_marks), ours: marked(ours, &our_marks) }
    }
}

fn marked(letters: &[char], marks: &[bool]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (letter, differs) in letters.iter().zip(marks) {
        let text =
            if is_hidden(*letter) { format!("U+{:04X}", u32::from(*letter)) } else { letter.to_string() };
        if parts.last().is_none_or(|part| part.differs != *differs) {
            parts.push(Part { text: String::new(), differs: *differs });
        }
        if let Some(part) = parts.last_mut() {
            part.text.push_str(&text);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "auth.example.org";

    /// Their host with what differs in brackets.
    fn marks(theirs: &str) -> Option<String> {
        let write = |part: Part| if part.differs { format!("[{}]", part.text) } else { part.text };
        look_alike(OURS, theirs).map(|alike| alike.theirs.into_iter().map(write).collect())
    }

    #[test]
    fn a_host_that_looks_like_ours_is_found_and_the_letters_that_differ_are_marked() {
        for (theirs, marked) in [
            ("auth.examp1e.org", "auth.examp[1]e.org"),
            ("auth.exampIe.org", "auth.examp[I]e.org"),
            ("auth.exarnple.org", "auth.exa[rn]ple.org"),
            ("аuth.ехаmple.org", "[а]uth.[еха]mple.org"),
            ("auth.example.org.evil.test", "auth.example.org[.evil.test]"),
            ("auth-example-org.evil.test", "auth[-]example[-]org[.evil.test]"),
            ("auth.exam\u{200B}ple.org", "auth.exam[U+200B]ple.org"),
        ] {
            assert_eq!(marks(theirs).as_deref(), Some(marked), "{theirs}");
        }
        assert!(
            marks("auth.example.com")
                .is_some_and(|marks| marks.starts_with("auth.example.") && marks.contains('['))
        );
    }

    /// Then only our own host shows what is missing.
    #[test]
    fn a_letter_that_is_missing_is_marked_in_our_host() {
        let alike = look_alike(OURS, "auth.exmple.org").unwrap();
        assert!(alike.theirs.iter().all(|part| !part.differs), "{alike:?}");
        let ours: Vec<_> = alike.ours.iter().filter(|part| part.differs).map(|part| &*part.text).collect();
        assert_eq!(ours, ["a"]);
    }

    #[test]
    fn another_site_is_not_accused_and_what_is_ours_is_not_either() {
        for theirs in [
            "shop.test",
            "login.bank.test",
            "",
            OURS,
            "auth.example.org:8443",
            "eu.auth.example.org",
            "app.example.org",
        ] {
            assert_eq!(look_alike(OURS, theirs), None, "{theirs}");
        }
        assert_eq!(look_alike(OURS, &"a".repeat(100_000)), None);
        assert!(look_alike("localhost:8080", "locaIhost:8080").is_some());
    }

    #[test]
    fn both_hosts_are_whole_whatever_they_are() {
        let text = |parts: &[Part]| parts.iter().map(|part| &*part.text).collect::<String>();
        for theirs in ["auth.examqle.org", "aüth.example.org", "example.org.auth", "auth.example.org."] {
            if let Some(alike) = look_alike(OURS, theirs) {
                assert_eq!((text(&alike.ours), text(&alike.theirs)), (OURS.to_owned(), theirs.to_owned()));
            }
        }
    }
}
