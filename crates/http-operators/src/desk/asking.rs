//! The one list of what the desk asks for: each field of an act, with its inputs in a form, and how it is read from what
//! was sent for them. What a page knows is filled into the same inputs.

use std::mem;

use countersign_domain::act::{Act, ActField, ActName, ActWriter, NamedClient, OfflineAccess};
use countersign_domain::admin_key::{AdminArea, AdminKeyName, AdminRight, AdminScope, AdminScopes};
use countersign_domain::admission::{AccessRule, Block, ClientAccess, Release};
use countersign_domain::client::{AuthenticationMethod, Client};
use countersign_domain::client_field::{ClientField, FieldKind, FieldSlot};
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::client_view::FieldValue;
use countersign_domain::grant_type::GrantType;
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_domain::id::{ClientId, GrantId, InvitationId, UserId};
use countersign_domain::invitation::{InvitationLimits, Inviter, MAX_INVITER_LENGTH};
use countersign_domain::number::whole;
use countersign_domain::person_name::{MAX_PERSON_NAME_LENGTH, PersonName};
use countersign_domain::public_url::PublicUrl;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::{OpenTo, Resource, ResourceName};
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::AccountKind;
use countersign_operators::desk::review::judge_registration;
use countersign_operators::people::find_who::{FindWhoError, find_who};
use countersign_usecases::Management;

use super::field::Kind::{Area, Hidden, Select, Text, Tick, Ticks};
use super::field::{Input, words};
use super::scope_lines::{read_scopes, write_scopes};
use super::sent::{Given, Sent, TICKED, Unfit, Wrong};
use crate::settings::Applications;

/// Goes through the fields of an act: notes what each asks for, and reads what was sent for it.
struct Asking<'a> {
    sent: &'a Sent,
    applications: Option<&'a dyn Applications>,
    inputs: Vec<Input>,
    /// What names users or wallets that must be looked up for the field.
    who: Option<Given<'a>>,
    /// What a new client registers.
    metadata: Option<RequestedMetadata>,
}

// What is asked for in several places, or what others need to know.
pub(super) const APPLICATION: Input =
    Select.named("application").of(&[("", "no_application")]).or(|known| known.list()).with_hint();
pub(super) const APPLICATION_URL: Input = Text.named("application_url").with_hint();
pub(super) const GROUP: Input = Text.named("group").required();
const KEY_NAME: Input = Text.named("key_name").required();
/// What signs at an address.
const KIND: Input = Select.named("wallet_kind").of(&KINDS).with_hint();
/// The word that says that operators mean themselves.
pub(super) const ONESELF: Input = Text.named("oneself").required().with_hint();
const PROPOSAL: Input = Hidden.named("proposal");
const RESOURCES: Input = Area.named("resources").with_hint();
pub(super) const RULE: Input = Select.named("rule");
pub(super) const RULE_GROUPS: Input = Text.named("rule_groups").of_groups().with_hint();
const URI: Input = Text.named("uri").required();

const KINDS: [(&str, &str); 3] = [("", "whichever"), ("key", "key"), ("contract", "contract")];
const RULES: [(&str, &str); 4] =
    [("default", "default"), ("everyone", "everyone"), ("nobody", "nobody"), ("groups", "groups")];
/// No rule is chosen for a new client until someone does.
const NEW_RULES: [(&str, &str); 5] = [("", "choose"), RULES[3], RULES[1], RULES[2], RULES[0]];
const RELEASES: [(&str, &str); 4] =
    [("", "as_it_is"), ("rule", "release_rule"), ("all", "all"), ("groups", "groups")];
const OPEN_TO: [(&str, &str); 2] = [("everyone", "everyone"), ("named", "named")];
const KEEP_OLD: [(&str, &str); 5] = [
    ("86400", "keep_day"),
    ("0", "keep_not"),
    ("3600", "keep_hour"),
    ("604800", "keep_week"),
    ("2592000", "keep_month"),
];

const INVITED_FOR: [(&str, &str); 4] = [
    ("604800", "valid_week"),
    ("86400", "valid_day"),
    ("2592000", "valid_month"),
    ("31536000", "valid_year"),
];

/// How many users and wallets are looked up for one text. Fewer fit into it.
const MOST_NAMED: usize = 50;
/// What is wrong with a lifetime.
const NO_SECONDS: &str = "is not a whole number of seconds";

/// The longest time that an admin key can live, in days: 100 years would not fit.
const MAX_DAYS: u32 = 36_500;

/// What a form asks for of a field.
pub(super) fn inputs_of(field: ActField) -> Vec<Input> {
    let sent = Sent::default();
    let mut asking =
        Asking { sent: &sent, applications: None, inputs: Vec::new(), who: None, metadata: None };
    // Only what is asked for counts. Nothing was sent, and the act does not matter.
    let _ = asking.field(field, ActWriter::new(ActName::SignOut));
    asking.inputs
}

/// Are there ticks of this name?
pub(super) fn are_ticks(name: &str) -> bool {
    let fields = ActName::ALL.iter().flat_map(|act| act.row().fields);
    fields.flat_map(|field| inputs_of(*field)).any(|input| input.name == name && input.kind == Ticks)
}

impl<'a> Asking<'a> {
    const fn of(sent: &'a Sent, applications: &'a dyn Applications) -> Self {
        Self { sent, applications: Some(applications), inputs: Vec::new(), who: None, metadata: None }
    }

    /// Reads a field, and writes it as a text would have it. All its inputs are asked for before any is judged: what an
    /// error leaves out would be missing in the form.
    fn field(&mut self, field: ActField, act: ActWriter) -> Result<ActWriter, Unfit> {
        Ok(match field {
            ActField::User => act.user(&self.asks(Hidden.named("user")).id(UserId::parse)?.into()),
            ActField::Wallet => self.asks_who(Text.named("wallet").required(), act),
            ActField::Operator => self.asks_who(Text.named("operator").required(), act),
            ActField::PersonName => {
                let name = self.asks(words("person_name", MAX_PERSON_NAME_LENGTH).with_hint());
                act.person_name(name.optional(PersonName::parse)?.as_ref())
            }
            ActField::Reason => {
                let reason = self.asks(words("reason", 200).with_hint());
                act.reason(reason.optional(Block::judge_reason)?.as_deref())
            }
            ActField::KeepOffline => {
                let is_kept = self.asks(Tick.named("keep_offline")).is_ticked();
                act.offline(Some(OfflineAccess::kept_if(is_kept)))
            }
            ActField::NewGroup => act.group(&self.asks(GROUP.with_hint()).parsed(GroupName::parse)?),
            ActField::Group => act.group(&self.asks(GROUP.hidden()).parsed(GroupName::parse)?),
            ActField::GroupOfMember => act.group(&self.asks(GROUP.of_groups()).parsed(GroupName::parse)?),
            ActField::GroupTitle => {
                act.title(self.asks(words("title", 100)).optional(GroupTitle::parse)?.as_ref())
            }
            ActField::Members => self.asks_who(Area.named("member").required(), act),
            ActField::FirstMembers => self.asks_who(Area.named("members"), act),
            ActField::Invitation => {
                act.invitation(&self.asks(Hidden.named("invitation")).id(InvitationId::parse)?.into())
            }
            ActField::Uses => {
                let uses = self.asks(Text.named("uses").with_hint()).optional(|uses| {
                    let most = InvitationLimits::MOST_USES;
                    let uses = whole::<u32>(uses).filter(|uses| (1..=most).contains(uses));
                    uses.ok_or_else(|| format!("takes a number, 1 to {most}"))
                })?;
                act.uses(uses.unwrap_or(InvitationLimits::USUAL.uses))
            }
            ActField::InvitedFor => {
                let valid = self
                    .asks(Select.named("invited_for").of(&INVITED_FOR))
                    .optional(|seconds| whole::<u32>(seconds).ok_or("is not a whole number of seconds"))?;
                act.lives(Some(valid.unwrap_or(InvitationLimits::USUAL.lives)))
            }
            ActField::NameOfInvited => {
                let name = self.asks(words("name_of_invited", MAX_PERSON_NAME_LENGTH).with_hint());
                act.person_name(name.optional(PersonName::parse)?.as_ref())
            }
            ActField::Inviter => {
                let inviter = self.asks(words("inviter", MAX_INVITER_LENGTH).with_hint());
                act.inviter(inviter.optional(Inviter::parse)?.as_ref())
            }
            ActField::ClientOfInvited => {
                let client = self
                    .asks(Text.named("leads_to").with_hint())
                    .optional(|id| ClientId::parse(id).ok_or("is not the ID of a client"))?;
                act.client_of_invited(client.map(NamedClient::from).as_ref())
            }
            ActField::Client => act.client(&self.asks(Hidden.named("client")).id(ClientId::parse)?.into()),
            ActField::Registration => {
                let requested = self.registration()?;
                let act = act.metadata(&requested);
                self.metadata = Some(requested);
                act
            }
            ActField::Metadata => act.metadata(&self.written_metadata(emptied())?),
            ActField::Resources => {
                let uris = self.asks(RESOURCES.required());
                uris.required()?;
                act.resources(&uris.lines())
            }
            ActField::MoreResources => act.resources(&self.asks(RESOURCES.folded()).lines()),
            ActField::KeepOld => {
                let kept = self.asks(Select.named("keep_old").of(&KEEP_OLD)).optional(|seconds| {
                    let kept = whole(seconds).and_then(KeepOld::seconds);
                    kept.ok_or_else(|| format!("takes at most {} seconds", KeepOld::LONGEST))
                })?;
                act.keep_old(kept.unwrap_or(KeepOld::USUAL))
            }
            ActField::NewRule => act.rule(self.rule(RULE.of(&NEW_RULES).required())?.as_ref()),
            ActField::Rule => act.rule(self.rule(RULE.of(&RULES))?.as_ref()),
            ActField::Release => act.release(self.release()?.as_ref()),
            ActField::NewUri => act.uri(self.asks(URI).required()?),
            ActField::Uri => act.uri(self.asks(URI.hidden()).required()?),
            ActField::ResourceName => {
                let name = self.asks(words("resource_name", 100).with_hint());
                act.resource_name(name.optional(ResourceName::parse)?.as_ref())
            }
            ActField::OpenTo => {
                let open_to = self.asks(Select.named("open_to").of(&OPEN_TO));
                let open_to = open_to.optional(|word| OpenTo::parse(word).ok_or("is everyone or named"))?;
                act.open_to(open_to.unwrap_or(OpenTo::Everyone))
            }
            ActField::ResourceScopes => {
                let scopes = self.asks(Area.named("resource_scopes").with_hint());
                act.scopes(&scopes.optional(read_scopes)?.unwrap_or_default())
            }
            ActField::Rotation => {
                let all = |_: &dyn Applications| listed(SigningAlgorithm::ALL.map(SigningAlgorithm::name));
                let named = self.asks(Ticks.named("algorithms").or(all).with_hint());
                let at_once = self.asks(Tick.named("at_once")).is_ticked();
                let parsed = named.all().map(SigningAlgorithm::parse).collect::<Option<Vec<_>>>();
                let parsed = named.judged(parsed.ok_or("is not an algorithm of this server"))?;
                act.rotation(at_once, if parsed.is_empty() { &SigningAlgorithm::ALL } else { &parsed })
            }
            ActField::Kid => act.kid(self.asks(Hidden.named("kid")).required()?),
            ActField::NewKeyName => {
                act.key_name(&self.asks(KEY_NAME.with_hint()).parsed(AdminKeyName::parse)?)
            }
            ActField::KeyName => act.key_name(&self.asks(KEY_NAME.hidden()).parsed(AdminKeyName::parse)?),
            ActField::AdminScopes => {
                let named = self.asks(Ticks.named("admin_scopes").or(admin_scopes));
                let scopes =
                    named.judged(named.all().map(AdminScope::parse).collect::<Result<Vec<_>, _>>())?;
                named.required()?;
                act.admin_scopes(&AdminScopes::of(scopes))
            }
            ActField::Lives => {
                let days = self.asks(Text.named("expires_days").with_hint()).optional(|days| {
                    let days = whole::<u32>(days).filter(|days| (1..=MAX_DAYS).contains(days));
                    days.ok_or_else(|| format!("takes a number, 1 to {MAX_DAYS}"))
                })?;
                act.lives(days.map(|days| days * 24 * 60 * 60))
            }
            ActField::Proposal => act.proposal(self.asks(PROPOSAL).id(GrantId::parse)?),
        })
    }

    /// Asks for something: notes it, and returns what was sent for it.
    fn asks(&mut self, input: Input) -> Given<'a> {
        self.inputs.push(input);
        self.sent.given(input.name)
    }

    /// Asks for users or wallets, which are written when they were looked up.
    fn asks_who(&mut self, input: Input, act: ActWriter) -> ActWriter {
        self.who = Some(self.asks(input.with_hint()));
        self.asks(KIND);
        act
    }

    fn rule(&mut self, input: Input) -> Result<Option<AccessRule>, Unfit> {
        let rule = self.asks(input);
        let groups = self.asks(RULE_GROUPS);
        Ok(match rule.required()? {
            "default" => None,
            "groups" => Some(groups.judged(AccessRule::parse(&format!("groups:{}", groups.names()?)))?),
            word => Some(rule.judged(AccessRule::parse(word))?),
        })
    }

    fn release(&mut self) -> Result<Option<Release>, Unfit> {
        let release = self.asks(Select.named("release").of(&RELEASES));
        let groups = self.asks(Text.named("release_groups").of_groups().with_hint());
        Ok(match release.text() {
            None => None,
            Some("rule") => Some(Release::OfRule),
            Some("all") => Some(Release::All),
            Some("groups") => Some(groups.judged(Release::parse(&groups.names()?))?),
            Some(_) => release.judged(Err("is rule, all or groups"))?,
        })
    }

    /// The registration of a new client: that of a known application, and over it what was typed.
    fn registration(&mut self) -> Result<RequestedMetadata, Unfit> {
        let application = self.asks(APPLICATION);
        self.asks(APPLICATION_URL);
        let mut known = RequestedMetadata::default();
        if let Some((name, at)) = self.sent.application()? {
            let found = self.applications.and_then(|all| all.registration(name, &at));
            known = application.judged(found.ok_or("is not known"))?;
            let titles = self.applications.map(Applications::list).unwrap_or_default();
            let title = titles.into_iter().find(|(known, _)| known == name).map(|(_, title)| title);
            known.client_name = known.client_name.or(title);
        }
        self.written_metadata(known)
    }

    /// What a client registers, in the order in which operators read of it before they sign. What the form leaves empty
    /// is that of `base`.
    fn written_metadata(&mut self, mut base: RequestedMetadata) -> Result<RequestedMetadata, Unfit> {
        for field in ClientField::in_words() {
            let given = self.asks(input_of(field));
            let lines = Some(given.lines()).filter(|lines| !lines.is_empty());
            match base.slot(field) {
                FieldSlot::Text(text) => *text = given.text().map(str::to_owned).or(text.take()),
                FieldSlot::Truth(truth) => *truth = given.is_ticked().then_some(true).or(*truth),
                FieldSlot::Number(number) => {
                    let said = given.text().map(|text| given.judged(whole(text).ok_or(NO_SECONDS)));
                    *number = said.transpose()?.or(*number);
                }
                FieldSlot::Texts(list) => *list = lines.or(list.take()),
                FieldSlot::Several(list) => *list = lines.unwrap_or_else(|| mem::take(list)),
            }
        }
        let grant_types = self.sent.given(ClientField::GrantTypes.name());
        match grant_types.all().find(|name| GrantType::parse(name).is_none()) {
            Some(unknown) => grant_types.judged(Err(format!("{unknown:?} is not known"))),
            None => Ok(base),
        }
    }
}

impl Sent {
    /// The act that the form asks for: each of its fields is judged, and written as a text would have it.
    pub(super) async fn change(
        &self,
        management: Management<'_>,
        applications: &dyn Applications,
    ) -> Result<Act, Unfit> {
        let name = self.name().ok_or(Unfit::NoChange)?;
        let mut asking = Asking::of(self, applications);
        let mut writer = ActWriter::new(name);
        // All fields are judged, so that what is wrong is said at once.
        let mut wrong = Vec::new();
        for field in name.row().fields {
            let written = match asking.field(*field, writer.clone()) {
                Ok(written) => match asking.who.take() {
                    Some(who) => self.written_who(*field, who, written, management).await,
                    None => Ok(written),
                },
                Err(unfit) => Err(unfit),
            };
            match written {
                Ok(written) => writer = written,
                Err(Unfit::Fields(more)) => wrong.extend(more),
                Err(unfit) => return Err(unfit),
            }
        }
        if !wrong.is_empty() {
            let metadata = asking.metadata.map(|requested| judge_registration(management, requested));
            let refused = match metadata {
                Some(judged) => judged.await.map_err(Unfit::Store)?,
                None => None,
            };
            wrong.extend(refused.map(|refused| Wrong { name: refused.field(), why: refused.to_string() }));
            return Err(Unfit::Fields(wrong));
        }
        writer.act().map_err(|_| Unfit::Unwritable)
    }

    /// Writes the users and wallets that a field names.
    async fn written_who(
        &self,
        field: ActField,
        who: Given<'_>,
        writer: ActWriter,
        management: Management<'_>,
    ) -> Result<ActWriter, Unfit> {
        let found = look_up(self, who, management).await?;
        match (field, found.as_slice()) {
            (ActField::FirstMembers, []) => {}
            (_, []) => return who.judged(Err("is missing")),
            (ActField::Wallet, [Subject::User(_), ..]) => return who.judged(Err("is the id of a user")),
            (ActField::Wallet, [_, _, ..]) => return who.judged(Err("takes one wallet")),
            (ActField::Operator, [_, _, ..]) => return who.judged(Err("takes one operator")),
            _ => {}
        }
        Ok(found.into_iter().fold(writer, |writer, who| writer.subject(&who.into())))
    }

    /// Adds what a page knows of a field: a value for each of its inputs, in their order.
    pub(super) fn with<T: ToString>(self, field: ActField, values: impl IntoIterator<Item = T>) -> Self {
        let known = inputs_of(field).into_iter().zip(values);
        known.fold(self, |sent, (input, value)| sent.and(input.name, value))
    }

    /// A user or a wallet, which an act is about, or which is a member of a group.
    pub(super) fn of_who(who: &Subject) -> Self {
        let (field, values) = match who {
            Subject::User(user) => (ActField::User, vec![user.to_string()]),
            Subject::Wallet(wallet) => {
                let kind = wallet.kind().map(|kind| kind.name().to_owned());
                (ActField::Wallet, [wallet.caip10()].into_iter().chain(kind).collect())
            }
        };
        [ActField::Members, ActField::Operator, field]
            .into_iter()
            .fold(Self::default(), |sent, field| sent.with(field, &values))
    }

    /// A client with all that is asked for. A release is only ever chosen anew.
    pub(super) fn of_client(client: &Client) -> Self {
        let ClientAccess { rule, release: _ } = &client.access;
        let rule = rule.as_ref().map_or_else(|| "default".to_owned(), ToString::to_string);
        // The groups of a rule are after a colon.
        let known =
            Self::default().with(ActField::Client, [client.id]).with(ActField::Rule, rule.splitn(2, ':'));
        ClientField::in_words().into_iter().fold(known, |known, field| {
            let Input { name, kind, .. } = input_of(field);
            match client.field(field) {
                FieldValue::Text(None) | FieldValue::Truth(false) | FieldValue::Number(None) => known,
                FieldValue::Number(Some(number)) => known.and(name, number.to_string()),
                FieldValue::Text(Some(text)) => known.and(name, text),
                FieldValue::Truth(true) => known.and(name, TICKED),
                FieldValue::Texts(texts) if kind == Ticks => {
                    texts.into_iter().fold(known, |known, text| known.and(name, text))
                }
                FieldValue::Texts(texts) => known.and(name, texts.join("\n")),
            }
        })
    }

    /// A resource with all that is asked for.
    pub(super) fn of_resource(resource: &Resource) -> Self {
        let Resource { uri, name, open_to, scopes, created_at: _ } = resource;
        Self::default()
            .with(ActField::Uri, [uri])
            .with(ActField::ResourceName, name.as_ref().map(ResourceName::as_str))
            .with(ActField::OpenTo, [open_to.name()])
            .with(ActField::ResourceScopes, [write_scopes(scopes)])
    }

    /// The proposal that the form is about.
    pub(super) fn proposal(&self) -> Result<GrantId, Unfit> {
        self.given(PROPOSAL.name).id(GrantId::parse)
    }

    /// The application whose registration is known, and its address.
    pub(super) fn application(&self) -> Result<Option<(&str, PublicUrl)>, Unfit> {
        let Some(name) = self.given(APPLICATION.name).text() else { return Ok(None) };
        let at = self.given(APPLICATION_URL.name);
        Ok(Some((name, at.parsed(|at| PublicUrl::parse(at.trim_end_matches('/')))?)))
    }
}

/// What a client has of which the form of a change says nothing. It has all fields of the client.
fn emptied() -> RequestedMetadata {
    let mut emptied = RequestedMetadata::default();
    for field in ClientField::in_words() {
        if let FieldSlot::Truth(truth) = emptied.slot(field) {
            *truth = Some(false);
        }
    }
    emptied
}

/// What is asked for a field of a client. All but the first ones are folded.
fn input_of(field: ClientField) -> Input {
    let name = field.name();
    let by_kind = match field.kind() {
        FieldKind::Text | FieldKind::Address | FieldKind::OneOf(..) | FieldKind::Seconds => Text.named(name),
        FieldKind::Truth => Tick.named(name),
        FieldKind::Keys => Area.named(name),
        FieldKind::List | FieldKind::RedirectUris => Area.named(name).with_hint(),
    };
    let methods = |_: &dyn Applications| listed(AuthenticationMethod::ALL.map(AuthenticationMethod::name));
    let grant_types = |_: &dyn Applications| listed(GrantType::ALL.map(GrantType::name));
    let others = [
        (ClientField::Name, words(name, 100)),
        (ClientField::RedirectUris, by_kind),
        (ClientField::Scopes, by_kind.with_hint()),
        (ClientField::SubjectType, by_kind.with_hint().folded()),
        (ClientField::SectorIdentifierUri, by_kind.with_hint().folded()),
        (ClientField::GrantTypes, Ticks.named(name).or(grant_types).folded()),
        (ClientField::Method, Select.named(name).of(&[("", "unsaid")]).or(methods)),
    ];
    others.into_iter().find(|(other, _)| *other == field).map_or(by_kind.folded(), |(_, input)| input)
}

fn admin_scopes(_: &dyn Applications) -> Vec<(String, String)> {
    let rights = [AdminRight::Read, AdminRight::Write];
    listed(AdminArea::ALL.into_iter().flat_map(|area| rights.map(|right| AdminScope { area, right })))
}

/// What can be chosen by its own name.
fn listed(names: impl IntoIterator<Item = impl ToString>) -> Vec<(String, String)> {
    names.into_iter().map(|name| (name.to_string(), name.to_string())).collect()
}

/// The users and wallets that are named, one on each line, each once.
async fn look_up(sent: &Sent, who: Given<'_>, management: Management<'_>) -> Result<Vec<Subject>, Unfit> {
    let kind = sent.given(KIND.name);
    let kind = kind.optional(|word| AccountKind::parse(word).ok_or("is key or contract"))?;
    let names = who.lines();
    if names.len() > MOST_NAMED {
        return who.judged(Err(format!("takes at most {MOST_NAMED} lines")));
    }
    let mut found: Vec<Subject> = Vec::new();
    for name in names {
        let named = match find_who(management, &name, kind).await {
            Err(FindWhoError::Store(error)) => return Err(Unfit::Store(error)),
            Err(unknown) => return who.judged(Err(format!("{name}: {unknown}"))),
            Ok(named) => named,
        };
        if !found.iter().any(|before| before.is_same(&named)) {
            found.push(named);
        }
    }
    Ok(found)
}
