//! What a list is asked for: filters, a limit, and the row after which it begins.

use actix_web::HttpRequest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::number::whole;
use serde::Serialize;
use url::form_urlencoded::Serializer;

use countersign_http_actix::error::ApiError;

/// The most rows of a list.
const MAX_LIMIT: u32 = 500;
/// How many rows a list has by default.
const USUAL_LIMIT: u32 = 50;

/// The parameters that a page knows. Of two with one name, the first counts.
pub(super) struct Query {
    known: &'static [&'static str],
    given: Vec<(String, String)>,
}

/// The way through a list: queries of the next page, and of the first.
#[derive(Default, Serialize)]
pub(super) struct Pager {
    next: Option<String>,
    first: Option<String>,
}

impl Query {
    /// Reads the parameters with these names. Empty ones are those that a form leaves empty.
    pub(super) fn of(request: &HttpRequest, known: &'static [&'static str]) -> Self {
        let pairs = url::form_urlencoded::parse(request.query_string().as_bytes());
        let given = pairs
            .map(|(name, value)| (name.into_owned(), value.trim().to_owned()))
            .filter(|(_, value)| !value.is_empty());
        Self { known, given: given.collect() }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    /// The row after which the list begins.
    pub(super) fn after(&self) -> Option<&str> {
        self.text("after")
    }

    pub(super) fn limit(&self) -> Result<u32, ApiError> {
        let Some(text) = self.text("limit") else { return Ok(USUAL_LIMIT) };
        let limit = whole(text).filter(|limit| (1..=MAX_LIMIT).contains(limit));
        limit.ok_or_else(|| ApiError::invalid_request(format!("limit takes a number, 1 to {MAX_LIMIT}")))
    }

    /// The way on, if rows follow after this one.
    pub(super) fn pager(&self, next: Option<String>) -> Pager {
        self.pager_by("after", next)
    }

    /// The way through a second list of the page, which has a parameter of its own for the row.
    pub(super) fn pager_by(&self, parameter: &'static str, next: Option<String>) -> Pager {
        Pager {
            next: next.map(|after| self.with(parameter, Some(&after))),
            first: self.text(parameter).map(|_| self.with(parameter, None)),
        }
    }

    /// The same list from its beginning, in another order.
    pub(super) fn sorted_by(&self, sort: &str) -> String {
        self.with_but(&["sort", "after"], Some(("sort", sort)))
    }

    /// What a form that filters the list keeps: its order and its limit.
    pub(super) fn kept(&self) -> Vec<(&'static str, String)> {
        let kept = ["sort", "limit"].into_iter();
        kept.filter_map(|name| Some((name, self.text(name)?.to_owned()))).collect()
    }

    /// The same list, beginning after another row.
    fn with(&self, parameter: &'static str, after: Option<&str>) -> String {
        self.with_but(&[parameter], after.map(|after| (parameter, after)))
    }

    /// The same parameters without some of them, and with another one.
    fn with_but(&self, left_out: &[&str], added: Option<(&str, &str)>) -> String {
        let kept = self.known.iter().filter(|name| !left_out.contains(name));
        let kept = kept.filter_map(|name| Some((*name, self.text(name)?)));
        let pairs = kept.chain(added);
        format!("?{}", Serializer::new(String::new()).extend_pairs(pairs).finish())
    }
}

/// The error for a row that no list named.
pub(super) fn wrong_row() -> ApiError {
    ApiError::invalid_request("after is not what the list before said")
}

/// Makes the name of a row.
pub(super) fn cursor(parts: &[&str]) -> String {
    URL_SAFE_NO_PAD.encode(parts.join("\n"))
}

/// Reads the name of a row.
pub(super) fn from_cursor(text: &str) -> Result<Vec<String>, ApiError> {
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong_row())?;
    let text = String::from_utf8(bytes).map_err(|_| wrong_row())?;
    Ok(text.split('\n').map(str::to_owned).collect())
}

/// A text as one segment of a path.
pub(super) fn segment(text: &str) -> String {
    let mut segment = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:@".contains(&byte) {
            segment.push(char::from(byte));
        } else {
            segment.push_str(&format!("%{byte:02X}"));
        }
    }
    segment
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn query(text: &str) -> Query {
        Query::of(
            &TestRequest::with_uri(&format!("/x?{text}")).to_http_request(),
            &["group", "limit", "after"],
        )
    }

    #[test]
    fn the_next_page_has_the_same_filters_and_the_first_has_no_row() {
        let pager = query("group=a%26b&limit=7&after=x&lang=de").pager(Some("y z".to_owned()));
        assert_eq!(pager.next.as_deref(), Some("?group=a%26b&limit=7&after=y+z"));
        assert_eq!(pager.first.as_deref(), Some("?group=a%26b&limit=7"));
        assert_eq!(query("").pager(None).first, None);
    }

    #[test]
    fn another_order_keeps_filters_and_begins_at_the_beginning() {
        let sorted = query("group=a%26b&limit=7&after=x&sort=y").sorted_by("created");
        assert_eq!(sorted, "?group=a%26b&limit=7&sort=created");
        assert_eq!(
            query("limit=7&sort=y&after=x").kept(),
            [("sort", "y".to_owned()), ("limit", "7".to_owned())]
        );
    }

    #[test]
    fn a_limit_is_a_number_within_bounds() {
        assert_eq!(query("").limit().ok(), Some(USUAL_LIMIT));
        assert_eq!(query("limit=500").limit().ok(), Some(500));
        for wrong in ["0", "501", "-1", "x", "1e3"] {
            assert!(query(&format!("limit={wrong}")).limit().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_segment_ends_no_path_and_begins_no_query() {
        assert_eq!(segment("eip155:1:0xAb"), "eip155:1:0xAb");
        assert_eq!(segment("a/b?c#d%é \""), "a%2Fb%3Fc%23d%25%C3%A9%20%22");
    }

    #[test]
    fn a_row_is_read_as_it_is_named() {
        let named = cursor(&["eip155", "eip155:1", "0xab"]);
        assert_eq!(from_cursor(&named).ok(), Some(vec!["eip155".into(), "eip155:1".into(), "0xab".into()]));
        assert!(from_cursor("***").is_err());
    }
}
