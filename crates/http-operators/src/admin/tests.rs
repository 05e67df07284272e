//! The document of the admin interface agrees with the operations and with the types.

use std::collections::BTreeSet;

use serde_json::Value;

use super::all;
use super::description::document;

#[test]
fn operations_at_one_path_stand_together_and_each_has_a_name_of_its_own() {
    let mut paths: Vec<_> = all::operations().map(|operation| operation.path).collect();
    paths.dedup();
    let different: BTreeSet<_> = paths.iter().collect();
    assert_eq!(paths.len(), different.len());
    let names: BTreeSet<_> = all::operations().map(|operation| operation.id).collect();
    let places: BTreeSet<_> = all::operations().map(|operation| (operation.method, operation.path)).collect();
    let count = all::operations().count();
    assert_eq!((names.len(), places.len()), (count, count));
}

#[test]
fn reading_needs_the_scope_to_read_and_changing_the_scope_to_write() {
    for operation in all::operations() {
        let right = if operation.method == "GET" { "read" } else { "write" };
        assert_eq!(operation.needs.right.name(), right, "{}", operation.id);
        let has_body = ["POST", "PUT", "PATCH"].contains(&operation.method);
        let is_bare = ["signOutUser", "withdrawKey"].contains(&operation.id);
        assert_eq!(operation.takes.is_some(), has_body && !is_bare, "{}", operation.id);
        assert_eq!(operation.is_repeatable, operation.status == 201, "{}", operation.id);
    }
}

#[test]
fn every_reference_of_the_document_leads_somewhere() {
    fn check(document: &Value, value: &Value, count: &mut usize) {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
            *count += 1;
        }
        match value {
            Value::Object(members) => members.values().for_each(|member| check(document, member, count)),
            Value::Array(items) => items.iter().for_each(|item| check(document, item, count)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let (document, mut count) = (document(), 0);
    check(&document, &document, &mut count);
    assert!(count > 500, "{count}");
}

#[test]
fn every_field_of_the_document_is_described() {
    for (name, schema) in all::schemas() {
        assert!(schema["description"].is_string(), "{name}");
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            assert!(!property["description"].as_str().unwrap_or_default().is_empty(), "{name}.{field}");
        }
    }
}

#[test]
fn the_examples_of_bodies_are_read_and_unknown_fields_are_refused() {
    for operation in all::operations() {
        let Some(schema) = operation.takes else { continue };
        let example = schema.example.unwrap();
        (example.read)((example.make)()).unwrap();
        let mut other = (example.make)();
        other["is_admin"] = Value::Bool(true);
        let refused = (example.read)(other).unwrap_err().to_string();
        assert!(refused.contains("unknown field `is_admin`"), "{}: {refused}", schema.name);
    }
}

#[test]
fn schemas_with_one_name_are_the_same() {
    let document = all::schemas();
    for operation in all::operations() {
        for schema in operation.takes.iter().chain(&operation.answers) {
            assert_eq!(document[schema.name], (schema.make)(), "{}", schema.name);
        }
    }
}
