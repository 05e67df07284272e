//! Whatever a page shows, and whatever its values are, filling an outline gives exactly the same bytes as
//! rendering the whole page.

use countersign_domain::resource::ResourceName;
use countersign_usecases::context::resources::ShownResource;

use crate::page::language::Language;
use crate::page::menu::Menu;
use crate::page::name::Name;
use crate::page::templates::{Outlines, Shape, Site, Templates};

use super::*;

/// A page that shows everything at once. `say` makes each value from its name.
fn everything(values: &mut Values<'static>, say: fn(&str) -> String) -> SignInPage {
    let mut value = |name: &str| values.place(say(name));
    let tools = ShownResource {
        uri: "https://mcp.example/tools".to_owned(),
        name: ResourceName::parse("Tools").ok(),
    };
    SignInPage {
        client: ClientContext {
            name: value("name"),
            uri: Some(value("uri")),
            policy_uri: Some(value("policy_uri")),
            tos_uri: Some(value("tos_uri")),
            self_registered: false,
            described_at: Some(value("described_at")),
            wallet_links: vec![HintContext { name: value("wallet"), text: value("link") }],
        },
        is_account: false,
        device: Some(value("device")),
        invitation: Some(InvitationContext {
            group: value("invitation.group"),
            from: value("invitation.from"),
            name: Some(value("invitation.name")),
            ended: false,
        }),
        destination: value("destination"),
        scopes: vec![
            ScopeContext { name: "profile", words: "profile", is_new: false },
            ScopeContext { name: "email", words: "email", is_new: true },
        ],
        own_scopes: vec![
            OwnScopeContext {
                name: value("own.name"),
                title: value("own.title"),
                host: Some(value("own.host")),
                is_new: true,
            },
            OwnScopeContext { name: value("old.name"), title: value("old.title"), host: None, is_new: false },
        ],
        resources: vec![ResourceContext::of(&tools, |part| value(&part))],
        client_id: value("client_id"),
        redirect_uri: value("redirect_uri"),
        state: Some(value("state")),
        request_label: value("request_label"),
        remembered: Some(RememberedContext {
            name: value("remembered.name"),
            account: value("account"),
            short: value("short"),
            form: value("form"),
        }),
        not_admitted: Some(NotAdmittedContext { account: value("turned away"), short: value("turned") }),
        contact: Some(ContactContext { text: value("contact"), link: value("mailto"), is_web: true }),
        may_continue: true,
        form_deny: value("form_deny"),
        signed_in_as: Some(value("signed_in_as")),
        step_up: true,
        another: true,
        offer_email: true,
        may_remember: true,
        remember_hours: 24,
        playground_wallet: true,
        address: Some(value("address")),
        chains: vec![HintContext { name: value("chains.name"), text: value("chains.text") }],
        step: "sign",
        challenge: Some(value("challenge")),
        wallet_address: Some(value("wallet_address")),
        chain: Some(value("chain")),
        expires_at: Some(value("expires_at")),
        how_to_sign: vec![HintContext { name: value("tool"), text: value("how") }],
        tries_left: Some(3),
        hides_wallet: true,
        notice: Some(value("notice")),
        reference: Some(value("reference")),
    }
}

const CHANGES: [fn(&mut SignInPage); 30] = [
    |_| {},
    |page| page.client.uri = None,
    |page| page.client.policy_uri = None,
    |page| page.client.tos_uri = None,
    |page| page.client.self_registered = true,
    |page| page.client.described_at = None,
    |page| page.client.wallet_links.clear(),
    |page| page.is_account = true,
    |page| page.device = None,
    |page| page.scopes.clear(),
    |page| page.own_scopes.clear(),
    |page| page.state = None,
    |page| page.remembered = None,
    |page| page.signed_in_as = None,
    |page| page.step_up = false,
    |page| page.another = false,
    |page| page.offer_email = false,
    |page| page.may_remember = false,
    |page| page.remember_hours = 720,
    |page| page.playground_wallet = false,
    |page| page.address = None,
    |page| page.chains.clear(),
    |page| page.step = "address",
    |page| page.how_to_sign.clear(),
    |page| page.tries_left = None,
    |page| page.notice = None,
    |page| page.contact = None,
    |page| page.contact.iter_mut().for_each(|contact| contact.is_web = false),
    |page| page.may_continue = false,
    |page| page.hides_wallet = false,
];

const SAYINGS: [fn(&str) -> String; 3] = [
    str::to_owned,
    |name| format!("<{name}>'\"&amp; {{client}} {{{{ 1 }}}} é \u{fdd0}0\u{fdd1}"),
    |_| String::new(),
];

/// Tries every pair of changes, on a page for a remembered user, on one that shows the wallets, and on one for
/// a wallet that is not let in.
#[test]
fn filled_from_its_outline_the_page_is_what_it_is_rendered_whole() {
    let templates = Templates::load(None, Site::EXAMPLE, &[]).unwrap();
    let outlines = Outlines::of(Name::Auth);
    let mut languages = Language::ALL.into_iter().cycle();
    let pairs = CHANGES.into_iter().enumerate();
    for (one, other) in pairs.flat_map(|(index, one)| CHANGES[index..].iter().map(move |other| (one, other)))
    {
        let language = languages.next().unwrap();
        let kinds = [(true, false), (false, false), (false, true)];
        for (say, (is_remembered, is_turned_away)) in
            SAYINGS.into_iter().flat_map(|say| kinds.map(|kind| (say, kind)))
        {
            let mut values = Values::default();
            let mut page = everything(&mut values, say);
            page.remembered = page.remembered.filter(|_| is_remembered);
            page.not_admitted = page.not_admitted.filter(|_| is_turned_away);
            one(&mut page);
            other(&mut page);
            let shape = Shape { language, menu: Some(Menu::default()), page };
            let whole = values.put_into(&shape.page).unwrap();
            let whole = templates.render(language, Name::Auth, shape.menu.as_ref(), &whole).unwrap();
            let filled = outlines.write(&templates, shape, &values).unwrap();
            assert_eq!(String::from_utf8(filled).unwrap(), whole);
        }
    }
}
