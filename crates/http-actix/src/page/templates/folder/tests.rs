//! What an operator is told of a folder, and what is never read.

use std::os::unix::fs::symlink;
use std::process::Command;

use super::super::{Site, Templates, check_templates};
use super::*;

const MODULES: [PageModule; 1] = [PageModule { name: "first", source: "export function find() {}" }];

/// A folder that is deleted at the end.
struct Temporary(PathBuf);

impl Temporary {
    fn with(name: &str, files: &[(&str, &[u8])]) -> Self {
        let this =
            Self(std::env::temp_dir().join(format!("countersign-folder-{name}-{}", std::process::id())));
        std::fs::create_dir_all(&this.0).unwrap();
        for (path, bytes) in files {
            let path = this.0.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        this
    }

    fn doubts(&self) -> Vec<String> {
        check_templates(&self.0, &MODULES).unwrap()
    }

    fn error(&self) -> String {
        let started = Templates::load(Some(&self.0), Site::EXAMPLE, &MODULES).map(|_| ()).unwrap_err();
        let checked = check_templates(&self.0, &MODULES).unwrap_err();
        assert_eq!(started.to_string(), checked.to_string());
        started.to_string()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn a_folder_that_only_does_what_it_should_is_not_doubted() {
    let title = br#"{"title": "Sign in"}"#;
    let files: Vec<(String, &[u8])> = Language::ALL
        .iter()
        .map(|language| (format!("locales/{}/home.json", language.tag()), title.as_slice()))
        .chain([
            (
                "home.html".to_owned(),
                br#"<img src="{{ assets.photo_png }}">{{ t.home.title }} {{ t.playground[step].title }}"#
                    .as_slice(),
            ),
            ("assets/photo.png".to_owned(), b"\x89PNG".as_slice()),
            ("assets/wallet-first.js".to_owned(), b"".as_slice()),
            (".git/config".to_owned(), b"".as_slice()),
        ])
        .collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), *bytes)).collect();
    assert_eq!(Temporary::with("good", &files).doubts(), Vec::<String>::new());
}

#[test]
fn a_wrong_folder_and_a_file_without_effect_are_named() {
    let empty = Temporary::with("empty", &[]).doubts();
    assert!(empty.len() == 1 && empty[0].contains("countersign templates export"), "{empty:?}");
    let doubts = Temporary::with(
        "names",
        &[
            ("templates/home.html", b""),
            ("hom.html", b""),
            ("locales/en/hom.json", b"{}"),
            ("locales/xx/home.json", b"{}"),
            ("assets/brand.woff2", b""),
            ("assets/deep/logo.svg", b""),
            ("assets/lo go.svg", b""),
        ],
    )
    .doubts();
    let told = |path: &str, reason: &str| {
        let is_it =
            |doubt: &&String| doubt.starts_with(&format!("{path} has no effect: ")) && doubt.contains(reason);
        assert!(doubts.iter().any(|doubt| is_it(&doubt)), "{path}: {doubts:?}");
    };
    assert!(doubts[0].starts_with("nothing in this folder replaces"), "{doubts:?}");
    told("templates/home.html", "no file of ours");
    told("hom.html", "no page");
    told("locales/en/hom.json", "no file of texts");
    told("locales/xx/home.json", "language");
    told("assets/brand.woff2", ".svg");
    told("assets/deep/logo.svg", "name has");
    told("assets/lo go.svg", "name has");
    assert_eq!(doubts.len(), 8, "{doubts:?}");
}

#[test]
fn a_key_that_nothing_shows_and_a_place_too_few_or_too_many_are_named() {
    let texts = br#"{"titel": "x", "read_text": "Read what {hots} asks.", "mine": "shown by our page"}"#;
    let files: [(&str, &[u8]); 3] = [
        ("locales/en/home.json", br#"{"mine": "A text of our own"}"#),
        ("locales/de/home.json", texts),
        (
            "home.html",
            b"{{ t.home.mine }}{{ t.home.no }}{{ assets.no }}{{ \"{host}\" | fill(host=t.home.title) }}",
        ),
    ];
    let doubts = Temporary::with("keys", &files).doubts();
    assert_eq!(
        doubts,
        [
            "home.html names assets.no, which does not exist",
            "home.html names t.home.no, which does not exist",
            "locales/de/home.json: read_text leaves out {host}",
            "locales/de/home.json: read_text has {hots}, which stays as it is",
            "locales/de/home.json: no text has the key titel",
        ]
    );
}

/// A brand that says in English what it no longer says in seven languages.
#[test]
fn a_changed_english_text_names_the_languages_that_still_say_something_else() {
    let english = embedded_texts(Language::English, "home.json");
    let changed = serde_json::json!({"title": "The sign-in of Example Ltd", "lead": "Ours.", "issuer": english["issuer"]});
    let folder = Temporary::with(
        "english",
        &[
            ("locales/en/home.json", changed.to_string().as_bytes()),
            ("locales/de/home.json", br#"{"title": "Die Anmeldung der Example GmbH", "lead": "Unser."}"#),
            ("locales/ja/home.json", br#"{"lead": "..."}"#),
        ],
    );
    assert_eq!(
        folder.doubts(),
        [
            "locales/en/home.json changes title, but in es, fr, pt-BR, ja, zh-CN, ar the pages still say what they said: change the same keys there",
            "locales/en/home.json changes lead, but in es, fr, pt-BR, zh-CN, ar the pages still say what they said: change the same keys there",
        ]
    );
}

#[test]
fn a_translation_that_was_only_exported_counts_as_unchanged_and_one_that_was_chosen_does_not() {
    let path = |language: Language| format!("locales/{}/home.json", language.tag());
    let whole = |language| Embedded::get(&path(language)).unwrap().data;
    let title =
        |language| serde_json::json!({"title": embedded_texts(language, "home.json")["title"]}).to_string();
    let files: Vec<(String, Vec<u8>)> = Language::ALL
        .into_iter()
        .map(|language| {
            let content = match language {
                Language::English => br#"{"title": "Ours"}"#.to_vec(),
                Language::German | Language::French => whole(language).to_vec(),
                Language::Spanish
                | Language::Portuguese
                | Language::Japanese
                | Language::Chinese
                | Language::Arabic => title(language).into_bytes(),
            };
            (path(language), content)
        })
        .collect();
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(path, content)| (path.as_str(), content.as_slice())).collect();
    let doubts = Temporary::with("exported", &files).doubts();
    assert!(doubts.len() == 1 && doubts[0].contains("changes title, but in de, fr the pages"), "{doubts:?}");
}

/// Who may only write in the folder must not publish what only the server can read.
#[test]
fn a_link_out_of_the_folder_is_refused_and_one_inside_is_followed() {
    let secret = Temporary::with("secret", &[("key.svg", b"secret")]);
    for link in ["assets/key.svg", "home.html", "locales"] {
        let folder = Temporary::with("links", &[("assets/other.svg", b"")]);
        let target = if link == "locales" { secret.0.clone() } else { secret.0.join("key.svg") };
        symlink(&target, folder.0.join(link)).unwrap();
        let error = folder.error();
        assert!(
            error.contains(link) && error.ends_with("is a symbolic link that leads out of the folder"),
            "{error}"
        );
    }
    // As Kubernetes mounts a ConfigMap.
    let folder =
        Temporary::with("inside", &[("..2026/assets/logo.svg", b"ours"), ("..2026/home.html", b"our home")]);
    symlink("..2026", folder.0.join("..data")).unwrap();
    symlink("..data/assets", folder.0.join("assets")).unwrap();
    symlink("..data/home.html", folder.0.join("home.html")).unwrap();
    let read = Folder::read(Some(&folder.0)).unwrap();
    assert_eq!(read.files.keys().collect::<Vec<_>>(), ["assets/logo.svg", "home.html"]);
    assert_eq!(folder.doubts(), Vec::<String>::new());
}

#[test]
fn a_pipe_a_circle_and_a_file_that_is_too_long_are_refused() {
    let folder = Temporary::with("pipe", &[]);
    assert!(Command::new("mkfifo").arg(folder.0.join("home.html")).status().unwrap().success());
    assert!(folder.error().ends_with("home.html is neither a file nor a folder"));
    let long = vec![b' '; usize::try_from(MAX_FILE).unwrap() + 1];
    let folder = Temporary::with("long", &[("assets/film.svg", &long)]);
    assert!(folder.error().ends_with("film.svg is longer than 4 MiB"));
    let folder = Temporary::with("circle", &[("home.html", b"our home")]);
    symlink(".", folder.0.join("again")).unwrap();
    let read = Folder::read(Some(&folder.0)).unwrap();
    assert!(read.files.len() <= MAX_DEPTH, "{:?}", read.files.keys());
    let many: Vec<String> = (0..=MAX_FILES).map(|number| format!("{number}.html")).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|path| (path.as_str(), b"".as_slice())).collect();
    assert!(Temporary::with("many", &many).error().contains("more than 1000 files"));
}

#[test]
fn a_folder_that_everybody_may_write_in_is_doubted() {
    let folder = Temporary::with("open", &[("home.html", b"our home")]);
    std::fs::set_permissions(&folder.0, std::fs::Permissions::from_mode(0o777)).unwrap();
    let doubts = folder.doubts();
    assert!(doubts.len() == 1 && doubts[0].starts_with("every user of this machine"), "{doubts:?}");
}

#[test]
fn an_asset_of_one_s_own_is_served_by_the_hash_of_its_content_and_sheets_may_name_it() {
    let files: [(&str, &[u8]); 4] = [
        ("assets/photo-of-us.png", b"\x89PNG"),
        (
            "assets/ours.css",
            b"h1 { background: url(./photo-of-us.png) } i { background: url('./photo-of-us.png') }",
        ),
        ("assets/brand.woff2", b"font"),
        ("home.html", b"{{ assets.ours_css }} {{ assets.photo_of_us_png }}"),
    ];
    let folder = Temporary::with("own", &files);
    let templates = Templates::load(Some(&folder.0), Site::EXAMPLE, &MODULES).unwrap();
    let html = templates
        .render(Language::English, crate::page::name::Name::Home, None, &serde_json::json!({}))
        .unwrap();
    let [sheet, photo] =
        html.split(' ').map(|path| path.trim_start_matches("/assets/")).collect::<Vec<_>>()[..]
    else {
        panic!("{html}")
    };
    assert!(photo.starts_with("photo-of-us.") && photo.ends_with(".png") && photo.len() > 20, "{photo}");
    let asset = |name: &str| templates.asset(name).map(|asset| (asset.content_type, asset.bytes.to_vec()));
    assert_eq!(asset(photo), Some(("image/png", b"\x89PNG".to_vec())));
    let (kind, text) = asset(sheet).unwrap();
    let wanted = format!("h1 {{ background: url(./{photo}) }} i {{ background: url('./{photo}') }}");
    assert_eq!((kind, String::from_utf8(text).unwrap()), ("text/css; charset=utf-8", wanted));
    for name in ["brand.woff2", "photo-of-us.png", "../home.html", "home.html", "..%2fhome.html"] {
        assert_eq!(asset(name), None, "{name}");
    }
    assert!(templates.asset_of("brand.woff2").is_none());
}

#[test]
fn two_assets_of_one_variable_and_a_sheet_that_names_nothing_are_errors() {
    let folder = Temporary::with("same", &[("assets/form_post.js", b"")]);
    assert_eq!(folder.error(), "assets: form_post.js: another file is `assets.form_post_js` already");
    let folder = Temporary::with("none", &[("assets/ours.css", b"a { background: url(\"./none.png\") }")]);
    assert_eq!(folder.error(), "assets: ours.css imports ./none.png, which is not an asset");
}
