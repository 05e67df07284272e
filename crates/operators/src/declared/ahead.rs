//! What things in files refer to: what will be there after the run, and what was declared before it.

use std::collections::BTreeSet;

use countersign_domain::declaration::DeclaredThing;
use countersign_domain::group::GroupName;
use countersign_domain::resource::ResourceRules;
use time::OffsetDateTime;

use super::plan::DeclaredBefore;
use super::read_state::State;

/// What will be there after the run, as far as things refer to each other.
pub(super) struct Ahead {
    /// The names of all groups.
    pub(super) groups: BTreeSet<GroupName>,
    /// The rules for resources.
    pub(super) rules: ResourceRules,
}

/// Who declared a thing before, if the declaration is of this very thing.
pub(super) fn declared_before(
    state: &State,
    thing: &DeclaredThing,
    created_at: OffsetDateTime,
    here: &str,
) -> DeclaredBefore {
    let declaration = state.declarations.get(thing);
    match declaration.filter(|declaration| declaration.created_at == created_at) {
        Some(declaration) if declaration.source == here => DeclaredBefore::Here,
        Some(declaration) => DeclaredBefore::Elsewhere(declaration.source.clone()),
        None => DeclaredBefore::Nowhere,
    }
}

/// There is no such group, and there will be none.
pub(super) fn no_group(name: &GroupName, state: &State) -> String {
    if state.groups.contains_key(name) {
        format!("the group {name} is deleted by this run: declare it, or leave it out here")
    } else {
        format!("there is no group {name}: declare it, as in [[group]] name = \"{name}\"")
    }
}
