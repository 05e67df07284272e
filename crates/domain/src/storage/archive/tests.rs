//! Sums, and which backup fits.

use super::*;

fn sum(rows: &[Row]) -> TableSum {
    let mut summing = Summing::default();
    rows.iter().for_each(|row| summing.add(row));
    summing.of_table("users")
}

#[test]
fn different_rows_have_different_sums() {
    let text = |text: &str| Value::Text(text.to_owned());
    let tables: [&[Row]; 9] = [
        &[],
        &[vec![]],
        &[vec![text("ab"), text("c")]],
        &[vec![text("a"), text("bc")]],
        &[vec![text("ab")], vec![text("c")]],
        &[vec![Value::Null]],
        &[vec![Value::Integer(0)]],
        &[vec![text("")]],
        &[vec![Value::Bytes(Vec::new())]],
    ];
    let hashes: Vec<_> = tables.iter().map(|rows| sum(rows).hash).collect();
    for (index, hash) in hashes.iter().enumerate() {
        assert!(!hashes[..index].contains(hash), "{index}");
    }
    assert_eq!(sum(tables[4]).rows, 2);
}

#[test]
fn a_row_fits_if_every_value_has_the_kind_of_its_column() {
    let column = |name: &str, kind| Column { name: name.to_owned(), kind };
    let table = Table {
        name: "users".to_owned(),
        columns: vec![column("created_at", Kind::Integer), column("id", Kind::Bytes)],
    };
    assert!(table.takes(&[Value::Integer(1), Value::Bytes(vec![1])]));
    assert!(table.takes(&[Value::Null, Value::Null]));
    assert!(!table.takes(&[Value::Integer(1)]));
    assert!(!table.takes(&[Value::Bytes(vec![1]), Value::Integer(1)]));
}

#[test]
fn a_backup_of_a_newer_schema_or_of_another_secret_is_unfit() {
    let (ours, theirs) = (SecretFingerprint::new([1; 16]), SecretFingerprint::new([2; 16]));
    let header = |schema: &str, fingerprint| Header {
        version: "9.0.0".to_owned(),
        schema: schema.to_owned(),
        issuer: "https://id.example.com".to_owned(),
        made_at: OffsetDateTime::UNIX_EPOCH,
        fingerprint,
        tables: Vec::new(),
    };
    let judged = |schema, fingerprint| header(schema, fingerprint).judge("20261202000001", ours);
    assert_eq!(judged("20261202000001", Some(ours)), Ok(()));
    assert_eq!(judged("20261201000003", None), Ok(()), "older, and without a fingerprint");
    assert!(matches!(judged("20261202000002", Some(ours)), Err(Unfit::Newer { .. })));
    assert_eq!(judged("20261202000001", Some(theirs)), Err(Unfit::OtherSecret { theirs, ours }));
}

#[test]
fn a_table_comes_after_those_it_refers_to_and_a_circle_is_noticed() {
    let table = |name: &str| Table { name: name.to_owned(), columns: Vec::new() };
    let tables = ["emails", "group_users", "user_groups", "users", "wallets"].map(table).to_vec();
    let refers = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let mut references = vec![
        refers("group_users", "users"),
        refers("group_users", "user_groups"),
        refers("wallets", "users"),
        refers("users", "users"),
        refers("wallets", "elsewhere"),
    ];
    let sorted = in_order_of_references(tables.clone(), &references).unwrap();
    let names: Vec<_> = sorted.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["emails", "user_groups", "users", "group_users", "wallets"]);
    references.push(refers("user_groups", "group_users"));
    assert_eq!(in_order_of_references(tables, &references), None);
}
