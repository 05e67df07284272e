//! What all subjects have, put together.

use serde_json::{Map, Value};

use super::operations::Operation;
use super::{clients, events, groups, invitations, keys, operators, problem, resources, users};

/// All operations, in the order of the document. Those at one path follow each other.
pub(super) fn operations() -> impl Iterator<Item = &'static Operation> {
    let subjects = [
        clients::OPERATIONS,
        clients::access::OPERATIONS,
        resources::OPERATIONS,
        users::OPERATIONS,
        users::wallets::OPERATIONS,
        operators::OPERATIONS,
        groups::OPERATIONS,
        invitations::OPERATIONS,
        events::OPERATIONS,
        keys::OPERATIONS,
    ];
    subjects.into_iter().flatten()
}

/// All schemas of the document: those of the operations, each once, and that of problems.
pub(super) fn schemas() -> Map<String, Value> {
    let mut schemas = Map::new();
    for operation in operations() {
        for schema in operation.takes.iter().chain(&operation.answers) {
            schema.add_to(&mut schemas);
        }
    }
    problem::SCHEMA.add_to(&mut schemas);
    schemas
}
