//! What libraries say of connections and certificates, in words for an operator.

/// How rustls begins what it says of a certificate.
const CERTIFICATE: &str = "invalid peer certificate: ";
/// How we begin the same, where a library's beginning was already removed.
const NOT_ACCEPTED: &str = "its certificate is not accepted: ";

/// What is in rustls's text, and what it means. The first one that is found counts.
const CERTIFICATES: [(&[&str], &str); 7] = [
    (
        &["CaUsedAsEndEntity"],
        "it is the certificate of an authority and not that of a server (`openssl req -x509` makes such a one unless it gets \
         `-addext basicConstraints=critical,CA:FALSE`)",
    ),
    (&["UnknownIssuer"], "no authority that is trusted here issued it"),
    (&["NotValidForName", "not valid for name"], "it is for another name"),
    (&["Expired", "expired"], "it has expired, or the clock of this machine is wrong"),
    (&["NotValidYet", "not valid yet"], "it is not valid yet, or the clock of this machine is wrong"),
    (&["Revoked"], "it was revoked"),
    (&["BadSignature", "BadEncoding"], "it is damaged, or its signature is wrong"),
];

/// What else libraries say, and what it means.
const OTHERS: [(&str, &str); 4] = [
    ("failed to lookup address information: Name or service not known", "its name does not resolve"),
    ("failed to lookup address information: Temporary failure in name resolution", "no name server answers"),
    ("Connection error: ", ""),
    ("Peer disconnected", "the other side ended it before it answered"),
];

/// The same message without what only programmers read.
pub(crate) fn in_words(message: &str) -> String {
    let mut words = without_numbers(message);
    for (theirs, ours) in OTHERS {
        words = words.replace(theirs, ours);
    }
    for beginning in [CERTIFICATE, NOT_ACCEPTED] {
        if let Some((before, reason)) = words.split_once(beginning) {
            words = format!("{before}{NOT_ACCEPTED}{}", of_certificate(reason));
            break;
        }
    }
    words
}

fn of_certificate(reason: &str) -> &str {
    let known = CERTIFICATES.iter().find(|(theirs, _)| theirs.iter().any(|theirs| reason.contains(theirs)));
    known.map_or("it cannot be verified", |(_, ours)| ours)
}

/// Without the numbers that the system gives to errors: `(os error 111)`.
fn without_numbers(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let mut words = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, rest) = part.split_once(')').unwrap_or(("", part));
        words.push_str(rest);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_library_writes_for_programmers_is_written_for_operators() {
        for (theirs, ours) in [
            (
                "https://a/x: its certificate is not accepted: Other(OtherError(CaUsedAsEndEntity))",
                "https://a/x: its certificate is not accepted: it is the certificate of an authority and not that of a server \
                 (`openssl req -x509` makes such a one unless it gets `-addext basicConstraints=critical,CA:FALSE`)",
            ),
            (
                "smtps://a:465: Connection error: Connection error: invalid peer certificate: UnknownIssuer",
                "smtps://a:465: its certificate is not accepted: no authority that is trusted here issued it",
            ),
            (
                "its certificate is not accepted: certificate not valid for name \"a\"; certificate is only valid for \
                 DnsName(\"b\")",
                "its certificate is not accepted: it is for another name",
            ),
            (
                "invalid peer certificate: certificate expired: verification time 17 (UNIX), but certificate is not valid \
                 after 16 (1 seconds ago)",
                "its certificate is not accepted: it has expired, or the clock of this machine is wrong",
            ),
            (
                "invalid peer certificate: SomethingNew",
                "its certificate is not accepted: it cannot be verified",
            ),
            (
                "http://a cannot be used: Connection refused (os error 111)",
                "http://a cannot be used: Connection refused",
            ),
            (
                "a: failed to lookup address information: Name or service not known",
                "a: its name does not resolve",
            ),
            ("the schema is that of this release", "the schema is that of this release"),
        ] {
            assert_eq!(in_words(theirs), ours);
        }
    }
}
