//! Ignores our cookies if they are sent twice.

use actix_web::http::header::{self, HeaderMap, HeaderValue};

use crate::browser::{login_cookie, session};

/// Removes each of our cookies that is sent more than once. Another site set one of them, and we cannot know
/// which, so neither counts (B-062). Over https, the prefix of their names prevents this already.
pub(crate) fn ignore_doubled(headers: &mut HeaderMap, https: bool) {
    let pairs = || {
        let lines =
            headers.get_all(header::COOKIE).filter_map(|line| std::str::from_utf8(line.as_bytes()).ok());
        lines.flat_map(|line| line.split(';')).map(str::trim)
    };
    let is = |pair: &str, name: &str| pair.split('=').next() == Some(name);
    let ours = [session::cookie_name(https), login_cookie::name(https)];
    let doubled: Vec<&str> =
        ours.into_iter().filter(|name| pairs().filter(|pair| is(pair, name)).count() > 1).collect();
    if doubled.is_empty() {
        return;
    }
    let others: Vec<&str> = pairs().filter(|pair| !doubled.iter().any(|name| is(pair, name))).collect();
    let others = HeaderValue::from_bytes(others.join("; ").as_bytes());
    headers.remove(header::COOKIE);
    if let Ok(others) = others {
        headers.insert(header::COOKIE, others);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(lines: &[&str], https: bool) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::COOKIE, HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        ignore_doubled(&mut headers, https);
        let lines = headers.get_all(header::COOKIE);
        lines.map(|line| String::from_utf8(line.as_bytes().to_vec()).unwrap()).collect()
    }

    #[test]
    fn b_062_of_two_cookies_with_one_of_our_names_neither_counts_and_others_stay() {
        assert_eq!(left(&["oauth_session=a; x=1; oauth_session=b"], false), ["x=1"]);
        assert_eq!(
            left(&["countersign_login=a; x=1", "countersign_login=b; oauth_session=c"], false),
            ["x=1; oauth_session=c"]
        );
        assert_eq!(
            left(&["oauth_session=a", "x=é; oauth_session=b"], false),
            ["x=é"],
            "whatever the other cookies are"
        );
        assert_eq!(left(&["__Host-oauth_session=a;__Host-oauth_session=a"], true), [""]);
        for single in [&["oauth_session=a; x=1; x=2", "countersign_login=b"][..], &[]] {
            assert_eq!(left(single, false), single);
        }
    }
}
