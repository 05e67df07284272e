//! The desk in random sequences: operators ask for changes and sign them, rightly or not, and lose and get back what makes
//! them operators. What must hold is in [`Governed`]: nothing of it changes unless an operator's wallet signed the text of
//! this change, and each change that was made has one such text in its event.

use std::collections::BTreeSet;
use std::fmt::Debug;

use actix_web::test::TestRequest;
use countersign_domain::desk::operators::{DeskPolicy, Quorum};
use countersign_domain::group::GroupName;
use countersign_domain::subject::Subject;
use countersign_http_actix::DeskPlace;
use countersign_operators::people::add_members::add_members;
use countersign_operators::people::groups::create_group;
use countersign_operators::people::remove_members::remove_members;
use countersign_ports::{Clock, EventFilter, EventOrder, EventPage};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::dice::Dice;
use super::governed::{Change, Governed};
use super::model::hold;
use super::walk::{Tally, WALLETS, form_to};
use crate::desk::PLACES;
use crate::desk::tests::routes;
use crate::site::{Answer, Browser, From, ISSUER, Kind, Site, forms, sign, wallet};

/// Operators: one by the settings, two by their group.
const OPERATORS: [&str; 3] = ["toy-ada", "toy-gil", "toy-hal"];
const BY_SETTINGS: [&str; 1] = ["toy-ada"];
const BY_GROUP: [&str; 2] = ["toy-gil", "toy-hal"];
/// The group whose members are operators.
const ADMINS: &str = "operators";
/// The groups that changes are about.
const GROUPS: [&str; 4] = ["staff", "guests", "night", ADMINS];

type Pairs = Vec<(String, String)>;

/// A server with a desk and its operators.
pub(super) async fn site() -> Site {
    let admins = BY_SETTINGS.map(wallet).to_vec();
    let group = Some(GroupName::parse(ADMINS).unwrap());
    let policy = DeskPolicy { admins, group, quorum: Quorum::One };
    let mut site = Site::with(ISSUER, Some((policy, routes(DeskPlace::Public)))).await;
    for (name, members) in [(ADMINS, &BY_GROUP[..]), ("staff", &["toy-ann"])] {
        let name = GroupName::parse(name).unwrap();
        create_group(site.context.management(), name.clone(), None, &[]).await.unwrap();
        let members = members.iter().map(|address| Subject::Wallet(wallet(address))).collect();
        add_members(site.context.management(), &name, members).await.unwrap();
    }
    site.base = site.storage.snapshot();
    site
}

/// The browser of an operator.
#[derive(Debug, Default)]
struct Seat {
    browser: Browser,
    /// The secret of the desk's forms that the browser saw last.
    secret: String,
}

/// A text that the desk gave to an operator.
#[derive(Clone, Debug)]
struct Text {
    seat: usize,
    text: String,
    change: Change,
    expires_at: OffsetDateTime,
    /// The secret of the form that sends it.
    form: String,
    /// The browser as it was then, which can keep its cookies.
    browser: Browser,
    is_used: bool,
}

impl Text {
    fn wallet(&self) -> &'static str {
        OPERATORS[self.seat]
    }

    fn signature(&self) -> String {
        sign(self.wallet(), &self.text)
    }
}

/// What is sent to the desk to have a change made.
struct Sent {
    seat: usize,
    fields: Pairs,
    path: &'static str,
    from: From,
    /// The cookies of an earlier moment.
    cookies: Option<Browser>,
}

impl Sent {
    fn set(&mut self, name: &str, value: String) {
        self.fields.retain(|(given, _)| given != name);
        self.fields.push((name.to_owned(), value));
    }

    fn value(&self, name: &str) -> &str {
        self.fields.iter().find(|(given, _)| given == name).map_or("", |(_, value)| value.as_str())
    }
}

pub(super) struct Desk<'a> {
    site: &'a Site,
    seats: [Seat; OPERATORS.len()],
    /// Every text, the newest last.
    texts: Vec<Text>,
    /// What is so by what was signed, and by what was done at the command line.
    governed: Governed,
    /// The texts of the changes that were made.
    made: Vec<String>,
    next: u32,
}

impl<'a> Desk<'a> {
    pub(super) async fn new(site: &'a Site) -> Self {
        Self {
            site,
            seats: Default::default(),
            texts: Vec::new(),
            governed: Self::found(site).await,
            made: Vec::new(),
            next: 0,
        }
    }

    async fn found(site: &Site) -> Governed {
        Governed::read(site, &[&WALLETS[..], &OPERATORS].concat()).await
    }

    fn is_operator(&self, seat: usize) -> bool {
        self.governed.is_operator(OPERATORS[seat], &BY_SETTINGS, ADMINS)
    }

    /// Checks that everything is as the model says. That is so after every step, not only after those of the desk.
    pub(super) async fn hold(&self) -> Result<(), String> {
        let found = Self::found(self.site).await;
        hold(found == self.governed, || format!("{}, and no operator signed it", self.difference(&found)))
    }

    fn difference(&self, found: &Governed) -> String {
        fn between<T: PartialEq + Debug>(what: &str, was: &T, is: &T) -> String {
            if was == is { String::new() } else { format!("{what} were {was:?} and are {is:?}; ") }
        }
        let Governed { groups, clients, blocked } = &self.governed;
        let [groups, clients, blocked] = [
            between("groups", groups, &found.groups),
            between("clients", clients, &found.clients),
            between("blocked wallets", blocked, &found.blocked),
        ];
        format!("{groups}{clients}{blocked}")
    }

    /// An operator asks for the text of a change.
    pub(super) async fn ask(
        &mut self,
        dice: &mut Dice,
        trace: &mut Vec<String>,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let seat = if dice.happens(40) { 0 } else { dice.below(OPERATORS.len()) };
        self.open(seat).await;
        let fields = self.wish(dice);
        let from = if dice.happens(92) { From::Ours } else { *dice.one(&[From::Elsewhere, From::Null]) };
        let mut sent = vec![("form".to_owned(), self.seats[seat].secret.clone())];
        sent.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let before = self.site.storage.snapshot();
        let request = TestRequest::post().uri("/admin/changes").set_form(&sent);
        let answer = self.seats[seat].browser.send(self.site, request, from).await;
        trace.push(format!("{} asks for {fields:?} ({from:?}): {}", OPERATORS[seat], answer.status));
        hold(self.site.storage.is_as(&before), || "asking for a text changed something".to_owned())?;
        let Some((form, text)) = to_sign(&answer) else { return Ok(()) };
        hold(from == From::Ours, || "another site got a text of the desk".to_owned())?;
        hold(self.is_operator(seat), || format!("{} got a text, and is no operator", OPERATORS[seat]))?;
        let change = Change::read(&text).ok_or_else(|| format!("a text without a change: {text}"))?;
        let names_signer = text.lines().nth(1).is_some_and(|line| line.contains(OPERATORS[seat]));
        hold(names_signer, || format!("a text for another wallet: {text}"))?;
        says_what_was_asked(&change, &fields)?;
        let ends = text.lines().find_map(|line| line.strip_prefix("Expiration Time: "));
        let expires_at = ends.and_then(|time| OffsetDateTime::parse(time, &Rfc3339).ok());
        let expires_at = expires_at.ok_or_else(|| format!("a text that never ends: {text}"))?;
        let browser = self.seats[seat].browser.clone();
        self.texts.push(Text { seat, text, change, expires_at, form, browser, is_used: false });
        tally.count("asked at the desk");
        Ok(())
    }

    /// Opens a page of the desk, after a sign-in if it needs one.
    async fn open(&mut self, seat: usize) {
        for is_signed_in in [false, true] {
            let page = self.seats[seat].browser.open(self.site, "/admin/wallets").await;
            let secret = form_to(&page, "/admin/changes").and_then(|form| {
                form.fields.into_iter().find(|(name, _)| name == "form").map(|(_, value)| value)
            });
            if let Some(secret) = secret {
                self.seats[seat].secret = secret;
                return;
            }
            if !is_signed_in {
                self.sign_in(seat).await;
            }
        }
    }

    async fn sign_in(&mut self, seat: usize) {
        let (address, browser) = (OPERATORS[seat], &mut self.seats[seat].browser);
        browser.open(self.site, "/account").await;
        let post = |path: &str, body: &Value| {
            TestRequest::post().uri(path).insert_header(("Accept", "application/json")).set_json(body)
        };
        let asked = json!({ "wallet_address": address });
        let issued = browser.send(self.site, post("/oauth/challenge", &asked), From::Ours).await.json();
        let text = issued["challenge"].as_str().unwrap_or_default();
        let signed = json!({
            "wallet_address": address, "signature": sign(address, text), "challenge": text, "remember": true,
            "client_id": "00000000-0000-0000-0000-000000000000", "redirect_uri": format!("{ISSUER}/account"),
        });
        browser.send(self.site, post("/oauth/login", &signed), From::Ours).await;
    }

    /// The fields of a form that asks for some change.
    fn wish(&mut self, dice: &mut Dice) -> Vec<(&'static str, String)> {
        self.next += 1;
        let number = self.next;
        let everybody = [&WALLETS[..], &OPERATORS].concat();
        let group = ("group", (*dice.one(&GROUPS)).to_owned());
        let address = (*dice.one(&everybody)).to_owned();
        let known: Vec<&String> = self.governed.clients.keys().collect();
        let client = ("client", (*dice.one(&known)).clone());
        let (change, mut fields) = match dice.below(14) {
            0 => {
                let members = format!("{address}\n{}", dice.one(&everybody));
                ("group-create", vec![group, ("title", format!("Group {number}")), ("members", members)])
            }
            1 => ("group-retitle", vec![group, ("title", format!("Title {number}"))]),
            2 => ("group-delete", vec![group]),
            3..=5 => {
                let members = if dice.below(2) == 0 { address } else { everybody[..3].join("\n") };
                ("member-add", vec![group, ("member", members)])
            }
            6 | 7 => ("member-remove", vec![group, ("member", address)]),
            8 | 9 => {
                let rule = ("rule", (*dice.one(&["everyone", "nobody", "default", "groups"])).to_owned());
                ("client-access", vec![client, rule, ("rule_groups", group.1)])
            }
            10 => {
                let uri = format!("https://new{number}.example/cb");
                let rule = ("rule", (*dice.one(&["everyone", "nobody", "default"])).to_owned());
                (
                    "client-register",
                    vec![("client_name", format!("New {number}")), ("redirect_uris", uri), rule],
                )
            }
            11 => {
                // Those that the other steps use stay, except one that they seldom use.
                let of_steps = self.site.clients.iter().filter(|client| client.kind != Kind::Impostor);
                let of_steps: BTreeSet<&String> = of_steps.map(|client| &client.id).collect();
                let others: Vec<&String> = known.into_iter().filter(|id| !of_steps.contains(id)).collect();
                let other = if others.is_empty() { "none".to_owned() } else { (*dice.one(&others)).clone() };
                ("client-delete", vec![("client", other)])
            }
            12 => ("wallet-block", vec![("wallet", address)]),
            _ => {
                let blocked: Vec<&String> = self.governed.blocked.iter().collect();
                let address = if blocked.is_empty() { address } else { (*dice.one(&blocked)).clone() };
                ("wallet-unblock", vec![("wallet", address)])
            }
        };
        fields.push(("change", change.to_owned()));
        fields
    }

    /// An operator sends a text with a signature. Mostly it is not what it should be.
    pub(super) async fn sign(
        &mut self,
        dice: &mut Dice,
        trace: &mut Vec<String>,
        tally: &mut Tally,
    ) -> Result<(), String> {
        if self.texts.is_empty() {
            return Ok(());
        }
        let newest = self.texts.len() - 1;
        let place = if dice.happens(75) { newest } else { dice.below(self.texts.len()) };
        let (trick, sent) = self.sent(dice, place);
        let mut browser = sent.cookies.clone().unwrap_or_else(|| self.seats[sent.seat].browser.clone());
        let request = TestRequest::post().uri(&format!("/admin{}", sent.path)).set_form(&sent.fields);
        let answer = browser.send(self.site, request, sent.from).await;
        if sent.cookies.is_none() {
            self.seats[sent.seat].browser = browser;
        }
        trace.push(format!(
            "{} sends text {place} ({trick}, {:?} to {}, {:?}): {}",
            OPERATORS[sent.seat], self.texts[place].change, sent.path, sent.from, answer.status
        ));
        tally.count(trick);
        if trick == HONEST && !self.is_operator(sent.seat) {
            tally.count("a former operator's");
        }
        let found = Self::found(self.site).await;
        if found == self.governed {
            return self.hold_events().await;
        }
        let change = self.difference(&found);
        let now = self.site.clock.now();
        let signed = self.texts.iter().position(|text| {
            text.text == sent.value("challenge")
                && text.signature() == sent.value("signature")
                && text.seat == sent.seat
                && text.expires_at > now
                && !text.is_used
        });
        let signed =
            signed.ok_or_else(|| format!("{change}and no signature that stands was sent ({trick})"))?;
        hold(self.is_operator(sent.seat), || {
            format!("{change}and {} signed, who is no operator", OPERATORS[sent.seat])
        })?;
        hold(sent.from == From::Ours, || format!("{change}and another site sent it"))?;
        let text = &mut self.texts[signed];
        hold(text.change.after(&self.governed, &found).as_ref() == Some(&found), || {
            format!("{change}and what was signed is {:?}", text.change)
        })?;
        text.is_used = true;
        self.made.push(text.text.clone());
        self.governed = found;
        tally.count("changed at the desk");
        self.hold_events().await
    }

    /// What is sent with the text at this place, and what is wrong with it.
    fn sent(&self, dice: &mut Dice, place: usize) -> (&'static str, Sent) {
        let text = &self.texts[place];
        let other = (place + 1 + dice.below(self.texts.len())) % self.texts.len();
        let (other, is_other) = (&self.texts[other], other != place);
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let fields = vec![
            field("form", &text.form),
            field("challenge", &text.text),
            field("signature", &text.signature()),
        ];
        let path = if dice.happens(92) {
            "/changes/sign"
        } else {
            let writes: Vec<_> = PLACES.iter().filter(|place| place.allow == "POST").collect();
            dice.one(&writes).path
        };
        let mut sent = Sent { seat: text.seat, fields, path, from: From::Ours, cookies: None };
        let next = (text.seat + 1 + dice.below(OPERATORS.len() - 1)) % OPERATORS.len();
        let trick = match dice.below(22) {
            0 => {
                sent.fields.retain(|(name, _)| name != "signature");
                "without a signature"
            }
            1 | 10 if is_other => {
                sent.set("signature", other.signature());
                "with the signature of another text"
            }
            2 | 11 if is_other => {
                sent.set("challenge", other.text.clone());
                sent.set("signature", other.signature());
                "with the text of another change"
            }
            3 => {
                sent.set("signature", sign(OPERATORS[next], &text.text));
                "with another operator's signature"
            }
            4 => {
                let stranger: &str = WALLETS[dice.below(WALLETS.len())];
                sent.set("signature", sign(stranger, &text.text));
                "with a stranger's signature"
            }
            5 => {
                let changed = altered(dice, &text.text);
                sent.set("signature", sign(text.wallet(), &changed));
                sent.set("challenge", changed);
                "with an altered text"
            }
            6 => {
                sent.seat = next;
                "from another operator's browser"
            }
            7 => {
                sent.from = *dice.one(&[From::Elsewhere, From::Null]);
                "from another site"
            }
            8 | 9 => {
                sent.cookies = Some(text.browser.clone());
                "with the cookies from before"
            }
            _ => HONEST,
        };
        (trick, sent)
    }

    /// Checks that each change that was made has one event with one signed text, and that there is no other such event.
    async fn hold_events(&self) -> Result<(), String> {
        let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: 500 };
        let events = self.site.context.storage.list_events(&EventFilter::default(), page).await.unwrap();
        let mut told = Vec::new();
        for signed in events.iter().filter_map(|event| event.signed.as_ref()) {
            let signed: Value = serde_json::from_str(signed.as_str()).map_err(|error| error.to_string())?;
            let Some([one]) = signed["signatures"].as_array().map(Vec::as_slice) else {
                return Err(format!("a change has not one signature: {signed}"));
            };
            let is_valid = OPERATORS.iter().any(|address| {
                one["wallet"] == wallet(address).caip10()
                    && one["signature"] == sign(address, one["text"].as_str().unwrap_or_default())
            });
            hold(is_valid, || format!("an event with a signature that is none: {one}"))?;
            told.push(one["text"].as_str().unwrap_or_default().to_owned());
        }
        // Events of one moment have no order.
        let mut made = self.made.clone();
        told.sort();
        made.sort();
        hold(told == made, || format!("events have the texts {told:?}, and made were {made:?}"))
    }

    /// At the command line, a wallet is taken out of the group of operators, or put back.
    pub(super) async fn change_operators(
        &mut self,
        dice: &mut Dice,
        trace: &mut Vec<String>,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let address = match self.texts.last() {
            Some(text) if BY_GROUP.contains(&text.wallet()) && dice.happens(60) => text.wallet(),
            _ => *dice.one(&BY_GROUP),
        };
        let (management, name) = (self.site.context.management(), GroupName::parse(ADMINS).unwrap());
        let members = vec![Subject::Wallet(wallet(address))];
        if !self.governed.groups.contains_key(ADMINS) {
            create_group(management, name.clone(), None, &[]).await.map_err(|error| error.to_string())?;
        }
        let group = self.governed.groups.entry(ADMINS.to_owned()).or_default();
        let is_out = group.members.remove(address);
        if is_out {
            remove_members(management, &name, members).await.map_err(|error| error.to_string())?;
        } else {
            add_members(management, &name, members).await.map_err(|error| error.to_string())?;
            group.members.insert(address.to_owned());
        }
        trace.push(format!("{address} is an operator: {}", !is_out));
        tally.count(if is_out { "operator taken out" } else { "operator put back" });
        Ok(())
    }
}

/// What is sent as it should be.
const HONEST: &str = "as it should be";

/// How a text is sent, right and wrong. A run that never did one of these proves nothing about it.
pub(super) const WAYS: [&str; 12] = [
    HONEST,
    "without a signature",
    "with the signature of another text",
    "with the text of another change",
    "with another operator's signature",
    "with a stranger's signature",
    "with an altered text",
    "from another operator's browser",
    "from another site",
    "with the cookies from before",
    "a former operator's",
    "changed at the desk",
];

/// The secret of the form and the text to sign, if the page has them.
fn to_sign(answer: &Answer) -> Option<(String, String)> {
    let sign = forms(&answer.body).into_iter().find(|form| form.action.ends_with("/admin/changes/sign"))?;
    let value =
        |name: &str| sign.fields.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone());
    Some((value("form")?, value("challenge")?))
}

/// Checks that a text says what the form asked for.
fn says_what_was_asked(change: &Change, asked: &[(&str, String)]) -> Result<(), String> {
    let rule_groups = asked.iter().find(|(name, _)| *name == "rule_groups").map(|(_, groups)| groups.clone());
    for (name, value) in asked {
        let is_said = match *name {
            "change" => change.name == *value,
            "member" | "members" | "wallet" => {
                let asked: BTreeSet<&str> = value.lines().collect();
                change.addresses() == asked
            }
            "rule" if value == "groups" => {
                change.with("rule") == format!("groups:{}", rule_groups.as_deref().unwrap_or_default())
            }
            "rule_groups" => true,
            name => change.with(name) == value,
        };
        hold(is_said, || format!("a text says {change:?}, and {asked:?} was asked"))?;
    }
    Ok(())
}

/// A text that says something else.
fn altered(dice: &mut Dice, text: &str) -> String {
    match dice.below(4) {
        0 => text.replace("staff", "night").replace("guests", "staff"),
        1 => text.replace("member-add", "member-remove").replace("Add", "Remove"),
        2 => format!("{text}\n- urn:countersign:with:group:{ADMINS}"),
        _ => text.replace("toy-eve", "toy-gil").replace("nobody", "everyone"),
    }
}
