//! What the pages get from wallet families, languages and settings, and what an operator's folder replaces.

use countersign_domain::resource::Catalog;
use countersign_domain::scope::{Scope, ScopeSet};
use serde_json::{Value, json};

use super::*;
use crate::page::sign_in::ScopeContext;

const MODULES: [PageModule; 2] = [
    PageModule { name: "first", source: "export function find() {}" },
    PageModule { name: "second", source: "export function find() { }" },
];

fn page(more: &Value) -> Value {
    let mut page = json!({
        "client": {"name": "Photo Album", "self_registered": false},
        "destination": "photos.example", "scopes": [], "own_scopes": [], "host": "auth.example", "client_id": "c",
        "redirect_uri": "https://photos.example/cb", "chains": [], "how_to_sign": [],
        "step": "address", "request_label": "label", "remember_hours": 24, "form_deny": "secret",
    });
    for (name, value) in more.as_object().unwrap() {
        page[name] = value.clone();
    }
    page
}

impl Site<'static> {
    pub(crate) const EXAMPLE: Self = Self {
        host: "auth.example",
        base: "",
        features: Features { account: true, playground: false, desk: true, dev: false, trial: false },
        address_hints: &[],
        contract_chains: &[],
    };
}

fn shown(templates: &Templates, language: Language, name: Name, page: &Value) -> String {
    templates.render(language, name, None, page).unwrap()
}

fn rendered(more: &Value) -> String {
    let templates = Templates::load(None, Site::EXAMPLE, &MODULES).unwrap();
    shown(&templates, Language::English, Name::Auth, &page(more))
}

/// The scripts of the families, as the sign-in page names them.
fn modules_of(html: &str) -> Vec<&str> {
    let (_, rest) = html.split_once("data-wallet-modules=\"").unwrap();
    rest.split_once('"').unwrap().0.split(' ').collect()
}

#[test]
fn each_family_s_script_is_an_asset_of_its_own_and_the_page_names_it() {
    let templates = Templates::load(None, Site { base: "/base", ..Site::EXAMPLE }, &MODULES).unwrap();
    let html = shown(&templates, Language::English, Name::Auth, &page(&json!({})));
    let [first, second] = modules_of(&html)[..] else { panic!("two scripts") };
    assert!(first.starts_with("/base/assets/wallet-first.") && first.ends_with(".js"), "{first}");
    let asset = templates.asset(second.rsplit('/').next().unwrap()).unwrap();
    assert_eq!(asset.bytes, MODULES[1].source);
    assert_eq!(asset.content_type, "text/javascript; charset=utf-8");
    assert!(html.contains(&format!(r#"<link rel="modulepreload" href="{second}">"#)));
}

#[test]
fn an_operator_s_folder_replaces_a_page_and_a_family_s_script() {
    let folder = std::env::temp_dir().join(format!("countersign-templates-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("assets")).unwrap();
    std::fs::write(folder.join("home.html"), "our home").unwrap();
    std::fs::write(folder.join("assets/wallet-first.js"), "// ours").unwrap();
    std::fs::create_dir_all(folder.join("locales/en")).unwrap();
    std::fs::write(folder.join("locales/en/home.json"), r#"{"title": "Our sign-in"}"#).unwrap();
    let templates = Templates::load(Some(&folder), Site::EXAMPLE, &MODULES).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(shown(&templates, Language::English, Name::Home, &json!({})), "our home");
    let html = shown(&templates, Language::English, Name::Auth, &page(&json!({})));
    let bytes = |path: &str| templates.asset(path.rsplit('/').next().unwrap()).unwrap().bytes.clone();
    let [first, second] = modules_of(&html)[..] else { panic!("two scripts") };
    assert_eq!(bytes(first), "// ours");
    assert_eq!(bytes(second), MODULES[1].source);
    assert_eq!(templates.text(Language::English, "home.title"), "Our sign-in");
    assert_eq!(
        templates.text(Language::English, "home.issuer"),
        "Issuer",
        "the other texts of the file stay"
    );
    assert_ne!(templates.text(Language::Japanese, "home.title"), "Our sign-in", "Japanese has its own text");
}

#[test]
fn a_page_says_its_language_and_direction_and_offers_the_others() {
    let templates = Templates::load(None, Site::EXAMPLE, &MODULES).unwrap();
    let home = |language, menu: Option<&Menu>| {
        templates.render(language, Name::Home, menu, &json!({"issuer": "https://auth.example"})).unwrap()
    };
    let menu = Menu::default();
    let arabic = home(Language::Arabic, Some(&menu));
    assert!(arabic.contains(r#"<html lang="ar" dir="rtl">"#), "{arabic}");
    assert!(arabic.contains(r#"<option value="ar" lang="ar" dir="rtl" selected>"#), "{arabic}");
    for language in Language::ALL {
        let option = format!(r#"<option value="{}""#, language.tag());
        assert!(arabic.contains(&option) && arabic.contains(language.own_name()), "{option}");
    }
    let english = home(Language::English, None);
    assert!(english.contains(r#"<html lang="en" dir="ltr">"#));
    let address_bar = "Your address bar must read <bdi>auth.example</bdi>";
    assert!(english.contains(address_bar), "a page is no proof of its own address");
    assert!(!english.contains("<select"), "where a choice cannot lead back there is none");
}

#[test]
fn the_playground_and_the_banner_are_there_only_where_they_are_switched_on() {
    let home = |playground, dev| {
        let features = Features { account: true, playground, desk: false, dev, trial: true };
        let templates = Templates::load(None, Site { features, ..Site::EXAMPLE }, &MODULES).unwrap();
        shown(&templates, Language::English, Name::Home, &json!({"issuer": "https://auth.example"}))
    };
    let plain = home(false, false);
    assert!(!plain.contains("/playground") && !plain.contains("Development server"), "{plain}");
    assert!(home(true, false).contains(r#"href="/playground""#));
    assert!(home(false, true).contains("Development server: keys and data are throw-away"));
}

#[test]
fn customers_see_no_links_for_developers_unless_the_server_is_a_trial() {
    let sign_in = |trial| {
        let features = Features { account: true, playground: true, desk: false, dev: false, trial };
        let templates = Templates::load(None, Site { features, ..Site::EXAMPLE }, &MODULES).unwrap();
        shown(&templates, Language::English, Name::Auth, &page(&json!({})))
    };
    let links = [r#"href="/playground""#, r#"href="/docs""#];
    let (trial, open) = (sign_in(true), sign_in(false));
    assert!(
        links.iter().all(|link| trial.contains(link)) && !links.iter().any(|link| open.contains(link)),
        "{open}"
    );
    assert!(open.contains(r#"href="/account""#) && open.contains(r#"href="/verify""#), "{open}");
}

#[test]
fn no_page_shows_a_place_that_nothing_filled() {
    let templates = Templates::load(None, Site::EXAMPLE, &MODULES).unwrap();
    let pages = [
        (Name::Home, json!({"issuer": "https://auth.example"})),
        (
            Name::Continue,
            json!({"target": "https://photos.example/cb", "destination": "photos.example", "denied": false}),
        ),
        (
            Name::Continue,
            json!({"target": "https://photos.example/cb", "destination": "photos.example", "denied": true}),
        ),
    ];
    for (name, page) in pages {
        let html = shown(&templates, Language::English, name, &page);
        assert!(!html.contains('{') && !html.contains('}'), "{html}");
    }
}

#[test]
fn the_description_s_script_gets_its_texts_from_an_attribute() {
    let templates = Templates::load(None, Site::EXAMPLE, &MODULES).unwrap();
    let html = shown(
        &templates,
        Language::English,
        Name::Docs,
        &json!({"document": "/openapi.json", "introduction": [], "headers": [], "groups": []}),
    );
    assert!(html.contains(r#""open_tab":"Open in a new tab""#), "{html}");
}

#[test]
fn the_description_links_to_the_documentation_where_the_operator_serves_it() {
    let templates = Templates::load(None, Site::EXAMPLE, &MODULES).unwrap();
    let page = |documentation: Option<&str>| {
        let context = json!({
            "document": "/openapi.json", "documentation": documentation, "introduction": [], "headers": [], "groups": []
        });
        shown(&templates, Language::English, Name::Docs, &context)
    };
    let link =
        r#"<a class="button" href="https://auth.example.com/documentation/">The whole documentation</a>"#;
    let linked = page(Some("https://auth.example.com/documentation/"));
    assert!(linked.contains(link), "{linked}");
    assert!(!page(None).contains("The whole documentation"));
}

#[test]
fn without_scripts_the_chain_of_an_address_is_chosen_beside_it_and_the_address_stays() {
    let chains = json!([{"name": "one:1", "text": "One"}, {"name": "two:2", "text": "Two <b>"}]);
    let html = rendered(&json!({"address": "1Boat<", "chains": chains, "notice": "name one in chain"}));
    assert!(html.contains(r#"value="1Boat&lt;""#), "{html}");
    assert!(html.contains(r#"<select id="chain" name="chain""#));
    assert!(html.contains(r#"<option value="one:1">One (one:1)</option>"#));
    assert!(html.contains(r#"<option value="two:2">Two &lt;b&gt; (two:2)</option>"#));
}

#[test]
fn the_page_says_what_addresses_look_like_and_how_to_sign_by_hand() {
    let one = json!([{"name": "Ethereum", "text": "0x and 40 characters"}]);
    assert!(
        rendered(&json!({"address_hints": one}))
            .contains("for example <bdi>0x and 40 characters</bdi> (<bdi>Ethereum</bdi>)")
    );
    let two = json!([{"name": "Ethereum", "text": "0x and 40 characters"}, {"name": "Tron", "text": "T and 33 characters"}]);
    assert!(rendered(&json!({"address_hints": two})).contains("<dt>Tron</dt>"));
    let how = json!([{"name": "Foundry", "text": "cast wallet sign \"$(cat sign-in.txt)\""}]);
    let html =
        rendered(&json!({"step": "sign", "how_to_sign": how, "challenge": "text", "wallet_address": "a",
        "chain": "one:1", "expires_at": "2025-06-25T10:12:36Z"}));
    assert!(html.contains("Foundry"));
    assert!(html.contains("cast wallet sign &quot;$(cat sign-in.txt)&quot;"), "{html}");
}

const SHORT: &str = "0xAbCd…1234";
const ACCOUNT: &str = "0xAbCd000000000000000000000000000000001234";

#[test]
fn somebody_who_is_remembered_gets_one_button_and_no_wallet() {
    let html = rendered(
        &json!({"remembered": {"form": "secret", "name": "eip155:1:0xA", "account": ACCOUNT, "short": SHORT}, "may_remember": true}),
    );
    assert!(html.contains(r#"data-state="remembered""#), "{html}");
    assert!(html.contains(&format!("Continue as <bdi>{SHORT}</bdi> to <bdi>photos.example</bdi>")));
    assert!(html.contains(r#"action="/oauth/continue""#) && html.contains(r#"action="/oauth/deny""#));
    assert!(html.contains(r#"href="/auth?request=label&amp;another=1""#));
    for absent in [r#"id="wallet-list""#, r#"id="address-form""#, r#"id="remember""#] {
        assert!(!html.contains(absent), "{absent}");
    }
}

fn turned_away(more: &Value) -> String {
    let mut page = json!({"not_admitted": {"account": ACCOUNT, "short": SHORT}, "reference": "r-1"});
    page.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    rendered(&page)
}

#[test]
fn somebody_who_is_not_let_in_sees_the_wallet_the_way_back_and_another_wallet_and_nothing_to_sign() {
    let html = turned_away(&json!({"may_continue": true}));
    for shown in [
        r#"data-state="not-admitted""#,
        "<bdi>Photo Album</bdi> does not let this wallet in</h1>",
        SHORT,
        ACCOUNT,
        ">r-1</code>",
        r#"<button type="submit" form="deny" class="primary" id="leave"><span>Back to <bdi>photos.example</bdi>"#,
        r#"action="/oauth/deny""#,
        r#"<a id="other-wallet" href="/auth?request=label&amp;another=1">"#,
    ] {
        assert!(html.contains(shown), "{shown}: {html}");
    }
    for absent in [
        r#"id="wallet-list""#,
        r#"id="address-form""#,
        r#"id="continue""#,
        r#"id="receives""#,
        r#"id="contact""#,
        r#"id="not-admitted" aria-labelledby="not-admitted-heading" hidden"#,
    ] {
        assert!(!html.contains(absent), "{absent}: {html}");
    }
    let stranger = turned_away(&json!({}));
    assert!(stranger.contains(r#"<a id="other-wallet" href="/auth?request=label">"#), "{stranger}");
}

#[test]
fn the_page_says_whom_to_ask_if_the_operator_does() {
    let mail = json!({"text": "help@example.com", "link": "mailto:help@example.com", "is_web": false});
    let html = turned_away(&json!({"contact": mail}));
    let link = r#"ask here: <a href="mailto:help@example.com"><bdi dir="ltr">help@example.com</bdi></a>"#;
    assert!(html.contains(link), "{html}");
    let web = json!({"text": "https:", "link": "https:", "is_web": true});
    let html = turned_away(&json!({"contact": web}));
    assert!(html.contains(r#"href="https:" target="_blank" rel="noopener noreferrer""#), "{html}");
}

#[test]
fn on_a_device_somebody_who_is_not_let_in_cancels_and_the_account_page_speaks_of_the_server() {
    let device = turned_away(&json!({"device": "ABCD-EFGH"}));
    assert!(device.contains(r#"class="primary" id="leave">Cancel</button>"#), "{device}");
    let account = turned_away(&json!({"is_account": true}));
    assert!(account.contains("This server does not let this wallet in</h1>"), "{account}");
    assert!(account.contains(r#"<a class="button primary" href="/auth?request=label">"#), "{account}");
    assert!(!account.contains("/oauth/deny") && !account.contains(r#"id="leave""#), "{account}");
}

/// The page that the server writes for a form and the one that the script makes have one source.
#[test]
fn the_card_for_somebody_who_is_not_let_in_waits_on_the_page_for_the_script() {
    let remembered = json!({"form": "secret", "name": "eip155:1:0xA", "account": ACCOUNT, "short": SHORT});
    for html in [rendered(&json!({})), rendered(&json!({"remembered": remembered}))] {
        let hidden = r#"id="not-admitted" aria-labelledby="not-admitted-heading" hidden"#;
        assert!(html.contains(hidden) && !html.contains("data-ended"), "{html}");
        assert_eq!(html.matches(r#"id="wallet-messages""#).count(), 1, "{html}");
    }
}

#[test]
fn a_request_for_more_than_before_lists_what_is_new_and_keeps_the_rest_at_hand() {
    let scopes = json!([
        {"name": "profile", "words": "profile", "is_new": false}, {"name": "email", "words": "email", "is_new": true},
    ]);
    let html = rendered(&json!({"step_up": true, "signed_in_as": ACCOUNT, "scopes": scopes}));
    assert!(html.contains(r#"data-state="step-up""#), "{html}");
    let (new, known) = html.split_once("What it gets already").unwrap();
    let (known, details) = known.split_once("About this app").unwrap();
    let (email, profile) = ("<li>Your email (optional)", "<li>Your public wallet address");
    assert!(new.contains(email) && !new.contains(profile));
    assert!(known.contains(profile) && !known.contains(email));
    assert!(details.contains("<code>profile</code> <code>email</code>"), "the names that developers know");
    assert!(html.contains(ACCOUNT));
}

#[test]
fn the_account_page_s_own_sign_in_asks_for_no_consent_and_has_a_way_out_in_place_of_deny() {
    let html = rendered(&json!({"is_account": true}));
    assert!(!html.contains("/oauth/deny") && !html.contains(r#"id="receives""#), "{html}");
    assert!(html.contains(r#"<a class="button deny" href="/">Cancel</a>"#));
}

#[test]
fn the_options_are_asked_before_the_text_to_sign_and_belong_to_the_form_of_its_signature() {
    let options = json!({"offer_email": true, "may_remember": true});
    let at_the_address = rendered(&options);
    let (shown, in_hidden_form) = at_the_address.split_once(r#"id="login-form" hidden>"#).unwrap();
    assert!(
        !shown.contains(r#"id="options""#) && in_hidden_form.contains(r#"id="options""#),
        "they would be lost on the way to the text"
    );
    let mut at_the_signature = options;
    for (name, value) in [
        ("challenge", "text"),
        ("wallet_address", "a"),
        ("chain", "one:1"),
        ("expires_at", "then"),
        ("step", "sign"),
    ] {
        at_the_signature[name] = json!(value);
    }
    let html = rendered(&at_the_signature);
    let (_, form) = html.split_once(r#"id="login-form">"#).unwrap();
    let (before_text, _) = form.split_once(r#"<pre id="manual-text""#).unwrap();
    assert!(before_text.contains(r#"id="options""#), "{html}");
    for field in [
        r#"name="email" type="email" form="login-form""#,
        r#"type="checkbox" value="on" form="login-form" checked"#,
    ] {
        assert!(before_text.contains(field), "{field}");
    }
    assert!(before_text.contains("for <bdi>24</bdi> h"));
}

/// The account page leaves out texts of the sign-in page. If one of its scripts says one after all, people
/// would read the name of the text.
#[test]
fn the_account_page_leaves_out_no_text_that_its_scripts_say() {
    let source = |path: &str| String::from_utf8(Embedded::get(path).unwrap().data.into_owned()).unwrap();
    let page = source("account.html");
    let (_, list) = page.split_once("set sign_in_only = \"").unwrap();
    let left_out: Vec<&str> = list.split_once('"').unwrap().0.split(' ').collect();
    let own: Value = serde_json::from_str(&source("locales/en/account.json")).unwrap();
    let scripts = ["dom", "server", "wallets", "auth-states", "account", "account-side", "account-tools"]
        .map(|name| source(&format!("assets/{name}.js")))
        .concat();
    assert!(left_out.len() > 20, "{left_out:?}");
    for key in left_out.into_iter().filter(|key| own["script"].get(key).is_none()) {
        for name in [key, key.trim_start_matches("title_")] {
            let is_said = |name: &str| scripts.contains(&format!("\"{name}\""));
            assert!(!is_said(name) && !is_said(&name.replace('_', "-")), "{key} is said");
        }
    }
}

#[test]
fn nobody_is_remembered_unasked_for_an_application_that_nobody_looked_at_or_on_a_device() {
    let is_ticked = |more: Value| {
        let mut page = json!({"may_remember": true});
        page.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        rendered(&page).contains(r#"form="login-form" checked"#)
    };
    assert!(is_ticked(json!({})));
    assert!(!is_ticked(json!({"device": "ABCD-EFGH"})));
    assert!(!is_ticked(json!({"client": {"name": "A", "self_registered": true}})));
    assert!(!is_ticked(
        json!({"client": {"name": "A", "self_registered": false, "described_at": "b.example"}})
    ));
}

#[test]
fn the_wallets_that_the_operator_chose_open_the_application() {
    let link = json!({"name": "<Wallet>", "text": "https://w.example/?u=https%3A%2F%2Fshop.example&a=\""});
    let html = rendered(&json!({"client": {"name": "Shop", "wallet_links": [link]}}));
    let shown = "<a class=\"button\" href=\"https:&#x2F;&#x2F;w.example&#x2F;?u=https%3A%2F%2Fshop.example&amp;a=&quot;\" \
                 rel=\"noopener noreferrer\"><span>Open in <bdi>&lt;Wallet&gt;</bdi></span></a>";
    let shown = [shown.to_owned(), shown.replace("&#x2F;", "/")];
    assert!(shown.iter().any(|shown| html.contains(shown)), "{html}");
    assert!(!rendered(&json!({})).contains("Open in"));
}

#[test]
fn every_scope_is_told_in_words() {
    let templates = Templates::load(None, Site::EXAMPLE, &MODULES).unwrap();
    for scope in Scope::ALL {
        for group in ["scopes", "gist_scopes"] {
            let key = format!("auth.{group}.{}", scope.name());
            assert_ne!(templates.text(Language::English, &key), key);
        }
    }
}

#[test]
fn what_an_application_receives_names_a_user_id_once_in_every_language() {
    let templates = Templates::load(None, Site::EXAMPLE, &MODULES).unwrap();
    for language in Language::ALL {
        let user_id = templates.text(language, "auth.gist_scopes.openid");
        let all = ["openid", "profile", "openid profile", "openid profile email groups"];
        for (asked, is_pairwise) in all.into_iter().flat_map(|asked| [(asked, false), (asked, true)]) {
            let scopes = ScopeSet::parse(asked, &Catalog::NONE).unwrap();
            let scopes = ScopeContext::list(&scopes, None, is_pairwise);
            let html = shown(&templates, language, Name::Auth, &page(&json!({ "scopes": scopes })));
            let (_, list) = html.split_once("aria-labelledby=\"receives\">").unwrap();
            let (list, _) = list.split_once("</ul>").unwrap();
            assert_eq!(list.matches("<li>").count(), scopes.len(), "{list}");
            assert_eq!(list.matches(user_id).count(), 1, "{language:?}, {asked}: {list}");
        }
    }
}

/// ADR 0032: it is better to find out at the start than when a user presses a button.
#[test]
fn a_page_of_the_operator_s_whose_forms_would_be_refused_is_refused_itself() {
    let folder = std::env::temp_dir().join(format!("countersign-outdated-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (file, source, is_good) in [
        ("device.html", "<form method=\"post\" action=\"/device\"></form>", false),
        ("device.html", "<form METHOD=\"POST\"><input name=\"form\" value=\"{{ form }}\"></form>", true),
        ("verify.html", "<form method=\"post\" action=\"/verify\"></form>", true),
        ("base.html", "<meta name=\"referrer\" content=\"no-referrer\">", false),
        ("base.html", "{% block main %}{% endblock %}", true),
    ] {
        let path = folder.join(file);
        std::fs::write(&path, source).unwrap();
        let loaded = refuse_outdated(file, source);
        assert_eq!(loaded.is_ok(), is_good, "{file}: {source}");
        if let Err(error) = loaded {
            assert!(error.to_string().starts_with(&format!("template_directory: {file} ")), "{error}");
            assert!(matches!(
                Templates::load(Some(&folder), Site::EXAMPLE, &MODULES),
                Err(TemplateError::Outdated { .. })
            ));
        }
        std::fs::remove_file(&path).unwrap();
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_page_has_one_stylesheet_of_its_own_at_most_and_every_sheet_is_linked() {
    let linked = |file: &str| -> Vec<String> {
        let source = String::from_utf8(Embedded::get(file).unwrap().data.into_owned()).unwrap();
        let links = source.split("<link rel=\"stylesheet\" href=\"{{ assets.").skip(1);
        links.map(|link| link.split(" }}").next().unwrap().to_owned()).collect()
    };
    let mut sheets: BTreeSet<String> = linked(FRAME).into_iter().collect();
    for page in Embedded::iter().filter(|file| file.ends_with(".html") && file != FRAME) {
        let own = linked(&page);
        assert!(own.len() <= 1, "{page}: {own:?}");
        sheets.extend(own);
    }
    let assets = Embedded::iter().filter_map(|file| file.strip_prefix("assets/").map(str::to_owned));
    let there: BTreeSet<String> =
        assets.filter(|name| name.ends_with(".css")).map(|name| variable(&name)).collect();
    assert_eq!(sheets, there);
}
