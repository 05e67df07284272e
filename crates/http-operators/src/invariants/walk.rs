//! Runs one sequence: sends its requests, and checks each response against the model.

use std::collections::BTreeMap;
use std::fmt;

use actix_web::http::Method;
use actix_web::test::TestRequest;
use countersign_conformance::fixtures;
use countersign_domain::forgetting::MARGIN;
use countersign_http_actix::server::routes::{Endpoint, WITH_SESSION};
use countersign_ports::{Clock, StoreError};
use countersign_usecases::upkeep::forget_unused::{forget_unused_documents, forget_unused_users};
use countersign_usecases::upkeep::purge_expired::purge_expired;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};
use url::Url;
use url::form_urlencoded::Serializer;

use super::desk::{Desk, WAYS};
use super::dice::{Act, Dice, Step};
use super::model::{
    Given, Said, Signed, Tokens, Words, audiences, destination, hold, is_agreed, is_registered, words,
};
use crate::site::{
    Answer, Browser, DEVICE_GRANT, Form, From, ISSUER, Kind, NAMED, OF_TOOLS, OF_VAULT, OPEN, Site, TOOLS,
    TestClient, VAULT, WALLET_GRANT, forms, sign,
};

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
pub(super) const WALLETS: [&str; 5] = ["toy-ann", "toy-bob", "toy-cy", "toy-dan", "toy-eve"];
const BROWSERS: usize = 3;
/// Resources that no token can be for: undeclared ones, URLs of ours, and what only looks like a resource.
const NO_RESOURCES: [&str; 6] = [
    VAULT,
    "https://bank-api.example/mcp",
    "https://auth.example.com/oauth/userinfo",
    "https://app.example/client.json",
    "urn:countersign:scope:email",
    "https://api.example/open/",
];
/// Addresses that no client here has.
const NO_REDIRECTS: [&str; 8] = [
    "javascript://anysphere.cursor-mcp/cb",
    "data:text/html,x",
    "web+cursor://anysphere.cursor-mcp/cb",
    "cursor://evil.example/cb",
    "cursor://anysphere.cursor-mcp:7777/cb",
    "http://localhost:7777@evil.example/cb",
    "http://localhost.evil.example/cb",
    "https://localhost:7777/cb",
];
type Pairs = Vec<(String, String)>;

/// How often each outcome was reached, in all sequences together.
#[derive(Debug, Default)]
pub(super) struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    pub(super) fn count(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (what, count) in &other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    /// Fails if an outcome that every run should reach was never reached.
    pub(super) fn assert_lively(&self, sequences: u64) {
        let often = [
            "tools",
            "a program's own address",
            "signed",
            "continued",
            "redeemed",
            "refreshed",
            "program",
            "of itself",
            "attack",
        ];
        let seldom = [
            "answered without a page",
            "device redeemed",
            "linked",
            "taken back",
            "signed out",
            "denied",
            "introspected",
        ];
        for (names, enough) in [(&often[..], 300), (&seldom[..], 3_000), (&WAYS[..], 3_000)] {
            for what in names {
                assert!(sequences < enough || self.0.contains_key(what), "never {what}: {self}");
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<_> = self.0.iter().map(|(what, count)| format!("{count} {what}")).collect();
        f.write_str(&counts.join(", "))
    }
}

/// What a client asks for.
#[derive(Clone, Debug)]
struct Wish {
    client: usize,
    uri: String,
    scopes: Vec<String>,
    resources: Vec<String>,
}

/// A request that is pending in a browser.
#[derive(Clone, Debug)]
struct Pending {
    client: usize,
    uri: String,
    state: String,
    asked: Said,
    nonce: Option<String>,
    has_challenge: bool,
    /// The URL of its page.
    page: String,
    device: Option<usize>,
}

#[derive(Debug, Default)]
struct Person {
    browser: Browser,
    /// The user who is signed in with the browser.
    signed_in: Option<usize>,
    pendings: Vec<Pending>,
}

#[derive(Clone, Debug)]
struct Code {
    secret: String,
    uri: String,
    has_challenge: bool,
    given: Given,
    is_spent: bool,
}

#[derive(Debug)]
struct Device {
    client: usize,
    code: String,
    asked: Said,
    given: Option<Given>,
    is_spent: bool,
}

#[derive(Debug)]
struct Family {
    given: Given,
    tokens: Tokens,
    key: Option<&'static str>,
    /// Its earlier refresh tokens.
    rotated: Vec<String>,
}

pub(super) struct Walk<'a> {
    site: &'a Site,
    people: Vec<Person>,
    /// The browser of another site's owner, who also gets pages from us.
    attacker: Browser,
    /// The user of each wallet.
    users: Vec<usize>,
    /// The `sub` of each user.
    subs: BTreeMap<usize, String>,
    signed: Vec<Signed>,
    codes: Vec<Code>,
    devices: Vec<Device>,
    families: Vec<Family>,
    wishes: Vec<Wish>,
    desk: Desk<'a>,
    next: u32,
    pub(super) trace: Vec<String>,
    pub(super) tally: Tally,
}

impl<'a> Walk<'a> {
    pub(super) async fn new(site: &'a Site) -> Self {
        site.storage.restore(&site.base);
        Self {
            site,
            people: (0..BROWSERS).map(|_| Person::default()).collect(),
            attacker: Browser::default(),
            users: (0..WALLETS.len()).collect(),
            subs: BTreeMap::new(),
            signed: Vec::new(),
            codes: Vec::new(),
            devices: Vec::new(),
            families: Vec::new(),
            wishes: Vec::new(),
            desk: Desk::new(site).await,
            next: 0,
            trace: Vec::new(),
            tally: Tally::default(),
        }
    }

    pub(super) async fn take(&mut self, step: Step) -> Result<(), String> {
        let dice = &mut Dice::new(step.seed);
        let (desk, trace, tally) = (&mut self.desk, &mut self.trace, &mut self.tally);
        match step.act {
            Act::AskAtDesk => desk.ask(dice, trace, tally).await,
            Act::SignAtDesk => desk.sign(dice, trace, tally).await,
            Act::ChangeOperators => desk.change_operators(dice, trace, tally).await,
            Act::Authorize => self.authorize(dice).await,
            Act::Device => self.device(dice).await,
            Act::Sign => self.sign(dice).await,
            Act::GoOn => self.go_on(dice).await,
            Act::Deny => self.deny(dice).await,
            Act::Redeem => self.redeem(dice).await,
            Act::Poll => self.poll(dice).await,
            Act::Refresh => self.refresh(dice).await,
            Act::Program => self.program(dice).await,
            Act::OfItself => self.of_itself(dice).await,
            Act::AskAbout => self.ask_about(dice).await,
            Act::TakeBack => self.take_back(dice).await,
            Act::Link => self.link(dice).await,
            Act::SignOut => self.sign_out(dice).await,
            Act::Attack => self.attack(dice).await,
            Act::Wait => self.wait(dice).await,
        }?;
        self.desk.hold().await
    }

    fn log(&mut self, line: String) {
        self.trace.push(line);
    }

    fn client(&self, place: usize) -> &'a TestClient {
        &self.site.clients[place]
    }

    fn client_where(&self, dice: &mut Dice, fits: impl Fn(&TestClient) -> bool) -> usize {
        let fitting: Vec<usize> =
            (0..self.site.clients.len()).filter(|place| fits(self.client(*place))).collect();
        *dice.one(&fitting)
    }

    fn state(&mut self) -> String {
        self.next += 1;
        format!("s{}", self.next)
    }

    /// Some resources: mostly none, sometimes valid ones, and some that no token can be for.
    fn resources(&self, dice: &mut Dice) -> Vec<String> {
        let named: &[&str] = match dice.below(20) {
            0..=9 => &[],
            10..=13 => &[OPEN],
            14 => &[TOOLS],
            15 => &[NAMED],
            16 => &[OPEN, NAMED],
            17 => &[ISSUER],
            18 => return vec![self.client(dice.below(self.site.clients.len())).id.clone()],
            _ => return vec![(*dice.one(&NO_RESOURCES)).to_owned()],
        };
        named.iter().map(|uri| (*uri).to_owned()).collect()
    }

    /// Some of these scopes, at least one.
    fn some(dice: &mut Dice, scopes: &[String]) -> Vec<String> {
        let mut some: Vec<String> = scopes.iter().filter(|_| dice.happens(50)).cloned().collect();
        if some.is_empty() {
            some.push(dice.one(scopes).clone());
        }
        some
    }

    /// What the client asks for, as far as it may have that. Without any scope the server must refuse.
    fn asked(client: &TestClient, destination: String, scopes: &[String], resources: &[String]) -> Said {
        let scopes: Words = scopes.iter().cloned().collect();
        let mut scopes = client.may_have(&scopes).unwrap_or_default();
        // A request that names only the issuer has the same audience as one that names nothing.
        let mut resources: Words = resources.iter().cloned().collect();
        // A scope of a resource stands for it, and is left out beside others.
        let is_of_tools = |scope: &String| OF_TOOLS.contains(&scope.as_str());
        if scopes.iter().any(is_of_tools) && resources.is_empty() {
            resources.insert(TOOLS.to_owned());
        } else if !resources.contains(TOOLS) {
            scopes.retain(|scope| !is_of_tools(scope));
        }
        Said {
            client: client.in_texts.clone(),
            destination,
            audiences: audiences(&resources, &scopes),
            scopes,
        }
    }

    /// Picks a browser. The first one is used more than the others.
    fn browser(dice: &mut Dice) -> usize {
        if dice.happens(60) { 0 } else { dice.below(BROWSERS) }
    }

    /// Picks a wallet. The first one is used more than the others.
    fn wallet(dice: &mut Dice) -> usize {
        if dice.happens(60) { 0 } else { dice.below(WALLETS.len()) }
    }

    /// Something new to ask for, or something that was asked for before, mostly with one thing changed.
    fn wish(&mut self, dice: &mut Dice) -> Wish {
        let wish = if self.wishes.is_empty() || dice.happens(25) {
            let client = self.client_where(dice, |client| !client.uris.is_empty());
            let TestClient { uris, scopes, .. } = self.client(client);
            let (uri, scopes) = (dice.one(uris).clone(), Self::some(dice, scopes));
            Wish { client, uri, scopes, resources: self.resources(dice) }
        } else {
            let mut wish = dice.one(&self.wishes).clone();
            let TestClient { uris, scopes, .. } = self.client(wish.client);
            match dice.below(11) {
                0..=3 => wish.uri.clone_from(dice.one(uris)),
                4 => wish.scopes = Self::some(dice, scopes),
                5 => wish.scopes = Self::some(dice, &wish.scopes.clone()),
                6 => wish.resources = self.resources(dice),
                _ => {}
            }
            wish
        };
        self.wishes.push(wish.clone());
        wish
    }

    async fn authorize(&mut self, dice: &mut Dice) -> Result<(), String> {
        let person = Self::browser(dice);
        let Wish { client: place, uri: registered, mut scopes, resources } = self.wish(dice);
        let client = self.client(place);
        let uri = match dice.below(20) {
            0 => "https://evil.example/cb".to_owned(),
            1 => format!("{ISSUER}/oauth/continue"),
            2 => format!("{registered}/more"),
            3..=5 => registered
                .replace("127.0.0.1/", "127.0.0.1:7777/")
                .replace("[::1]/", "[::1]:7778/")
                .replace("localhost/", "localhost:7779/")
                .replace("localhost:3000/", "localhost:3001/"),
            6 => (*dice.one(&NO_REDIRECTS)).to_owned(),
            _ => registered,
        };
        if dice.happens(25) {
            let more = ["wallet_proof", "wallets", "groups", "mcp:tools", "email"];
            scopes.push((*dice.one(&[&more[..], &OF_TOOLS, &OF_TOOLS, &[OF_VAULT]].concat())).to_owned());
        }
        let (state, nonce) = (self.state(), dice.happens(50).then(|| format!("n{}", self.next)));
        let has_challenge = client.secret.is_none() || dice.happens(50);
        let is_silent = dice.happens(12);
        let prompt = if is_silent {
            "none"
        } else {
            *dice.one(&["", "", "", "", "", "login", "consent", "select_account"])
        };
        let mut pairs: Pairs = [
            ("response_type", "code"),
            ("redirect_uri", &uri),
            ("scope", &scopes.join(" ")),
            ("state", &state),
            ("prompt", prompt),
            ("nonce", nonce.as_deref().unwrap_or_default()),
            ("response_mode", if dice.happens(12) { "form_post" } else { "" }),
            ("code_challenge", if has_challenge { CHALLENGE } else { "" }),
            ("code_challenge_method", if has_challenge { "S256" } else { "" }),
        ]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
        pairs.extend(resources.iter().map(|uri| ("resource".to_owned(), uri.clone())));
        let key = (client.kind == Kind::Bound).then_some("key-1");
        if client.kind == Kind::Pushing && dice.happens(90) || dice.happens(15) {
            let pushed = self.site.post_as(client, "/oauth/par", pairs, key).await;
            let Some(name) = pushed.json()["request_uri"].as_str().map(ToOwned::to_owned) else {
                return Ok(());
            };
            pairs = vec![("request_uri".to_owned(), name)];
        }
        pairs.push(("client_id".to_owned(), client.id.clone()));
        let query = Serializer::new(String::new()).extend_pairs(&pairs).finish();
        let answer = self.people[person].browser.open(self.site, &format!("/oauth/authorize?{query}")).await;
        let asked = Self::asked(client, destination(&uri), &scopes, &resources);
        self.log(format!(
            "browser {person} authorizes {:?} at {uri}: {scopes:?} for {resources:?}, {state}: {} {:?}",
            client.kind, answer.status, answer.location
        ));
        let mut pending = Pending {
            client: place,
            uri,
            state,
            asked,
            nonce,
            has_challenge,
            page: String::new(),
            device: None,
        };
        let waits = answer.location.as_deref().filter(|to| is_ours(to)).map(ToOwned::to_owned);
        if let Some(page) = waits {
            hold(is_registered(client, &pending.uri), || {
                format!("{} waits and is not registered", pending.uri)
            })?;
            hold(!pending.asked.scopes.is_empty(), || format!("{scopes:?} waits, and none may be had"))?;
            pending.page = page;
            self.people[person].pendings.push(pending);
            return Ok(());
        }
        let Some(left) = self.left(person, &pending, answer).await? else { return Ok(()) };
        hold(is_silent || left.code.is_none(), || "a code, and nobody was asked".to_owned())?;
        if let Some(secret) = left.code {
            self.agreed_before(person, &pending, secret)?;
            self.tally.count("answered without a page");
        }
        Ok(())
    }

    /// A code that was given without a new signature. The session's user must have signed all of it before,
    /// in one consent.
    fn agreed_before(&mut self, person: usize, pending: &Pending, secret: String) -> Result<(), String> {
        let user = self.people[person].signed_in.ok_or("a code, and nobody is signed in")?;
        hold(is_agreed(&self.signed, user, &pending.asked), || {
            format!("a code for {:?}, and user {user} signed {:?}", pending.asked, self.signed)
        })?;
        let Said { scopes, audiences, .. } = pending.asked.clone();
        let given = Given { client: pending.client, user, scopes, audiences, nonce: pending.nonce.clone() };
        self.codes.push(Code {
            secret,
            uri: pending.uri.clone(),
            has_challenge: pending.has_challenge,
            given,
            is_spent: false,
        });
        Ok(())
    }

    /// Reads a response that leads to the client. `None` if the browser stays with us.
    async fn left(
        &mut self,
        person: usize,
        pending: &Pending,
        answer: Answer,
    ) -> Result<Option<Left>, String> {
        let mut answer = answer;
        if let Some(to) = answer.json()["redirect_to"].as_str() {
            answer.location = Some(to.to_owned());
        }
        if answer.location.as_deref() == Some(&*format!("{ISSUER}/oauth/answer")) {
            answer = self.people[person].browser.open(self.site, "/oauth/answer").await;
        }
        let left = if let Some(to) = &answer.location {
            if is_ours(to) {
                return Ok(None);
            }
            let url = Url::parse(to).map_err(|error| format!("{to}: {error}"))?;
            Left::of(to, url.query_pairs().into_owned())
        } else {
            let outside = forms(&answer.body)
                .into_iter()
                .find(|form| form.action.contains("://") && !is_ours(&form.action));
            let Some(Form { action, fields }) = outside else { return Ok(None) };
            Left::of(&action, fields.into_iter())
        };
        let client = self.client(pending.client);
        let is_there = left.to.starts_with(&pending.uri) && is_registered(client, &pending.uri);
        hold(is_there, || format!("an answer to {}, and {} was asked", left.to, pending.uri))?;
        hold(left.state.as_deref() == Some(&pending.state), || format!("state {:?}", left.state))?;
        hold(left.issuer.as_deref() == Some(ISSUER), || format!("iss {:?}", left.issuer))?;
        Ok(Some(left))
    }

    async fn device(&mut self, dice: &mut Dice) -> Result<(), String> {
        let place = self.client_where(dice, |client| client.kind == Kind::Device);
        let client = self.client(place);
        let (scopes, resources) = (Self::some(dice, &client.scopes), self.resources(dice));
        let mut form: Pairs = vec![("scope".to_owned(), scopes.join(" "))];
        form.extend(resources.iter().map(|uri| ("resource".to_owned(), uri.clone())));
        let begun = self.site.post_as(client, "/oauth/device_authorization", form, None).await.json();
        let (Some(code), Some(user_code)) = (begun["device_code"].as_str(), begun["user_code"].as_str())
        else {
            return Ok(());
        };
        let asked = Self::asked(client, "device".to_owned(), &scopes, &resources);
        self.devices.push(Device {
            client: place,
            code: code.to_owned(),
            asked: asked.clone(),
            given: None,
            is_spent: false,
        });
        let person = Self::browser(dice);
        let browser = &mut self.people[person].browser;
        let page = browser.open(self.site, "/device").await;
        let mut fields = form_to(&page, "/device").map(|form| form.fields).unwrap_or_default();
        fields.retain(|(name, _)| name != "user_code");
        fields.push(("user_code".to_owned(), user_code.to_owned()));
        let entered = browser.submit(self.site, "/device", &fields).await;
        self.log(format!(
            "a device asks {scopes:?} for {resources:?} in browser {person}: {} {:?}",
            entered.status, entered.location
        ));
        if let Some(page) = entered.location {
            let pending = Pending {
                client: place,
                uri: format!("{ISSUER}/device/done"),
                state: user_code.to_owned(),
                asked,
                nonce: None,
                has_challenge: false,
                page,
                device: Some(self.devices.len() - 1),
            };
            self.people[person].pendings.push(pending);
        }
        Ok(())
    }

    /// Picks a request that is pending in any browser.
    fn waiting(&self, dice: &mut Dice) -> Option<(usize, usize)> {
        let places: Vec<(usize, usize)> = (0..BROWSERS)
            .flat_map(|person| (0..self.people[person].pendings.len()).map(move |place| (person, place)))
            .collect();
        let newest = places.iter().copied().rfind(|(person, _)| *person == 0);
        match newest {
            Some(newest) if dice.happens(60) => Some(newest),
            _ => (!places.is_empty()).then(|| *dice.one(&places)),
        }
    }

    /// The request that the form of a page names. On `/auth`, that is the newest.
    fn meant(&self, person: usize, fields: &[(String, String)]) -> Option<Pending> {
        let (_, state) = fields.iter().find(|(name, _)| name == "state")?;
        self.people[person].pendings.iter().find(|pending| pending.state == *state).cloned()
    }

    async fn sign(&mut self, dice: &mut Dice) -> Result<(), String> {
        let Some((person, place)) = self.waiting(dice) else { return Ok(()) };
        let pending = self.people[person].pendings[place].clone();
        let client = self.client(pending.client);
        let wallet = Self::wallet(dice);
        let address = WALLETS[wallet];
        let named = json!({
            "wallet_address": address, "client_id": client.id, "redirect_uri": pending.uri, "state": pending.state,
        });
        let request = TestRequest::post().uri("/oauth/challenge").set_json(&named);
        let issued = self.people[person].browser.send(self.site, request, From::Ours).await.json();
        let Some(text) = issued["challenge"].as_str().map(ToOwned::to_owned) else { return Ok(()) };
        let said = Said::read(&text).ok_or_else(|| format!("a text that says nothing: {text}"))?;
        let trick = dice.below(14);
        let (text, signature) = match trick {
            0 => (text.clone(), sign(WALLETS[(wallet + 1) % WALLETS.len()], &text)),
            1 => {
                let shorter = text.rsplit_once('\n').unwrap().0.to_owned();
                let signature = sign(address, &shorter);
                (shorter, signature)
            }
            2 => {
                let longer = format!("{text}\n- urn:countersign:scope:wallets");
                let signature = sign(address, &longer);
                (longer, signature)
            }
            _ => (text.clone(), sign(address, &text)),
        };
        let remember = dice.happens(75);
        let mut body = named;
        body["challenge"] = json!(text);
        body["signature"] = json!(signature);
        body["remember"] = json!(remember);
        let request = TestRequest::post()
            .uri("/oauth/login")
            .insert_header(("Accept", "application/json"))
            .set_json(&body);
        let answer = self.people[person].browser.send(self.site, request, From::Ours).await;
        let is_taken = answer.status == 200;
        self.log(format!(
            "browser {person}: {address} signs {said:?} (trick {trick}, remember {remember}): {} {}",
            answer.status, answer.body
        ));
        if !is_taken {
            return Ok(());
        }
        hold(trick > 2, || "a text or a signature was taken that is not the wallet's own".to_owned())?;
        self.tally.count("signed");
        self.people[person]
            .pendings
            .retain(|other| other.state != pending.state || other.client != pending.client);
        let user = self.users[wallet];
        if let Some(device) = pending.device
            && self.devices[device].given.is_some()
        {
            // Someone signed for the device before, so this signature changes nothing.
            return Ok(());
        }
        self.signed.push(Signed { user, said: said.clone(), stands: true });
        if remember {
            self.people[person].signed_in = Some(user);
        }
        hold(said.client == client.in_texts, || format!("the text names client {}", said.client))?;
        hold(said.destination == pending.asked.destination, || {
            format!("the text leads to {}", said.destination)
        })?;
        hold(said.scopes == pending.asked.scopes, || {
            format!("the text names {:?}, and {:?} may be had", said.scopes, pending.asked.scopes)
        })?;
        if said.audiences.contains(TOOLS) {
            self.tally.count("tools");
        }
        if said.destination.starts_with("http://localhost:777") || said.destination == "cursor:/" {
            self.tally.count("a program's own address");
        }
        let both = |ours: &Words, theirs: &Words| ours.intersection(theirs).cloned().collect::<Words>();
        let given = Given {
            client: pending.client,
            user,
            scopes: both(&said.scopes, &pending.asked.scopes),
            audiences: both(&said.audiences, &pending.asked.audiences),
            nonce: pending.nonce.clone(),
        };
        if let Some(device) = pending.device {
            self.devices[device].given = Some(given);
            return Ok(());
        }
        if let Some(Left { code: Some(secret), .. }) = self.left(person, &pending, answer).await? {
            let (uri, has_challenge) = (pending.uri, pending.has_challenge);
            self.codes.push(Code { secret, uri, has_challenge, given, is_spent: false });
        }
        Ok(())
    }

    /// Presses Continue. Sometimes the form of one request is changed to name another.
    async fn go_on(&mut self, dice: &mut Dice) -> Result<(), String> {
        let Some((person, place)) = self.waiting(dice) else { return Ok(()) };
        let page = target(&self.people[person].pendings[place].page).to_owned();
        let page = self.people[person].browser.open(self.site, &page).await;
        let Some(Form { mut fields, .. }) = form_to(&page, "/oauth/continue") else { return Ok(()) };
        let Some(pending) = self.meant(person, &fields) else { return Ok(()) };
        let others = &self.people[person].pendings;
        let other =
            Some(dice.one(others).clone()).filter(|other| dice.happens(20) && other.state != pending.state);
        if let Some(other) = &other {
            fields.retain(|(name, _)| !["client_id", "redirect_uri", "state"].contains(&name.as_str()));
            let client = self.client(other.client).id.clone();
            fields.extend([
                ("client_id".to_owned(), client),
                ("redirect_uri".to_owned(), other.uri.clone()),
                ("state".to_owned(), other.state.clone()),
            ]);
        }
        let answer = self.people[person].browser.submit(self.site, "/oauth/continue", &fields).await;
        self.log(format!(
            "browser {person} goes on to {:?}{}: {} {:?}",
            pending.asked,
            if other.is_some() { " with the form of another" } else { "" },
            answer.status,
            answer.location
        ));
        let answered = other.clone().unwrap_or_else(|| pending.clone());
        let to_device = answered
            .device
            .filter(|_| answer.location.as_deref().is_some_and(|to| to.ends_with("/device/done")));
        let Some(left) = self.left(person, &answered, answer).await? else {
            if let Some(device) = to_device.filter(|device| self.devices[*device].given.is_none()) {
                let user =
                    self.people[person].signed_in.ok_or("a device is answered, and nobody is signed in")?;
                hold(is_agreed(&self.signed, user, &answered.asked), || {
                    format!("a device gets {:?}, and user {user} signed {:?}", answered.asked, self.signed)
                })?;
                let Said { scopes, audiences, .. } = answered.asked.clone();
                let given = Given { client: answered.client, user, scopes, audiences, nonce: None };
                self.devices[device].given = Some(given);
                self.tally.count("device continued");
            }
            return Ok(());
        };
        let Some(secret) = left.code else { return Ok(()) };
        hold(other.is_none(), || "the form of one request answered another".to_owned())?;
        self.tally.count("continued");
        self.people[person].pendings.retain(|other| other.state != answered.state);
        self.agreed_before(person, &answered, secret)
    }

    async fn deny(&mut self, dice: &mut Dice) -> Result<(), String> {
        let Some((person, place)) = self.waiting(dice) else { return Ok(()) };
        let page = target(&self.people[person].pendings[place].page).to_owned();
        let page = self.people[person].browser.open(self.site, &page).await;
        let Some(form) = form_to(&page, "/oauth/deny") else { return Ok(()) };
        let Some(pending) = self.meant(person, &form.fields) else { return Ok(()) };
        let answer = self.people[person].browser.submit(self.site, "/oauth/deny", &form.fields).await;
        self.log(format!(
            "browser {person} denies {:?}: {} {:?}",
            pending.asked, answer.status, answer.location
        ));
        if let Some(left) = self.left(person, &pending, answer).await? {
            hold(left.code.is_none(), || "a code for who denied".to_owned())?;
            self.tally.count("denied");
            self.people[person].pendings.retain(|other| other.state != pending.state);
        }
        Ok(())
    }

    async fn redeem(&mut self, dice: &mut Dice) -> Result<(), String> {
        if self.codes.is_empty() {
            return Ok(());
        }
        let place = if dice.happens(60) { self.codes.len() - 1 } else { dice.below(self.codes.len()) };
        let code = self.codes[place].clone();
        let own = code.given.client;
        let by = if dice.happens(88) { own } else { dice.below(self.site.clients.len()) };
        let uri =
            if dice.happens(92) { code.uri.as_str() } else { *dice.one(&["https://evil.example/cb", ""]) };
        let verifier = match dice.below(12) {
            0 => None,
            1 => Some("wrong-wrong-wrong-wrong-wrong-wrong-wrong-wrong"),
            _ if code.has_challenge => Some(VERIFIER),
            _ => None,
        };
        let grant_type = if dice.happens(92) { "authorization_code" } else { DEVICE_GRANT };
        let resources = self.narrowed(dice, &code.given);
        let key = if self.client(by).kind == Kind::Bound {
            dice.happens(90).then_some("key-1")
        } else {
            dice.happens(12).then_some("key-2")
        };
        let mut form: Pairs = vec![("grant_type".to_owned(), grant_type.to_owned())];
        let name = if grant_type == DEVICE_GRANT { "device_code" } else { "code" };
        form.push((name.to_owned(), code.secret.clone()));
        form.push(("redirect_uri".to_owned(), uri.to_owned()));
        form.extend(verifier.map(|verifier| ("code_verifier".to_owned(), verifier.to_owned())));
        form.extend(resources.iter().map(|uri| ("resource".to_owned(), uri.clone())));
        let answer = self.site.post_as(self.client(by), "/oauth/token", form, key).await;
        self.log(format!(
            "{:?} redeems code {place} ({grant_type}, {uri:?}, {verifier:?}, for {resources:?}, {key:?}): {} {}",
            self.client(by).kind,
            answer.status,
            answer.body
        ));
        if answer.status != 200 {
            return Ok(());
        }
        hold(by == own, || "another client redeemed a code".to_owned())?;
        hold(uri == code.uri, || "a code was redeemed with another redirect URI".to_owned())?;
        hold(grant_type != DEVICE_GRANT, || "a browser's code was redeemed as a device's".to_owned())?;
        hold(!code.is_spent, || "a code was redeemed twice".to_owned())?;
        let is_proven = if code.has_challenge { verifier == Some(VERIFIER) } else { verifier.is_none() };
        hold(is_proven, || "a code was redeemed without its verifier".to_owned())?;
        self.codes[place].is_spent = true;
        self.tally.count("redeemed");
        self.issued(&answer.json(), code.given, key, &resources).await
    }

    /// Resources for a token request: mostly none or granted ones, and sometimes others.
    fn narrowed(&self, dice: &mut Dice, given: &Given) -> Vec<String> {
        match dice.below(10) {
            0..=4 => Vec::new(),
            5 | 6 => given.audiences.iter().filter(|_| dice.happens(60)).cloned().collect(),
            _ => self.resources(dice),
        }
    }

    /// Checks tokens that were issued, and remembers them.
    async fn issued(
        &mut self,
        answer: &Value,
        given: Given,
        key: Option<&'static str>,
        resources: &[String],
    ) -> Result<(), String> {
        let client = self.client(given.client);
        let tokens = Tokens::judge(answer, client, &given.scopes, &given.audiences, given.nonce.as_deref())?;
        hold(tokens.is_bound == key.is_some(), || {
            "a proof of a key, and the token is not bound to it".to_owned()
        })?;
        hold(client.kind != Kind::Bound || tokens.is_bound, || "a token without a key".to_owned())?;
        let mut named: Words = resources.iter().cloned().collect();
        if given.scopes.contains("openid") {
            named.insert(ISSUER.to_owned());
        }
        hold(resources.is_empty() || tokens.audiences.is_subset(&named), || {
            format!("aud {:?}, and the client asked for {resources:?}", tokens.audiences)
        })?;
        self.is_called(given.user, &tokens.sub)?;
        if !tokens.is_bound {
            let request = TestRequest::get()
                .uri("/oauth/userinfo")
                .insert_header(("Authorization", format!("Bearer {}", tokens.access)));
            let told = self.site.send(request).await;
            if told.status == 200 {
                let sub = told.json()["sub"].clone();
                hold(sub == tokens.sub.as_str(), || format!("userinfo is about {sub}"))?;
                hold(tokens.audiences.contains(ISSUER), || {
                    format!("userinfo took a token for {:?}", tokens.audiences)
                })?;
            }
        }
        self.families.push(Family { given, tokens, key, rotated: Vec::new() });
        Ok(())
    }

    /// Checks that a user keeps the same `sub`, and that no other user has it.
    fn is_called(&mut self, user: usize, sub: &str) -> Result<(), String> {
        let known = self.subs.entry(user).or_insert_with(|| sub.to_owned()).clone();
        hold(known == sub, || format!("user {user} is called {sub}, and was {known}"))?;
        let namesake = self.subs.iter().find(|(other, name)| **other != user && *name == sub);
        hold(namesake.is_none(), || format!("users {user} and {namesake:?} have one name"))
    }

    async fn poll(&mut self, dice: &mut Dice) -> Result<(), String> {
        if self.devices.is_empty() {
            return Ok(());
        }
        let place = dice.below(self.devices.len());
        let own = self.devices[place].client;
        let by = if dice.happens(90) { own } else { dice.below(self.site.clients.len()) };
        let as_device = dice.happens(75);
        let given = self.devices[place].given.clone();
        let resources = match &given {
            Some(given) => self.narrowed(dice, given),
            None => Vec::new(),
        };
        let mut form: Pairs = if as_device {
            vec![
                ("grant_type".to_owned(), DEVICE_GRANT.to_owned()),
                ("device_code".to_owned(), self.devices[place].code.clone()),
            ]
        } else {
            vec![
                ("grant_type".to_owned(), "authorization_code".to_owned()),
                ("code".to_owned(), self.devices[place].code.clone()),
                ("redirect_uri".to_owned(), format!("{ISSUER}/device/done")),
            ]
        };
        form.extend(resources.iter().map(|uri| ("resource".to_owned(), uri.clone())));
        let answer = self.site.post_as(self.client(by), "/oauth/token", form, None).await;
        self.log(format!(
            "{:?} polls device {place} (as device: {as_device}, for {resources:?}): {} {}",
            self.client(by).kind,
            answer.status,
            answer.body
        ));
        if answer.status != 200 {
            return Ok(());
        }
        hold(as_device, || "a device's code was redeemed as a browser's".to_owned())?;
        hold(by == own, || "another client redeemed a device's code".to_owned())?;
        hold(!self.devices[place].is_spent, || "a device's code was redeemed twice".to_owned())?;
        let given = given.ok_or_else(|| {
            format!("a device got tokens, and nobody answered {:?}", self.devices[place].asked)
        })?;
        self.devices[place].is_spent = true;
        self.tally.count("device redeemed");
        self.issued(&answer.json(), given, None, &resources).await
    }

    async fn refresh(&mut self, dice: &mut Dice) -> Result<(), String> {
        let refreshable: Vec<usize> =
            (0..self.families.len()).filter(|place| self.families[*place].tokens.refresh.is_some()).collect();
        if refreshable.is_empty() {
            return Ok(());
        }
        let place = *dice.one(&refreshable);
        let Family { given, tokens, key, rotated } = &self.families[place];
        let (given, key) = (given.clone(), *key);
        let current = tokens.refresh.clone().unwrap();
        let token =
            if rotated.is_empty() || dice.happens(85) { current.clone() } else { dice.one(rotated).clone() };
        let by = if dice.happens(88) { given.client } else { dice.below(self.site.clients.len()) };
        let scope = match dice.below(4) {
            0 => {
                let all: Vec<String> = given.scopes.iter().cloned().collect();
                if all.is_empty() { None } else { Some(Self::some(dice, &all)) }
            }
            1 => {
                Some(words("openid profile email wallets").into_iter().filter(|_| dice.happens(60)).collect())
            }
            _ => None,
        };
        // A parameter without a value counts as omitted (RFC 6749 section 3.2).
        let scope: Option<Vec<String>> = scope.filter(|scope: &Vec<String>| !scope.is_empty());
        let resources = self.narrowed(dice, &given);
        let mut form: Pairs = vec![
            ("grant_type".to_owned(), "refresh_token".to_owned()),
            ("refresh_token".to_owned(), token.clone()),
        ];
        form.extend(scope.as_ref().map(|scope| ("scope".to_owned(), scope.join(" "))));
        form.extend(resources.iter().map(|uri| ("resource".to_owned(), uri.clone())));
        let answer = self.site.post_as(self.client(by), "/oauth/token", form, key).await;
        self.log(format!(
            "{:?} refreshes family {place} ({scope:?}, for {resources:?}): {} {}",
            self.client(by).kind,
            answer.status,
            answer.body
        ));
        if answer.status != 200 {
            return Ok(());
        }
        hold(by == given.client, || "another client refreshed".to_owned())?;
        self.tally.count("refreshed");
        let mut narrower = given.clone();
        // After a refresh, an ID token has the nonce of the first one, or none.
        let answer = answer.json();
        if let Some(scope) = scope {
            narrower.scopes.retain(|known| scope.contains(known));
        }
        let id_token_free = without_id_token(&answer);
        self.issued(&id_token_free, narrower, key, &resources).await?;
        let newest = self.families.pop().unwrap();
        let family = &mut self.families[place];
        family.rotated.push(token);
        family.tokens = newest.tokens;
        if family.tokens.refresh.is_none() {
            family.tokens.refresh = Some(current);
        }
        Ok(())
    }

    async fn program(&mut self, dice: &mut Dice) -> Result<(), String> {
        let place = self.client_where(dice, |client| client.kind == Kind::Headless);
        let client = self.client(place);
        let wallet = dice.below(WALLETS.len());
        let (scopes, resources) = (Self::some(dice, &client.scopes), self.resources(dice));
        let asked = json!({
            "client_id": client.id, "wallet_address": WALLETS[wallet], "scope": scopes.join(" "), "resource": resources,
        });
        let request = TestRequest::post().uri("/oauth/challenge").set_json(&asked);
        let issued = self.site.send(request).await.json();
        let Some(text) = issued["challenge"].as_str() else { return Ok(()) };
        let said = Said::read(text).ok_or_else(|| format!("a text that says nothing: {text}"))?;
        hold(said.destination == "program", || format!("a program's text leads to {}", said.destination))?;
        let given = Given {
            client: place,
            user: self.users[wallet],
            scopes: said.scopes.clone(),
            audiences: said.audiences.clone(),
            nonce: None,
        };
        let narrowed = self.narrowed(dice, &given);
        let is_own = dice.happens(85);
        let by = if is_own { place } else { self.client_where(dice, |client| client.kind == Kind::Operator) };
        let mut form: Pairs = vec![
            ("grant_type".to_owned(), WALLET_GRANT.to_owned()),
            ("challenge".to_owned(), text.to_owned()),
            ("signature".to_owned(), sign(WALLETS[wallet], text)),
        ];
        form.extend(narrowed.iter().map(|uri| ("resource".to_owned(), uri.clone())));
        let answer = self.site.post_as(self.client(by), "/oauth/token", form, None).await;
        self.log(format!("a program: {said:?}, for {narrowed:?}: {} {}", answer.status, answer.body));
        if answer.status != 200 {
            return Ok(());
        }
        hold(by == place, || "another client took the text of a program".to_owned())?;
        self.tally.count("program");
        self.signed.push(Signed { user: given.user, said, stands: true });
        self.issued(&answer.json(), given, None, &narrowed).await
    }

    async fn of_itself(&mut self, dice: &mut Dice) -> Result<(), String> {
        let place = self.client_where(dice, |client| {
            matches!(client.kind, Kind::Headless | Kind::Resource | Kind::Impostor | Kind::Operator)
        });
        let client = self.client(place);
        let resources = self.resources(dice);
        let mut form: Pairs = vec![("grant_type".to_owned(), "client_credentials".to_owned())];
        form.extend(resources.iter().map(|uri| ("resource".to_owned(), uri.clone())));
        let answer = self.site.post_as(client, "/oauth/token", form, None).await;
        self.log(format!(
            "{:?} asks for itself, for {resources:?}: {} {}",
            client.kind, answer.status, answer.body
        ));
        if answer.status != 200 {
            return Ok(());
        }
        self.tally.count("of itself");
        // Nobody signs, so the token can only be for resources that the operator opened to this client by
        // name and that the client asked for, and for the issuer.
        let mut asked: Words = resources.iter().cloned().collect();
        if asked.is_empty() {
            asked.insert(ISSUER.to_owned());
        }
        asked.retain(|audience| audience == ISSUER || (audience == NAMED && client.may_be_for(NAMED)));
        let tokens = Tokens::judge(&answer.json(), client, &Words::new(), &asked, None)?;
        hold(tokens.sub == client.id, || format!("a client's own token is about {}", tokens.sub))?;
        hold(tokens.refresh.is_none(), || "a client's own token can be refreshed".to_owned())
    }

    async fn ask_about(&mut self, dice: &mut Dice) -> Result<(), String> {
        if self.families.is_empty() {
            return Ok(());
        }
        let Family { given, tokens, .. } = &self.families[dice.below(self.families.len())];
        let (own, tokens) = (given.client, tokens.clone());
        let asks_as_resource = dice.happens(60);
        let by = self.client_where(dice, |client| {
            let says_so = matches!(client.kind, Kind::Resource | Kind::Impostor);
            client.secret.is_some() && (says_so || !asks_as_resource)
        });
        let client = self.client(by);
        let form: Pairs = vec![("token".to_owned(), tokens.access.clone())];
        let told = self.site.post_as(client, "/oauth/introspect", form, None).await.json();
        self.log(format!("{:?} asks about a token for {:?}: {told}", client.kind, tokens.audiences));
        if told["active"] != true {
            return Ok(());
        }
        self.tally.count("introspected");
        let is_its_resource = client.kind == Kind::Resource && tokens.audiences.contains(OPEN);
        hold(by == own || is_its_resource, || {
            format!("{:?} was told about a token of another", client.kind)
        })?;
        hold(told["sub"] == tokens.sub.as_str(), || format!("it was told of {}", told["sub"]))?;
        hold(words(told["scope"].as_str().unwrap_or_default()) == tokens.scopes, || {
            format!("it was told of scope {}", told["scope"])
        })
    }

    async fn take_back(&mut self, dice: &mut Dice) -> Result<(), String> {
        let signed_in: Vec<usize> =
            (0..BROWSERS).filter(|person| self.people[*person].signed_in.is_some()).collect();
        if signed_in.is_empty() {
            return Ok(());
        }
        let person = *dice.one(&signed_in);
        let user = self.people[person].signed_in.unwrap();
        let page = self.people[person].browser.open(self.site, "/account").await;
        let apps: Vec<Form> = forms(&page.body)
            .into_iter()
            .filter(|form| form.action.ends_with("/account/apps/revoke"))
            .collect();
        if apps.is_empty() {
            return Ok(());
        }
        let form = dice.one(&apps).clone();
        let Some((_, client)) = form.fields.iter().find(|(name, _)| name == "client_id") else {
            return Ok(());
        };
        let before = self.site.storage.snapshot();
        let answer =
            self.people[person].browser.submit(self.site, "/account/apps/revoke", &form.fields).await;
        self.log(format!("browser {person} takes {client} back: {} {:?}", answer.status, answer.location));
        if !self.site.storage.is_as(&before) {
            self.tally.count("taken back");
            for signed in &mut self.signed {
                signed.stands &= !(signed.user == user && signed.said.client == *client);
            }
        }
        Ok(())
    }

    /// Links an unused wallet to a user, with two signatures and no cookie.
    async fn link(&mut self, dice: &mut Dice) -> Result<(), String> {
        let signer = dice.below(WALLETS.len());
        let is_new = |wallet: &usize| !self.signed.iter().any(|signed| signed.user == self.users[*wallet]);
        let fresh: Vec<usize> =
            (0..WALLETS.len()).filter(|wallet| *wallet != signer && is_new(wallet)).collect();
        if fresh.is_empty() || is_new(&signer) {
            return Ok(());
        }
        let other = *dice.one(&fresh);
        let mut browser = Browser::default();
        let asked = json!({
            "change": "link", "wallet_address": WALLETS[signer], "other_wallet_address": WALLETS[other],
        });
        let request = TestRequest::post().uri("/account/wallets/challenge").set_json(&asked);
        let texts = browser.send(self.site, request, From::Ours).await.json();
        let text = |name: &str| texts[name].as_str().unwrap_or_default().to_owned();
        let (one, two) = (text("challenge"), text("other_challenge"));
        let is_honest = dice.happens(80);
        let by = if is_honest { WALLETS[signer] } else { WALLETS[other] };
        let signed = json!({
            "challenge": one, "signature": sign(by, &one), "form": texts["form"],
            "other_challenge": two, "other_signature": sign(WALLETS[other], &two),
        });
        let request = TestRequest::post().uri("/account/wallets/link").set_json(&signed);
        let answer = browser.send(self.site, request, From::Ours).await;
        self.log(format!(
            "{} links {} (honest {is_honest}): {} {}",
            WALLETS[signer], WALLETS[other], answer.status, answer.body
        ));
        if answer.status != 200 {
            return Ok(());
        }
        hold(is_honest, || "a wallet was linked, and its user did not sign".to_owned())?;
        self.tally.count("linked");
        self.users[other] = self.users[signer];
        let sub = answer.json()["sub"].as_str().unwrap_or_default().to_owned();
        self.is_called(self.users[signer], &sub)
    }

    async fn sign_out(&mut self, dice: &mut Dice) -> Result<(), String> {
        let person = Self::browser(dice);
        let browser = &mut self.people[person].browser;
        let page = browser.open(self.site, "/oauth/logout").await;
        let Some(mut form) = form_to(&page, "/oauth/logout") else { return Ok(()) };
        // The button's own name and value.
        form.fields.push(("confirm".to_owned(), "yes".to_owned()));
        let before = self.site.storage.snapshot();
        browser.submit(self.site, "/oauth/logout", &form.fields).await;
        if !self.site.storage.is_as(&before) {
            self.people[person].signed_in = None;
            self.tally.count("signed out");
            self.log(format!("browser {person} signs out"));
        }
        Ok(())
    }

    /// Another site makes a user's browser send whatever the site likes, with all cookies. Nothing may
    /// change, and no code may be given. The site knows everything that a page shows except the secret of the
    /// page. It has secrets of its own pages.
    async fn attack(&mut self, dice: &mut Dice) -> Result<(), String> {
        let victims: Vec<usize> =
            (0..BROWSERS).filter(|person| !self.people[*person].browser.cookies.is_empty()).collect();
        if victims.is_empty() {
            return Ok(());
        }
        let person = *dice.one(&victims);
        let own_secret = self.secret_of_attacker(dice).await;
        let Endpoint { path, allow, .. } = dice.one(&WITH_SESSION);
        let (path, methods): (&str, Vec<&str>) = (path, allow.split(", ").collect());
        let method = *dice.one(&methods);
        let from = *dice.one(&[From::Elsewhere, From::Null, From::Ours, From::Nowhere]);
        let mut fields = self.known_fields(person, dice);
        match dice.below(4) {
            0 => fields.extend(own_secret.map(|secret| ("form".to_owned(), secret))),
            1 => fields.push(("form".to_owned(), String::new())),
            2 => fields.push(("form".to_owned(), "AAAAAAAAAAAAAAAAAAAAAA".to_owned())),
            _ => {}
        }
        let accept = *dice.one(&["text/html", "application/json", "*/*"]);
        let as_json = dice.happens(30);
        let request = match method {
            "POST" if as_json => {
                let object: serde_json::Map<String, Value> =
                    fields.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
                TestRequest::post().uri(path).set_json(Value::Object(object))
            }
            "POST" => TestRequest::post().uri(path).set_form(&fields),
            _ => {
                let query = Serializer::new(String::new()).extend_pairs(&fields).finish();
                TestRequest::default().method(Method::GET).uri(&format!("{path}?{query}"))
            }
        };
        let before = self.site.storage.snapshot();
        let browser = self.people[person].browser.clone();
        let mut copy = browser.clone();
        let answer = copy.send(self.site, request.insert_header(("Accept", accept)), from).await;
        self.tally.count("attack");
        let line = format!(
            "another site has browser {person} send {method} {path} ({from:?}, {accept}) {fields:?}: {} {:?}",
            answer.status, answer.location
        );
        self.log(line.clone());
        hold(self.site.storage.is_as(&before), || format!("something changed: {line}"))?;
        // A response for a client is shown once, goes to the client's own URL, and to nobody else.
        let is_on_its_way = path == "/oauth/answer";
        let gives_code =
            answer.location.iter().chain([&answer.body]).any(|text| {
                text.contains("?code=") || text.contains("&code=") || text.contains("name=\"code\"")
            });
        hold(is_on_its_way || !gives_code, || format!("a code was given: {line}"))?;
        // Nothing is lost by opening pages and asking for texts. A form that may not do something may not
        // change the cookies either. If nobody is signed in, there is nothing that a page could be bound to.
        // Then it is allowed to ask for a sign-in or a text, as a program without cookies may do too.
        let is_signed_in = browser.cookies.keys().any(|name| name.contains("login"));
        let is_free = method != "POST"
            || ["/oauth/authorize", "/oauth/challenge", "/oauth/login"].contains(&path)
            || (!is_signed_in && ["/account/sign-in", "/account/wallets/challenge"].contains(&path));
        hold(is_free || answer.cookies.is_empty(), || format!("cookies changed {:?}: {line}", answer.cookies))
    }

    /// A secret that another browser got from a page of ours.
    async fn secret_of_attacker(&mut self, dice: &mut Dice) -> Option<String> {
        let target = *dice.one(&["/account", "/device", "/oauth/logout", "/auth"]);
        let page = self.attacker.open(self.site, target).await;
        let page = match page.location {
            Some(to) if is_ours(&to) || to.starts_with('/') => {
                self.attacker.open(self.site, self::target(&to)).await
            }
            _ => page,
        };
        let mut fields = forms(&page.body).into_iter().flat_map(|form| form.fields);
        fields.find(|(name, _)| name == "form").map(|(_, value)| value)
    }

    /// Everything that an outsider may know or guess, for all endpoints at once.
    fn known_fields(&self, person: usize, dice: &mut Dice) -> Pairs {
        let mut fields: Vec<(&str, String)> = vec![
            ("session", (*dice.one(&["this", "all"])).to_owned()),
            ("confirm", "yes".to_owned()),
            ("email", "evil@evil.example".to_owned()),
            ("change", (*dice.one(&["link", "unlink"])).to_owned()),
            ("wallet_address", (*dice.one(&WALLETS)).to_owned()),
            ("other_wallet_address", (*dice.one(&WALLETS)).to_owned()),
            ("token", "x".to_owned()),
        ];
        let pendings = &self.people[person].pendings;
        if pendings.is_empty() || dice.happens(30) {
            let client = self.client(dice.below(self.site.clients.len()));
            fields.push(("client_id", client.id.clone()));
        } else {
            let pending = dice.one(pendings);
            fields.push(("client_id", self.client(pending.client).id.clone()));
            fields.push(("redirect_uri", pending.uri.clone()));
            fields.push(("state", pending.state.clone()));
            if pending.device.is_some() {
                fields.push(("user_code", pending.state.clone()));
            }
        }
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    async fn wait(&mut self, dice: &mut Dice) -> Result<(), String> {
        let seconds = *dice.one(&[1, 10, 59, 61, 299, 301, 1_801, 3_601, 90_000, 2_600_000]);
        self.site.clock.advance(Duration::seconds(seconds));
        if dice.happens(50) {
            let (context, past) = (&self.site.context, fixtures::past(self.site.clock.now() - MARGIN));
            let told = |error: StoreError| error.to_string();
            purge_expired(context, past).await.map_err(told)?;
            forget_unused_users(context, OffsetDateTime::UNIX_EPOCH, past, Duration::days(7))
                .await
                .map_err(told)?;
            forget_unused_documents(context, past, None).await.map_err(told)?;
        }
        self.log(format!("{seconds} seconds go by"));
        Ok(())
    }
}

/// A response that reached the client.
struct Left {
    to: String,
    code: Option<String>,
    state: Option<String>,
    issuer: Option<String>,
}

impl Left {
    fn of(to: &str, pairs: impl Iterator<Item = (String, String)>) -> Self {
        let mut left = Self { to: to.to_owned(), code: None, state: None, issuer: None };
        for (name, value) in pairs {
            match name.as_str() {
                "code" => left.code = Some(value),
                "state" => left.state = Some(value),
                "iss" => left.issuer = Some(value),
                _ => {}
            }
        }
        left
    }
}

fn without_id_token(answer: &Value) -> Value {
    let mut answer = answer.clone();
    if let Some(members) = answer.as_object_mut() {
        members.remove("id_token");
    }
    answer
}

fn is_ours(address: &str) -> bool {
    address.starts_with('/') || address == ISSUER || address.starts_with(&format!("{ISSUER}/"))
}

/// The path and query of an address of ours.
fn target(address: &str) -> &str {
    address.strip_prefix(ISSUER).unwrap_or(address)
}

pub(super) fn form_to(page: &Answer, path: &str) -> Option<Form> {
    forms(&page.body)
        .into_iter()
        .find(|form| form.action.split('?').next().is_some_and(|action| action.ends_with(path)))
}
