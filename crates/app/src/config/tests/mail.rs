//! The settings for the mail server and the sender.

use super::*;

const URL: &str = "smtp://ann%40example.com:hunter2@mail.example.com";

#[test]
fn a_mail_server_and_a_sender_make_mail() {
    let start = start()
        .variable("COUNTERSIGN_SMTP_URL", URL)
        .variable("COUNTERSIGN_MAIL_FROM", "Sign-in <signin@example.com>");
    let mail = start.config().mail.unwrap();
    assert_eq!(mail.url.to_string(), "smtp://…@mail.example.com:587");
    assert_eq!(mail.sender.to_string(), "Sign-in <signin@example.com>");
}

#[test]
fn the_url_of_the_mail_server_can_be_in_a_file_and_its_password_is_shown_nowhere() {
    let start = start();
    let path = start.holding(&format!("{URL}\n"));
    let start = start.variable("COUNTERSIGN_SMTP_URL_FILE", &path).flag("--mail-from=signin@example.com");
    let config = start.config();
    let shown = config.shown.iter().find(|shown| shown.name == "smtp_url").unwrap();
    assert_eq!(shown.value, "smtp://…@mail.example.com:587");
    let told = format!("{config:?}");
    assert!(!told.contains("hunter2") && !told.contains("ann%40") && !told.contains("ann@"), "{told}");
    for url in ["smtp://ann:hunter2/@mail.example", "smtp://ann:hunter2@mail.example?tls=none", "hunter2"] {
        let line = about_mail(url);
        assert!(line.starts_with("COUNTERSIGN_SMTP_URL: ") && !line.contains("hunter2"), "{line}");
    }
}

#[test]
fn one_without_the_other_is_a_mistake() {
    assert_eq!(
        about("COUNTERSIGN_SMTP_URL", URL),
        "COUNTERSIGN_MAIL_FROM: not set, and mails need a sender because smtp_url is set; mail_from takes an \
         address such as signin@example.com, or Name <signin@example.com>"
    );
    assert_eq!(
        about("COUNTERSIGN_MAIL_FROM", "signin@example.com"),
        "COUNTERSIGN_MAIL_FROM: \"signin@example.com\": no mail is sent without a mail server; set smtp_url too; mail_from \
         takes an address such as signin@example.com, or Name <signin@example.com>"
    );
}

#[test]
fn a_url_or_an_address_that_is_none_is_told_once() {
    let line = about_mail("https://mail.example.com");
    assert_eq!(
        line,
        "COUNTERSIGN_SMTP_URL: the scheme must be smtp or smtps; smtp_url takes a URL that begins with smtp:// or smtps://"
    );
    let line = about_mail("smtp://ann:pass@mail.example.com?tls=none");
    assert!(line.contains("the password would be sent without encryption"), "{line}");
    let start = start().variable("COUNTERSIGN_SMTP_URL", URL).variable("COUNTERSIGN_MAIL_FROM", "signin");
    let mistakes = start.mistakes();
    assert!(
        mistakes.len() == 1 && mistakes[0].contains("\"signin\": not an address such as"),
        "{mistakes:?}"
    );
}

/// The one line about a URL together with a valid sender.
fn about_mail(url: &str) -> String {
    let start =
        start().variable("COUNTERSIGN_SMTP_URL", url).variable("COUNTERSIGN_MAIL_FROM", "signin@example.com");
    let mistakes = start.mistakes();
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    mistakes.concat()
}
