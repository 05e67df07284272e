//! Files that declare clients, groups and resources: a plan, its carrying out, and what stays when files change.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use countersign_tests::server::project;
use countersign_tests::{Client, Database, Parameters, Server, Tokens, Wallet, on_both};
use serde_json::{Value, json};

use crate::remembering::remember;

const SECRET: &str = "0123456789abcdef0123456789abcdef";
/// A user's id that nobody has.
const NOBODY: &str = "5f3c2d1e-0000-4000-8000-000000000001";

/// A file with one of everything.
const ALBUM: &str = r#"
[[group]]
name = "staff"
title = "Everyone who works here"
wallets = ["0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"]

[[group]]
name = "guests"

[[resource]]
uri = "https://api.example.com"
open_to = "named"

[[resource.scopes]]
name = "photos.read"
title = "See your photos"
titles = { de = "Deine Fotos sehen" }

[[resource.scopes]]
name = "photos.admin"
needs = "staff"

[[client]]
name = "Album"
redirect_uris = ["https://photos.example/cb", "http://127.0.0.1/cb"]
scope = "openid profile photos.read"
access = "groups:guests,staff"
release = "all"
secret_file = "album.secret"
"#;

/// How a command ended.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ended {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// The lines about mistakes, without the name of the file.
    fn mistakes(&self) -> Vec<String> {
        let lines = self.err.lines().filter_map(|line| line.strip_prefix("countersign: /"));
        lines.map(|line| line.split_once(".toml:").map_or(line, |(_, rest)| rest).to_owned()).collect()
    }
}

/// Who keeps files beside a database.
struct Keeper<'a> {
    database: &'a Database,
}

impl Keeper<'_> {
    fn write(&self, name: &str, text: &str) {
        fs::write(self.database.folder().join(name), text).unwrap();
    }

    /// Writes a file that others may not read.
    fn write_secret(&self, name: &str, secret: &str) {
        self.write(name, &format!("{secret}\n"));
        let path = self.database.folder().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        self.database.secrets().learn("client_secret", secret);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.database.operator(arguments);
        command.env("COUNTERSIGN_PUBLIC_URL", "https://id.example").stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        let ended = Ended::of(&self.command(arguments).output().unwrap());
        assert!(!ended.out.contains(SECRET) && !ended.err.contains(SECRET), "{ended:?}");
        ended
    }

    #[track_caller]
    fn text(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
        ended.out
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.text(&[arguments, &["--output", "json"]].concat())).unwrap()
    }

    #[track_caller]
    fn has_nothing_to_do(&self, arguments: &[&str]) {
        assert_eq!(self.text(&[&["apply"], arguments].concat()), "nothing to do\n");
    }

    fn export(&self) -> String {
        self.text(&["export"])
    }
}

/// A database that a command has made, and its keeper.
fn kept(database: &Database) -> Keeper<'_> {
    let keeper = Keeper { database };
    keeper.text(&["migrate"]);
    keeper
}

/// The actions of a plan.
fn actions(plan: &Value) -> Vec<String> {
    let changes = plan["changes"].as_array().unwrap().iter();
    let word = |change: &Value, name: &str| change[name].as_str().unwrap_or_default().to_owned();
    changes
        .map(|change| {
            let name = if change["name"].is_string() { "name" } else { "key" };
            format!("{} {} {}", word(change, "action"), word(change, "kind"), word(change, name))
        })
        .collect()
}

on_both! {
    fn what_files_declare_is_planned_and_made_and_the_second_run_has_nothing_to_do(database) {
        let keeper = kept(database);
        keeper.write("declared.toml", ALBUM);
        keeper.write_secret("album.secret", SECRET);
        let before = database.dump();
        let planned = keeper.json(&["apply", "declared.toml", "--dry-run"]);
        let all = [
            "create resource https://api.example.com",
            "create group staff",
            "create group guests",
            "create client Album",
        ];
        assert_eq!((&planned["dry_run"], actions(&planned)), (&json!(true), all.map(str::to_owned).to_vec()));
        assert!(!database.is_postgres() || before == database.dump(), "a dry run writes nothing");
        let text = keeper.text(&["apply", "declared.toml", "--dry-run"]);
        assert!(text.contains("+ group staff\n    title    Everyone who works here\n"), "{text}");
        assert!(text.contains("\n    access ") && text.contains("groups:guests,staff\n"), "{text}");
        assert!(text.contains("\n    secret ") && text.contains("  from the file\n"), "{text}");

        let done = keeper.json(&["apply", "declared.toml"]);
        assert_eq!((&done["dry_run"], &done["changes"]), (&json!(false), &planned["changes"]));
        let rows = database.rows();
        keeper.has_nothing_to_do(&["declared.toml"]);
        keeper.has_nothing_to_do(&["declared.toml", "--prune"]);
        let nothing = keeper.json(&["apply", "./declared.toml"]);
        assert_eq!(nothing, json!({"dry_run": false, "changes": [], "no_longer_declared": []}));
        assert_eq!(database.rows(), rows);

        let client = &keeper.json(&["client", "list"])[0];
        assert_eq!((&client["client_name"], &client["registered_by"]), (&json!("Album"), &json!("operator")));
        assert_eq!(client["resources"], json!(["https://api.example.com"]), "with the scope, its resource");
        let id = client["client_id"].as_str().unwrap();
        assert_eq!(done["changes"][3]["key"], id);
        let access = keeper.json(&["access", "show", id]);
        assert_eq!((&access["access"], &access["release"]), (&json!("groups:guests,staff"), &json!("all")));
        assert_eq!(keeper.json(&["group", "show", "staff"])["members"].as_array().map(Vec::len), Some(1));
    }

    fn a_field_that_changes_is_shown_and_changed_alone(database) {
        let keeper = kept(database);
        keeper.write("declared.toml", ALBUM);
        keeper.write_secret("album.secret", SECRET);
        keeper.text(&["apply", "declared.toml"]);
        let changed = ALBUM
            .replace("Everyone who works here", "The crew")
            .replace("\"http://127.0.0.1/cb\"", "\"https://photos.example/other\"")
            .replace("access = \"groups:guests,staff\"", "access = \"nobody\"")
            .replace("See your photos", "See all your photos")
            .replace("release = \"all\"\n", "")
            .replace("name = \"photos.admin\"\nneeds = \"staff\"", "name = \"photos.write\"")
            + "resources = []\n";
        keeper.write("declared.toml", &changed);
        let text = keeper.text(&["apply", "declared.toml"]);
        for line in [
            "~ group staff\n    title  Everyone who works here → The crew\n",
            "https://photos.example/cb, http://127.0.0.1/cb → https://photos.example/cb, https://photos.example/other\n",
            "groups:guests,staff → nobody\n",
            "all → rule\n",
            "https://api.example.com → nothing\n",
            "photos.read (See all your photos, de: Deine Fotos sehen), photos.write (photos.write)\n",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        assert!(!text.contains("group guests") && !text.contains("secret"), "{text}");
        keeper.has_nothing_to_do(&["declared.toml"]);
        let client = &keeper.json(&["client", "list"])[0];
        assert_eq!((&client["resources"], &client["scope"]), (&json!([]), &json!("openid profile photos.read")));
        assert_eq!(keeper.json(&["access", "show", "Album"])["access"], "nobody");
    }

    fn a_secret_comes_from_beside_the_file_and_only_its_hash_is_compared(database) {
        let server = database.start();
        let keeper = Keeper { database };
        let file = |more: &str| {
            format!("[[client]]\nname = \"Nightly\"\ngrant_types = [\"client_credentials\"]\n{more}\n")
        };
        keeper.write_secret("nightly.secret", SECRET);
        keeper.write("declared.toml", &file("secret_file = \"nightly.secret\""));
        let done = keeper.json(&["apply", "declared.toml"]);
        let id = done["changes"][0]["key"].as_str().unwrap().to_owned();
        let works = |secret: &str| {
            let client = Client { secret: Some(secret.to_owned()), ..Client::described_at(id.clone(), "") };
            let form = client.identify(Parameters::of(&[("grant_type", "client_credentials")]));
            server.token(&form).status == 200
        };
        assert!(works(SECRET));
        keeper.has_nothing_to_do(&["declared.toml"]);

        let other = SECRET.replace('0', "z");
        keeper.write_secret("nightly.secret", &other);
        keeper.write("declared.toml", &file("secret_file = \"nightly.secret\"\nkeep_old = \"10m\""));
        let text = keeper.text(&["apply", "declared.toml"]);
        assert_eq!(text, format!("~ client Nightly ({id})\n    secret  changed\n"));
        assert!(works(&other) && works(SECRET), "the old one works on for a while");
        keeper.has_nothing_to_do(&["declared.toml"]);

        let third = SECRET.replace('1', "z");
        database.secrets().learn("client_secret", &third);
        keeper.write("declared.toml", &file("secret_env = \"NIGHTLY_SECRET\"\nkeep_old = 0"));
        let run = |secret: &str| {
            let mut command = keeper.command(&["apply", "declared.toml"]);
            Ended::of(&command.env("NIGHTLY_SECRET", secret).output().unwrap())
        };
        assert_eq!(run(&third).code, Some(0));
        assert!(works(&third) && !works(&other), "with 0 the old one ends at once");
        assert_eq!(run(&third).out, "nothing to do\n");
        keeper.write("declared.toml", &file(""));
        keeper.has_nothing_to_do(&["declared.toml"]);
        assert!(works(&third), "a file that names no secret leaves the one that is there");
        for secret in [SECRET, &other, &third] {
            let stored = database.dump();
            assert!(!stored.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()), "in clear");
        }
    }

    fn what_a_file_no_longer_names_stays_until_it_is_pruned(database) {
        let keeper = kept(database);
        keeper.write("declared.toml", &ALBUM.replace("secret_file = \"album.secret\"\n", ""));
        keeper.write("other.toml", "[[group]]\nname = \"others\"\n");
        keeper.text(&["apply", "declared.toml", "other.toml"]);
        keeper.text(&["group", "create", "made-by-command"]);
        keeper.text(&["resource", "create", "https://made.example", "--scope", "made.read"]);
        keeper.json(&["client", "create", "--name", "Made", "--redirect-uri", "https://made.example/cb"]);

        keeper.write("declared.toml", "[[group]]\nname = \"guests\"\n");
        let kept = keeper.json(&["apply", "declared.toml"]);
        let kinds: Vec<_> = kept["no_longer_declared"].as_array().unwrap().iter().map(|left| left["kind"].clone()).collect();
        assert_eq!((&kept["changes"], json!(kinds)), (&json!([]), json!(["client", "group", "resource"])));
        let text = keeper.text(&["apply", "declared.toml"]);
        assert!(text.contains("group staff: /") && text.ends_with("nothing to do\n"), "{text}");
        let planned = keeper.json(&["apply", "declared.toml", "--prune", "--dry-run"]);
        let pruned = keeper.json(&["apply", "declared.toml", "--prune"]);
        assert_eq!(planned["changes"], pruned["changes"]);
        assert_eq!(
            actions(&pruned),
            ["delete client Album", "delete group staff", "delete resource https://api.example.com"]
        );
        keeper.has_nothing_to_do(&["declared.toml", "--prune"]);
        let names = |noun: &str, field: &str| -> Vec<String> {
            let list = keeper.json(&[noun, "list"]);
            list.as_array().unwrap().iter().map(|one| one[field].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names("group", "name"), ["guests", "made-by-command", "others"]);
        assert_eq!(names("client", "client_name"), ["Made"]);
        assert_eq!(names("resource", "uri"), ["https://made.example"]);
    }

    fn what_got_the_name_of_a_declared_thing_later_is_never_pruned(database) {
        let keeper = kept(database);
        keeper.write("declared.toml", "[[group]]\nname = \"staff\"\n[[resource]]\nuri = \"https://api.example\"\n");
        keeper.text(&["apply", "declared.toml"]);
        keeper.text(&["group", "delete", "staff"]);
        keeper.text(&["resource", "delete", "https://api.example"]);
        // Times of resources are in whole seconds.
        thread::sleep(Duration::from_millis(1_100));
        keeper.text(&["group", "create", "staff"]);
        keeper.text(&["resource", "create", "https://api.example"]);
        keeper.write("declared.toml", "");
        keeper.has_nothing_to_do(&["declared.toml", "--prune"]);
        assert_eq!(keeper.json(&["group", "list"]).as_array().map(Vec::len), Some(1));
        assert_eq!(keeper.json(&["resource", "list"]).as_array().map(Vec::len), Some(1));
    }

    fn what_was_made_by_a_command_and_is_then_declared_is_the_file_s(database) {
        let keeper = kept(database);
        keeper.text(&["group", "create", "staff"]);
        let wallet = Wallet::fresh().address();
        keeper.text(&["group", "add", "staff", &wallet]);
        let made = keeper.json(&["client", "create", "--name", "Made", "--redirect-uri", "https://made.example/cb", "--public"]);
        let id = made["client_id"].as_str().unwrap();
        let client = "[[client]]\nname = \"Made\"\nredirect_uris = [\"https://made.example/cb\"]\n\
                      token_endpoint_auth_method = \"none\"\n";
        keeper.write("declared.toml", client);
        let refused = keeper.run(&["apply", "declared.toml"]);
        assert_eq!(refused.code, Some(2));
        assert_eq!(
            refused.mistakes(),
            [format!("2:1: client.name: an operator's client has this name: write id = \"{id}\" to declare that one")]
        );
        keeper.write("declared.toml", &format!("{client}id = \"{id}\"\n[[group]]\nname = \"staff\"\nwallets = [\"{wallet}\"]\n"));
        let text = keeper.text(&["apply", "declared.toml"]);
        let here = database.folder().join("declared.toml");
        assert_eq!(text.matches(&format!("declared  by {} from now on", here.display())).count(), 1, "{text}");
        assert!(text.contains("~ group staff") && text.contains("members declared"), "{text}");
        keeper.has_nothing_to_do(&["declared.toml"]);
        fs::rename(&here, database.folder().join("moved.toml")).unwrap();
        let moved = keeper.text(&["apply", "moved.toml"]);
        assert!(moved.contains(&format!("and no longer by {}", here.display())), "{moved}");
        keeper.has_nothing_to_do(&["moved.toml"]);
        keeper.write("moved.toml", "");
        let pruned = keeper.json(&["apply", "moved.toml", "--prune"]);
        assert_eq!(actions(&pruned), ["delete client Made", "delete group staff"]);
    }

    fn members_come_and_go_with_the_file_and_those_of_commands_stay(database) {
        let server = database.start();
        let keeper = Keeper { database };
        let client = server.register_with(&json!({"scopes": ["openid", "profile"]}));
        let [here, there, by_command] = [(); 3].map(|()| Wallet::fresh());
        let user = user_of(&server, &client, &here);
        let file = |users: &[&str], wallets: &[&str]| {
            format!("[[group]]\nname = \"staff\"\nusers = {users:?}\nwallets = {wallets:?}\n")
        };
        keeper.write("declared.toml", &file(&[&user], &[&there.address()]));
        keeper.text(&["apply", "declared.toml"]);
        keeper.text(&["group", "add", "staff", &by_command.address()]);
        keeper.has_nothing_to_do(&["declared.toml"]);
        let members = || {
            let shown = keeper.json(&["group", "show", "staff"]);
            let members = shown["members"].as_array().unwrap().iter();
            members.map(|member| member["user"].as_str().or(member["wallet"].as_str()).unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(members().len(), 3);
        keeper.write("declared.toml", &file(&[], &[&there.address()]));
        let text = keeper.text(&["apply", "declared.toml"]);
        assert_eq!(text, format!("~ group staff\n    members removed  user {user}\n"));
        keeper.write("declared.toml", &file(&[], &[]));
        keeper.text(&["apply", "declared.toml"]);
        assert_eq!(members(), [format!("eip155:1:{}", by_command.address())], "the command's stays");
        keeper.has_nothing_to_do(&["declared.toml", "--prune"]);
        // Whom a command takes out and puts back, the file put there no longer.
        keeper.write("declared.toml", &file(&[&user], &[&there.address()]));
        keeper.text(&["apply", "declared.toml"]);
        for member in [&user, &there.address()] {
            keeper.text(&["group", "remove", "staff", member]);
            keeper.text(&["group", "add", "staff", member]);
        }
        keeper.write("declared.toml", &file(&[], &[]));
        keeper.has_nothing_to_do(&["declared.toml"]);
        assert_eq!(members().len(), 3);
        for member in [&user, &there.address()] {
            keeper.text(&["group", "remove", "staff", member]);
        }

        keeper.write("declared.toml", &file(&[&user, NOBODY], &[]));
        let refused = keeper.run(&["apply", "declared.toml"]);
        assert_eq!(refused.code, Some(2));
        let user = user.len() + 4;
        assert_eq!(
            refused.mistakes(),
            [format!("3:{}: group.users[1]: there is no user {NOBODY} in this database", 10 + user)]
        );
        assert_eq!(members().len(), 1, "a mistake anywhere changes nothing");
    }

    fn an_export_that_is_applied_to_an_empty_database_gives_the_same_export(database) {
        let keeper = kept(database);
        keeper.write_secret("album.secret", SECRET);
        keeper.write("declared.toml", ALBUM);
        keeper.text(&["apply", "declared.toml"]);
        keeper.text(&["group", "add", "guests", "bip122:000000000019d6689c085ae165831e93:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"]);
        keeper.json(&["client", "create", "--name", "Straße \"7\" \\", "--redirect-uri", "https://s.example/ü?a=b", "--public"]
            .map(|argument| argument.replace('ü', "u")).each_ref().map(String::as_str));
        keeper.json(&["client", "create", "--name", "Album", "--grant-type", "client_credentials", "--contact", "a@b.example"]);
        let first = keeper.export();
        assert!(!first.contains(SECRET) && first.contains("\n# secret_file = \"…\"\n"), "{first}");
        assert_eq!(keeper.export(), first);

        let sibling = database.sibling();
        let other = kept(&sibling);
        other.write("export.toml", &first);
        other.text(&["apply", "export.toml"]);
        assert_eq!(other.export(), first);
        other.has_nothing_to_do(&["export.toml"]);
        keeper.write("export.toml", &first);
        let home = keeper.json(&["apply", "export.toml"]);
        for change in home["changes"].as_array().unwrap() {
            let fields: Vec<_> = change["fields"].as_array().unwrap().iter().map(|field| field["field"].as_str().unwrap()).collect();
            assert!(fields.iter().all(|field| field.contains("declared")), "only the file is new: {change}");
        }
        assert_eq!(keeper.export(), first);
    }

    fn replicas_that_start_with_the_same_file_agree(database) {
        let keeper = kept(database);
        keeper.write_secret("album.secret", SECRET);
        for round in 0..3 {
            let more: String = (0..10).map(|number| format!(
                "[[group]]\nname = \"g{round}.{number}\"\n[[client]]\nname = \"C{round}.{number}\"\n\
                 redirect_uris = [\"https://c.example/{number}\"]\naccess = \"groups:g{round}.{number}\"\n"
            )).collect();
            let changed = ALBUM.replace("Everyone who works here", &format!("Round {round}"));
            keeper.write("declared.toml", &format!("{changed}{more}"));
            let servers: Vec<Server> = thread::scope(|scope| {
                let start = || database.server().with_env("COUNTERSIGN_APPLY_FILES", "declared.toml")
                    .with_public_url("https://id.example").start();
                let starting: Vec<_> = (0..2).map(|_| scope.spawn(start)).collect();
                starting.into_iter().map(|started| started.join().unwrap()).collect()
            });
            assert_eq!(keeper.json(&["apply", "declared.toml"])["changes"], json!([]));
            assert_eq!(keeper.json(&["client", "list"]).as_array().map(Vec::len), Some(10 * (round + 1) + 1));
            drop(servers);
        }
    }

    fn a_server_does_not_start_with_a_mistake_in_a_file(database) {
        let keeper = kept(database);
        keeper.write("declared.toml", "[[group]]\nname = \"staff\"\n\n[[client]]\nname = \"Album\"\nredirect_uri = \"x\"\n");
        let mut command = keeper.command(&["serve"]);
        command.env("COUNTERSIGN_APPLY_FILES", "declared.toml").env("COUNTERSIGN_BIND", "127.0.0.1:0");
        let ended = Ended::of(&command.env("COUNTERSIGN_PUBLIC_URL", "http://localhost:8080").output().unwrap());
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let mistake = "6:1: client.redirect_uri: there is no such field; did you mean `redirect_uris`?";
        assert_eq!(ended.mistakes(), [mistake]);
        assert_eq!(keeper.json(&["group", "list"]), json!([]));
        let mut command = keeper.command(&["check-config"]);
        let ended = Ended::of(&command.env("COUNTERSIGN_APPLY_FILES", "declared.toml").output().unwrap());
        assert_eq!((ended.code, ended.mistakes()), (Some(2), vec![mistake.to_owned()]));
    }

    fn kill_9_in_the_middle_is_finished_by_the_next_run(database) {
        let keeper = kept(database);
        let file = |round: usize| -> String {
            (0..4).map(|number| format!(
                "[[group]]\nname = \"g{number}\"\ntitle = \"{round}\"\nwallets = [\"{}\", \"{}\"]\n\
                 [[resource]]\nuri = \"https://api{number}.example\"\n[[resource.scopes]]\nname = \"s{}.read\"\n\
                 [[client]]\nname = \"C{number}\"\nredirect_uris = [\"https://c.example/{round}\"]\n\
                 scope = \"profile s{number}.read\"\naccess = \"groups:g{}\"\n",
                Wallet::fresh().address(), Wallet::fresh().address(), (number + round) % 4, (number + round) % 4,
            )).collect()
        };
        let (mut killed, mut delay) = (0, Duration::from_millis(20));
        for round in 0..8 {
            keeper.write("declared.toml", &file(round));
            let mut running = keeper.command(&["apply", "declared.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            thread::sleep(delay);
            if running.try_wait().unwrap().is_none() {
                running.kill().unwrap();
                killed += 1;
            }
            running.wait().unwrap();
            delay += Duration::from_millis(400);
            keeper.text(&["apply", "declared.toml", "--prune"]);
            keeper.has_nothing_to_do(&["declared.toml", "--prune"]);
            let members: i64 = database.number("SELECT count(*) FROM group_wallets");
            assert_eq!(members, 8, "of the round before, none is left");
        }
        println!("killed {killed} of 8 runs");
        assert!(killed >= 3, "killed {killed}");
    }
}

/// Signs in, and returns the user's id.
fn user_of(server: &Server, client: &Client, wallet: &Wallet) -> String {
    let authorization = client.authorization().with("scope", "openid profile");
    let answer = remember(&mut server.browser(), &authorization, wallet);
    let tokens = Tokens::of(server.exchange(client, &answer.answer("code").unwrap()));
    server.userinfo(&tokens.access).expect(200).field("sub")
}

/// Each wrong file with the line, the field and the words of its mistake.
const WRONG: [(&str, &str); 45] = [
    ("[[cliant]]\nname = \"a\"", "1:3: cliant: there is no such table; did you mean `client`?"),
    ("[[gate]]\ngroup = \"a\"", "1:3: gate: there is no such table; there are client, group, resource"),
    ("[client]\nname = \"a\"", "1:2: client: must be a list of tables: write [[client]]"),
    ("name = \"a\"", "1:1: name: there is no such table; there are client, group, resource"),
    ("[[group]]\nname = \"a\"\nname = \"b\"", "3:1: file: not TOML: duplicate key"),
    ("[[group]]\nname = a", "2:8: file: not TOML: "),
    ("[[group]]\ntitle = \"a\"", "1:1: group.name: is missing"),
    ("[[group]]\nname = 7", "2:8: group.name: must be a string"),
    ("[[group]]\nname = \"Staff\"", "2:8: group.name: \"Staff\" is not a name of a group: "),
    (
        "[[group]]\nname = \"a\"\ntitel = \"b\"",
        "3:1: group.titel: there is no such field; did you mean `title`?",
    ),
    ("[[group]]\nname = \"a\"\ntitle = \"\\u202e\"", "3:9: group.title: must not hold control, invisible"),
    (
        "[[group]]\nname = \"a\"\nmembers = []",
        "3:1: group.members: there is no such field; write `users` with ids",
    ),
    (
        "[[group]]\nname = \"a\"\nusers = [\"bob\"]",
        "3:10: group.users[0]: is not a user's id; wallets stand in `wallets`",
    ),
    (
        "[[group]]\nname = \"a\"\nusers = [\n  \"5f3c2d1e-0000-4000-8000-000000000001\",\n]",
        "4:3: group.users[0]: there is no user 5f3c2d1e-",
    ),
    (
        "[[group]]\nname = \"a\"\nwallets = [\"0x12\"]",
        "3:12: group.wallets[0]: \"0x12\" is not the address of a wallet",
    ),
    (
        "[[group]]\nname = \"a\"\nwallets = [{ wallet = \"0x2c7536E3605D9C16a7a3D7b1898e529396a65c23\", kind = \"safe\" }]",
        "3:76: group.wallets.kind: must be \"key\" or \"contract\"",
    ),
    (
        "[[group]]\nname = \"a\"\nwallets = [\"0x2c7536E3605D9C16a7a3D7b1898e529396a65c23\", \"0x2c7536e3605d9c16a7a3d7b1898e529396a65c23\"]",
        "3:58: group.wallets[1]: wallets[0] is the same member",
    ),
    ("[[group]]\nname = \"a\"\n[[group]]\nname = \"a\"", "4:1: group.name: group a is declared at "),
    ("[[resource]]\nopen_to = \"named\"", "1:1: resource.uri: is missing"),
    ("[[resource]]\nuri = \"api\"", "2:1: resource.uri: api is not an absolute URI"),
    (
        "[[resource]]\nuri = \"https://id.example/x\"",
        "2:1: resource.uri: https://id.example/x is a URL of this server itself",
    ),
    (
        "[[resource]]\nuri = \"https://a.example\"\nopen_to = \"all\"",
        "3:11: resource.open_to: must be \"everyone\" or \"named\"",
    ),
    (
        "[[resource]]\nuri = \"https://a.example\"\nscope = \"a\"",
        "3:1: resource.scope: there is no such field; write [[resource.scopes]]",
    ),
    (
        "[[resource]]\nuri = \"https://a.example\"\n[[resource.scopes]]\nname = \"openid\"",
        "4:8: resource.scopes.name: ",
    ),
    (
        "[[resource]]\nuri = \"https://a.example\"\n[[resource.scopes]]\nname = \"a.read\"\ntitles = { xx = \"a\" }",
        "5:12: resource.scopes.titles.xx: the languages of the pages are en, ",
    ),
    (
        "[[resource]]\nuri = \"https://a.example\"\n[[resource.scopes]]\nname = \"a.read\"\nneeds = \"staff\"",
        "3:1: resource.scopes a.read: there is no group staff: declare it",
    ),
    (
        "[[resource]]\nuri = \"https://a.example\"\n[[resource.scopes]]\nname = \"a.read\"\n[[resource]]\nuri = \"https://b.example\"\n[[resource.scopes]]\nname = \"a.read\"",
        "3:1: resource.scopes a.read: the scope a.read belongs to https://b.example",
    ),
    ("[[client]]\nredirect_uris = [\"https://a.example/cb\"]", "1:1: client.name: is missing"),
    ("[[client]]\nname = \"a\"", "1:1: client.redirect_uris: is missing"),
    (
        "[[client]]\nname = \"a\"\nredirect_uris = \"https://a.example/cb\"",
        "3:17: client.redirect_uris: must be a list of strings",
    ),
    (
        "[[client]]\nname = \"a\"\nredirect_uris = [\n  \"https://a.example/cb\",\n  \"http://a.example/cb\"]",
        "5:3: client.redirect_uris[1]: must be https",
    ),
    (
        "[[client]]\nname = \"a\"\nclient_name = \"b\"",
        "3:1: client.client_name: there is no such field; write `name`",
    ),
    (
        "[[client]]\nname = \"a\"\nclient_secret = \"0123456789abcdef0123456789abcdef\"",
        "3:1: client.client_secret: a file must not contain a secret: write secret_file",
    ),
    ("[[client]]\nname = \"a\"\nid = \"7\"", "3:6: client.id: is not a client's id"),
    ("[[client]]\nname = \"a\"\naccess = \"groups:\"", "3:10: client.access: "),
    (
        "[[client]]\nname = \"a\"\nredirect_uris = [\"https://a.example/cb\"]\naccess = \"groups:staff\"",
        "4:1: client.access: there is no group staff: declare it",
    ),
    (
        "[[client]]\nname = \"a\"\nredirect_uris = [\"https://a.example/cb\"]\nrelease = \"staff\"",
        "4:1: client.release: there is no group staff: declare it",
    ),
    (
        "[[client]]\nname = \"a\"\nredirect_uris = [\"https://a.example/cb\"]\nresources = [\"https://b.example\"]",
        "4:14: client.resources[0]: https://b.example is not declared",
    ),
    (
        "[[client]]\nname = \"a\"\nredirect_uris = [\"https://a.example/cb\"]\nscope = \"openid b.read\"",
        "4:1: client.scope: ",
    ),
    (
        "[[client]]\nname = \"a\"\nredirect_uris = [\"https://a.example/cb\"]\nsecret_file = \"none.secret\"",
        "4:15: client.secret_file: ",
    ),
    (
        "[[client]]\nname = \"a\"\nredirect_uris = [\"https://a.example/cb\"]\nsecret_env = \"NO_SUCH_VARIABLE\"",
        "4:14: client.secret_env: there is no environment variable NO_SUCH_VARIABLE",
    ),
    (
        "[[client]]\nname = \"a\"\nredirect_uris = [\"https://a.example/cb\"]\nkeep_old = 5",
        "4:12: client.keep_old: is about a new secret",
    ),
    (
        "[[client]]\nname = \"a\"\nredirect_uris = [\"https://a.example/cb\"]\nkeep_old = \"1y\"",
        "4:12: client.keep_old: \"y\" is not a unit of time: use s, m, h, d or w; it takes a time such as 1d, at most 90d",
    ),
    (
        "[[client]]\nname = \"a\"\nredirect_uris = [\"https://a.example/cb\"]\nrequire_pushed_authorization_requests = \"yes\"",
        "4:41: client.require_pushed_authorization_requests: must be true or false",
    ),
    (
        "[[client]]\nname = \"a\"\nredirect_uris = [\"https://a.example/cb\"]\nlogo_uri = 1979-05-27",
        "4:12: client.logo_uri: cannot be a time",
    ),
];

/// Beside each wrong file is a right one. Neither does anything.
#[test]
fn each_mistake_names_file_line_and_field_and_nothing_is_done() {
    let database = Database::sqlite();
    let keeper = kept(&database);
    keeper.write("right.toml", "[[group]]\nname = \"right\"\n");
    let before = database.rows();
    for (file, told) in WRONG {
        keeper.write("wrong.toml", file);
        let ended = keeper.run(&["apply", "right.toml", "wrong.toml"]);
        assert_eq!((ended.code, &*ended.out), (Some(2), ""), "{file}: {ended:?}");
        let mistakes = ended.mistakes();
        assert!(mistakes.iter().any(|mistake| mistake.starts_with(told)), "{file}: {mistakes:?}");
        assert!(ended.err.contains("/wrong.toml:"), "{ended:?}");
        assert_eq!(database.rows(), before, "{file}");
    }
}

/// The same in JSON, where a field that stands twice is a mistake too.
#[test]
fn json_says_the_same_as_toml() {
    let database = Database::sqlite();
    let keeper = kept(&database);
    let file = json!({
        "group": [{"name": "staff", "wallets": ["0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"]}],
        "resource": [{"uri": "https://a.example", "scopes": [{"name": "a.read", "needs": "staff"}]}],
        "client": [{"name": "Album", "redirect_uris": ["https://a.example/cb"], "scope": "openid a.read",
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks": {"keys": [{"kty": "EC", "crv": "P-256", "kid": "1",
                "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}}],
    });
    keeper.write("declared.json", &format!("{file:#}"));
    keeper.text(&["apply", "declared.json"]);
    keeper.has_nothing_to_do(&["declared.json"]);
    let exported = keeper.export();
    keeper.write("declared.toml", &exported);
    let sibling = database.sibling();
    let other = kept(&sibling);
    other.write("declared.toml", &exported);
    other.text(&["apply", "declared.toml"]);
    assert_eq!(other.export(), exported);
    for (wrong, told) in [
        ("{\"group\": [{\"name\": \"a\",\n \"name\": \"b\"}]}", "2:2: group.name: is here twice"),
        (
            "{\"group\": [{\"name\": \"a\",\n \"tile\": \"b\"}]}",
            "2:2: group.tile: there is no such field; did you mean `title`?",
        ),
        ("{\"group\": [{\"name\": null}]}", "1:21: group.name: must be a string"),
        ("{\"group\": [],\n \"client\": [], \"group\": []}", "2:16: group: is here twice"),
        ("[]", "1:1: file: is not an object"),
        ("{\"group\": [}", "1:12: file: not JSON"),
    ] {
        keeper.write("wrong.json", wrong);
        let ended = keeper.run(&["apply", "wrong.json"]);
        assert!(
            ended.code == Some(2) && ended.err.contains(&format!("/wrong.json:{told}")),
            "{wrong}: {ended:?}"
        );
    }
}

/// The first file on the page, beside a secret made as the page says.
#[test]
fn the_file_in_the_documentation_works() {
    let page = fs::read_to_string(project().join("docs/declared.md")).unwrap();
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let database = Database::sqlite();
    let keeper = kept(&database);
    keeper.write("declared.toml", example);
    keeper.write_secret("photo-album.secret", SECRET);
    let done = keeper.json(&["apply", "declared.toml"]);
    assert_eq!(actions(&done).len(), 4);
    keeper.has_nothing_to_do(&["declared.toml"]);
}

/// Two files that name one thing, and one file that is named twice.
#[test]
fn a_thing_is_declared_in_one_file() {
    let database = Database::sqlite();
    let keeper = kept(&database);
    keeper.write("one.toml", "[[group]]\nname = \"a\"\n");
    keeper.write("two.toml", "\n[[group]]\ntitle = \"x\"\nname = \"a\"\n");
    let ended = keeper.run(&["apply", "one.toml", "two.toml"]);
    let one = database.folder().join("one.toml");
    assert_eq!(
        ended.mistakes(),
        [format!("4:1: group.name: group a is declared at {}:2:1 already", one.display())]
    );
    let twice = keeper.run(&["apply", "one.toml", "./one.toml"]);
    assert!(twice.code == Some(2) && twice.err.contains("one.toml:1:1: file: is named twice"), "{twice:?}");
    let missing = keeper.run(&["apply", "none.toml"]);
    assert!(
        missing.code == Some(2) && missing.err.contains("none.toml:1:1: file: cannot be read"),
        "{missing:?}"
    );
    assert_eq!(keeper.json(&["group", "list"]), json!([]));
}

/// A hundred clients are there in a moment: nothing waits for replicas that cannot know them yet.
#[test]
fn a_hundred_clients_are_made_in_a_moment() {
    let database = Database::sqlite();
    let keeper = kept(&database);
    let file: String = (0..100)
        .map(|number| format!("[[client]]\nname = \"C{number}\"\nredirect_uris = [\"https://c.example/{number}\"]\naccess = \"nobody\"\n"))
        .collect();
    keeper.write("declared.toml", &file);
    let begun = Instant::now();
    keeper.text(&["apply", "declared.toml"]);
    println!("100 clients in {:?}", begun.elapsed());
    assert!(begun.elapsed() < Duration::from_secs(20));
    keeper.has_nothing_to_do(&["declared.toml"]);
}

/// A place in a file is not counted from its beginning, and nothing else grows with the square of what a file has.
#[test]
fn a_file_with_ten_thousand_mistakes_is_read_in_a_moment() {
    let database = Database::sqlite();
    let keeper = kept(&database);
    let client = |number: usize| {
        format!(
            "[[client]]\nname = \"C{number}\"\nredirect_uris = [\"https://c.example/{number}\"]\naccess = \"groups:none{number}\"\n"
        )
    };
    let took = |count: usize, line_breaks: bool| {
        let file: String = (0..count).map(client).collect();
        let json: Vec<_> = (0..count)
            .map(|number| json!({"name": format!("C{number}"), "redirect_uris": ["https://c.example"], "access": "nobod"}))
            .collect();
        let name = if line_breaks { "many.toml" } else { "many.json" };
        keeper.write(name, &if line_breaks { file } else { json!({"client": json}).to_string() });
        let begun = Instant::now();
        let ended = keeper.run(&["apply", name, "--dry-run"]);
        assert_eq!((ended.code, ended.mistakes().len()), (Some(2), count));
        begun.elapsed()
    };
    for line_breaks in [true, false] {
        let [some, many] = [2_500, 10_000].map(|count| took(count, line_breaks));
        println!("2,500 mistakes in {some:?}, 10,000 in {many:?}");
        assert!(many < some * 10 + Duration::from_secs(2), "it grows with the square: {some:?}, {many:?}");
    }
}

#[test]
fn a_file_without_an_end_is_refused() {
    let database = Database::sqlite();
    let keeper = kept(&database);
    let begun = Instant::now();
    let endless = keeper.run(&["apply", "/dev/zero"]);
    assert!(endless.code == Some(2) && endless.err.contains("has no end"), "{endless:?}");
    let client = "[[client]]\nname = \"a\"\nredirect_uris = [\"https://a.example/cb\"]\n";
    keeper.write("declared.toml", &format!("{client}secret_file = \"/dev/zero\"\n"));
    let endless = keeper.run(&["apply", "declared.toml"]);
    assert!(endless.code == Some(2) && endless.err.contains("client.secret_file"), "{endless:?}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}
