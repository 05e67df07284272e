//! Every text that the desk's pages say is there, and none is left over.

use std::collections::BTreeSet;

use countersign_domain::act::{Act, ActName, Second};
use countersign_domain::admission::AccessRule;
use countersign_domain::client::ClientOrigin;
use countersign_domain::client_field::ClientField;
use countersign_domain::client_view::FieldValue;
use countersign_domain::desk::pending::FactName;
use countersign_domain::desk::proposal::ProposalState;
use countersign_domain::event::EventKind;
use countersign_domain::group::GroupName;
use countersign_domain::invitation::InvitationState;
use countersign_domain::refusal::RefusedFor;
use countersign_domain::registration::{Rules, judge};
use countersign_domain::resource::{Catalog, OpenTo, Resource, ResourceName};
use countersign_http_actix::page::templates::embedded_templates;
use countersign_operators::people::change_access::change_access;
use countersign_operators::people::groups::create_group;
use countersign_usecases::clients::register_client::register_client;

use super::*;
use crate::desk::asking::ONESELF;
use crate::desk::forms::{Form, Forms, key_of};
use crate::desk::happened::OTHER_TEXTS;
use crate::desk::scope_lines::read_scopes;
use crate::desk::sent::Sent;

fn source(path: &str) -> String {
    let (_, bytes) = embedded_templates().find(|(name, _)| name == path).unwrap();
    String::from_utf8(bytes.into_owned()).unwrap()
}

/// The keys of all texts, and of all groups of texts.
fn keys(tree: &Value, at: &str, texts: &mut BTreeSet<String>, groups: &mut BTreeSet<String>) {
    for (name, value) in tree.as_object().unwrap() {
        let key = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        if value.is_object() {
            groups.insert(key.clone());
            keys(value, &key, texts, groups);
        } else {
            texts.insert(key);
        }
    }
}

fn forms() -> Vec<Form> {
    let make = |name: &ActName| {
        Forms { applications: &OneApplication, policy: None, wanted: None }.form(*name, &Sent::default())
    };
    ActName::ALL.iter().map(make).collect()
}

#[test]
fn every_text_of_the_desk_is_said_and_whatever_is_said_has_a_text() {
    let tree: Value = serde_json::from_str(&source("locales/en/desk.json")).unwrap();
    let (mut texts, mut groups) = (BTreeSet::new(), BTreeSet::new());
    keys(&tree, "", &mut texts, &mut groups);
    let mut said: BTreeSet<String> = BTreeSet::new();
    let mut chosen: BTreeSet<String> = BTreeSet::new();
    let pages = embedded_templates().filter(|(name, _)| name.ends_with(".html"));
    for (name, bytes) in pages {
        let page = String::from_utf8(bytes.into_owned()).unwrap();
        for after in page.split("t.desk.").skip(1) {
            let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap();
            let (key, rest) = after.split_at(end);
            if rest.starts_with('[') {
                assert!(groups.contains(key), "{name}: {key}");
                chosen.insert(key.to_owned());
            } else if groups.contains(key) {
                assert!(["script", "actors"].contains(&key), "{name}: {key}");
            } else {
                assert!(texts.contains(key), "{name}: {key}");
                said.insert(key.to_owned());
            }
        }
    }
    let of_code = [
        (
            "fields",
            forms()
                .iter()
                .flat_map(Form::fields)
                .map(|field| field.input.name.to_owned())
                .chain([ONESELF.name.to_owned()])
                .filter(|name| !HIDDEN.contains(&name.as_str()))
                .collect::<BTreeSet<_>>(),
        ),
        (
            "hints",
            forms()
                .iter()
                .flat_map(Form::fields)
                .filter(|field| field.input.hint)
                .map(|field| field.input.name.to_owned())
                .chain([ONESELF.name.to_owned()])
                .collect(),
        ),
        (
            "options",
            forms()
                .iter()
                .flat_map(Form::fields)
                .flat_map(|field| field.input.keyed)
                .map(|(_, key)| (*key).to_owned())
                .collect(),
        ),
        ("changes", ActName::ALL.iter().map(|name| key_of(*name)).collect()),
        ("facts", FactName::ALL.iter().map(|name| name.name().replace('-', "_")).collect()),
        (
            "happened",
            EventKind::ALL
                .iter()
                .map(|kind| kind.name())
                .chain(OTHER_TEXTS.map(|(_, _, key)| key))
                .map(str::to_owned)
                .collect(),
        ),
        ("invitation_states", InvitationState::ALL.map(|state| state.name().to_owned()).into()),
        ("actors", ["server", "deleted", "cli", "key", "file"].map(str::to_owned).into()),
        ("kinds", EventKind::ALL.iter().map(|kind| kind.name().to_owned()).collect()),
        (
            "proposal_states",
            ProposalState::ALL.iter().map(|state| state.name()).chain(["over"]).map(str::to_owned).collect(),
        ),
    ];
    for (group, wanted) in of_code {
        let has: BTreeSet<String> = tree[group].as_object().unwrap().keys().cloned().collect();
        assert_eq!(has, wanted, "{group}");
    }
    let code =
        ["changes", "overview", "search", "show", "people", "events", "happened", "clients", "wallets"].map(
            |name| {
                std::fs::read_to_string(format!("{}/src/desk/{name}.rs", env!("CARGO_MANIFEST_DIR"))).unwrap()
            },
        );
    let code = code.concat()
        + &std::fs::read_to_string(format!("{}/src/desk/proposals.rs", env!("CARGO_MANIFEST_DIR"))).unwrap();
    // Values of facts: the code names the group, too.
    chosen.extend(groups.iter().filter(|group| code.contains(&format!("(\"{group}\", &["))).cloned());
    let scripts = ["desk", "account-side", "auth-states", "dom"]
        .map(|name| source(&format!("assets/{name}.js")))
        .concat();
    for text in &texts {
        let Some((group, key)) = text.rsplit_once('.') else {
            assert!(said.contains(text), "nothing says {text}");
            continue;
        };
        let by_code =
            chosen.contains(group) && (code.contains(&format!("\"{key}\"")) || OF_DOMAIN.contains(&group));
        let key_in_scripts =
            [key.to_owned(), key.replace('_', "-"), key.trim_start_matches("title_").replace('_', "-")];
        let by_script = group == "script"
            && (key.starts_with("choose_")
                || key_in_scripts.iter().any(|key| scripts.contains(&format!("\"{key}\""))));
        assert!(said.contains(text) || by_code || by_script, "nothing says {text}");
    }
}

/// The fields that pages know, and nobody types.
const HIDDEN: [&str; 6] = ["user", "client", "invitation", "kid", "proposal", "nothing"];

/// The groups whose keys are words of the domain, which are compared above or there.
const OF_DOMAIN: [&str; 13] = [
    "happened",
    "changes",
    "fields",
    "hints",
    "options",
    "facts",
    "kinds",
    "proposal_states",
    "invitation_states",
    "registered_by",
    "key_states",
    "charts",
    "places",
];

#[test]
fn every_notice_that_the_code_gives_has_a_text() {
    let tree: Value = serde_json::from_str(&source("locales/en/desk.json")).unwrap();
    let notices: BTreeSet<&str> = tree["notices"].as_object().unwrap().keys().map(String::as_str).collect();
    let mut given = BTreeSet::new();
    for name in ["changes", "people", "events", "proposals", "clients", "wallets"] {
        let code =
            std::fs::read_to_string(format!("{}/src/desk/{name}.rs", env!("CARGO_MANIFEST_DIR"))).unwrap();
        for start in [
            "Notice::because(\"",
            "Notice::of(\"",
            "Self::plain(StatusCode::FORBIDDEN, \"",
            "Self::plain(StatusCode::CONFLICT, \"",
            "Self::plain(StatusCode::UNAUTHORIZED, \"",
            "Self::plain(StatusCode::SERVICE_UNAVAILABLE, \"",
        ] {
            given.extend(code.split(start).skip(1).map(|rest| rest.split_once('"').unwrap().0.to_owned()));
        }
    }
    assert_eq!(given.iter().map(String::as_str).collect::<BTreeSet<_>>(), notices);
}

#[test]
fn every_reason_of_a_refusal_is_said_with_what_to_do() {
    let tree: Value = serde_json::from_str(&source("locales/en/refusal.json")).unwrap();
    let reasons: BTreeSet<&str> = tree["reasons"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(reasons, RefusedFor::ALL.into_iter().map(RefusedFor::name).collect());
    for reason in reasons {
        for part in ["says", "advice"] {
            assert!(tree["reasons"][reason][part].as_str().is_some_and(|text| text.len() > 9), "{reason}");
        }
    }
}

#[test]
fn a_form_says_beforehand_that_a_second_operator_must_sign() {
    let group = GroupName::parse("ops").ok();
    let policy = |quorum| DeskPolicy { admins: Vec::new(), group: group.clone(), quorum };
    let says = |policy: &DeskPolicy, name: ActName, is_operator: bool| {
        let sent = Sent::default().and("group", if is_operator { "ops" } else { "staff" });
        let form =
            Forms { applications: &OneApplication, policy: Some(policy), wanted: None }.form(name, &sent);
        serde_json::to_value(form.of_operator(is_operator)).unwrap()["second"] == true
    };
    let (one, two) = (policy(Quorum::One), policy(Quorum::Two));
    for name in ActName::ALL {
        assert!(!says(&one, *name, true), "{name}");
        let (always, about) = match name.row().second {
            Second::Always => (true, true),
            Second::AboutOperator | Second::OperatorsGroup => (false, true),
            // Whom it lets in is chosen in the form.
            Second::LetsEveryoneIn | Second::Never => (false, false),
        };
        assert_eq!((says(&two, *name, false), says(&two, *name, true)), (always, about), "{name}");
    }
}

/// What each form asks for is enough for its act, and the act is read from it.
#[actix_web::test]
async fn every_form_that_is_filled_in_asks_for_its_act() {
    let site = site(Quorum::One).await;
    let id = "01a1fd8c-0000-7000-8000-000000000001";
    let filled = [
        ("user", id),
        ("wallet", "toy-mallory"),
        ("operator", "toy-bob"),
        ("reason", "spam"),
        ("keep_offline", "yes"),
        ("group", "staff"),
        ("title", "The staff"),
        ("member", "toy-eve\ntoy-dan\n\ntoy-eve"),
        ("members", "toy-eve"),
        ("client", id),
        ("client_name", "Wiki"),
        ("resources", "https://api.example\nhttps://b.example"),
        ("keep_old", "3600"),
        ("rule", "groups"),
        ("rule_groups", "staff, ops"),
        ("release", "groups"),
        ("release_groups", "staff"),
        ("uri", "https://api.example"),
        ("resource_name", "Photos"),
        ("open_to", "named"),
        ("resource_scopes", "photos.read = See your photos\nphotos.read[de] = Fotos sehen\nb needs staff"),
        ("at_once", "yes"),
        ("algorithms", "EdDSA"),
        ("kid", "kid-1"),
        ("key_name", "CI"),
        ("admin_scopes", "users:read"),
        ("expires_days", "7"),
        ("proposal", id),
        ("person_name", "Ann Lee"),
        ("invitation", id),
        ("uses", "1"),
        ("invited_for", "86400"),
        ("name_of_invited", "Ann Lee"),
        ("inviter", "The Millers"),
        ("leads_to", id),
    ];
    for name in ActName::ALL {
        let sent = Sent::default().and("change", name);
        let sent = filled.iter().fold(sent, |sent, (field, value)| sent.and(field, value));
        let act = sent.change(site.context.management(), &OneApplication).await;
        let act = act.unwrap_or_else(|unfit| panic!("{name}: {unfit:?}"));
        assert_eq!(act.name(), *name);
        assert!(act.lines().len() > name.row().fields.len(), "{name}: {:?}", act.lines());
    }
}

/// A form that is filled with what a page knows asks for nothing else: no field is forgotten on its way.
#[actix_web::test]
async fn a_form_that_no_one_changed_asks_for_what_there_is() {
    let site = site(Quorum::One).await;
    let management = site.context.management();
    let staff = GroupName::parse("staff:a").unwrap();
    create_group(management, staff.clone(), None, &[]).await.unwrap();
    let resource = Resource {
        uri: "https://api.example".to_owned(),
        name: ResourceName::parse("Photos").ok(),
        open_to: OpenTo::Named,
        scopes: read_scopes("a needs staff:a = See it\na[de] = Ansehen\nb = See that").unwrap(),
        created_at: management.clock.now(),
    };
    let known = Sent::of_resource(&resource).and("change", ActName::UpdateResource);
    let act = known.change(management, &OneApplication).await.unwrap();
    let Act::UpdateResource { resource: read, .. } = act else { panic!("{act:?}") };
    assert_eq!(read, resource.into());

    for key in ["jwks", "jwks_uri"] {
        let typed = every_field_but(if key == "jwks" { "jwks_uri" } else { "jwks" }).and("rule", "nobody");
        let act = typed.and("change", ActName::RegisterClient).change(management, &OneApplication).await;
        let Act::RegisterClient { metadata, .. } = act.unwrap() else { panic!() };
        let client = register_client(management, *metadata, ClientOrigin::Operator).await.unwrap().client;
        // What is behind a list of a sector would be fetched.
        let others =
            |field: &ClientField| !["jwks", "jwks_uri", "sector_identifier_uri"].contains(&field.name());
        for field in ClientField::in_words().into_iter().filter(others) {
            let empty = [FieldValue::Text(None), FieldValue::Texts(Vec::new()), FieldValue::Truth(false)];
            assert!(!empty.contains(&client.field(field)), "{field}: give it a value in this test");
        }
        let rule = AccessRule::Groups(vec![staff.clone()]);
        change_access(management, client.clone(), Some(rule.clone()), None).await.unwrap();
        let client = management.clients.find_fresh(client.id).await.unwrap().unwrap();
        let known = Sent::of_client(&client);

        let act =
            known.clone().and("change", ActName::ChangeClient).change(management, &OneApplication).await;
        let Act::ChangeClient { metadata, .. } = act.unwrap() else { panic!() };
        let catalog = Catalog::default();
        let judged = judge(*metadata, Rules::of(ClientOrigin::Operator, &catalog)).unwrap();
        assert_eq!(judged.metadata, client.metadata);
        assert_eq!(judged.method.name(), client.authentication.method());

        let act = known.and("change", ActName::SetAccess).change(management, &OneApplication).await;
        let Act::SetAccess { rule: read, release, .. } = act.unwrap() else { panic!() };
        assert_eq!((read, release), (Some(rule), None));
    }
}

/// What an operator types who fills in everything about a client but this.
fn every_field_but(left_out: &str) -> Sent {
    let typed = [
        ("client_name", "Wiki"),
        ("redirect_uris", "https://a.example/cb\nhttps://b.example/cb"),
        ("scope", "openid profile"),
        ("grant_types", "authorization_code"),
        ("grant_types", "refresh_token"),
        ("token_endpoint_auth_method", "private_key_jwt"),
        ("client_uri", "https://a.example"),
        ("jwks", "{\"keys\":[]}"),
        ("jwks_uri", "https://a.example/jwks"),
        ("token_endpoint_auth_signing_alg", "ES256"),
        ("require_pushed_authorization_requests", "yes"),
        ("dpop_bound_access_tokens", "yes"),
        ("id_token_signed_response_alg", "EdDSA"),
        ("backchannel_logout_uri", "https://a.example/out"),
        ("post_logout_redirect_uris", "https://a.example/x\nhttps://a.example/y"),
        ("logo_uri", "https://a.example/logo"),
        ("tos_uri", "https://a.example/terms"),
        ("policy_uri", "https://a.example/policy"),
        ("contacts", "a@a.example\nb@a.example"),
        ("application_type", "web"),
        ("subject_type", "public"),
    ];
    let typed = typed.into_iter().filter(|(name, _)| *name != left_out);
    typed.fold(Sent::default(), |sent, (name, value)| sent.and(name, value))
}
