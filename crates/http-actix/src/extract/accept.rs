//! Reads the headers in which a client says what it prefers.

use actix_web::HttpRequest;
use actix_web::http::header;

use super::header_text;

/// How many entries of a list are read. Browsers send about ten.
pub(crate) const MAX_ITEMS: usize = 32;

/// The entries of a list like `text/html, application/json;q=0.8` with their weights, in the order of the
/// list. Entries without a name or with an invalid weight are left out.
pub(crate) fn items(list: &str) -> impl Iterator<Item = (&str, f32)> {
    list.split(',').take(MAX_ITEMS).filter_map(|item| {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().filter(|name| !name.is_empty())?;
        let given = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let weight = given.map_or(Some(1.0), weight_of)?;
        (0.0..=1.0).contains(&weight).then_some((name, weight))
    })
}

/// Digits, and others behind a dot (RFC 9110 section 12.4.2): no sign, no exponent and no other number.
fn weight_of(text: &str) -> Option<f32> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_plain { text.parse().ok() } else { None }
}

/// The weight of a name in a list, or 0 if the name is not in it.
pub(crate) fn weight(list: &str, wanted: &str) -> f32 {
    items(list)
        .filter(|(name, _)| name.eq_ignore_ascii_case(wanted))
        .map(|(_, weight)| weight)
        .fold(0.0, f32::max)
}

/// Does the client want HTML rather than JSON? A client that sends only `*/*` is a program.
pub(crate) fn prefers_html(request: &HttpRequest) -> bool {
    let accepted = header_text(request.headers(), header::ACCEPT).unwrap_or_default();
    let html = weight(accepted, "text/html");
    html > 0.0 && html >= weight(accepted, "application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_weight_that_the_list_gives_it() {
        assert!((weight("text/html, application/json; q=0.5", "TEXT/HTML") - 1.0).abs() < f32::EPSILON);
        assert!(
            (weight("text/html, application/json; q=0.5", "application/json") - 0.5).abs() < f32::EPSILON
        );
        assert!(weight("br, gzip;q=0", "gzip") <= 0.0);
        assert!(weight("br", "gzip") <= 0.0);
    }

    #[test]
    fn weights_that_are_none_leave_their_entry_out_and_long_lists_end() {
        assert_eq!(items("a;q=NaN, b;q=-1, c;q=2, d;q=x, , f;q=+1, g;q=1e0, e;Q=0.5").count(), 1);
        assert_eq!(items(&"a,".repeat(10_000)).count(), MAX_ITEMS);
    }
}
