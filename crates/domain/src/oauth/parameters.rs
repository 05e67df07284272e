//! The parameters of a request, before they are checked.

use url::form_urlencoded;

/// A parameter was given twice (RFC 6749 section 3.1 forbids it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parameter {0} is given more than once")]
pub struct Repeated(pub &'static str);

/// Names and values as received, in order.
#[derive(Clone, Default)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Wraps decoded pairs.
    pub fn new(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    /// The parameters with one of these names.
    #[must_use]
    pub fn only(&self, names: &[&str]) -> Self {
        Self(self.0.iter().filter(|(name, _)| names.contains(&name.as_str())).cloned().collect())
    }

    /// The parameters with this value, and no other value, for a name.
    #[must_use]
    pub fn with(mut self, name: &str, value: String) -> Self {
        self.0.retain(|(key, _)| key != name);
        self.0.push((name.to_owned(), value));
        self
    }

    /// Encodes the parameters as a form or a query.
    pub fn to_form(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.0).finish()
    }

    /// Parses a form or a query.
    pub fn from_form(form: &str) -> Self {
        let pairs = form_urlencoded::parse(form.as_bytes());
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The value of a parameter that must not repeat. An empty value counts as missing (RFC 6749 section
    /// 3.1).
    pub fn once(&self, name: &'static str) -> Result<Option<&str>, Repeated> {
        let mut values = self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let first = values.next();
        if values.next().is_some() {
            return Err(Repeated(name));
        }
        Ok(first.filter(|value| !value.is_empty()))
    }

    /// The values of a parameter that can repeat, without empty ones.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(key, value)| key == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }
}

impl std::fmt::Debug for Parameters {
    /// Shows only names, because the values can be codes, tokens and secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_as_a_form_is_read_again_in_its_order() {
        let pairs =
            [("state", "a b&c=d"), ("resource", "urn:a"), ("resource", "urn:b"), ("empty", ""), ("é", "+%")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        assert_eq!(Parameters::from_form(&Parameters::new(pairs.clone()).to_form()).0, pairs);
        let some = Parameters::new(pairs).only(&["resource", "nonce"]);
        assert_eq!(some.all("resource").collect::<Vec<_>>(), ["urn:a", "urn:b"]);
        assert_eq!(some.once("state"), Ok(None));
    }
}
