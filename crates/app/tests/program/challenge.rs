//! `challenge verify`: its texts and exit codes, and that every input line gets an answer.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::thread;

use serde_json::{Value, json};

use crate::place::{Ended, Place};

/// The example from the eth-account documentation.
const ADDRESS: &str = "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23";
const TEXT: &str = "Some data";
const SIGNATURE: &str = "0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c";

const VERIFY: [&str; 2] = ["challenge", "verify"];
const GOOD: &str = r#"{"valid":true,"family":"ethereum","reason":"signature is valid"}"#;

/// Verifies the signature over the content of the file `text`.
fn verify(place: &Place, more: &[&str]) -> Ended {
    place.run(&[&VERIFY, &["--address", ADDRESS, "--signature", SIGNATURE][..], more].concat())
}

/// Runs the batch on these bytes. They are written while its answers are read.
fn batch(input: Vec<u8>) -> Ended {
    let place = Place::new();
    let mut child = place.command(&[&VERIFY[..], &["--batch"]].concat()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    Ended {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn good_line() -> String {
    json!({"address": ADDRESS, "text": TEXT, "signature": SIGNATURE}).to_string()
}

/// The answers to these lines. Checks that each is one JSON object with exactly the three members.
fn answers(lines: &[&[u8]]) -> Vec<(bool, String, String)> {
    let ended = batch(lines.join(&b'\n'));
    assert_eq!(ended.err, "");
    assert!(ended.out.ends_with('\n'), "{}", ended.out);
    let answers: Vec<_> = ended.out.lines().map(answer).collect();
    assert_eq!(answers.len(), lines.len(), "{}", ended.out);
    assert_eq!(ended.code, i32::from(answers.iter().any(|(valid, ..)| !valid)));
    answers
}

fn answer(line: &str) -> (bool, String, String) {
    let value: Value = serde_json::from_str(line).unwrap();
    let object = value.as_object().unwrap();
    assert_eq!(object.len(), 3, "{line}");
    let text = |name: &str| object[name].as_str().unwrap().to_owned();
    (object["valid"].as_bool().unwrap(), text("family"), text("reason"))
}

#[test]
fn a_valid_signature_is_exit_code_0_with_its_family_and_canonical_account() {
    let place = Place::new();
    fs::write(place.path("text"), TEXT).unwrap();
    fs::write(place.path("signature"), SIGNATURE).unwrap();
    let expected = format!("valid: ethereum, eip155:1:{ADDRESS}\n");
    let lower = ADDRESS.to_lowercase();
    for (address, chain, out) in [
        (ADDRESS.to_owned(), None, expected.clone()),
        (lower.clone(), Some("eip155:1"), expected),
        (format!("eip155:10:{lower}"), None, format!("valid: ethereum, eip155:10:{ADDRESS}\n")),
    ] {
        let mut arguments = [&VERIFY[..], &["--address", &address, "--text-file", "text"]].concat();
        arguments.extend(chain.map(|chain| ["--chain", chain]).iter().flatten());
        for signature in [["--signature", SIGNATURE], ["--signature-file", "signature"]] {
            let ended = place.run(&[&arguments[..], &signature].concat());
            assert_eq!((ended.code, ended.out, ended.err.as_str()), (0, out.clone(), ""));
        }
    }
}

#[test]
fn a_signature_in_a_file_is_judged_byte_for_byte_as_a_sign_in_judges_it() {
    let place = Place::new();
    fs::write(place.path("text"), TEXT).unwrap();
    for around in [format!("{SIGNATURE}\n"), format!("{SIGNATURE}\r\n"), format!(" {SIGNATURE}")] {
        fs::write(place.path("signature"), &around).unwrap();
        let arguments = ["--address", ADDRESS, "--text-file", "text", "--signature-file", "signature"];
        let ended = place.run(&[&VERIFY[..], &arguments].concat());
        assert_eq!(ended.code, 1, "{around:?}");
        assert!(ended.out.contains("the signature has white space around it"), "{}", ended.out);
    }
}

#[test]
fn text_or_signature_may_be_standard_input_and_not_both() {
    let place = Place::new();
    let account = [&VERIFY[..], &["--address", ADDRESS]].concat();
    let text = [&account[..], &["--text-file", "-", "--signature", SIGNATURE]].concat();
    assert_eq!(place.run_with_input(&text, TEXT).code, 0);
    fs::write(place.path("text"), TEXT).unwrap();
    let signature = [&account[..], &["--text-file", "text", "--signature-file", "-"]].concat();
    assert_eq!(place.run_with_input(&signature, SIGNATURE).code, 0);
    let both = [&account[..], &["--text-file", "-", "--signature-file", "-"]].concat();
    let ended = place.run_with_input(&both, TEXT);
    assert_eq!((ended.code, ended.out.as_str()), (2, ""));
    assert!(ended.err.contains("cannot both come from standard input"), "{}", ended.err);
}

#[test]
fn a_signature_that_is_not_valid_is_exit_code_1_and_one_line_with_the_reason() {
    let place = Place::new();
    let offline = "(if the account is a contract wallet, its signature cannot be checked offline)";
    for (text, reason) in [
        ("Some date", format!("it was made by another key or for another text {offline}")),
        (
            "Some data\n",
            "the text ends with a line break that was not signed; without it the signature is valid"
                .to_owned(),
        ),
        (
            "Some data\r\n",
            "the text ends with a line break that was not signed; without it the signature is valid"
                .to_owned(),
        ),
        ("", format!("it was made by another key or for another text {offline}")),
    ] {
        fs::write(place.path("text"), text).unwrap();
        let ended = verify(&place, &["--text-file", "text"]);
        assert_eq!(
            (ended.code, ended.out, ended.err.as_str()),
            (1, format!("not valid: {reason}\n"), ""),
            "{text:?}"
        );
    }
    fs::write(place.path("text"), TEXT).unwrap();
    for (address, signature, reason) in [
        ("alice.eth", SIGNATURE, "this build does not recognize the address"),
        ("", SIGNATURE, "this build does not recognize the address"),
        (ADDRESS, "", "it is not hex, base64 or base64url"),
        (ADDRESS, "-", "it is not hex, base64 or base64url"),
        ("eip155:0:0x2c7536E3605D9C16a7a3D7b1898e529396a65c23", SIGNATURE, "it belongs to eip155:1"),
    ] {
        let ended = place.run(
            &[&VERIFY[..], &["--address", address, "--text-file", "text", "--signature", signature]].concat(),
        );
        assert_eq!((ended.code, ended.out.lines().count()), (1, 1));
        assert!(ended.out.starts_with("not valid: ") && ended.out.contains(reason), "{}", ended.out);
    }
    let differ = ["--address", "eip155:1:0x2c7536E3605D9C16a7a3D7b1898e529396a65c23", "--chain", "eip155:2"];
    let rest = ["--text-file", "text", "--signature", SIGNATURE];
    let ended = place.run(&[&VERIFY[..], &differ, &rest].concat());
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (1, "not valid: the address names one chain, and the chain given with it is a different one\n")
    );
}

#[test]
fn a_file_that_is_no_text_is_exit_code_2() {
    let place = Place::new();
    fs::create_dir(place.path("folder")).unwrap();
    fs::write(place.path("binary"), [0x7f, b'E', b'L', b'F', 0xff, 0x00]).unwrap();
    fs::write(place.path("endless"), vec![b'a'; (1 << 20) + 1]).unwrap();
    for (file, complaint) in [
        ("nowhere", "failed to read nowhere: "),
        ("folder", "failed to read folder: "),
        ("binary", "failed to read binary: it is not valid UTF-8"),
        ("endless", "failed to read endless: it is longer than 1 MiB"),
        ("/dev/zero", "failed to read /dev/zero: it is longer than 1 MiB"),
    ] {
        let ended = verify(&place, &["--text-file", file]);
        assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{file}");
        assert!(ended.err.contains(complaint), "{}", ended.err);
        fs::write(place.path("text"), TEXT).unwrap();
        let signature = ["--address", ADDRESS, "--text-file", "text", "--signature-file", file];
        let ended = place.run(&[&VERIFY[..], &signature].concat());
        assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{file}");
    }
    fs::write(place.path("longest"), vec![b'a'; 1 << 20]).unwrap();
    assert_eq!(verify(&place, &["--text-file", "longest"]).code, 1);
}

#[test]
fn words_that_are_missing_or_contradict_are_exit_code_2() {
    let place = Place::new();
    for arguments in [
        &[][..],
        &["--address", ADDRESS],
        &["--address", ADDRESS, "--text-file", "text"],
        &["--text-file", "text", "--signature", SIGNATURE],
        &["--address", ADDRESS, "--text-file", "text", "--signature", SIGNATURE, "--signature-file", "x"],
        &["--batch", "--address", ADDRESS],
        &["--batch", "--chain", "eip155:1"],
        &["--batch", "--text-file", "text"],
        &["--batch", "--signature", SIGNATURE],
        &["--batch", "--signature-file", "x"],
        &["--batch", "input.jsonl"],
    ] {
        let ended = place.run(&[&VERIFY[..], arguments].concat());
        assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{arguments:?}");
    }
    assert_eq!(place.run(&["challenge"]).code, 2);
}

#[test]
fn the_help_shows_examples() {
    let help = Place::new().run(&[&VERIFY[..], &["--help"]].concat());
    assert_eq!(help.code, 0);
    for part in ["Examples:", "--text-file -", "--batch < ", GOOD, "Exit code: 0 "] {
        assert!(help.out.contains(part), "{part} in {}", help.out);
    }
}

#[test]
fn an_empty_batch_has_no_answer_and_nothing_that_is_not_valid() {
    let ended = batch(Vec::new());
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (0, "", ""));
}

#[test]
fn each_line_is_answered_in_its_order() {
    let good = good_line();
    let other = json!({"address": ADDRESS, "text": "Some date", "signature": SIGNATURE}).to_string();
    let unknown = json!({"address": "alice.eth", "text": TEXT, "signature": SIGNATURE}).to_string();
    let lines = [good.as_bytes(), other.as_bytes(), b"no", unknown.as_bytes(), good.as_bytes()];
    let answers = answers(&lines);
    let verdicts: Vec<_> = answers.iter().map(|(valid, family, _)| (*valid, family.as_str())).collect();
    let expected =
        [(true, "ethereum"), (false, "ethereum"), (false, "unknown"), (false, "unknown"), (true, "ethereum")];
    assert_eq!(verdicts, expected);
}

#[test]
fn the_last_line_may_lack_its_end_and_lines_may_end_as_on_windows() {
    let good = good_line();
    for input in [good.clone(), format!("{good}\n"), format!("{good}\r\n"), format!("\t {good} \t")] {
        let ended = batch(input.clone().into_bytes());
        assert_eq!((ended.code, ended.out), (0, format!("{GOOD}\n")), "{input:?}");
    }
    let ended = batch(format!("{good}\n\n").into_bytes());
    assert_eq!((ended.code, ended.out.lines().count()), (1, 2));
}

#[test]
fn every_odd_line_gets_its_one_answer() {
    let good = good_line();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut value: Value = serde_json::from_str(&good_line()).unwrap();
        change(&mut value);
        value.to_string().into_bytes()
    };
    let without = |name: &'static str| {
        with(&|value| {
            value.as_object_mut().unwrap().remove(name);
        })
    };
    let deep = [b"{\"x\":".to_vec(), vec![b'['; 100_000]].concat();
    let raw_nul = good.replace("Some data", "\u{0}").into_bytes();
    let odd: Vec<(Vec<u8>, &str)> = vec![
        (b"".to_vec(), "the line is empty"),
        (b"\r".to_vec(), "the line is empty"),
        (b" \t".to_vec(), "the line is empty"),
        (b"{".to_vec(), "the line cannot be read"),
        (b"{}".to_vec(), "missing field `address`"),
        (b"null".to_vec(), "the line is not a JSON object"),
        (b"[]".to_vec(), "the line is not a JSON object"),
        (json!([ADDRESS, TEXT, SIGNATURE]).to_string().into_bytes(), "the line is not a JSON object"),
        (format!("{good}{good}").into_bytes(), "trailing characters"),
        (format!("{good},").into_bytes(), "trailing characters"),
        (good.as_bytes()[..good.len() - 1].to_vec(), "the line cannot be read"),
        (without("address"), "missing field `address`"),
        (without("text"), "missing field `text`"),
        (without("signature"), "missing field `signature`"),
        (with(&|value| value["text"] = json!(5)), "expected a string"),
        (with(&|value| value["address"] = Value::Null), "expected a string"),
        (with(&|value| value["signature"] = json!([SIGNATURE])), "expected a string"),
        (with(&|value| value["chain"] = json!(1)), "expected a string"),
        (with(&|value| value["text"] = json!({"deep": {}})), "expected a string"),
        (good.replacen('{', r#"{"text":"Some data","#, 1).into_bytes(), "duplicate field `text`"),
        (good.replacen('{', r#"{"address":"0x","#, 1).into_bytes(), "duplicate field `address`"),
        (good.replace("Some data", r"\ud800").into_bytes(), "the line cannot be read"),
        (raw_nul, "control character"),
        ([good.as_bytes(), b"\0"].concat(), "trailing characters"),
        (b"\0\0\0".to_vec(), "the line is not a JSON object"),
        ([b"\xef\xbb\xbf", good.as_bytes()].concat(), "the line is not a JSON object"),
        ([&good.as_bytes()[..30], b"\xff", &good.as_bytes()[30..]].concat(), "not valid UTF-8"),
        (b"\xff\xfe{\0}\0".to_vec(), "not valid UTF-8"),
        (deep, "the line cannot be read"),
        (with(&|value| value["signature"] = json!("1".repeat(900_000))), "it is longer than 16 KiB"),
        (with(&|value| value["address"] = json!("::::")), "this build does not recognize the address"),
        (
            with(&|value| value["chain"] = json!("")),
            "the address does not belong to the chain that was named",
        ),
        (with(&|value| value["text"] = json!("a\u{0}b")), "another text"),
        (with(&|value| value["text"] = json!("Some data\n")), "line break"),
    ];
    let lines: Vec<&[u8]> = odd.iter().map(|(line, _)| line.as_slice()).chain([good.as_bytes()]).collect();
    let answers = answers(&lines);
    for ((line, expected), (valid, _, reason)) in odd.iter().zip(&answers) {
        let shown = String::from_utf8_lossy(&line[..line.len().min(200)]);
        assert!(!valid && reason.contains(expected), "{shown}: {reason}");
    }
    assert!(answers.last().unwrap().0, "the next line is checked as if they were not there");
}

#[test]
fn fields_that_nobody_asked_for_and_a_chain_of_null_are_no_obstacle() {
    let good = good_line();
    let ignored =
        [r#"{"id":7,"#, r#"{"chain":null,"#, r#"{"chain":"eip155:5","#, r#"{"x":{"text":[1,{}]},"x":2,"#];
    let lines: Vec<String> = ignored.iter().map(|start| good.replacen('{', start, 1)).collect();
    let bytes: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    assert!(answers(&bytes).iter().all(|(valid, ..)| *valid));
}

#[test]
fn a_line_beyond_1_mib_is_skipped_to_its_end_whatever_its_length() {
    let good = good_line();
    let space = |length: usize| format!("{good}{}", " ".repeat(length - good.len()));
    let limit = 1 << 20;
    let lines = [space(limit), space(limit + 1), space(5 * limit), good.clone(), "x".repeat(3 * limit)];
    let bytes: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    let answers = answers(&bytes);
    let too_long = "the line is longer than 1 MiB";
    let reasons: Vec<&str> = answers.iter().map(|(.., reason)| reason.as_str()).collect();
    assert_eq!(reasons, ["signature is valid", too_long, too_long, "signature is valid", too_long]);
}

#[test]
fn a_hundred_thousand_lines_get_a_hundred_thousand_answers() {
    let good = good_line();
    let mut input = format!("{good}\n").repeat(500);
    input.push_str(&"{\"address\":1}\n".repeat(99_000));
    input.push_str(&format!("{good}\n").repeat(500));
    let ended = batch(input.into_bytes());
    let answers: Vec<&str> = ended.out.lines().collect();
    assert_eq!((ended.code, answers.len()), (1, 100_000));
    assert!(answers[..500].iter().chain(&answers[99_500..]).all(|answer| *answer == GOOD));
    assert!(
        answers[500..99_500].iter().all(|answer| answer.starts_with(r#"{"valid":false,"family":"unknown","#))
    );
}

#[test]
fn who_asks_line_by_line_is_answered_line_by_line() {
    let place = Place::new();
    let mut child = place.command(&[&VERIFY[..], &["--batch"]].concat()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..3 {
        writeln!(stdin, "{}", good_line()).unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), GOOD);
    }
    drop(stdin);
    assert!(answers.next().is_none() && child.wait().unwrap().success());
}

#[test]
fn a_reader_that_went_away_ends_the_command_quietly() {
    let place = Place::new();
    let mut child = place.command(&[&VERIFY[..], &["--batch"]].concat()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    // The command may end before it has read everything.
    let _ = stdin.write_all(format!("{}\n", good_line()).repeat(10).as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(141), ""));
}

#[test]
fn a_standard_input_that_cannot_be_read_is_exit_code_2() {
    let place = Place::new();
    let mut command = place.command(&[&VERIFY[..], &["--batch"]].concat());
    let output = command.stdin(fs::File::open(place.path("")).unwrap()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}
