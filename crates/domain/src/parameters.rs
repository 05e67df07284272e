//! The parameters of a request, before anybody believes them.

/// A parameter came twice (RFC 6749 section 3.1 forbids it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parameter {0} is given more than once")]
pub struct Repeated(pub &'static str);

/// Names and values as they came, in their order.
#[derive(Clone, Default)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Takes decoded pairs.
    pub fn new(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    /// The value of a parameter that may come once; an empty value counts as none (RFC 6749 section 3.1).
    pub fn once(&self, name: &'static str) -> Result<Option<&str>, Repeated> {
        let mut values = self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let first = values.next();
        if values.next().is_some() {
            return Err(Repeated(name));
        }
        Ok(first.filter(|value| !value.is_empty()))
    }
}

impl std::fmt::Debug for Parameters {
    /// Names only: among the values may be codes, tokens and secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}
