//! Resource indicators: what an access token shall be for (RFC 8707).

use url::Url;

use crate::error::{OAuthError, OAuthErrorCode};
use crate::redirect_uri::{is_plain_uri_byte, percent_escapes_are_whole};

/// How many resources one request may name.
const MAX_RESOURCES: usize = 8;
/// How long they may be together, in bytes: a request must fit into a cookie.
const MAX_TOGETHER: usize = 1_024;

/// Judges the resources that a client names. Any absolute URI without a fragment will do, unless the operator listed those that
/// there are.
pub fn judge<'a>(
    requested: impl IntoIterator<Item = &'a str>,
    listed: Option<&[String]>,
) -> Result<Vec<String>, OAuthError> {
    let mut resources: Vec<String> = Vec::new();
    for uri in requested {
        if !is_absolute(uri) {
            return Err(invalid_target("resource must be an absolute URI without a fragment"));
        }
        if listed.is_some_and(|listed| !listed.iter().any(|known| known == uri)) {
            return Err(invalid_target("resource is not one that this server issues tokens for"));
        }
        if !resources.iter().any(|known| known == uri) {
            resources.push(uri.to_owned());
        }
    }
    if resources.len() > MAX_RESOURCES || resources.iter().map(String::len).sum::<usize>() > MAX_TOGETHER {
        return Err(invalid_target("resource takes up to 8 URIs of up to 1024 bytes together"));
    }
    Ok(resources)
}

/// What a token request may choose: among the resources of the grant, or freely where the grant names none.
pub fn narrow(requested: Vec<String>, granted: &[String]) -> Result<Vec<String>, OAuthError> {
    if requested.is_empty() {
        return Ok(granted.to_vec());
    }
    if !granted.is_empty() && !requested.iter().all(|uri| granted.contains(uri)) {
        return Err(invalid_target("resource goes beyond what was granted"));
    }
    Ok(requested)
}

/// Is it an absolute URI without a fragment?
pub fn is_absolute(text: &str) -> bool {
    text.len() <= MAX_TOGETHER
        && !text.contains('#')
        && text.bytes().all(is_plain_uri_byte)
        && percent_escapes_are_whole(text)
        && Url::parse(text).is_ok()
}

fn invalid_target(description: &'static str) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidTarget, description)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_108_any_absolute_uri_without_a_fragment_is_a_resource() {
        for uri in
            ["https://api.example/v1", "https://api.example", "urn:example:api", "http://127.0.0.1:9/mcp"]
        {
            assert_eq!(judge([uri, uri], None).unwrap(), [uri]);
        }
        for uri in [
            "",
            "api",
            "/v1",
            "//api.example",
            "https://api.example/#f",
            "https://api.example/a b",
            "https://é.example",
        ] {
            assert_eq!(judge([uri], None).unwrap_err().code, OAuthErrorCode::InvalidTarget, "{uri}");
        }
        assert!(judge(vec![format!("https://api.example/{}", "a".repeat(2_000)).as_str()], None).is_err());
    }

    #[test]
    fn a_108_where_the_operator_lists_them_no_other_is_taken() {
        let listed = ["https://api.example".to_owned()];
        assert!(judge(["https://api.example"], Some(&listed)).is_ok());
        assert!(judge(["https://api.example/"], Some(&listed)).is_err());
        assert_eq!(judge([], Some(&[])).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_token_is_for_what_was_granted_or_for_less() {
        let granted = ["urn:a".to_owned(), "urn:b".to_owned()];
        assert_eq!(narrow(Vec::new(), &granted).unwrap(), granted);
        assert_eq!(narrow(vec!["urn:b".to_owned()], &granted).unwrap(), ["urn:b"]);
        assert!(narrow(vec!["urn:c".to_owned()], &granted).is_err());
        assert_eq!(narrow(vec!["urn:c".to_owned()], &[]).unwrap(), ["urn:c"]);
    }
}
