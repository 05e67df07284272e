//! The database's URL, a value that may contain a password and never shows it.

use std::fmt;

/// The URL of the database. Printing it leaves the password out.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Reads a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let url = Self::new(text);
        if url.scheme().is_empty() {
            return Err("not a URL".to_owned());
        }
        // A `/`, `?` or `#` in a password ends the host early. The rest would be read as a port or a
        // database, and the database library would quote it in its error text.
        let rest = url.rest();
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let path_end = rest.find('?').unwrap_or(rest.len()).max(end);
        if rest.get(end..path_end).is_some_and(|path| path.contains('@')) {
            return Err(
                "an @ after the host; write / ? # and @ in a password as %2F %3F %23 and %40".to_owned()
            );
        }
        Ok(url)
    }

    /// The part before `://`; empty if there is none.
    pub fn scheme(&self) -> &str {
        self.0.split_once("://").map_or("", |(scheme, _)| scheme)
    }

    /// The part after `://`.
    pub fn rest(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, rest)| rest)
    }

    /// Returns the whole URL with its password, for the one place that connects.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Removes the passwords from a text, such as an error from the database library.
    pub fn redact(&self, text: &str) -> String {
        self.passwords().fold(text.to_owned(), |text, password| {
            let decoded = percent_decode(password);
            text.replace(password, "…").replace(&decoded, "…")
        })
    }

    /// All passwords in the URL, as they are written there: the user's, and those in the parameters.
    fn passwords(&self) -> impl Iterator<Item = &str> {
        let before_host = self.rest().rsplit_once('@').map_or("", |(user, _)| user);
        let of_user = before_host.split_once(':').map(|(_, password)| password);
        let query = self.rest().split_once('?').map_or("", |(_, query)| query);
        let of_query = query.split('&').filter_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.to_lowercase().contains("password").then_some(value)
        });
        of_user.into_iter().chain(of_query).filter(|password| !password.is_empty())
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redact(&self.0))
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => std::str::from_utf8(&[*high, *low])
                .ok()
                .and_then(|digits| u8::from_str_radix(digits, 16).ok()),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_shown_nowhere() {
        let url = DatabaseUrl::parse("postgres://ann:p%40ss@db.example/auth?sslpassword=k3y&sslmode=require")
            .unwrap();
        assert_eq!(url.to_string(), "postgres://ann:…@db.example/auth?sslpassword=…&sslmode=require");
        assert_eq!(format!("{url:?}"), format!("DatabaseUrl({url})"));
        assert_eq!(url.redact("no entry for p@ss or p%40ss with k3y"), "no entry for … or … with …");
        assert!(url.expose().contains(":p%40ss@"));
    }

    #[test]
    fn a_password_that_ends_the_host_early_is_refused_without_being_repeated() {
        let refused = DatabaseUrl::parse("postgres://ann:hunt/er2@db.example/auth").unwrap_err();
        assert!(refused.contains("%2F") && !refused.contains("er2"), "{refused}");
        assert!(DatabaseUrl::parse("postgres://ann:pass@db1,db2:5433/auth?options=a@b").is_ok());
    }

    #[test]
    fn what_has_no_scheme_is_refused() {
        assert_eq!(DatabaseUrl::parse("countersign.db"), Err("not a URL".to_owned()));
        assert_eq!(
            DatabaseUrl::parse("sqlite://data/a.db").map(|url| url.rest().to_owned()),
            Ok("data/a.db".to_owned())
        );
    }
}
