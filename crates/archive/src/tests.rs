//! What is written is read again, and nothing else is.

use std::io::{self, Write};

use countersign_domain::archive::{
    Column, CountedTable, Header, Kind, Row, SecretFingerprint, Summing, Table, TableSum, Value,
};
use countersign_ports::{ArchiveError, ArchiveSink, ArchiveSource};
use proptest::prelude::*;
use time::OffsetDateTime;
use time::macros::datetime;

use super::*;

const IDENTITY: &str = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";

fn table(name: &str, columns: &[(&str, Kind)]) -> Table {
    let columns =
        columns.iter().map(|(name, kind)| Column { name: (*name).to_owned(), kind: *kind }).collect();
    Table { name: name.to_owned(), columns }
}

fn users() -> Table {
    table("users", &[("created_at", Kind::Integer), ("id", Kind::Bytes), ("name", Kind::Text)])
}

fn rows(count: i64) -> Vec<Row> {
    let row = |number: i64| {
        let name =
            if number % 3 == 0 { Value::Null } else { Value::Text(format!("Ä\n\"{number}\" \u{1F511}")) };
        vec![Value::Integer(number - 2), Value::Bytes(number.to_be_bytes().to_vec()), name]
    };
    (0..count).map(row).collect()
}

fn header(tables: &[(Table, Vec<Row>)]) -> Header {
    let counted = |(table, rows): &(Table, Vec<Row>)| CountedTable {
        table: table.clone(),
        rows: u64::try_from(rows.len()).unwrap(),
    };
    Header {
        version: "1.0.0".to_owned(),
        schema: "20261202000001".to_owned(),
        issuer: "https://id.example.com".to_owned(),
        made_at: datetime!(2026-12-02 03:04:05.678901 UTC),
        fingerprint: Some(SecretFingerprint::new([7; 16])),
        tables: tables.iter().map(counted).collect(),
    }
}

fn sum_of(table: &Table, rows: &[Row]) -> TableSum {
    let mut summing = Summing::default();
    rows.iter().for_each(|row| summing.add(row));
    summing.of_table(&table.name)
}

fn written(tables: &[(Table, Vec<Row>)], recipients: &[Recipient]) -> Vec<u8> {
    let mut writer = BackupWriter::begin(Vec::new(), &header(tables), recipients).unwrap();
    for (table, rows) in tables {
        writer.begin_table(table).unwrap();
        rows.iter().for_each(|row| writer.row(row.clone()).unwrap());
        writer.end_table(&sum_of(table, rows)).unwrap();
    }
    writer.finish().unwrap()
}

type Tables = Vec<(Table, Vec<Row>)>;

/// Everything that is in a file, or why it is refused.
fn read(file: &[u8], identities: &Identities) -> Result<(Header, Tables), String> {
    let reading = || -> Result<_, ArchiveError> {
        let mut reader = BackupReader::open(file, identities)?;
        let header = reader.header().clone();
        let mut tables = Vec::new();
        for CountedTable { table, .. } in reader.tables()? {
            let mut rows = Vec::new();
            let told = reader.rows(&table, &mut |row| {
                rows.push(row);
                Ok(())
            })?;
            if told != Some(sum_of(&table, &rows)) {
                return Err(ArchiveError::Unsound("the sum is another".to_owned()));
            }
            tables.push((table, rows));
        }
        reader.close()?;
        Ok((header, tables))
    };
    reading().map_err(|error| error.to_string())
}

fn small() -> Vec<(Table, Vec<Row>)> {
    vec![(users(), rows(20)), (table("wallets", &[("address", Kind::Text)]), Vec::new())]
}

#[test]
fn what_was_written_is_read_again() {
    let tables = small();
    assert_eq!(read(&written(&tables, &[]), &Identities::default()), Ok((header(&tables), tables)));
}

#[test]
fn the_first_line_names_the_format_and_zstd_shows_the_rest() {
    let file = written(&small(), &[]);
    let rest = file.strip_prefix(b"countersign backup, format 1\n").unwrap();
    let text = String::from_utf8(zstd::decode_all(rest).unwrap()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("{\"format\":1,\"version\":\"1.0.0\","), "{}", lines[0]);
    assert_eq!(lines[1], "{\"begin\":{\"table\":\"users\"}}");
    assert_eq!(lines[3], "[-1,\"0000000000000001\",\"Ä\\n\\\"1\\\" \u{1F511}\"]");
    assert!(lines.last().unwrap().starts_with("{\"complete\":{\"rows\":20,\"sha256\":\""));
}

#[test]
fn a_file_cut_off_at_any_place_is_refused() {
    let file = written(&small(), &[]);
    for end in 0..file.len() {
        let refused = read(&file[..end], &Identities::default()).unwrap_err();
        assert!(
            refused.contains("not complete") || end == 0 || refused.contains("damaged"),
            "{end}: {refused}"
        );
    }
}

#[test]
fn a_file_with_any_byte_changed_is_refused() {
    let file = written(&small(), &[]);
    for place in 0..file.len() {
        for bit in [0x01, 0x80] {
            let mut damaged = file.clone();
            damaged[place] ^= bit;
            // What a frame of zstd declares about itself has bits without a meaning; then everything is as it was.
            match read(&damaged, &Identities::default()) {
                Err(_) => {}
                Ok(read) => assert_eq!(read, (header(&small()), small()), "{place}"),
            }
        }
    }
}

#[test]
fn something_after_the_end_is_refused() {
    let mut file = written(&small(), &[]);
    file.extend(zstd::encode_all(&b"[1]\n"[..], 3).unwrap());
    assert!(read(&file, &Identities::default()).unwrap_err().contains("something follows its end"));
}

#[test]
fn other_files_and_newer_formats_are_named() {
    let refused = |file: &[u8]| read(file, &Identities::default()).unwrap_err();
    for foreign in
        [&b"SQLite format 3\0"[..], b"PGDMP\x01", b"hello\n", &[0xff; 200], b"countersign backup\n"]
    {
        assert_eq!(refused(foreign), "it is not a backup of Countersign");
    }
    assert_eq!(refused(b""), "it is not a backup of Countersign");
    assert_eq!(
        refused(b"countersign backup, format 2\n"),
        "the backup has format 2, and this release reads format 1; restore it with a newer release"
    );
    assert!(refused(b"countersign backup, format one\n").contains("names no format"));
}

#[test]
fn made_up_content_under_a_good_checksum_is_refused() {
    let made_up = |lines: &str| {
        let mut file = b"countersign backup, format 1\n".to_vec();
        file.extend(zstd::encode_all(lines.as_bytes(), 3).unwrap());
        read(&file, &Identities::default()).unwrap_err()
    };
    let head = "{\"format\":1,\"version\":\"1\",\"schema\":\"1\",\"issuer\":\"x\",\"made_at\":\"2026-12-02T00:00:00Z\",\
        \"secret_fingerprint\":null,\"tables\":[{\"name\":\"users\",\"rows\":1,\"columns\":[{\"name\":\"id\",\"kind\":\"bytes\"}]}]}\n";
    for (lines, expected) in [
        ("", "not complete"),
        ("{}\n", "header cannot be read"),
        (&*format!("{head}{{\"begin\":{{\"table\":\"clients\"}}}}\n"), "does not follow"),
        (&*format!("{head}{{\"begin\":{{\"table\":\"users\"}}}}\n[1]\n"), "impossible id"),
        (&*format!("{head}{{\"begin\":{{\"table\":\"users\"}}}}\n[\"0g\"]\n"), "not hexadecimal"),
        (&*format!("{head}{{\"begin\":{{\"table\":\"users\"}}}}\n[\"00\",1]\n"), "too few or too many"),
        (&*format!("{head}{{\"begin\":{{\"table\":\"users\"}}}}\n[1.5]\n"), "cannot be read"),
        (
            &*format!(
                "{head}{{\"begin\":{{\"table\":\"users\"}}}}\n{{\"complete\":{{\"rows\":0,\"sha256\":\"\"}}}}\n"
            ),
            "does not end",
        ),
    ] {
        let refused = made_up(lines);
        assert!(refused.contains(expected), "{lines}: {refused}");
    }
}

#[test]
fn a_line_longer_than_memory_may_hold_is_refused() {
    let mut out = b"countersign backup, format 1\n".to_vec();
    let mut bomb = zstd::stream::write::Encoder::new(&mut out, 3).unwrap();
    io::copy(&mut io::Read::take(io::repeat(b'['), (64 << 20) + 1), &mut bomb).unwrap();
    bomb.finish().unwrap().flush().unwrap();
    assert!(out.len() < 100_000);
    assert!(read(&out, &Identities::default()).unwrap_err().contains("a line is too long"));
}

#[test]
fn an_encrypted_backup_opens_with_each_identity_it_is_for_and_with_no_other() {
    let (ours, theirs) = (age::x25519::Identity::generate(), age::x25519::Identity::generate());
    let recipients: Vec<Recipient> =
        [&ours, &theirs].map(|identity| identity.to_public().to_string().parse().unwrap()).to_vec();
    let tables = small();
    let file = written(&tables, &recipients);
    assert!(file.starts_with(b"age-encryption.org/v1\n"));
    for identity in [&ours, &theirs] {
        use age::secrecy::ExposeSecret;
        let text = format!("# created: today\n{}\n", identity.to_string().expose_secret());
        let identities = Identities::parse(&text).unwrap();
        assert_eq!(read(&file, &identities), Ok((header(&tables), tables.clone())));
        for end in (0..file.len()).step_by(7) {
            assert!(read(&file[..end], &identities).is_err(), "{end}");
        }
    }
    let without = read(&file, &Identities::default()).unwrap_err();
    assert!(without.contains("--identity"), "{without}");
    let stranger = Identities::parse(IDENTITY).unwrap();
    assert!(read(&file, &stranger).unwrap_err().contains("for others"));
}

#[test]
fn what_is_no_recipient_or_no_identity_is_refused_without_being_repeated() {
    assert!("age1qqqq".parse::<Recipient>().is_err());
    for text in ["", "# nothing", "AGE-SECRET-KEY-1HUNTER2"] {
        let refused = Identities::parse(text).unwrap_err().to_string();
        assert!(!refused.contains("HUNTER2"), "{refused}");
    }
    assert_eq!(format!("{:?}", Identities::parse(IDENTITY).unwrap()), "Identities(..)");
}

#[test]
fn times_before_1970_and_to_the_microsecond_are_kept() {
    let made_at = OffsetDateTime::UNIX_EPOCH - time::Duration::microseconds(1);
    let header = Header { made_at, ..header(&[]) };
    let file = BackupWriter::begin(Vec::new(), &header, &[]).unwrap().finish().unwrap();
    assert_eq!(read(&file, &Identities::default()).unwrap().0.made_at, made_at);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_row_is_read_as_it_was_written(
        number in any::<i64>(), bytes in any::<Vec<u8>>(), text in any::<String>(),
    ) {
        let row = vec![Value::Integer(number), Value::Bytes(bytes), Value::Text(text)];
        let tables = vec![(users(), vec![row])];
        prop_assert_eq!(read(&written(&tables, &[]), &Identities::default()), Ok((header(&tables), tables)));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in any::<Vec<u8>>()) {
        let mut file = b"countersign backup, format 1\n".to_vec();
        file.extend(zstd::encode_all(&bytes[..], 3).unwrap());
        prop_assert!(read(&file, &Identities::default()).is_err());
        prop_assert!(read(&bytes, &Identities::default()).is_err());
    }
}
