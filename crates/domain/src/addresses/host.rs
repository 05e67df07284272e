//! Checks the hosts in what clients tell us. Others parse what we print: a browser reads `form-action`, and a
//! person reads a text. So a host that cannot exist in DNS, or that is not spelled as a browser would spell
//! it, is never accepted (F-08).

use url::{Host, Url};

use crate::number::whole;

/// The longest name in DNS, in bytes (RFC 1035 section 2.3.4).
const MAX_NAME: usize = 253;
/// The longest label of a name, in bytes.
const MAX_LABEL: usize = 63;

/// Why the authority of a URI is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostRejected {
    /// There is no authority.
    Missing,
    /// The host is neither a possible DNS name nor an IP address.
    Name,
    /// Host or port is not spelled as a browser would spell it.
    NotCanonical,
}

/// Checks host and port of a URI as written: `text` is what `url` was parsed from. The `url` crate tolerates
/// a lot (`https:host`, `https:///host`, `http://0x7f.1`), so the two are compared.
pub(crate) fn judge(text: &str, url: &Url) -> Result<(), HostRejected> {
    let rest = text.strip_prefix(url.scheme()).and_then(|rest| rest.strip_prefix("://"));
    let rest = rest.ok_or(HostRejected::Missing)?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if let Some(Host::Domain(name)) = url.host()
        && !host.is_empty()
        && !is_name(name)
    {
        return Err(HostRejected::Name);
    }
    let canonical = url.host_str().filter(|_| !host.is_empty()).ok_or(HostRejected::Missing)?;
    let port_is_plain = port.is_none_or(is_port);
    if host.eq_ignore_ascii_case(canonical) && port_is_plain {
        Ok(())
    } else {
        Err(HostRejected::NotCanonical)
    }
}

/// Is this the number of a port, as a browser spells it?
pub(crate) fn is_port(text: &str) -> bool {
    !text.starts_with('0') && whole::<u16>(text).is_some()
}

/// Is this a possible DNS host name? Letters, digits and hyphens, in labels of 1 to 63 characters that
/// neither start nor end with a hyphen (RFC 1123 section 2.1). Underscores are for names that are not hosts.
/// Names in other scripts arrive here as punycode.
pub(crate) fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=MAX_LABEL).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= MAX_NAME && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> Result<(), HostRejected> {
        judge(text, &Url::parse(text).map_err(|_| HostRejected::NotCanonical)?)
    }

    #[test]
    fn f_08_a_host_is_a_name_of_dns_or_an_address() {
        for text in [
            "https://a.example/cb",
            "https://A.Example:8443/cb",
            "https://xn--bcher-kva.example",
            "https://3com.example/",
            "https://localhost/",
            "https://192.0.2.1/",
            "https://[2001:db8::1]:8443/",
            "com.example.app://callback/x",
        ] {
            assert_eq!(judged(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn f_08_no_punctuation_of_ascii_is_in_a_host() {
        for scheme in ["https", "com.example.app"] {
            for byte in (b'!'..=b'~').filter(|byte| byte.is_ascii_punctuation()) {
                for host in [
                    format!("a{}b.example", char::from(byte)),
                    format!("{}a.example", char::from(byte)),
                    format!("a.example{}", char::from(byte)),
                    format!("a%{byte:02x}b.example"),
                    format!("a%{byte:02X}b.example"),
                ] {
                    let text = format!("{scheme}://{host}/cb");
                    // A character that ends the authority leaves a valid host before it. Only a dot and a
                    // hyphen can be inside a host.
                    let ends =
                        [format!("a.example{}", char::from(byte)), format!("a{}b.example", char::from(byte))];
                    let may_be = match byte {
                        b'/' | b'?' | b'#' => ends.contains(&host),
                        b'.' | b'-' => host == ends[1],
                        _ => false,
                    };
                    assert_eq!(judged(&text).is_ok(), may_be, "{text}");
                }
            }
        }
    }

    #[test]
    fn f_08_a_host_is_as_long_as_dns_has_it() {
        let label = |length: usize| "a".repeat(length);
        let name = |length: usize| {
            let whole = vec![label(61); 4].join(".");
            format!("{whole}.{}", label(length - whole.len() - 1))
        };
        for (host, is_good) in [
            (format!("{}.example", label(63)), true),
            (format!("{}.example", label(64)), false),
            (name(253), true),
            (name(254), false),
            ("a..example".to_owned(), false),
            ("a.example.".to_owned(), false),
            (".a.example".to_owned(), false),
            ("-a.example".to_owned(), false),
            ("a-.example".to_owned(), false),
            ("a_b.example".to_owned(), false),
            (String::new(), false),
        ] {
            for scheme in ["https", "com.example.app"] {
                assert_eq!(judged(&format!("{scheme}://{host}/cb")).is_ok(), is_good, "{scheme} {host}");
            }
        }
    }

    #[test]
    fn f_08_an_address_has_one_spelling() {
        for text in [
            "http://0x7f.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "https://[2001:DB8:0::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://a.example:/",
            "https://a.example:0443/",
            "https://a.example:0/",
            "https:a.example/",
            "https:///a.example/",
        ] {
            assert!(judged(text).is_err(), "{text}");
        }
    }
}
