//! A page that is the same for everyone who reads one language.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::language::Language;
use super::templates::Asset;

/// The page in each language, made on the first request. Unlike other pages, it contains no secret and nothing
/// from the request. So it may be compressed, which would tell secrets of the others (BREACH).
pub struct InEachLanguage(BTreeMap<Language, OnceLock<Asset>>);

impl Default for InEachLanguage {
    fn default() -> Self {
        Self(Language::ALL.into_iter().map(|language| (language, OnceLock::new())).collect())
    }
}

impl InEachLanguage {
    /// The page in this language. `None` if it could not be made.
    pub fn get<E>(
        &self,
        language: Language,
        make: impl FnOnce() -> Result<Asset, E>,
    ) -> Result<Option<&Asset>, E> {
        let Some(place) = self.0.get(&language) else { return Ok(None) };
        if place.get().is_none() {
            let page = make()?;
            return Ok(Some(place.get_or_init(|| page)));
        }
        Ok(place.get())
    }
}
