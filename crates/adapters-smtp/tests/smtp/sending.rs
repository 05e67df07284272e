//! What arrives at a real mail server.

use countersign_ports::{Mail, MailError, Mailer};
use serde_json::Value;

use crate::peer::{Peer, mail, mailer, whole};

const LANGUAGES: [(&str, &str, &str); 8] = [
    ("en", "Confirm your e-mail address for photos.example.com", "Hello,\n\nconfirm it here:\n"),
    (
        "de",
        "Bestätigen Sie Ihre E-Mail-Adresse für photos.example.com",
        "Guten Tag,\n\nhier bestätigen Sie sie:\n",
    ),
    ("es", "Confirma tu dirección de correo: ¿eres tú?", "Hola:\n\nconfírmala aquí, mañana no valdrá:\n"),
    (
        "fr",
        "Confirmez votre adresse e-mail : c’est à vous ?",
        "Bonjour,\n\nc’est ici, où l’on vous attend :\n",
    ),
    ("pt-BR", "Confirme o seu endereço de e-mail — não demore", "Olá,\n\nconfirme aqui a sua inscrição:\n"),
    (
        "ja",
        "photos.example.com のメールアドレスを確認してください",
        "こんにちは。\n\nこちらで確認してください。\n",
    ),
    ("zh-CN", "请确认您在 photos.example.com 的电子邮件地址", "您好：\n\n请在此确认：\n"),
    ("ar", "يرجى تأكيد عنوان بريدك الإلكتروني لدى photos.example.com", "مرحبًا،\n\nأكِّده هنا:\n"),
];

fn header<'a>(mail: &'a Value, name: &str) -> Vec<&'a str> {
    let headers = mail["headers"].as_array().unwrap();
    headers.iter().filter(|header| header[0] == name).map(|header| header[1].as_str().unwrap()).collect()
}

/// The text as it was written. Empty lines at the end can be lost on the way.
fn body(mail: &Value) -> String {
    mail["text"].as_str().unwrap().replace("\r\n", "\n").trim_end().to_owned()
}

#[tokio::test]
async fn a_mail_in_each_language_is_read_by_another_parser_as_it_was_written() {
    let mut peer = Peer::start(&[]);
    let mailer = mailer(&format!("smtp://localhost:{}", peer.port));
    for (language, subject, text) in LANGUAGES {
        let link = format!("https://auth.example.com/email?token={}", "aZ0-_".repeat(20));
        let text = format!("{text}\n{link}\n\n.\nFrom here on: “—” 🖊\n");
        let to = format!("{}@example.com", language.to_lowercase());
        let mail = Mail { to: to.clone(), subject: subject.to_owned(), text: text.clone() };
        mailer.send(mail).await.unwrap();
        let arrived = peer.next();
        assert_eq!(header(&arrived, "Subject"), [subject]);
        assert_eq!(body(&arrived), text.trim_end(), "{language}");
        assert_eq!(
            (&arrived["to"], &arrived["from"]),
            (&serde_json::json!([to]), &"signin@auth.example.com".into())
        );
        assert_eq!(arrived["defects"], serde_json::json!([]), "{language}");
    }
}

#[tokio::test]
async fn the_headers_are_those_of_a_mail_from_a_machine() {
    let mut peer = Peer::start(&[]);
    let mailer = mailer(&format!("smtp://127.0.0.1:{}/signin.example", peer.port));
    mailer.send(mail("ann@example.com")).await.unwrap();
    mailer.send(mail("ben@example.com")).await.unwrap();
    let (first, second) = (peer.next(), peer.next());
    let once = [
        ("From", "Countersign <signin@auth.example.com>"),
        ("To", "ann@example.com"),
        ("Auto-Submitted", "auto-generated"),
        ("MIME-Version", "1.0"),
        ("Content-Type", "text/plain; charset=\"utf-8\""),
    ];
    for (name, value) in once {
        assert_eq!(header(&first, name), [value]);
    }
    assert_eq!(first["hello"], "signin.example");
    assert_eq!(header(&first, "Date"), header(&second, "Date"), "the clock stands still");
    let ids = [header(&first, "Message-ID"), header(&second, "Message-ID")].concat();
    assert!(ids.len() == 2 && ids[0] != ids[1] && ids[0].ends_with("@auth.example.com>"), "{ids:?}");
}

#[tokio::test]
async fn a_connection_is_kept_for_the_next_mail_and_replaced_after_a_refusal() {
    let mut peer = Peer::start(&[]);
    let mailer = mailer(&format!("smtp://localhost:{}", peer.port));
    mailer.send(mail("ann@example.com")).await.unwrap();
    mailer.send(mail("ben@example.com")).await.unwrap();
    assert!(mailer.send(mail("nobody@example.com")).await.is_err());
    mailer.send(mail("cay@example.com")).await.unwrap();
    let ports = [peer.next(), peer.next(), peer.next()].map(|mail| mail["peer"].as_u64().unwrap());
    assert!(ports[0] == ports[1] && ports[1] != ports[2], "{ports:?}");
}

#[tokio::test]
async fn a_caller_who_stops_waiting_does_not_touch_the_next_mail() {
    let mut peer = Peer::start(&[]);
    let mailer = mailer(&format!("smtp://localhost:{}", peer.port));
    mailer.send(mail("ann@example.com")).await.unwrap();
    assert_eq!(peer.next()["to"][0], "ann@example.com");
    for steps in 1..40 {
        let mut sending = mailer.send(mail("cut@example.com"));
        for _ in 0..steps {
            let waiting = std::time::Duration::from_micros(200);
            if tokio::time::timeout(waiting, &mut sending).await.is_ok() {
                break;
            }
        }
    }
    mailer.send(mail("zoe@example.com")).await.unwrap();
    loop {
        let arrived = peer.next();
        assert_eq!((header(&arrived, "Subject"), body(&arrived).as_str()), (vec!["Hello"], "A line."));
        assert_eq!(header(&arrived, "To"), [arrived["to"][0].as_str().unwrap()]);
        if arrived["to"][0] == "zoe@example.com" {
            break;
        }
    }
}

#[tokio::test]
async fn refusals_for_good_and_for_now_are_told_apart() {
    let peer = Peer::start(&[]);
    let mailer = mailer(&format!("smtp://localhost:{}", peer.port));
    let for_good = mailer.send(mail("nobody@example.com")).await.unwrap_err();
    assert!(matches!(for_good, MailError::Refused(_)), "{for_good:?}");
    let at = format!("smtp://localhost:{}", peer.port);
    assert_eq!(
        whole(&for_good),
        format!("mail was refused: {at}: permanent error (550): 5.1.1 <…>: no such user")
    );
    let for_now = mailer.send(mail("later@example.com")).await.unwrap_err();
    assert!(matches!(for_now, MailError::Unavailable(_)), "{for_now:?}");
    let broken = mailer.send(mail("ann@example.com\r\nDATA")).await.unwrap_err();
    assert!(matches!(broken, MailError::Refused(_)), "{broken:?}");
}

#[tokio::test]
async fn what_a_server_repeats_of_a_mail_is_in_no_error() {
    let peer = Peer::start(&[]);
    let mailer = mailer(&format!("smtp://localhost:{}", peer.port));
    let text = format!("https://auth.example.com/email?token={}\n", "s3cr3t".repeat(8));
    let mail = Mail { to: "echo@example.com".to_owned(), subject: "Hello".to_owned(), text };
    let error = mailer.send(mail).await.unwrap_err();
    let told = format!("{} {error:?}", whole(&error));
    assert!(told.contains("spam to …: …") && !told.contains("s3cr3t") && !told.contains("echo@"), "{told}");
}

#[tokio::test]
async fn a_server_that_wants_a_password_gets_it_and_nobody_else_sees_it() {
    let mut peer = Peer::start(&["--user", "ann", "--password", "hunter2/ü"]);
    let with = |user: &str| mailer(&format!("smtp://{user}localhost:{}", peer.port));
    let (right, wrong, without) = (with("ann:hunter2%2F%C3%BC@"), with("ann:hunter3@"), with(""));
    for mailer in [wrong, without] {
        let error = mailer.send(mail("ann@example.com")).await.unwrap_err();
        assert!(matches!(error, MailError::Unavailable(_)), "{}", whole(&error));
        let told = format!("{} {error:?} {mailer:?}", whole(&error));
        assert!(told.contains("53") && !told.contains("hunter") && !told.contains("aHVudGVy"), "{told}");
    }
    right.send(mail("ann@example.com")).await.unwrap();
    assert_eq!(peer.next()["user"], "ann");
    assert!(!format!("{right:?}").contains("hunter"), "{right:?}");
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_refused_and_one_that_the_operator_names_is_taken() {
    for (flag, scheme) in [("--starttls", "smtp"), ("--tls", "smtps")] {
        let mut peer = Peer::start(&[flag, "--user", "ann", "--password", "hunter2"]);
        let at = format!("{scheme}://ann:hunter2@localhost:{}", peer.port);
        let required = if scheme == "smtp" { "?tls=required" } else { "" };
        let error = mailer(&format!("{at}{required}")).send(mail("ann@example.com")).await.unwrap_err();
        assert!(matches!(error, MailError::Unavailable(_)), "{}", whole(&error));
        assert!(whole(&error).contains("certificate"), "{}", whole(&error));
        let trusting = mailer(&format!("{at}?ca_file={}", peer.ca_file));
        trusting.send(mail("ann@example.com")).await.unwrap();
        let arrived = peer.next();
        assert_eq!((&arrived["tls"], &arrived["user"]), (&true.into(), &"ann".into()));
        let elsewhere = at.replace("localhost", "127.8.8.8");
        let error = mailer(&format!("{elsewhere}?ca_file={}", peer.ca_file)).send(mail("a@b.example")).await;
        assert!(error.is_err(), "another name than the certificate's");
    }
}

#[tokio::test]
async fn without_starttls_nothing_is_sent_when_it_is_required_and_all_is_when_it_is_not() {
    let mut peer = Peer::start(&[]);
    let at = format!("smtp://localhost:{}", peer.port);
    let required = mailer(&format!("{at}?tls=required"));
    let error = required.send(mail("ann@example.com")).await.unwrap_err();
    assert!(matches!(error, MailError::Unavailable(_)), "{}", whole(&error));
    assert_eq!(
        whole(&error),
        format!("mail server is unavailable: {at} offers no STARTTLS, and smtp_url requires it")
    );
    let opportunistic = mailer(&format!("{at}?tls=opportunistic"));
    opportunistic.send(mail("ben@example.com")).await.unwrap();
    assert_eq!(peer.next()["to"][0], "ben@example.com");
}
