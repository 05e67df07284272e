//! The commands in the documentation work, and each example can do what it does with the client that the command
//! above it registers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::place::Place;

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const CREATE: &str = "countersign client create ";
const CLIENTS: &str = "docs/clients";
const DECLARE: &str = "countersign resource create ";

/// What the documentation tells the operator to declare.
const SETTINGS: [(&str, &str); 2] = [
    ("COUNTERSIGN_PUBLIC_URL", "https://auth.example.com"),
    ("COUNTERSIGN_RESOURCES", "https://mcp.example.com/mcp, https://api.example.com"),
];

/// A folder with the files that the commands read.
fn place() -> Place {
    let place = Place::new();
    assert_eq!(place.run(&["migrate"]).code, 0);
    let keys = r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"1","alg":"ES256",
        "x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#;
    fs::write(place.path("keys.json"), keys).unwrap();
    let client =
        r#"{"client_name": "Photo Album", "redirect_uris": ["https://photos.example.com/callback"]}"#;
    fs::write(place.path("client.json"), client).unwrap();
    place
}

/// The commands that register clients in the shell blocks of a page.
fn creating(page: &str) -> Vec<String> {
    commands(page, CREATE)
}

/// The commands in the shell blocks of a page that begin like this.
fn commands(page: &str, begin: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    let commands = blocks.flat_map(|block| {
        let block = block.replace("\\\n", "");
        block.lines().map(ToOwned::to_owned).collect::<Vec<_>>()
    });
    commands.filter(|command| command.starts_with(begin)).collect()
}

/// Runs a command as a shell does, and returns the client that it registers, instead of writing it to a file.
fn run(place: &Place, command: &str) -> Value {
    let command =
        command.split(" > ").next().unwrap().replace("--output json", "").replace("--output env", "");
    let binary = Path::new(env!("CARGO_BIN_EXE_countersign"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let command = [CREATE, DECLARE]
        .iter()
        .fold(command, |command, begin| command.replacen(begin, &format!("{begin}--output json "), 1));
    shell.args(["-c", &command]);
    shell.current_dir(place.path("")).env_clear().env("PATH", path).envs(SETTINGS);
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The documents in a folder.
fn pages_in(folder: &str) -> Vec<PathBuf> {
    let docs = fs::read_dir(format!("{PROJECT}/{folder}")).unwrap().map(|entry| entry.unwrap().path());
    docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}

fn pages() -> Vec<PathBuf> {
    let readme = PathBuf::from(format!("{PROJECT}/README.md"));
    [pages_in("docs"), pages_in(CLIENTS), vec![readme]].concat()
}

#[test]
fn every_documented_command_registers_a_client() {
    let place = place();
    let mut tried = 0;
    for page in pages() {
        let page = fs::read_to_string(page).unwrap();
        for command in commands(&page, DECLARE).into_iter().chain(creating(&page)) {
            run(&place, &command);
            tried += 1;
        }
    }
    assert!(tried > 25, "{tried}");
}

#[test]
fn the_index_of_clients_leads_to_every_page() {
    let index = fs::read_to_string(format!("{PROJECT}/docs/clients.md")).unwrap();
    for page in pages_in(CLIENTS) {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(index.contains(&format!("](clients/{name})")), "docs/clients.md does not lead to {name}");
    }
}

#[test]
fn the_examples_in_the_help_register_a_client() {
    let place = place();
    let help = place.run(&["client", "create", "--help"]).out.replace("\\\n", "");
    let examples: Vec<_> = help.lines().map(str::trim).filter(|line| line.starts_with(CREATE)).collect();
    assert_eq!(examples.len(), 5, "{help}");
    for example in examples {
        run(&place, example);
    }
}

/// Does the program have this word, hyphens included?
fn says(code: &str, word: &str) -> bool {
    let is_of_words = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    code.split(|character| !is_of_words(character)).any(|found| found == word)
}

/// The scopes in the quoted texts that list several.
fn asked(code: &str) -> Vec<&str> {
    let known = |word: &&str| ["openid", "profile", "email", "offline_access"].contains(word);
    let lists = code.lines().flat_map(|line| {
        let words: Vec<_> = line.split(['"', ' ', ',', '[', ']', '(', ')']).filter(known).collect();
        if words.len() > 1 { words } else { Vec::new() }
    });
    lists.collect()
}

#[test]
fn every_example_stands_below_the_command_that_registers_its_client() {
    let place = place();
    let pages = pages_in(CLIENTS).into_iter().map(|path| fs::read_to_string(path).unwrap());
    let pages: Vec<_> = pages.collect();
    let sections: Vec<_> = pages.iter().flat_map(|page| page.split("\n### ").skip(1)).collect();
    assert!(sections.len() > 30, "{}", sections.len());
    let mut asks = 0;
    for section in sections {
        let (title, section) = section.split_once('\n').unwrap();
        let commands = creating(section);
        if section.contains("It registers by itself") {
            assert_eq!(commands, Vec::<String>::new(), "{title}");
            continue;
        }
        let [command] = &commands[..] else { panic!("{title}: {commands:?}") };
        let client = run(&place, command);
        let code = section.split("```sh\n").nth(1).unwrap().split_once("```\n").unwrap().1;
        let scope: Vec<_> = client["scope"].as_str().unwrap().split(' ').collect();
        for asked in asked(code) {
            assert!(scope.contains(&asked), "{title} asks for {asked}: {client}");
            asks += 1;
        }
        let algorithm = client["id_token_signed_response_alg"].as_str().unwrap_or("RS256");
        let named: Vec<_> = ["RS256", "ES256", "EdDSA"].into_iter().filter(|name| says(code, name)).collect();
        assert!(named.is_empty() || named.contains(&algorithm), "{title} expects {named:?}, not {algorithm}");
        let has_secret = client.get("client_secret").is_some();
        assert_eq!(code.to_lowercase().contains("client_secret"), has_secret, "{title}");
        if code.contains("post_logout_redirect_uri") {
            assert!(client.get("post_logout_redirect_uris").is_some(), "{title}");
        }
    }
    assert!(asks > 50, "{asks}");
}
