//! Settings that are valid and may still be wrong.

use super::*;

fn warnings(start: &Start) -> Vec<String> {
    start.config().warnings
}

/// A server for everyone, whose operator said who can sign in.
fn public() -> Start {
    start()
        .variable("COUNTERSIGN_PUBLIC_URL", "https://auth.example.com")
        .variable("COUNTERSIGN_DEFAULT_ACCESS", "everyone")
}

/// The one warning about these settings.
fn warning(start: &Start) -> String {
    let warnings = warnings(start);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    warnings.concat()
}

#[test]
fn a_server_for_this_machine_that_listens_to_the_network_is_told_what_it_opens() {
    for bind in ["0.0.0.0:8080", "[::]:8080", "192.0.2.7:8080", "[::ffff:192.0.2.7]:8080"] {
        let open = warning(&start().variable("COUNTERSIGN_BIND", bind));
        for word in
            [bind, "register clients, use the playground and read /metrics", "set public_url", "127.0.0.1"]
        {
            assert!(open.contains(word), "{word}: {open}");
        }
    }
    let closed = start()
        .flag("--bind=0.0.0.0:8080")
        .variable("COUNTERSIGN_REGISTRATION", "closed")
        .variable("COUNTERSIGN_METRICS", "off");
    let closed = warning(&closed);
    assert!(closed.contains("everyone there can use the playground;"), "{closed}");
    let public = public().flag("--bind=0.0.0.0:8080").variable("COUNTERSIGN_TRUSTED_PROXIES", "10.0.0.1");
    assert_eq!(warnings(&public), Vec::<String>::new());
    for bind in ["127.0.0.1:8080", "[::1]:8080", "[::ffff:127.0.0.1]:8080"] {
        assert_eq!(warnings(&start().variable("COUNTERSIGN_BIND", bind)), Vec::<String>::new());
    }
}

#[test]
fn a_public_server_whose_operator_did_not_say_who_can_sign_in_is_told_who_can() {
    let behind_a_proxy = || {
        start()
            .variable("COUNTERSIGN_PUBLIC_URL", "https://auth.example.com")
            .variable("COUNTERSIGN_TRUSTED_PROXIES", "10.0.0.1")
    };
    let open = warning(&behind_a_proxy());
    assert!(
        open.starts_with("default_access: not set") && open.contains("to everyone if you want that"),
        "{open}"
    );
    for rule in ["everyone", "nobody", "groups:staff"] {
        let said = behind_a_proxy().variable("COUNTERSIGN_DEFAULT_ACCESS", rule);
        assert_eq!(warnings(&said), Vec::<String>::new(), "{rule}");
    }
    assert_eq!(warnings(&start()), Vec::<String>::new(), "on loopback there is no one to let in");
}

#[test]
fn a_password_on_the_command_line_is_told_of_and_not_repeated() {
    let flag =
        start().variable("COUNTERSIGN_SECRET", SECRET).flag("--database-url=postgres://ann:hunter2@db/auth");
    let warned = warning(&flag);
    assert!(
        warned.starts_with("--database-url: ") && warned.contains("COUNTERSIGN_DATABASE_URL"),
        "{warned}"
    );
    assert!(!warned.contains("hunter2"), "{warned}");
    let harmless = start().flag("--database-url=sqlite://a.db").flag("--ethereum-rpc=1=https://node.example");
    assert_eq!(warnings(&harmless), Vec::<String>::new());
}

#[test]
fn f_04_https_without_a_trusted_proxy_is_said_aloud() {
    let warnings = |start: Start| warnings(&start);
    let https = public;
    assert!(warnings(start()).is_empty(), "a server on loopback needs no proxy");
    let forgotten = warnings(https());
    assert!(
        forgotten.len() == 1 && forgotten[0].contains("set trusted_proxies to the address of the proxy"),
        "{forgotten:?}"
    );
    assert!(warnings(https().variable("COUNTERSIGN_TRUSTED_PROXIES", "10.0.0.1")).is_empty());
    for everybody in ["0.0.0.0/0", "::/0", "10.0.0.1,::/0"] {
        let warned = warnings(https().variable("COUNTERSIGN_TRUSTED_PROXIES", everybody));
        assert!(warned.len() == 1 && warned[0].contains("every address is trusted"), "{warned:?}");
    }
    for most in ["0.0.0.0/1,128.0.0.0/1", "2000::/3"] {
        let warned = warnings(https().variable("COUNTERSIGN_TRUSTED_PROXIES", most));
        assert!(warned.len() == 1 && warned[0].contains("a large part of the internet"), "{warned:?}");
    }
    for private in ["10.0.0.0/8,172.16.0.0/12", "fc00::/7"] {
        assert!(warnings(https().variable("COUNTERSIGN_TRUSTED_PROXIES", private)).is_empty(), "{private}");
    }
}

#[test]
fn b_073_a_settings_file_with_a_secret_that_others_may_read_is_told_of() {
    let secret = start().file("secret = 'dGhpcyBpcyB0aGUgc2VjcmV0IG9mIGFsbCB0aGUgdGVzdHM'").config().warnings;
    assert!(secret.len() == 1 && secret[0].contains("others on this machine may read it"), "{secret:?}");
    let password = start();
    let path = password.holding("smtp://ann:hunter2@mail.example");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let password = password
        .variable("COUNTERSIGN_SMTP_URL_FILE", &path)
        .variable("COUNTERSIGN_MAIL_FROM", "a@b.example");
    let password = password.config().warnings;
    assert!(password.len() == 1 && !password[0].contains("hunter2"), "{password:?}");
    let password = start()
        .file("smtp_url = 'smtp://ann:hunter2@mail.example'\nmail_from = 'a@b.example'")
        .config()
        .warnings;
    assert!(password.len() == 1 && !password[0].contains("hunter2"), "{password:?}");
    assert!(start().file("code_ttl = 30").config().warnings.is_empty());
}

#[test]
fn an_admin_interface_that_strangers_reach_is_told_of() {
    for far in
        ["0.0.0.0:9091", "192.0.2.7:9091", "[::]:9091", "[2001:db8::1]:9091", "[::ffff:192.0.2.7]:9091"]
    {
        let told = warning(&start().variable("COUNTERSIGN_ADMIN_LISTEN", far));
        assert!(told.starts_with("admin_listen: ") && told.contains(far) && told.contains("TLS"), "{told}");
    }
    for near in ["127.0.0.1:9091", "10.1.2.3:9091", "192.168.0.1:9091", "[::1]:9091", "[fd00::1]:9091"] {
        let none: Vec<String> = Vec::new();
        assert_eq!(warnings(&start().variable("COUNTERSIGN_ADMIN_LISTEN", near)), none, "{near}");
    }
}

#[test]
fn the_admin_interface_and_the_metrics_each_need_a_listener() {
    let both = start()
        .variable("COUNTERSIGN_ADMIN_LISTEN", "127.0.0.1:9091")
        .variable("COUNTERSIGN_METRICS_LISTEN", "127.0.0.1:9091");
    let mistakes = both.mistakes();
    assert!(mistakes.concat().contains("the metrics are served there: it needs its own"), "{mistakes:?}");
    assert_eq!(start().config().admin, None, "there is none unless it is set");
}

#[test]
fn events_that_nobody_would_get_or_anybody_could_send_are_told_of() {
    const SIEM: &str = "https://siem.example.com/events";
    let secret = || start().variable("COUNTERSIGN_EVENT_PUSH_SECRET", "a-secret-for-the-receiver");
    let pushed = || secret().variable("COUNTERSIGN_EVENT_PUSH_URL", SIEM);
    assert_eq!(warnings(&pushed()), Vec::<String>::new());
    let open = warning(&start().variable("COUNTERSIGN_EVENT_PUSH_URL", SIEM));
    assert!(open.starts_with("event_push_url: ") && open.contains("set event_push_secret"), "{open}");
    let without_url = warning(&secret());
    assert!(without_url.starts_with("event_push_secret: ") && without_url.contains("nothing is pushed"));
    assert!(!without_url.contains("a-secret"), "{without_url}");
    let none_kept = warning(&pushed().variable("COUNTERSIGN_EVENT_RETENTION", "0"));
    assert!(none_kept.contains("event_retention is 0"), "{none_kept}");
    let near = || secret().variable("COUNTERSIGN_EVENT_PUSH_URL", "http://127.0.0.1:9999/events");
    assert_eq!(warnings(&near()), Vec::<String>::new(), "a trial may push to this machine");
    let public = near()
        .variable("COUNTERSIGN_PUBLIC_URL", "https://auth.example.com")
        .variable("COUNTERSIGN_TRUSTED_PROXIES", "10.0.0.1");
    let mistakes = public.mistakes();
    assert!(
        mistakes.concat().contains("only addresses on the public internet are contacted"),
        "{mistakes:?}"
    );
}

#[test]
fn events_are_pushed_to_no_address_that_is_never_contacted() {
    let pushed = |public_url: &str, receiver: &str| {
        start()
            .variable("COUNTERSIGN_TRUSTED_PROXIES", "10.0.0.1")
            .variable("COUNTERSIGN_PUBLIC_URL", public_url)
            .variable("COUNTERSIGN_EVENT_PUSH_SECRET", "a-secret-for-the-receiver")
            .variable("COUNTERSIGN_EVENT_PUSH_URL", receiver)
    };
    let (public, trial) = ("https://auth.example.com", "http://localhost:8080");
    let here = [
        "https://127.0.0.1/x",
        "https://[::1]/x",
        "https://[::ffff:127.0.0.1]/x",
        "https://localhost/x",
        "http://localhost/x",
        "https://siem.localhost/",
    ];
    let never = [
        "https://10.0.0.1/x",
        "https://192.168.1.1/",
        "https://[fd00::1]/x",
        "https://169.254.169.254/x",
        "https://0.0.0.0/",
        "https://[::ffff:10.0.0.1]/x",
        "https://100.64.0.1/",
        "https://0x0a000001/",
        "https://10.1/",
    ];
    for receiver in here.into_iter().chain(never) {
        let mistakes = pushed(public, receiver).mistakes().concat();
        assert!(
            mistakes.contains("EVENT_PUSH_URL") && mistakes.contains("public internet"),
            "{receiver}: {mistakes}"
        );
    }
    for receiver in never {
        assert!(pushed(trial, receiver).mistakes().concat().contains("public internet"), "{receiver}");
    }
    for (public_url, receiver) in here
        .map(|url| (trial, url))
        .into_iter()
        .chain([(public, "https://9.9.9.9/x"), (public, "https://siem.example.com/x")])
    {
        assert!(pushed(public_url, receiver).load().is_ok(), "{receiver}");
    }
}
