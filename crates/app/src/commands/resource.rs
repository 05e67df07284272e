//! `countersign resource …`: the operator declares APIs with scopes of their own.

use std::collections::BTreeMap;
use std::io::Write;

use countersign_domain::act::{Act, UsedBy};
use countersign_domain::group::GroupName;
use countersign_domain::resource::{Catalog, OpenTo, Resource, ResourceName, ResourceScope, ScopeTitle};
use countersign_domain::scope::ScopeName;
use countersign_http_actix::page_languages;
use countersign_operators::operate::{Effect, Operating};
use countersign_usecases::clients::declare_resource::list_resources;

use crate::cli::{DeclaredFlags, Output, ResourceCommand};
use crate::commands::make::{effect_of, make, no_resource, suggestion};
use crate::commands::output::resource_output as output;
use crate::config::Config;
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::output::terminal::note;
use crate::wiring::Wiring;

/// Runs the command on the database of the settings.
pub(crate) async fn resource(
    command: ResourceCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened, out).await).await
}

async fn carry_out(
    command: ResourceCommand,
    opened: &Opened<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let management = opened.management();
    let catalog = list_resources(management).await.map_err(|error| store(&error))?;
    match command {
        ResourceCommand::List { output } => {
            output::list(management.policy.resources.of_settings(), catalog.resources(), output.output, out)?;
        }
        ResourceCommand::Create { resource: flags, output } => {
            let now = management.clock.now();
            let mut resource = Resource {
                uri: flags.uri.clone(),
                name: None,
                open_to: OpenTo::Everyone,
                scopes: Vec::new(),
                created_at: now.replace_nanosecond(0).unwrap_or(now),
            };
            apply(*flags, &mut resource)?;
            let effect = make(opened, Act::CreateResource { resource: resource.into() }).await?;
            show_effect(&effect, output.output, out)?;
        }
        ResourceCommand::Update { resource: flags, remove_scope, force, output } => {
            let mut resource = find(&catalog, &flags.uri)?.clone();
            for name in &remove_scope {
                let place = place_of(&resource, name)?;
                resource.scopes.remove(place);
            }
            apply(*flags, &mut resource)?;
            let operating = Operating::new(management).insisting(force);
            let act = Act::UpdateResource { resource: resource.into(), used_by: UsedBy::default() };
            show_effect(&effect_of(operating, act).await?, output.output, out)?;
        }
        ResourceCommand::Delete { uri, force, output } => {
            find(&catalog, &uri)?;
            let operating = Operating::new(management).insisting(force);
            let act = Act::DeleteResource { uri, used_by: UsedBy::default() };
            show_effect(&effect_of(operating, act).await?, output.output, out)?;
        }
    }
    Ok(())
}

/// Shows what an act on a resource did.
fn show_effect(effect: &Effect, out_as: Output, out: &mut dyn Write) -> Result<(), Failure> {
    if let Effect::ResourceCreated(resource) = effect {
        output::resource(resource, out_as, out)?;
    }
    if let Effect::ResourceChanged(changed) = effect {
        if effect.is_nothing() {
            note("nothing changed")?;
        }
        output::resource(&changed.now, out_as, out)?;
    }
    if let Effect::ResourceDeleted(uri) = effect {
        output::deleted(uri, out_as, out)?;
    }
    Ok(())
}

/// Changes a resource as the flags say.
fn apply(flags: DeclaredFlags, resource: &mut Resource) -> Result<(), Failure> {
    let DeclaredFlags { uri: _, name, scope, title, needs, open_to } = flags;
    if let Some(name) = name {
        let name = (!name.is_empty()).then(|| ResourceName::parse(&name)).transpose();
        resource.name = name.map_err(|rejected| Failure::Usage(format!("--name: the name {rejected}")))?;
    }
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
    catalog.resource(uri).ok_or_else(|| no_resource(catalog, uri))
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;

    fn flags(scope: &[&str], title: &[&str], needs: &[&str]) -> DeclaredFlags {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let uri = "https://api.example".to_owned();
        let (scope, title, needs) = (texts(scope), texts(title), texts(needs));
        DeclaredFlags { uri, name: None, scope, title, needs, open_to: None }
    }

    fn nothing() -> Resource {
        let uri = "https://api.example".to_owned();
        let created_at = OffsetDateTime::UNIX_EPOCH;
        Resource { uri, name: None, open_to: OpenTo::Everyone, scopes: Vec::new(), created_at }
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
    fn a_resource_has_a_name_until_an_empty_one_takes_it_away() {
        let mut resource = nothing();
        let named = |name: &str| DeclaredFlags { name: Some(name.to_owned()), ..flags(&[], &[], &[]) };
        apply(named(" Photo Store "), &mut resource).unwrap();
        apply(flags(&["a"], &[], &[]), &mut resource).unwrap();
        assert_eq!(resource.name.as_ref().map(ResourceName::as_str), Some("Photo Store"));
        let refused = apply(named("Photo\u{202e}Store"), &mut resource).unwrap_err().to_string();
        assert!(refused.contains("--name: the name must not hold"), "{refused}");
        apply(named(""), &mut resource).unwrap();
        assert_eq!(resource.name, None);
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
