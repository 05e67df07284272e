//! The parts of a change's lines: each written, and read back.

use std::collections::BTreeMap;

use super::fields::{ActWriter, Reader, read_user, read_uuid, read_wallet, written_wallet};
use super::{
    ActUnreadable, NamedClient, NamedInvitation, NamedSubject, NamedUser, NamedWallet, OfflineAccess,
    ResourceWords, UsedBy,
};
use crate::admin_key::{AdminKeyName, AdminScopes};
use crate::admission::{AccessRule, ClientAccess, Release};
use crate::client_change::FieldChange;
use crate::client_field::{ClientField, FieldSaid, FieldSlot};
use crate::client_secrets::KeepOld;
use crate::group::{GroupName, GroupTitle};
use crate::id::{ClientId, GrantId, InvitationId};
use crate::invitation::{InvitationLimits, Inviter};
use crate::number::whole;
use crate::person_name::PersonName;
use crate::registration::RequestedMetadata;
use crate::resource::{OpenTo, ResourceName, ResourceScope, ScopeTitle};
use crate::scope::ScopeName;
use crate::signing_algorithm::SigningAlgorithm;
use crate::subject::Subject;

/// The word for the rule of the setting `default_access`.
const DEFAULT: &str = "default";
/// The word for the groups that a client's rule names.
const OF_RULE: &str = "rule";
/// Keys that sign at once.
pub(super) const NOW: &str = "now";
/// Keys that sign when everyone knows them.
pub(super) const IN_A_DAY: &str = "in-a-day";
/// The name of the lines that name the scopes that need a group.
pub(super) const NEEDED_BY: &str = "needed-by";
/// The name of the line that says what becomes of offline access.
pub(super) const OFFLINE: &str = "offline_access";
/// The name of the line that says what operators call someone.
const CALLED: &str = "called";

/// What operators say of acts, and what is looked up, each as lines of its own.
impl ActWriter {
    /// A user, or a wallet.
    #[must_use]
    pub fn subject(self, who: &NamedSubject) -> Self {
        match who {
            Subject::User(user) => self.user(user),
            Subject::Wallet(wallet) => {
                self.with("who", written_wallet(&wallet.account)).called(wallet.name.as_ref())
            }
        }
    }

    /// Users and wallets, one after the other.
    #[must_use]
    pub fn members(self, members: &[NamedSubject]) -> Self {
        members.iter().fold(self, Self::subject)
    }

    /// A user.
    #[must_use]
    pub fn user(self, user: &NamedUser) -> Self {
        let known_by = user.wallet.as_ref().map(written_wallet);
        self.with("user", user.id).with_some("known-by", known_by).called(user.name.as_ref())
    }

    /// What operators call someone already.
    fn called(self, name: Option<&PersonName>) -> Self {
        self.with_some(CALLED, name)
    }

    /// What operators call someone from now on.
    #[must_use]
    pub fn person_name(self, name: Option<&PersonName>) -> Self {
        self.with_some("name", name)
    }

    /// Why.
    #[must_use]
    pub fn reason(self, reason: Option<&str>) -> Self {
        self.with_some("reason", reason)
    }

    /// What becomes of offline access.
    #[must_use]
    pub fn offline(self, offline: Option<OfflineAccess>) -> Self {
        self.with_some(OFFLINE, offline.map(OfflineAccess::name))
    }

    /// A group.
    #[must_use]
    pub fn group(self, group: &GroupName) -> Self {
        self.with("group", group)
    }

    /// The title of a group.
    #[must_use]
    pub fn title(self, title: Option<&GroupTitle>) -> Self {
        self.with_some("title", title.map(GroupTitle::as_str))
    }

    /// An invitation.
    #[must_use]
    pub fn invitation(self, invitation: &NamedInvitation) -> Self {
        self.with("invitation", invitation.id).with_some("into", invitation.group.as_ref())
    }

    /// For how many people an invitation is.
    #[must_use]
    pub fn uses(self, uses: u32) -> Self {
        self.with("uses", uses)
    }

    /// Who invites.
    #[must_use]
    pub fn inviter(self, inviter: Option<&Inviter>) -> Self {
        self.with_some("from", inviter)
    }

    /// The client that those who are invited go on to.
    #[must_use]
    pub fn client_of_invited(self, client: Option<&NamedClient>) -> Self {
        match client {
            Some(client) => self.client(client),
            None => self,
        }
    }

    /// A client.
    #[must_use]
    pub fn client(self, client: &NamedClient) -> Self {
        self.with("client", client.id).with_some("known-as", client.name.as_ref())
    }

    /// What a client registers.
    #[must_use]
    pub fn metadata(self, metadata: &RequestedMetadata) -> Self {
        ClientField::ALL.iter().fold(self, |writer, field| match metadata.said(*field) {
            FieldSaid::Text(text) => writer.with_some(field.name(), text.as_ref()),
            FieldSaid::Truth(truth) => writer.with_some(field.name(), *truth),
            FieldSaid::Number(number) => writer.with_some(field.name(), *number),
            FieldSaid::Texts(Some(texts)) => writer.with_list(field.name(), texts),
            FieldSaid::Texts(None) => writer,
            FieldSaid::Several(texts) => writer.with_each(field.name(), texts),
        })
    }

    /// Resources, by their URIs.
    #[must_use]
    pub fn resources(self, resources: &[String]) -> Self {
        self.with_each("resource", resources)
    }

    /// How long an old secret works on.
    #[must_use]
    pub fn keep_old(self, keep_old: KeepOld) -> Self {
        self.with("keep-old", keep_old.as_seconds())
    }

    /// Who can sign in to a client; `None` to follow the setting `default_access`.
    #[must_use]
    pub fn rule(self, rule: Option<&AccessRule>) -> Self {
        match rule {
            Some(rule) => self.with("rule", rule),
            None => self.with("rule", DEFAULT),
        }
    }

    /// Which groups a client sees. They have a prefix, so that none of them is one of the other words.
    #[must_use]
    pub fn release(self, release: Option<&Release>) -> Self {
        self.with_some(
            "release",
            release.map(|release| match release {
                Release::OfRule => OF_RULE.to_owned(),
                Release::All => release.to_string(),
                Release::Groups(_) => format!("groups:{release}"),
            }),
        )
    }

    /// Who can sign in to a new client, if that is said. It gets the groups of its rule unless others are named.
    #[must_use]
    pub(super) fn access(self, access: Option<&ClientAccess>) -> Self {
        match access {
            Some(access) => self.rule(access.rule.as_ref()).release(chosen(&access.release)),
            None => self,
        }
    }

    /// The URI of a resource.
    #[must_use]
    pub fn uri(self, uri: &str) -> Self {
        self.with("resource", uri)
    }

    /// What people read for a resource.
    #[must_use]
    pub fn resource_name(self, name: Option<&ResourceName>) -> Self {
        self.with_some("name", name.map(ResourceName::as_str))
    }

    /// Which clients can name a resource.
    #[must_use]
    pub fn open_to(self, open_to: OpenTo) -> Self {
        self.with("open-to", open_to.name())
    }

    /// The scopes of a resource.
    #[must_use]
    pub fn scopes(self, scopes: &[ResourceScope]) -> Self {
        scopes.iter().fold(self, |writer, scope| {
            let ResourceScope { name, title, titles, needs } = scope;
            let titles: Vec<_> =
                titles.iter().map(|(language, title)| format!("{language}:{}", title.as_str())).collect();
            let writer = writer.with("scope", name).with("title", title.as_str());
            writer.with_each("title-in", &titles).with_some("needs", needs.as_ref())
        })
    }

    /// When new keys sign, and which.
    #[must_use]
    pub fn rotation(self, at_once: bool, algorithms: &[SigningAlgorithm]) -> Self {
        let names: Vec<_> = algorithms.iter().map(|algorithm| algorithm.name()).collect();
        self.with("when", if at_once { NOW } else { IN_A_DAY }).with_each("algorithm", &names)
    }

    /// The id of a signing key.
    #[must_use]
    pub fn kid(self, kid: &str) -> Self {
        self.with("key", kid)
    }

    /// The name of an admin key.
    #[must_use]
    pub fn key_name(self, name: &AdminKeyName) -> Self {
        self.with("name", name)
    }

    /// What an admin key can do.
    #[must_use]
    pub fn admin_scopes(self, scopes: &AdminScopes) -> Self {
        let scopes: Vec<_> = scopes.iter().collect();
        self.with_each("scope", &scopes)
    }

    /// For how many seconds, if it ends.
    #[must_use]
    pub fn lives(self, lives: Option<u32>) -> Self {
        self.with_some("lives", lives)
    }

    /// A proposal.
    #[must_use]
    pub fn proposal(self, proposal: GrantId) -> Self {
        self.with("proposal", proposal)
    }

    pub(super) fn resource(self, resource: &ResourceWords) -> Self {
        let ResourceWords { uri, name, open_to, scopes } = resource;
        self.uri(uri).resource_name(name.as_ref()).open_to(*open_to).scopes(scopes)
    }

    /// Nothing if they are not known, as in the texts of releases that did not say it.
    pub(super) fn fields(self, fields: &[FieldChange]) -> Self {
        fields.iter().fold(self, |writer, FieldChange { field, gone, new }| {
            writer.with("field", field).with_each("gone", gone).with_each("new", new)
        })
    }

    /// Nothing if no one uses it, as in the texts of releases that did not say it.
    pub(super) fn used_by(self, used_by: &UsedBy) -> Self {
        match used_by.clients {
            0 => self,
            clients => self.with("used-by", clients).with_each("used-by-name", &used_by.names),
        }
    }
}

pub(super) fn read_whom(fields: &mut Reader<'_>) -> Result<NamedSubject, ActUnreadable> {
    Ok(match fields.maybe("who") {
        Some(wallet) => {
            let account = read_wallet(&wallet).ok_or(ActUnreadable)?;
            Subject::Wallet(NamedWallet { account, name: read_name(fields, CALLED)? })
        }
        None => Subject::User(read_named_user(fields)?),
    })
}

/// Every member that is named next.
pub(super) fn read_members(fields: &mut Reader<'_>) -> Result<Vec<NamedSubject>, ActUnreadable> {
    let mut members = Vec::new();
    while fields.is_next("who") || fields.is_next("user") {
        members.push(read_whom(fields)?);
    }
    Ok(members)
}

/// The same, of which there must be one.
pub(super) fn read_some_members(fields: &mut Reader<'_>) -> Result<Vec<NamedSubject>, ActUnreadable> {
    let members = read_members(fields)?;
    if members.is_empty() { Err(ActUnreadable) } else { Ok(members) }
}

pub(super) fn rule_of(text: &str) -> Option<Option<AccessRule>> {
    match text {
        DEFAULT => Some(None),
        rule => AccessRule::parse(rule).ok().map(Some),
    }
}

pub(super) fn read_release(fields: &mut Reader<'_>) -> Result<Option<Release>, ActUnreadable> {
    fields.maybe_parse("release", |text| match text {
        OF_RULE => Some(Release::OfRule),
        // The same letters as a group of that name would have.
        release => Release::parse(release.strip_prefix("groups:").unwrap_or(release)).ok(),
    })
}

pub(super) fn read_access(fields: &mut Reader<'_>) -> Result<Option<ClientAccess>, ActUnreadable> {
    match fields.maybe_parse("rule", rule_of)? {
        Some(rule) => Ok(Some(ClientAccess { rule, release: read_release(fields)?.unwrap_or_default() })),
        None => Ok(None),
    }
}

/// What a new client gets, unless that is what each gets.
pub(super) fn chosen(release: &Release) -> Option<&Release> {
    Some(release).filter(|release| **release != Release::OfRule)
}

pub(super) fn read_named_user(fields: &mut Reader<'_>) -> Result<NamedUser, ActUnreadable> {
    Ok(NamedUser {
        id: fields.parse("user", read_user)?,
        wallet: fields.maybe_parse("known-by", read_wallet)?,
        name: read_name(fields, CALLED)?,
    })
}

/// A name that operators gave someone, if there is one.
pub(super) fn read_name(fields: &mut Reader<'_>, line: &str) -> Result<Option<PersonName>, ActUnreadable> {
    fields.maybe_parse(line, |text| PersonName::parse(text).ok())
}

pub(super) fn read_client(fields: &mut Reader<'_>) -> Result<NamedClient, ActUnreadable> {
    Ok(NamedClient {
        id: fields.parse("client", |text| read_uuid(text, ClientId::from_uuid))?,
        name: fields.maybe("known-as"),
    })
}

/// The same, if there is one.
pub(super) fn read_some_client(fields: &mut Reader<'_>) -> Result<Option<NamedClient>, ActUnreadable> {
    if fields.is_next("client") { read_client(fields).map(Some) } else { Ok(None) }
}

pub(super) fn read_invitation(fields: &mut Reader<'_>) -> Result<NamedInvitation, ActUnreadable> {
    Ok(NamedInvitation {
        id: fields.parse("invitation", |text| read_uuid(text, InvitationId::from_uuid))?,
        group: fields.maybe_parse("into", |text| GroupName::parse(text).ok())?,
    })
}

pub(super) fn read_limits(fields: &mut Reader<'_>) -> Result<InvitationLimits, ActUnreadable> {
    Ok(InvitationLimits { uses: fields.parse("uses", whole)?, lives: fields.parse("lives", whole)? })
}

pub(super) fn read_inviter(fields: &mut Reader<'_>) -> Result<Option<Inviter>, ActUnreadable> {
    fields.maybe_parse("from", |text| Inviter::parse(text).ok())
}

pub(super) fn read_group(fields: &mut Reader<'_>) -> Result<GroupName, ActUnreadable> {
    fields.parse("group", |text| GroupName::parse(text).ok())
}

pub(super) fn read_title(fields: &mut Reader<'_>) -> Result<Option<GroupTitle>, ActUnreadable> {
    fields.maybe_parse("title", |text| GroupTitle::parse(text).ok())
}

pub(super) fn read_metadata(fields: &mut Reader<'_>) -> Result<RequestedMetadata, ActUnreadable> {
    let mut metadata = RequestedMetadata::default();
    for field in ClientField::ALL {
        match metadata.slot(*field) {
            FieldSlot::Text(text) => *text = fields.maybe(field.name()),
            FieldSlot::Truth(truth) => *truth = fields.maybe_parse(field.name(), |text| text.parse().ok())?,
            FieldSlot::Number(number) => *number = fields.maybe_parse(field.name(), whole)?,
            FieldSlot::Texts(texts) => *texts = fields.list(field.name()),
            FieldSlot::Several(texts) => *texts = fields.each(field.name()),
        }
    }
    Ok(metadata)
}

pub(super) fn read_fields(fields: &mut Reader<'_>) -> Result<Vec<FieldChange>, ActUnreadable> {
    let mut read = Vec::new();
    while let Some(field) = fields.maybe_parse("field", ClientField::parse)? {
        read.push(FieldChange { field, gone: fields.each("gone"), new: fields.each("new") });
    }
    Ok(read)
}

pub(super) fn read_resource(fields: &mut Reader<'_>) -> Result<ResourceWords, ActUnreadable> {
    let uri = fields.take("resource")?;
    let name = fields.maybe_parse("name", |text| ResourceName::parse(text).ok())?;
    let open_to = fields.parse("open-to", OpenTo::parse)?;
    let mut scopes = Vec::new();
    while let Some(name) = fields.maybe("scope") {
        let mut titles = BTreeMap::new();
        let name = ScopeName::parse(&name).map_err(|_| ActUnreadable)?;
        let title = fields.parse("title", |text| ScopeTitle::parse(text).ok())?;
        for written in fields.each("title-in") {
            let (language, title) = written.split_once(':').ok_or(ActUnreadable)?;
            titles.insert(language.to_owned(), ScopeTitle::parse(title).map_err(|_| ActUnreadable)?);
        }
        let needs = fields.maybe_parse("needs", |text| GroupName::parse(text).ok())?;
        scopes.push(ResourceScope { name, title, titles, needs });
    }
    Ok(ResourceWords { uri, name, open_to, scopes })
}

pub(super) fn read_use(fields: &mut Reader<'_>) -> Result<UsedBy, ActUnreadable> {
    match fields.maybe_parse("used-by", whole)? {
        Some(clients) => Ok(UsedBy { clients, names: fields.each("used-by-name") }),
        None => Ok(UsedBy::default()),
    }
}

pub(super) fn all<T>(texts: Vec<String>, parse: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, ActUnreadable> {
    texts.iter().map(|text| parse(text).ok_or(ActUnreadable)).collect()
}
