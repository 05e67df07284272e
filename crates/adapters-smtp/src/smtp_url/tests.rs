//! Which URLs of a mail server are accepted.

use super::*;

fn protection(text: &str) -> (&'static str, u16) {
    let url = SmtpUrl::parse(text).unwrap();
    let name = match url.protection {
        Protection::Wrapped(_) => "wrapped",
        Protection::Required(_) => "required",
        Protection::Opportunistic(_) => "opportunistic",
        Protection::Plain => "plain",
    };
    (name, url.port)
}

#[test]
fn a_server_elsewhere_is_spoken_to_with_starttls_or_not_at_all_unless_the_operator_says_so() {
    assert_eq!(protection("smtp://mail.example"), ("required", 587));
    assert_eq!(protection("smtp://10.0.0.5:2525"), ("required", 2525));
    assert_eq!(protection("smtp://mail.example?tls=required"), ("required", 587));
    assert_eq!(protection("smtp://mail.example?tls=opportunistic"), ("opportunistic", 587));
    assert_eq!(protection("smtp://mail.example:1025?tls=none"), ("plain", 1025));
    assert_eq!(protection("smtps://ann:pass@mail.example"), ("wrapped", 465));
}

#[test]
fn a_server_on_this_machine_is_spoken_to_as_it_is() {
    for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "[::1]"] {
        assert_eq!(protection(&format!("smtp://{host}")), ("plain", 25), "{host}");
    }
    assert_eq!(protection("smtp://localhost?tls=required"), ("required", 587));
    for host in ["localhost.example", "127.0.0.1.example", "[::2]", "2130706432.example"] {
        assert_eq!(protection(&format!("smtp://{host}")), ("required", 587), "{host}");
    }
}

#[test]
fn a_password_does_not_cross_a_network_in_the_clear() {
    for tls in ["none", "opportunistic"] {
        let refused = SmtpUrl::parse(&format!("smtp://ann:hunter2@mail.example?tls={tls}")).unwrap_err();
        assert_eq!(refused, SmtpUrlRejected::PasswordInTheClear);
        assert!(SmtpUrl::parse(&format!("smtp://ann:hunter2@localhost?tls={tls}")).is_ok());
    }
}

#[test]
fn user_and_password_are_read_as_they_were_meant_and_shown_nowhere() {
    let url = SmtpUrl::parse("smtp://ann%40example.com:p+%2Fs%26%25%C3%BC@mail.example/me.example").unwrap();
    assert_eq!(url.credentials, Some(("ann@example.com".to_owned(), "p+/s&%ü".to_owned())));
    assert_eq!(url.to_string(), "smtp://…@mail.example:587");
    assert_eq!(format!("{url:?}"), "SmtpUrl(smtp://…@mail.example:587)");
    assert_eq!(url.client_id("example.com").to_string(), "me.example");
    let spellings = url.spellings_of_credentials();
    assert!(spellings.contains(&STANDARD.encode("\0ann@example.com\0p+/s&%ü")), "{spellings:?}");
    let bare = SmtpUrl::parse("smtp://[::1]:2525").unwrap();
    assert_eq!((bare.to_string(), bare.address().0), ("smtp://[::1]:2525".to_owned(), "::1".to_owned()));
    assert_eq!(bare.client_id("example.com").to_string(), "example.com");
}

#[test]
fn each_mistake_has_its_words_and_none_repeats_a_password() {
    use SmtpUrlRejected as Rejected;
    let cases = [
        ("mail.example", Rejected::NotAUrl),
        ("smtp:", Rejected::NotAUrl),
        ("smtp://", Rejected::NotAUrl),
        ("smtp://ann:hunter2/x@mail.example", Rejected::NotAUrl),
        ("https://mail.example", Rejected::Scheme),
        ("smtp://ann@mail.example", Rejected::HalfCredentials),
        ("smtp://:hunter2@mail.example", Rejected::HalfCredentials),
        ("smtp://ann:%ff@mail.example", Rejected::Credentials),
        ("smtp://ann:a%0d%0aQUIT@mail.example", Rejected::Credentials),
        ("smtp://ann:25/hunter2@mail.example", Rejected::Name),
        ("smtp://mail.example/a/b", Rejected::Name),
        ("smtp://mail.example/a%0d%0aQUIT", Rejected::Name),
        ("smtp://ann:25?hunter2@mail.example", Rejected::Parameter),
        ("smtp://ann:25#hunter2@mail.example", Rejected::Parameter),
        ("smtp://mail.example?tls=none&tls=required", Rejected::Parameter),
        ("smtp://mail.example?tls=off", Rejected::Tls),
        ("smtps://mail.example?tls=required", Rejected::Tls),
        ("smtp://mail.example?tls=none&ca_file=a.pem", Rejected::Tls),
    ];
    for (text, expected) in cases {
        let refused = SmtpUrl::parse(text).unwrap_err();
        assert!(refused == expected && !refused.to_string().contains("hunter2"), "{text}: {refused}");
    }
}

#[test]
fn a_file_with_certificates_must_be_one() {
    let missing = SmtpUrl::parse("smtp://mail.example?ca_file=/nowhere/ca.pem").unwrap_err().to_string();
    assert_eq!(missing, "ca_file cannot be used: No such file or directory (os error 2)");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for content in ["", "no certificate", "-----BEGIN CERTIFICATE-----\n", broken] {
        fs::write(&path, content).unwrap();
        let refused =
            SmtpUrl::parse(&format!("smtps://mail.example?ca_file={}", path.display())).unwrap_err();
        assert!(matches!(refused, SmtpUrlRejected::CaFile(_)), "{content:?}: {refused}");
    }
}
