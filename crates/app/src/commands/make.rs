//! Makes the act that a command asks for, or says why it was refused. The command shows what was done.

use countersign_domain::act::Act;
use countersign_domain::group::GroupName;
use countersign_domain::resource::Catalog;
use countersign_operators::operate::{Effect, Operating, operate};
use countersign_operators::people::list_groups::list_groups;
use countersign_ports::KeyRingError;
use countersign_usecases::Management;
use countersign_usecases::act_refused::{ActRefused, Front};
use countersign_usecases::clients::declare_resource::list_resources;

use crate::database::change_log;
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::output::terminal::{nearest, visible};

/// Makes an act for a front that has no keys.
pub(super) async fn make(opened: &Opened<'_>, act: Act) -> Result<Effect, Failure> {
    effect_of(Operating::new(opened.management()), act).await
}

/// Makes an act, and writes into the log what changed.
pub(super) async fn effect_of(operating: Operating<'_>, act: Act) -> Result<Effect, Failure> {
    let management = operating.management;
    match Box::pin(operate(operating, act.clone())).await {
        Ok(effect) => {
            change_log::made(&act, &effect);
            Ok(effect)
        }
        Err(refused) => Err(explained(management, refused).await?),
    }
}

/// Why an act was refused, with a hint where there is one.
pub(super) async fn explained(management: Management<'_>, refused: ActRefused) -> Result<Failure, Failure> {
    let words = refused.words(Front::CommandLine);
    let words = visible(&words).into_owned();
    Ok(match refused {
        ActRefused::Store(error) => store(&error),
        ActRefused::GroupUnknown(name) | ActRefused::NamedGroupUnknown(name) => {
            no_group(management, &name).await?
        }
        ActRefused::ResourceUnknown(uri) => {
            let catalog = list_resources(management).await.map_err(|error| store(&error))?;
            no_resource(&catalog, &uri)
        }
        ActRefused::Keys(KeyRingError::Unusable(cause)) => {
            Failure::because("make or open the signing keys", &*cause)
        }
        ActRefused::NoSecret => Failure::because("give the client a new secret", &refused),
        ActRefused::ClientIdTaken => Failure::because("register the client", &refused),
        ActRefused::Metadata(_)
        | ActRefused::Described(_)
        | ActRefused::MethodChange
        | ActRefused::NotOpened { .. }
        | ActRefused::NotDeclared(_)
        | ActRefused::ResourceUnfit { .. }
        | ActRefused::TooManyScopes
        | ActRefused::InvitationUnfit(_) => Failure::Usage(words),
        ActRefused::NoChange
        | ActRefused::OneAtATime
        | ActRefused::UserUnknown(_)
        | ActRefused::MemberUnknown(_)
        | ActRefused::Reason(_)
        | ActRefused::NotOperator(_)
        | ActRefused::GroupTaken(_)
        | ActRefused::GroupInUse(_)
        | ActRefused::MadeBefore
        | ActRefused::InvitationUnknown(_)
        | ActRefused::InvitationRevoked
        | ActRefused::NamedClientUnknown(_)
        | ActRefused::LeadsNowhere { .. }
        | ActRefused::ClientUnknown(_)
        | ActRefused::InSettings(_)
        | ActRefused::ResourceTaken(_)
        | ActRefused::ScopeTaken { .. }
        | ActRefused::ResourceInUse(_)
        | ActRefused::Keys(_)
        | ActRefused::NoKeys
        | ActRefused::NoScope
        | ActRefused::AdminKeyTaken
        | ActRefused::AdminKeyUnknown(_)
        | ActRefused::AdminKeyRevoked
        | ActRefused::NoSuchProposal
        | ActRefused::TooLong
        | ActRefused::Unwritable => Failure::Failed(words),
    })
}

/// There is no such group. Suggests the one that was probably meant.
pub(super) async fn no_group(management: Management<'_>, name: &GroupName) -> Result<Failure, Failure> {
    let groups = list_groups(management).await.map_err(|error| store(&error))?;
    let names = groups.into_iter().map(|counted| counted.group.name.to_string());
    let hint = match nearest(name.as_str(), names) {
        Some(meant) => format!("; did you mean {meant}?"),
        None => format!(": `countersign group create {name}` creates it"),
    };
    Ok(Failure::Failed(format!("{}{hint}", ActRefused::GroupUnknown(name.clone()))))
}

/// There is no such resource. Suggests the nearest.
pub(super) fn no_resource(catalog: &Catalog, uri: &str) -> Failure {
    let uris = catalog.resources().iter().map(|resource| resource.uri.as_str());
    let hint = suggestion(uri, uris);
    Failure::Failed(format!("{}{hint}", ActRefused::ResourceUnknown(uri.to_owned())))
}

/// The nearest of the names that are there, as a question.
pub(super) fn suggestion<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> String {
    let nearest = names.min_by_key(|name| strsim::damerau_levenshtein(given, name));
    nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}
