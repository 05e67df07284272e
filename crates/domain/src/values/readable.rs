//! Checks names that people read. A character that is invisible, or that changes how its neighbors are read,
//! is not allowed in one (A-014, F-08).

use std::borrow::Cow;

use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory, GeneralCategoryGroup};
use icu_properties::{CodePointMapData, CodePointSetData};

/// The longest name of a client, in characters.
pub const MAX_NAME_LENGTH: usize = 100;

/// Why a text cannot be a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameRejected {
    /// It contains an invisible character.
    #[error("must not hold control, invisible or bidirectional characters, and no other space than U+0020")]
    Hidden,
    /// Empty, or too long.
    #[error("takes 1 to {most} characters")]
    Length {
        /// The most characters that such a name can have.
        most: usize,
    },
    /// It has only combining marks, and nothing that they belong to.
    #[error("must hold a character that is seen by itself")]
    Blank,
}

/// Checks a client's name, and returns it without the spaces around it.
pub fn judge_name(name: &str) -> Result<&str, NameRejected> {
    judge_name_of(name, MAX_NAME_LENGTH)
}

/// The same for a name with at most this many characters.
pub(crate) fn judge_name_of(name: &str, most: usize) -> Result<&str, NameRejected> {
    if name.chars().any(is_hidden) {
        return Err(NameRejected::Hidden);
    }
    let name = name.trim();
    if !(1..=most).contains(&name.chars().count()) {
        return Err(NameRejected::Length { most });
    }
    if name.chars().any(is_seen_by_itself) { Ok(name) } else { Err(NameRejected::Blank) }
}

/// Declares a text that people read: a type of its own, with at most so many characters.
macro_rules! readable_text {
    ($(#[$doc:meta])* $name:ident, $most:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// Checks a text by the rules for the names of clients, and drops the spaces around it.
            pub fn parse(text: &str) -> Result<Self, $crate::readable::NameRejected> {
                $crate::readable::judge_name_of(text, $most).map(|text| Self(text.to_owned()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}
pub(crate) use readable_text;

/// A name to show on a page. If the stored name comes from laxer rules and is not readable, `instead` is
/// shown.
pub fn shown_name<'a>(name: &'a str, instead: impl FnOnce() -> String) -> Cow<'a, str> {
    match judge_name(name) {
        Ok(name) => Cow::Borrowed(name),
        Err(_) => Cow::Owned(instead()),
    }
}

/// Is this character invisible, or does it change how its neighbors are read?
///
/// Joiners and variation selectors count too. Some scripts and emoji lose a little by that, but two names
/// that look alike are then equal.
pub fn is_hidden(character: char) -> bool {
    let category = category(character);
    let is_space = GeneralCategoryGroup::Separator.contains(category) && character != ' ';
    character.is_control()
        || is_space
        || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
        || is_blank_or_format(character)
}

/// Characters that Unicode does not call ignorable but that are still invisible: the empty Braille pattern,
/// interlinear annotation anchors, the object replacement character, the musical null notehead, and code
/// points that are not characters.
const fn is_blank_or_format(character: char) -> bool {
    matches!(character, '\u{2800}' | '\u{FFF9}'..='\u{FFFC}' | '\u{1D159}' | '\u{FDD0}'..='\u{FDEF}')
        || character as u32 & 0xFFFE == 0xFFFE
}

fn is_seen_by_itself(character: char) -> bool {
    let category = category(character);
    !GeneralCategoryGroup::Mark.contains(category) && !GeneralCategoryGroup::Separator.contains(category)
}

fn category(character: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_014_characters_that_nobody_sees_are_in_no_name() {
        let listed = [
            '\u{3164}',
            '\u{AD}',
            '\u{200D}',
            '\u{34F}',
            '\u{2800}',
            '\u{115F}',
            '\u{1160}',
            '\u{FFA0}',
            '\u{FEFF}',
            '\u{61C}',
            '\u{17B4}',
            '\u{17B5}',
            '\u{A0}',
            '\u{1680}',
            '\u{3000}',
            '\u{2028}',
            '\u{2029}',
            '\u{FFFC}',
            '\u{1D159}',
            '\u{1D173}',
            '\u{1BCA0}',
            '\u{FDD0}',
            '\u{1FFFE}',
            '\0',
            '\n',
            '\u{7F}',
            '\u{85}',
        ];
        let ranges = [
            '\u{180B}'..='\u{180F}',
            '\u{2000}'..='\u{200F}',
            '\u{202A}'..='\u{202F}',
            '\u{205F}'..='\u{206F}',
            '\u{FE00}'..='\u{FE0F}',
            '\u{FFF0}'..='\u{FFFB}',
            '\u{E0000}'..='\u{E0FFF}',
        ];
        for character in listed.into_iter().chain(ranges.into_iter().flatten()) {
            for name in
                [format!("Pho{character}tos"), format!("{character}Photos"), format!("Photos{character}")]
            {
                assert_eq!(judge_name(&name), Err(NameRejected::Hidden), "U+{:04X}", u32::from(character));
            }
        }
    }

    #[test]
    fn a_014_names_of_every_script_are_taken() {
        for name in [
            "Photo Album",
            "Ünïcødé",
            "写真",
            "תמונות",
            "صور",
            "फ़ोटो",
            "ภาพถ่าย",
            "사진",
            "Фото №1",
            "🦄",
            "C++ & <b>",
            "e\u{301}t\u{e9}",
        ] {
            assert_eq!(judge_name(&format!(" {name} ")), Ok(name));
        }
    }

    #[test]
    fn a_014_a_name_is_more_than_marks_and_spaces() {
        for (name, why) in [
            ("", NameRejected::Length { most: 100 }),
            ("   ", NameRejected::Length { most: 100 }),
            ("\u{301}", NameRejected::Blank),
            ("\u{301} \u{20DD}", NameRejected::Blank),
        ] {
            assert_eq!(judge_name(name), Err(why), "{name:?}");
        }
        assert_eq!(judge_name(&"写".repeat(100)).map(str::len), Ok(300));
        assert_eq!(judge_name(&"写".repeat(101)), Err(NameRejected::Length { most: 100 }));
    }

    #[test]
    fn a_014_a_stored_name_that_nobody_can_read_gives_way() {
        assert_eq!(shown_name("Photos", || "id".to_owned()), "Photos");
        assert_eq!(shown_name("Pho\u{ad}tos", || "id".to_owned()), "id");
    }
}
