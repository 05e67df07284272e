//! What the pages get from their families, and what an operator's folder replaces.

use serde_json::{Value, json};

use super::*;

const MODULES: [PageModule; 2] = [
    PageModule { name: "first", source: "export function find() {}" },
    PageModule { name: "second", source: "export function find() { }" },
];

fn page(more: &Value) -> Value {
    let mut page = json!({
        "client": {"name": "Photo Album", "self_registered": false},
        "destination": "photos.example", "scopes": [], "host": "auth.example", "client_id": "c",
        "redirect_uri": "https://photos.example/cb", "address_hints": [], "chains": [], "how_to_sign": [],
        "step": "address",
    });
    for (name, value) in more.as_object().unwrap() {
        page[name] = value.clone();
    }
    page
}

fn rendered(more: &Value) -> String {
    Templates::load(None, "", &MODULES).unwrap().render(Name::Auth, &page(more)).unwrap()
}

#[test]
fn each_family_s_script_is_an_asset_of_its_own_and_the_page_names_it() {
    let templates = Templates::load(None, "/base", &MODULES).unwrap();
    let [first, second] = templates.wallet_modules.as_slice() else { panic!("two scripts") };
    assert!(first.starts_with("/base/assets/wallet-first.") && first.ends_with(".js"), "{first}");
    let asset = templates.asset(second.rsplit('/').next().unwrap()).unwrap();
    assert_eq!(asset.bytes, MODULES[1].source);
    assert_eq!(asset.content_type, "text/javascript; charset=utf-8");
    let html = templates.render(Name::Auth, &page(&json!({}))).unwrap();
    assert!(html.contains(&format!(r#"data-wallet-modules="{first} {second}""#)), "{html}");
    assert!(html.contains(&format!(r#"<link rel="modulepreload" href="{second}">"#)));
}

#[test]
fn an_operator_s_folder_replaces_a_page_and_a_family_s_script() {
    let folder = std::env::temp_dir().join(format!("countersign-templates-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("assets")).unwrap();
    std::fs::write(folder.join("home.html"), "our home").unwrap();
    std::fs::write(folder.join("assets/wallet-first.js"), "// ours").unwrap();
    let templates = Templates::load(Some(&folder), "", &MODULES).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(templates.render(Name::Home, &json!({})).unwrap(), "our home");
    let bytes = |path: &str| templates.asset(path.rsplit('/').next().unwrap()).unwrap().bytes.clone();
    assert_eq!(bytes(&templates.wallet_modules[0]), "// ours");
    assert_eq!(bytes(&templates.wallet_modules[1]), MODULES[1].source);
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
    assert!(rendered(&json!({"address_hints": one})).contains("for example 0x and 40 characters (Ethereum)"));
    let two = json!([{"name": "Ethereum", "text": "0x and 40 characters"}, {"name": "Tron", "text": "T and 33 characters"}]);
    assert!(rendered(&json!({"address_hints": two})).contains("<dt>Tron</dt>"));
    let how = json!([{"name": "Foundry", "text": "cast wallet sign \"$(cat sign-in.txt)\""}]);
    let html =
        rendered(&json!({"step": "sign", "how_to_sign": how, "challenge": "text", "wallet_address": "a",
        "chain": "one:1", "expires_at": "2025-06-25T10:12:36Z"}));
    assert!(html.contains("Foundry"));
    assert!(html.contains("cast wallet sign &quot;$(cat sign-in.txt)&quot;"), "{html}");
}
