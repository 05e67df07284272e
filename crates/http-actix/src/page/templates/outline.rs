//! Pages that are rendered once for each of their shapes. After that, only their values are filled in.
//!
//! From one response to the next, only a few values of a page change: who asks, where the sign-in leads. Our
//! templates only print such a value, or test whether there is one. So a page is rendered with a mark in the
//! place of each value, and cut at the marks. Each response consists of these pieces, with its values between
//! them. An operator's template may do more with a value, so its page is rendered as a whole each time.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

use countersign_domain::number::whole;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{TemplateError, Templates};
use crate::page::language::Language;
use crate::page::menu::Menu;
use crate::page::name::Name;

/// The beginning and the end of a mark, around the number of its value. They are noncharacters of Unicode: no
/// template contains them, and nothing changes them on the way to the page.
const MARK: [char; 2] = ['\u{fdd0}', '\u{fdd1}'];

/// How many shapes of a page are remembered. Each takes about 20 KB.
const MOST: usize = 128;

/// The place of a value in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// The place of an empty value, which templates treat as missing.
    Empty,
    /// The place of the value with this number.
    Of(usize),
}

/// The values of one response, each with its place.
#[derive(Default)]
pub(crate) struct Values<'a>(Vec<Cow<'a, str>>);

/// Everything that determines a page, except its values.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Shape<P> {
    pub(crate) language: Language,
    pub(crate) menu: Option<Menu>,
    pub(crate) page: P,
}

/// The outlines of a page, by shape.
pub(crate) struct Outlines<P> {
    name: Name,
    // Clients cannot choose what is hashed here, so the hash does not have to resist attacks.
    remembered: RwLock<HashMap<Shape<P>, Outline, foldhash::fast::RandomState>>,
}

/// A page without its values.
struct Outline(Vec<Piece>);

enum Piece {
    /// HTML that is sent as it is.
    Html(String),
    /// The value with this number.
    Value(usize),
}

impl<P: Serialize + Eq + Hash> Outlines<P> {
    pub(crate) fn of(name: Name) -> Self {
        Self { name, remembered: RwLock::default() }
    }

    pub(crate) const fn name(&self) -> Name {
        self.name
    }

    /// Writes the page with this shape and these values.
    pub(crate) fn write(
        &self,
        templates: &Templates,
        shape: Shape<P>,
        values: &Values<'_>,
    ) -> Result<Vec<u8>, TemplateError> {
        let Shape { language, menu, page } = &shape;
        // Anyone can choose what a menu keeps, so each of these pages would have a shape of its own.
        let keeps = menu.as_ref().is_some_and(Menu::keeps);
        if keeps || templates.is_replaced(self.name) {
            let page = values.put_into(page)?;
            return Ok(templates.render(*language, self.name, menu.as_ref(), &page)?.into_bytes());
        }
        let remembered = self.remembered.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(outline) = remembered.get(&shape) {
            return outline.fill(values);
        }
        drop(remembered);
        let outline = Outline::cut(&templates.render(*language, self.name, menu.as_ref(), page)?);
        let filled = outline.fill(values);
        let mut remembered = self.remembered.write().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= MOST {
            // Shapes that are still in use are soon rendered again.
            remembered.clear();
        }
        remembered.insert(shape, outline);
        filled
    }
}

impl<'a> Values<'a> {
    /// Adds a value, and returns its place.
    pub(crate) fn place(&mut self, value: impl Into<Cow<'a, str>>) -> Place {
        let value = value.into();
        if value.is_empty() {
            return Place::Empty;
        }
        self.0.push(value);
        Place::Of(self.0.len() - 1)
    }

    fn get(&self, number: usize) -> &str {
        self.0.get(number).map_or("", AsRef::as_ref)
    }

    /// The context for a template, with the values in their places.
    pub(crate) fn put_into(&self, page: &impl Serialize) -> Result<Value, TemplateError> {
        let mut value = serde_json::to_value(page).map_err(tera::Error::message)?;
        self.replace_marks(&mut value);
        Ok(value)
    }

    fn replace_marks(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => {
                let mark = text.strip_prefix(MARK[0]).and_then(number_of_mark);
                if let Some((number, "")) = mark {
                    *text = self.get(number).to_owned();
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.replace_marks(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.replace_marks(value)),
        }
    }
}

impl Outline {
    fn cut(html: &str) -> Self {
        let mut parts = html.split(MARK[0]);
        let mut pieces = vec![Piece::Html(parts.next().unwrap_or_default().to_owned())];
        for part in parts {
            let (number, html) = number_of_mark(part).unzip();
            pieces.extend(number.map(Piece::Value));
            pieces.push(Piece::Html(html.unwrap_or(part).to_owned()));
        }
        Self(pieces)
    }

    fn fill(&self, values: &Values<'_>) -> Result<Vec<u8>, TemplateError> {
        let sizes = self.0.iter().map(|piece| match piece {
            Piece::Html(html) => html.len(),
            Piece::Value(number) => values.get(*number).len(),
        });
        let mut page = Vec::with_capacity(sizes.sum());
        for piece in &self.0 {
            match piece {
                Piece::Html(html) => page.extend_from_slice(html.as_bytes()),
                Piece::Value(number) => {
                    tera::escape_html(values.get(*number), &mut page).map_err(tera::Error::from)?;
                }
            }
        }
        Ok(page)
    }
}

/// Reads a mark without its first character. Also returns what follows it.
fn number_of_mark(text: &str) -> Option<(usize, &str)> {
    let (number, rest) = text.split_once(MARK[1])?;
    Some((whole(number)?, rest))
}

impl fmt::Display for Place {
    /// Writes the mark.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => Ok(()),
            Self::Of(number) => write!(f, "{}{number}{}", MARK[0], MARK[1]),
        }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests;
