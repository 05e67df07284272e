//! The languages of the pages, and which of them a user gets.
//!
//! `?lang` comes first, because the user has just chosen it. Then come the client's `ui_locales`, the cookie
//! that remembers a choice, and the browser's `Accept-Language`. The texts themselves are in
//! [`crate::page::templates`].

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};
use actix_web::http::header;

use crate::extract::{accept, header_text, query_value};

/// The query parameter with the user's choice.
const PARAMETER: &str = "lang";

/// The cookie that remembers the choice, with https and without. `__Host-` keeps sibling domains from setting
/// it.
const COOKIES: [&str; 2] = ["__Host-countersign_language", "countersign_language"];
const COOKIE_DAYS: i64 = 365;

/// No language tag in use is longer (RFC 5646 section 4.4.1).
const MAX_TAG: usize = 35;

/// A language that the pages are available in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    English,
    German,
    Spanish,
    French,
    Portuguese,
    Japanese,
    Chinese,
    Arabic,
}

/// The tags of the languages that the pages are available in.
pub fn page_languages() -> impl Iterator<Item = &'static str> {
    Language::ALL.into_iter().map(Language::tag)
}

impl Language {
    pub(crate) const ALL: [Self; 8] = [
        Self::English,
        Self::German,
        Self::Spanish,
        Self::French,
        Self::Portuguese,
        Self::Japanese,
        Self::Chinese,
        Self::Arabic,
    ];

    /// The BCP 47 tag, and the name of the folder with the texts.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::Spanish => "es",
            Self::French => "fr",
            Self::Portuguese => "pt-BR",
            Self::Japanese => "ja",
            Self::Chinese => "zh-CN",
            Self::Arabic => "ar",
        }
    }

    /// The name in the language itself, for people who read no other.
    pub(crate) const fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
            Self::Spanish => "Español",
            Self::French => "Français",
            Self::Portuguese => "Português (Brasil)",
            Self::Japanese => "日本語",
            Self::Chinese => "简体中文",
            Self::Arabic => "العربية",
        }
    }

    /// Is it written from right to left?
    pub(crate) const fn is_rtl(self) -> bool {
        matches!(self, Self::Arabic)
    }

    /// Finds our best language for a list of language ranges. As in `Accept-Language`, they can have weights;
    /// as in `ui_locales`, they can be separated by spaces. This is the lookup of RFC 4647: a range that we
    /// do not have is shortened from its end until we have it.
    pub(crate) fn negotiate(list: &str) -> Option<Self> {
        let mut wanted: Vec<(Self, f32)> = accept::items(list)
            .filter(|(_, weight)| *weight > 0.0)
            .flat_map(|(ranges, weight)| ranges.split_ascii_whitespace().map(move |range| (range, weight)))
            .take(accept::MAX_ITEMS)
            .filter_map(|(range, weight)| Some((Self::look_up(range)?, weight)))
            .collect();
        // The sort is stable, so ranges with equal weights keep their order.
        wanted.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        wanted.first().map(|(language, _)| *language)
    }

    /// The language of a page, from the request, and from what the client asked for in its own.
    pub fn of(request: &HttpRequest, pending: Option<&str>) -> Self {
        let remembered = || {
            let cookie = COOKIES.iter().find_map(|name| request.cookie(name))?;
            Self::negotiate(cookie.value())
        };
        let accepted = || Self::negotiate(header_text(request.headers(), header::ACCEPT_LANGUAGE)?);
        Self::chosen(request)
            .or_else(|| pending.and_then(Self::negotiate))
            .or_else(remembered)
            .or_else(accepted)
            .unwrap_or(Self::English)
    }

    /// The language that the user has just chosen.
    pub(crate) fn chosen(request: &HttpRequest) -> Option<Self> {
        // If there are two, neither counts.
        Self::negotiate(&query_value(request, PARAMETER).ok()??)
    }

    /// Does the query contain only the choice of a language?
    pub(crate) fn is_all_of(query: &str) -> bool {
        url::form_urlencoded::parse(query.as_bytes()).all(|(name, _)| name == PARAMETER)
    }

    /// The cookie that remembers the choice.
    pub fn cookie(self, https: bool) -> Cookie<'static> {
        let [secure, plain] = COOKIES;
        Cookie::build(if https { secure } else { plain }, self.tag())
            .path("/")
            .max_age(Duration::days(COOKIE_DAYS))
            .same_site(SameSite::Lax)
            .http_only(true)
            .secure(https)
            .finish()
    }

    fn look_up(range: &str) -> Option<Self> {
        if range.len() > MAX_TAG {
            return None;
        }
        let mut range = range;
        loop {
            if let Some(found) = Self::ALL.into_iter().find(|each| each.tag().eq_ignore_ascii_case(range)) {
                return Some(found);
            }
            let Some((shorter, _)) = range.rsplit_once('-') else { break };
            // A single letter only introduces the part that was just cut off.
            range = shorter
                .rsplit_once('-')
                .filter(|(_, last)| last.len() == 1)
                .map_or(shorter, |(most, _)| most);
        }
        // A language without a region matches the region that we have.
        let primary =
            |each: &Self| each.tag().split('-').next().is_some_and(|tag| tag.eq_ignore_ascii_case(range));
        Self::ALL.into_iter().find(primary)
    }
}

#[cfg(test)]
mod tests;
