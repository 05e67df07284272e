//! Pages that are rendered once for each of their shapes, and then only filled.
//!
//! From one answer to the next little of a page is other than a few values: who asks, where the sign-in leads. A template
//! of ours writes such a value, or asks whether there is one, and does nothing else with it. So the page is rendered with a
//! mark in the place of each value, the result is cut at the marks, and every answer is the pieces with its values between
//! them. A template of the operator's may do more with a value: its page is rendered whole each time.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{TemplateError, Templates};
use crate::page::language::Language;
use crate::page::menu::Menu;
use crate::page::name::Name;

/// What a mark begins and ends with, around the number of its value: noncharacters of Unicode, which no template has and
/// which nothing changes on the way to the page.
const MARK: [char; 2] = ['\u{fdd0}', '\u{fdd1}'];

/// So many shapes of a page are remembered, some 20 KB each.
const MOST: usize = 128;

/// The place of a value in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// Of an empty value, which a template takes for none.
    Empty,
    /// Of the value with this number.
    Of(usize),
}

/// The values of one answer, each with its place.
#[derive(Default)]
pub(crate) struct Values<'a>(Vec<Cow<'a, str>>);

/// All that decides about a page but its values.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Shape<P> {
    pub(crate) language: Language,
    pub(crate) menu: Option<Menu>,
    pub(crate) page: P,
}

/// The outlines of a page, by its shapes.
pub(crate) struct Outlines<P> {
    name: Name,
    // No one outside chooses what is hashed here, so the hash need not resist anybody.
    remembered: RwLock<HashMap<Shape<P>, Outline, foldhash::fast::RandomState>>,
}

/// A page without its values.
struct Outline(Vec<Piece>);

enum Piece {
    /// As it will be sent.
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

    /// The page of a shape with its values.
    pub(crate) fn write(
        &self,
        templates: &Templates,
        shape: Shape<P>,
        values: &Values<'_>,
    ) -> Result<Vec<u8>, TemplateError> {
        let Shape { language, menu, page } = &shape;
        // What a menu keeps is for anybody to choose, and would be a shape of its own each time.
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
            // Those that are wanted come again.
            remembered.clear();
        }
        remembered.insert(shape, outline);
        filled
    }
}

impl<'a> Values<'a> {
    /// Takes a value and gives it a place.
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

    /// What a template is given, with the values in their places.
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

/// Reads a mark after its first character; gives also what follows it.
fn number_of_mark(text: &str) -> Option<(usize, &str)> {
    let (number, rest) = text.split_once(MARK[1])?;
    Some((number.parse().ok()?, rest))
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
