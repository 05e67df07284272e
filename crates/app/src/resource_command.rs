//! `countersign resource …`: the operator declares APIs with scopes of their own.

use std::collections::BTreeMap;
use std::io::Write;

use countersign_domain::group::GroupName;
use countersign_domain::resource::{Catalog, OpenTo, Resource, ResourceScope, ScopeTitle};
use countersign_domain::scope::ScopeName;
use countersign_http_actix::page_languages;
use countersign_usecases::Management;
use countersign_usecases::clients::declare_resource::{
    DeclareResourceError, create_resource, delete_resource, list_resources, update_resource,
};

use crate::change_log::{self, ResourceChanged};
use crate::cli::{DeclaredFlags, ResourceCommand};
use crate::client_command::store;
use crate::config::Config;
use crate::failure::Failure;
use crate::opened::Opened;
use crate::resource_output as output;
use crate::wiring::Wiring;

/// Runs the command on the database of the settings.
pub(crate) async fn resource(
    command: ResourceCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened.management(), out).await).await
}

async fn carry_out(
    command: ResourceCommand,
    management: Management<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let catalog = list_resources(management).await.map_err(|error| store(&error))?;
    match command {
        ResourceCommand::List { output } => {
            output::list(management.policy.resources.of_settings(), catalog.resources(), output.output, out)?;
        }
        ResourceCommand::Create { resource: flags, output } => {
            let now = management.clock.now();
            let mut resource = Resource {
                uri: flags.uri.clone(),
                open_to: OpenTo::Everyone,
                scopes: Vec::new(),
                created_at: now.replace_nanosecond(0).unwrap_or(now),
            };
            apply(*flags, &mut resource)?;
            let created =
                create_resource(management, resource).await.map_err(|error| refused(error, &catalog))?;
            change_log::resource(&created.uri, ResourceChanged::Declared);
            output::resource(&created, output.output, out)?;
        }
        ResourceCommand::Update { resource: flags, remove_scope, force, output } => {
            let mut resource = find(&catalog, &flags.uri)?.clone();
            for name in &remove_scope {
                let place = place_of(&resource, name)?;
                resource.scopes.remove(place);
            }
            apply(*flags, &mut resource)?;
            let updated = update_resource(management, resource, force).await;
            let updated = updated.map_err(|error| refused(error, &catalog))?;
            change_log::resource(&updated.uri, ResourceChanged::Changed);
            output::resource(&updated, output.output, out)?;
        }
        ResourceCommand::Delete { uri, force, output } => {
            find(&catalog, &uri)?;
            delete_resource(management, &uri, force).await.map_err(|error| refused(error, &catalog))?;
            change_log::resource(&uri, ResourceChanged::Deleted);
            output::deleted(&uri, output.output, out)?;
        }
    }
    Ok(())
}

/// Changes a resource as the flags say.
fn apply(flags: DeclaredFlags, resource: &mut Resource) -> Result<(), Failure> {
    let DeclaredFlags { uri: _, scope, title, needs, open_to } = flags;
    if let Some(open_to) = open_to {
        resource.open_to = open_to.into();
    }
    let mut named: Vec<&str> = Vec::new();
    for given in &scope {
        let (name, title) =
            given.split_once('=').map_or((given.as_str(), None), |(name, title)| (name, Some(title)));
        if named.contains(&name) {
            return Err(Failure::Usage(format!("--scope {name}: it is named twice")));
        }
        named.push(name);
        let title = title.map(|title| title_of("--scope", name, title)).transpose()?;
        match resource.scopes.iter_mut().find(|scope| scope.name.as_str() == name) {
            Some(there) => there.title = title.unwrap_or_else(|| there.title.clone()),
            None => {
                let name = ScopeName::parse(name)
                    .map_err(|rejected| Failure::Usage(format!("--scope {name:?}: a name {rejected}")))?;
                let title = title.unwrap_or_else(|| ScopeTitle::of_name(&name));
                resource.scopes.push(ResourceScope { name, title, titles: BTreeMap::new(), needs: None });
            }
        }
    }
    for given in &title {
        let parts =
            given.split_once(':').and_then(|(language, rest)| Some((language, rest.split_once('=')?)));
        let Some((language, (name, text))) = parts else {
            return Err(Failure::Usage(format!("--title {given:?}: write LANG:SCOPE=TITLE")));
        };
        if !page_languages().any(|known| known == language) {
            let known = page_languages().collect::<Vec<_>>().join(", ");
            return Err(Failure::Usage(format!("--title {given:?}: the languages of the pages are {known}")));
        }
        let scope = scope_mut(resource, name)?;
        if text.is_empty() {
            scope.titles.remove(language);
        } else {
            scope.titles.insert(language.to_owned(), title_of("--title", name, text)?);
        }
    }
    for given in &needs {
        let (name, group) = match (given.split_once('='), named.as_slice()) {
            (Some(pair), _) => pair,
            (None, [only]) => (*only, given.as_str()),
            (None, _) => {
                let text =
                    format!("--needs {given:?}: write SCOPE=GROUP, to say which scope needs the group");
                return Err(Failure::Usage(text));
            }
        };
        let scope = scope_mut(resource, name)?;
        let group = (!group.is_empty()).then(|| GroupName::parse(group)).transpose();
        scope.needs = group.map_err(|rejected| Failure::Usage(format!("--needs: {rejected}")))?;
    }
    resource.scopes.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(())
}

fn title_of(flag: &str, name: &str, text: &str) -> Result<ScopeTitle, Failure> {
    ScopeTitle::parse(text).map_err(|rejected| Failure::Usage(format!("{flag} {name}: the title {rejected}")))
}

fn scope_mut<'a>(resource: &'a mut Resource, name: &str) -> Result<&'a mut ResourceScope, Failure> {
    let place = place_of(resource, name)?;
    resource.scopes.get_mut(place).ok_or_else(|| no_scope(name, ""))
}

fn place_of(resource: &Resource, name: &str) -> Result<usize, Failure> {
    let names = || resource.scopes.iter().map(|scope| scope.name.as_str());
    names().position(|known| known == name).ok_or_else(|| no_scope(name, &suggestion(name, names())))
}

fn no_scope(name: &str, suggestion: &str) -> Failure {
    Failure::Failed(format!("the resource has no scope {name}{suggestion}"))
}

fn find<'a>(catalog: &'a Catalog, uri: &str) -> Result<&'a Resource, Failure> {
    let uris = catalog.resources().iter().map(|resource| resource.uri.as_str());
    catalog.resource(uri).ok_or_else(|| {
        let suggestion = suggestion(uri, uris);
        Failure::Failed(format!("no resource {uri} is declared at the terminal{suggestion}"))
    })
}

/// The nearest of the names that are there, as a question.
fn suggestion<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> String {
    let nearest = names.min_by_key(|name| strsim::damerau_levenshtein(given, name));
    nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

/// Explains why a resource was not declared, changed or deleted.
fn refused(error: DeclareResourceError, catalog: &Catalog) -> Failure {
    match error {
        DeclareResourceError::Unfit { .. } | DeclareResourceError::TooManyScopes => {
            Failure::Usage(error.to_string())
        }
        DeclareResourceError::Unknown(uri) => find(catalog, &uri)
            .err()
            .unwrap_or_else(|| Failure::Failed(format!("the resource {uri} was deleted"))),
        DeclareResourceError::InSettings(_)
        | DeclareResourceError::Declared(_)
        | DeclareResourceError::ScopeTaken { .. }
        | DeclareResourceError::InUse(_) => Failure::Failed(error.to_string()),
        DeclareResourceError::Store(error) => store(&error),
    }
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;

    fn flags(scope: &[&str], title: &[&str], needs: &[&str]) -> DeclaredFlags {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let uri = "https://api.example".to_owned();
        DeclaredFlags { uri, scope: texts(scope), title: texts(title), needs: texts(needs), open_to: None }
    }

    fn nothing() -> Resource {
        let uri = "https://api.example".to_owned();
        let created_at = OffsetDateTime::UNIX_EPOCH;
        Resource { uri, open_to: OpenTo::Everyone, scopes: Vec::new(), created_at }
    }

    fn applied(scope: &[&str], title: &[&str], needs: &[&str]) -> Result<Resource, String> {
        let mut resource = nothing();
        apply(flags(scope, title, needs), &mut resource).map_err(|failure| failure.to_string())?;
        Ok(resource)
    }

    #[test]
    fn scopes_have_titles_in_the_languages_that_are_named() {
        let resource = applied(
            &["b.read=See = all", "a.read"],
            &["de:b.read=Sehen", "pt-BR:b.read=Ver"],
            &["b.read=staff"],
        );
        let resource = resource.unwrap();
        let [a, b] = resource.scopes.as_slice() else { panic!("{resource:?}") };
        assert_eq!((a.name.as_str(), a.title.as_str(), &a.needs), ("a.read", "a.read", &None));
        assert_eq!((b.title_in("en"), b.title_in("de"), b.title_in("pt-BR")), ("See = all", "Sehen", "Ver"));
        assert_eq!(b.needs.as_ref().map(GroupName::as_str), Some("staff"));
    }

    #[test]
    fn one_scope_needs_the_group_that_is_named_after_it() {
        let resource = applied(&["photos.admin"], &[], &["staff"]).unwrap();
        assert_eq!(resource.scopes[0].needs.as_ref().map(GroupName::as_str), Some("staff"));
        let several = applied(&["a", "b"], &[], &["staff"]).unwrap_err();
        assert_eq!(
            several,
            "countersign: --needs \"staff\": write SCOPE=GROUP, to say which scope needs the group\n"
        );
    }

    #[test]
    fn what_is_not_named_stays() {
        let mut resource = applied(&["a=One"], &["de:a=Eins"], &["a=staff"]).unwrap();
        apply(flags(&["a", "b=Two"], &[], &[]), &mut resource).unwrap();
        let a = resource.scope("a").unwrap();
        assert_eq!((a.title_in("en"), a.title_in("de"), a.needs.is_some()), ("One", "Eins", true));
        apply(flags(&[], &["de:a="], &["a="]), &mut resource).unwrap();
        let a = resource.scope("a").unwrap();
        assert_eq!((a.title_in("de"), a.needs.is_some()), ("One", false));
    }

    #[test]
    fn a_mistake_says_what_was_expected() {
        for (scope, title, needs, says) in [
            (&["OpenID=x"][..], &[][..], &[][..], "looks like one"),
            (&["a b"], &[], &[], "takes 1 to 64"),
            (&["a=\u{202e}x"], &[], &[], "the title must not hold"),
            (&["a=one", "a=two"], &[], &[], "named twice"),
            (&["a.read"], &["de:a.raed=x"], &[], "did you mean a.read?"),
            (&["a"], &["xx:a=x"], &[], "the languages of the pages are en, de"),
            (&["a"], &["a=x"], &[], "write LANG:SCOPE=TITLE"),
            (&["a"], &[], &["a=Staff"], "is not a name of a group"),
        ] {
            let error = applied(scope, title, needs).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
