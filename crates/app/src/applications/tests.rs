use std::fs;

use countersign_domain::client::ClientOrigin;
use countersign_domain::client_field::ClientField;
use countersign_domain::registration;
use countersign_domain::resource::Catalog;
use countersign_usecases::clients::registration::requested as read;

use super::*;

const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/clients");

fn filled(name: &str, issuer: &str) -> Configuration {
    let (issuer, app) =
        (PublicUrl::parse(issuer).unwrap(), PublicUrl::parse("https://app.example/sub").unwrap());
    let values = Values {
        issuer: &issuer,
        app: &app,
        client_id: "the-id-$APP",
        client_secret: "the-secret",
        passphrase: "the-passphrase",
    };
    find(name).unwrap().configuration(&values).unwrap()
}

#[test]
fn every_application_has_settings_that_name_all_that_it_needs() {
    assert_eq!(names().count(), CONFIGURATIONS.len());
    for name in names() {
        let Configuration { text, .. } = filled(&name, "https://auth.example.com");
        for value in ["https://auth.example.com", "the-id-$APP", "the-secret"] {
            assert!(text.contains(value), "{name}: {value} in {text}");
        }
        let text = text.replace("the-id-$APP", "");
        assert!(!text.contains('$') && !text.contains("http:"), "{name}: {text}");
    }
}

/// Each application has a section on one of the pages, and the section shows the command.
#[test]
fn every_application_is_on_a_page_with_its_command() {
    let pages = fs::read_dir(PAGES).unwrap().map(|page| fs::read_to_string(page.unwrap().path()).unwrap());
    let pages: String = pages.collect();
    for name in names() {
        let title = find(&name).unwrap().title;
        let section = pages.split_once(&format!("\n### {title}\n")).unwrap_or_else(|| panic!("{title}")).1;
        let section = section.split("\n### ").next().unwrap();
        assert!(
            section.contains(&format!("countersign client create --name \"My app\" --for {name} --url ")),
            "{section}"
        );
    }
}

#[test]
fn only_files_of_environment_variables_are_printed_as_such() {
    let is_environment = |name: &str| filled(name, "https://auth.example.com").is_environment();
    let found: Vec<_> = names().filter(|name| is_environment(name)).collect();
    assert_eq!(found, ["authjs", "directus", "express-openid-connect", "mozilla-django-oidc", "next-auth"]);
}

#[test]
fn settings_for_an_http_issuer_are_not_printed_for_an_https_one() {
    assert!(filled("synapse", "http://localhost:8080").text.contains("skip_verification: true"));
    assert!(!filled("synapse", "https://auth.example.com").text.contains("skip_verification"));
}

#[test]
fn a_registration_is_at_the_address_of_the_application() {
    let app = PublicUrl::parse("https://matrix.example").unwrap();
    let registration = find("synapse").unwrap().registration(&app);
    let requested = read(&registration).unwrap();
    let callback = "https://matrix.example/_synapse/client/oidc/callback".to_owned();
    assert_eq!(requested.redirect_uris, Some(vec![callback]));
    let back_channel = requested.backchannel_logout_uri.as_deref();
    assert_eq!(back_channel, Some("https://matrix.example/_synapse/client/oidc/backchannel_logout"));
}

/// A field that [`read`] does not read would be lost.
#[test]
fn every_registration_is_one_that_the_rules_accept() {
    let app = PublicUrl::parse("https://app.example").unwrap();
    for name in names() {
        let mut registration = find(&name).unwrap().registration(&app);
        assert!(registration.keys().all(|field| ClientField::named(field).is_some()), "{name}");
        registration.insert("client_name".to_owned(), Value::String(name.clone()));
        registration::judge(
            read(&registration).unwrap(),
            registration::Rules::of(ClientOrigin::Operator, &Catalog::NONE),
        )
        .unwrap();
    }
}
