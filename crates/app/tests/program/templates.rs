//! Templates of the operator's own: how they are begun, and what the operator is told of them.

use std::fs;
use std::os::unix::fs::symlink;

use crate::place::Place;

#[test]
fn templates_are_exported_whole_or_in_part_and_what_was_written_is_listed() {
    let place = Place::new();
    let all = place.run(&["templates", "export", "all"]);
    assert_eq!((all.code, all.err.as_str()), (0, ""));
    for path in [
        "all/auth.html",
        "all/assets/countersign.css",
        "all/assets/wallet-ethereum.js",
        "all/locales/ar/home.json",
    ] {
        assert!(all.out.lines().any(|line| line == path), "{path}: {}", all.out);
        assert!(place.path(path).is_file(), "{path}");
    }
    let some = place.run(&["templates", "export", "some", "home.html", "locales/de/"]);
    assert!(some.code == 0 && some.out.lines().count() > 5, "{}", some.err);
    assert!(
        some.out.lines().all(|path| path == "some/home.html" || path.starts_with("some/locales/de/")),
        "{}",
        some.out
    );
    // What was exported and not changed does what it did before, and nothing in it is doubtful.
    let checked = place.run(&["check-config", "--template-directory", "all"]);
    assert!(checked.code == 0 && !checked.out.contains("template_directory: "), "{}", checked.out);
}

#[test]
fn an_export_overwrites_nothing_and_writes_nothing_through_a_link() {
    let place = Place::new();
    fs::create_dir_all(place.path("brand/assets")).unwrap();
    fs::write(place.path("brand/home.html"), "ours").unwrap();
    fs::write(place.path("brand/assets/logo.svg"), "ours").unwrap();
    let refused = place.run(&["templates", "export", "brand"]);
    assert_eq!((refused.code, refused.out.as_str()), (1, ""));
    assert!(refused.err.contains("brand/assets/logo.svg (and 1 more) exists already"), "{}", refused.err);
    assert_eq!(fs::read_to_string(place.path("brand/home.html")).unwrap(), "ours");
    assert!(!place.path("brand/auth.html").exists(), "all or nothing");
    let another = place.run(&["templates", "export", "brand", "auth.html"]);
    assert_eq!((another.code, another.out.as_str()), (0, "brand/auth.html\n"));

    fs::create_dir_all(place.path("elsewhere")).unwrap();
    fs::create_dir_all(place.path("trap")).unwrap();
    symlink(place.path("elsewhere"), place.path("trap/assets")).unwrap();
    let trapped = place.run(&["templates", "export", "trap", "assets/logo.svg"]);
    assert!(trapped.code == 1 && trapped.err.contains("trap/assets/logo.svg"), "{}", trapped.err);
    assert_eq!(fs::read_dir(place.path("elsewhere")).unwrap().count(), 0);

    for path in ["hom.html", "../home.html", "/etc", "locales/d"] {
        let unknown = place.run(&["templates", "export", "new", path]);
        assert!(unknown.code == 2 && unknown.err.contains(&format!("no {path};")), "{}", unknown.err);
    }
    assert!(!place.path("new").exists());
}

#[test]
fn check_config_and_the_start_tell_what_of_the_templates_has_no_effect() {
    let place = Place::new();
    fs::create_dir_all(place.path("brand/locales/en")).unwrap();
    fs::write(place.path("brand/locales/en/home.json"), r#"{"title": "Ours", "titel": "x"}"#).unwrap();
    fs::write(place.path("brand/hom.html"), "").unwrap();
    let wanted = [
        "template_directory: hom.html has no effect: no page has this name",
        "template_directory: locales/en/home.json: no text has the key titel",
        "template_directory: locales/en/home.json changes title, but in de, es, fr, pt-BR, ja, zh-CN, ar the pages still say",
    ];
    let checked = place.run(&["check-config", "--template-directory", "brand"]);
    assert_eq!(checked.code, 0, "{}", checked.err);
    let metrics = ["--metrics-listen", "192.0.2.1:9", "--bind", "127.0.0.1:0"];
    let started = place.run(&[&["serve", "--template-directory", "brand"], &metrics[..]].concat());
    assert_eq!(started.code, 1, "it cannot serve metrics there: {}", started.out);
    let told = format!("{}{}", started.out, started.err);
    for sentence in wanted {
        assert!(checked.out.contains(&format!("warning: {sentence}")), "{sentence}: {}", checked.out);
        assert!(told.contains(sentence), "{sentence}: {told}");
    }
}

#[test]
fn templates_that_cannot_be_used_are_a_mistake_for_check_config() {
    let place = Place::new();
    fs::create_dir_all(place.path("brand")).unwrap();
    fs::write(place.path("brand/home.html"), "{% if %}").unwrap();
    let broken = place.run(&["check-config", "--template-directory", "brand"]);
    assert!(
        broken.code == 2 && broken.err.starts_with("countersign: template_directory: "),
        "{}",
        broken.err
    );
    assert!(broken.err.contains("home.html"), "{}", broken.err);
    fs::remove_file(place.path("brand/home.html")).unwrap();
    symlink("/etc/hostname", place.path("brand/home.html")).unwrap();
    let linked = place.run(&["check-config", "--template-directory", "brand"]);
    assert!(linked.code == 2 && linked.err.contains("leads out of the folder"), "{}", linked.err);
}
