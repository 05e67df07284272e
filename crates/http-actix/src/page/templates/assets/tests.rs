//! Hashed names, imports by those names, and compression.

use std::io::Read;

use super::*;

fn built(files: &[(&str, &'static str)]) -> Result<Assets, TemplateError> {
    let sources = files.iter().map(|(name, text)| ((*name).to_owned(), Cow::Borrowed(text.as_bytes())));
    Assets::build(&sources.collect())
}

fn text(assets: &Assets, name: &str) -> String {
    let asset = assets.get(assets.hashed_name(name)).unwrap();
    String::from_utf8(asset.bytes.to_vec()).unwrap()
}

#[test]
fn imports_name_the_files_by_their_hashes() {
    let script = "import { a } from \"./a.js\";\nimport './b.js';\nexport * from './a.js';\n\
                  const late = import ( \"./b.js\" );\nconst text = \"./a.js, ../a.js\"; // ./a.js\nfetch(\"./c.js\");";
    let assets = built(&[("page.js", script), ("a.js", "import \"./b.js\";"), ("b.js", "")]).unwrap();
    let (a, b) = (assets.hashed_name("a.js"), assets.hashed_name("b.js"));
    assert_eq!(
        text(&assets, "page.js"),
        format!(
            "import {{ a }} from \"./{a}\";\nimport './{b}';\nexport * from './{a}';\n\
             const late = import ( \"./{b}\" );\nconst text = \"./a.js, ../a.js\"; // ./a.js\nfetch(\"./c.js\");"
        )
    );
    assert_eq!(text(&assets, "a.js"), format!("import \"./{b}\";"));
}

#[test]
fn a_change_far_down_changes_the_names_of_all_that_import_it() {
    let name = |deep| {
        let files =
            [("page.js", "import './a.js'"), ("a.js", "import './b.js'"), ("b.js", deep), ("c.js", "")];
        let assets = built(&files).unwrap();
        ["page.js", "c.js"].map(|name| assets.hashed_name(name).to_owned())
    };
    let ([before, other_before], [after, other_after]) = (name("1"), name("2"));
    assert_ne!(before, after);
    assert_eq!(other_before, other_after);
}

#[test]
fn an_import_of_nothing_and_a_circle_are_errors_that_name_the_files() {
    let error = |files: &[(&str, &'static str)]| built(files).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        error(&[("a.js", "import './none.js'")]),
        "assets: a.js imports ./none.js, which is not an asset"
    );
    assert_eq!(
        error(&[("a.js", "import './b.js'"), ("b.js", "import './a.js'")]),
        "assets: scripts import each other in a circle: a.js -> b.js -> a.js"
    );
    assert_eq!(
        error(&[("a.js", "import './a.js'")]),
        "assets: scripts import each other in a circle: a.js -> a.js"
    );
}

#[test]
fn what_gets_smaller_is_compressed_and_is_the_same_when_it_is_unpacked() {
    let long: &'static str = "body { color: red }\n".repeat(50).leak();
    let assets = built(&[("a.css", long), ("b.css", "b{}")]).unwrap();
    let asset = assets.get(assets.hashed_name("a.css")).unwrap();
    let mut unpacked = String::new();
    flate2::read::GzDecoder::new(&asset.gzip().unwrap()[..]).read_to_string(&mut unpacked).unwrap();
    assert_eq!(unpacked, long);
    assert!(assets.get(assets.hashed_name("b.css")).unwrap().gzip().is_none());
}

#[test]
fn a_script_that_is_no_text_stays_as_it_is() {
    let bytes: &'static [u8] = b"import './a.js' \xff";
    let assets = Assets::build(&BTreeMap::from([("x.js".to_owned(), Cow::Borrowed(bytes))])).unwrap();
    assert_eq!(assets.get(assets.hashed_name("x.js")).unwrap().bytes, bytes);
}
