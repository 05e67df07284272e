//! What a form of the desk sent, and the change that it asks for.

use std::collections::BTreeMap;
use std::fmt;

use countersign_domain::act::{Act, ActField, ActName, ActWriter, NamedSubject, OfflineAccess};
use countersign_domain::admin_key::{AdminKeyName, AdminScope, AdminScopes};
use countersign_domain::admission::{AccessRule, Block, Release};
use countersign_domain::client::Client;
use countersign_domain::client_field::{ClientField, FieldSlot};
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::client_view::FieldValue;
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::grant_type::GrantType;
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_domain::id::{ClientId, GrantId, UserId};
use countersign_domain::number::whole;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::{OpenTo, ResourceName, ResourceScope, ScopeTitle};
use countersign_domain::scope::ScopeName;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_http_actix::error::ApiError;
use countersign_http_actix::extract::body::Body;
use countersign_http_actix::page::language::page_languages;
use countersign_operators::people::find_who::{FindWhoError, find_who};
use countersign_ports::StoreError;
use countersign_usecases::Management;

use crate::settings::Applications;

/// The fields that may be sent several times: those of ticks.
const SEVERAL: [&str; 3] = ["grant_types", "algorithms", "admin_scopes"];

/// The value of a tick.
const TICKED: &str = "yes";

/// The values of a form.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent(Vec<(String, String)>);

/// Why a form asks for no change.
#[derive(Debug)]
pub(super) enum Unfit {
    /// A field cannot have its value.
    Field { name: &'static str, why: String },
    /// It names no change.
    NoChange,
    /// The change cannot be written down.
    Unwritable,
    /// A user or wallet could not be looked up.
    Store(StoreError),
}

impl Unfit {
    fn field(name: &'static str, why: impl ToString) -> Self {
        Self::Field { name, why: why.to_string() }
    }
}

impl Sent {
    /// Reads a form of ours. A name that occurs twice is refused.
    pub(super) fn read(body: &Body) -> Result<Self, ApiError> {
        body.require_form(OAuthErrorCode::InvalidRequest)?;
        let pairs = body.pairs()?;
        for (place, (name, _)) in pairs.iter().enumerate() {
            let is_double = pairs.iter().take(place).any(|(before, _)| before == name);
            if is_double && !SEVERAL.contains(&name.as_str()) {
                return Err(ApiError::invalid_request("form: a field was sent twice"));
            }
        }
        // Browsers send the line breaks of a form as CR LF.
        let pairs = pairs.into_iter().map(|(name, value)| (name, value.replace("\r\n", "\n")));
        Ok(Self(pairs.filter(|(_, value)| !value.is_empty()).collect()))
    }

    /// Values that a page knows.
    pub(super) fn of<const N: usize>(values: [(&str, String); N]) -> Self {
        Self(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    pub(super) fn add(&mut self, name: &str, value: impl ToString) {
        self.0.push((name.to_owned(), value.to_string()));
    }

    pub(super) fn one(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// A value without the spaces around it.
    fn trimmed(&self, name: &str) -> Option<&str> {
        self.one(name).map(str::trim).filter(|value| !value.is_empty())
    }

    fn required(&self, name: &'static str) -> Result<&str, Unfit> {
        self.trimmed(name).ok_or_else(|| Unfit::field(name, "is missing"))
    }

    /// The lines of a field.
    fn lines(&self, name: &str) -> Vec<String> {
        let lines = self.one(name).unwrap_or_default().lines().map(str::trim);
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    /// The values of a field with ticks.
    fn several(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().filter(|(given, _)| given == name);
        values.map(|(_, value)| value.clone()).collect()
    }

    fn is_ticked(&self, name: &str) -> bool {
        self.one(name) == Some(TICKED)
    }

    /// The values that ask for the same text again.
    pub(super) fn to_repeat(&self) -> impl Iterator<Item = (&str, &str)> {
        let values = self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        values.filter(|(name, _)| !["form", "signer"].contains(name))
    }

    /// The name of the act that the form asks for.
    pub(super) fn name(&self) -> Option<ActName> {
        ActName::parse(self.one("change")?)
    }

    /// The act that the form asks for: each of its fields is judged, and written as a text would have it.
    pub(super) async fn change(
        &self,
        management: Management<'_>,
        applications: &dyn Applications,
    ) -> Result<Act, Unfit> {
        let name = self.name().ok_or(Unfit::NoChange)?;
        let mut writer = ActWriter::new(name);
        for field in name.row().fields {
            writer = if *field == ActField::Wallet {
                writer.subject(&self.wallet(management).await?)
            } else if *field == ActField::Member {
                writer.subject(&self.who(management, "member").await?.into())
            } else {
                self.write(*field, writer, applications)?
            };
        }
        writer.act().map_err(|_| Unfit::Unwritable)
    }

    /// Writes a field that needs no looking up.
    fn write(
        &self,
        field: ActField,
        writer: ActWriter,
        applications: &dyn Applications,
    ) -> Result<ActWriter, Unfit> {
        Ok(match field {
            ActField::Wallet | ActField::Member => writer,
            ActField::User => writer.user(&self.id("user", UserId::parse)?.into()),
            ActField::Reason => writer.reason(self.optional("reason", Block::judge_reason)?.as_deref()),
            ActField::KeepOffline => {
                writer.offline(Some(OfflineAccess::kept_if(self.is_ticked("keep_offline"))))
            }
            ActField::NewGroup | ActField::Group | ActField::GroupOfMember => {
                writer.group(&self.parsed("group", GroupName::parse)?)
            }
            ActField::GroupTitle => writer.title(self.optional("title", GroupTitle::parse)?.as_ref()),
            ActField::Client => writer.client(&self.id("client", ClientId::parse)?.into()),
            ActField::Registration => writer.metadata(&self.registration(applications)?),
            ActField::Metadata => writer.metadata(&self.metadata(emptied())?),
            ActField::MoreResources => writer.resources(&self.lines("resources")),
            ActField::Resources => {
                self.required("resources")?;
                writer.resources(&self.lines("resources"))
            }
            ActField::KeepOld => writer.keep_old(self.keep_old()?),
            ActField::Rule => writer.rule(self.rule()?.as_ref()),
            ActField::Release => writer.release(self.release()?.as_ref()),
            ActField::NewUri | ActField::Uri => writer.uri(self.required("uri")?),
            ActField::ResourceName => {
                writer.resource_name(self.optional("resource_name", ResourceName::parse)?.as_ref())
            }
            ActField::OpenTo => {
                let open_to = OpenTo::parse(self.trimmed("open_to").unwrap_or("everyone"));
                writer.open_to(open_to.ok_or_else(|| Unfit::field("open_to", "is everyone or named"))?)
            }
            ActField::ResourceScopes => {
                let scopes = scopes_of(&self.lines("resource_scopes"));
                writer.scopes(&scopes.map_err(|why| Unfit::field("resource_scopes", why))?)
            }
            ActField::Rotation => writer.rotation(self.is_ticked("at_once"), &self.algorithms()?),
            ActField::Kid => writer.kid(self.required("kid")?),
            ActField::NewKeyName | ActField::KeyName => {
                writer.key_name(&self.parsed("key_name", AdminKeyName::parse)?)
            }
            ActField::AdminScopes => writer.admin_scopes(&self.admin_scopes()?),
            ActField::Lives => writer.lives(self.lives()?),
            ActField::Proposal => writer.proposal(self.proposal()?),
        })
    }

    /// The proposal that the form is about.
    pub(super) fn proposal(&self) -> Result<GrantId, Unfit> {
        self.id("proposal", GrantId::parse)
    }

    /// The wallet of the operator that is to sign, if the form names one: the account, after its kind and a space
    /// if it has one.
    pub(super) fn signer(&self, wallets: &[WalletAccount]) -> Result<Option<WalletAccount>, Unfit> {
        let Some(named) = self.trimmed("signer") else { return Ok(None) };
        let (kind, account) = match named.split_once(' ') {
            Some((kind, account)) => (AccountKind::parse(kind), account),
            None => (None, named),
        };
        let is_it = |wallet: &&WalletAccount| wallet.caip10() == account && wallet.kind() == kind;
        let found = wallets.iter().find(is_it).cloned();
        found.map(Some).ok_or_else(|| Unfit::field("signer", "is not a wallet of yours that may sign"))
    }

    fn id<T>(&self, name: &'static str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, Unfit> {
        parse(self.required(name)?).ok_or_else(|| Unfit::field(name, "is not an id"))
    }

    fn parsed<T, E: fmt::Display>(
        &self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, Unfit> {
        parse(self.required(name)?).map_err(|rejected| Unfit::field(name, rejected))
    }

    fn optional<T, E: fmt::Display>(
        &self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Unfit> {
        self.trimmed(name).map(parse).transpose().map_err(|rejected| Unfit::field(name, rejected))
    }

    fn kind(&self) -> Result<Option<AccountKind>, Unfit> {
        let Some(word) = self.trimmed("wallet_kind") else { return Ok(None) };
        let kind = AccountKind::parse(word);
        kind.map(Some).ok_or_else(|| Unfit::field("wallet_kind", "is key or contract"))
    }

    async fn wallet(&self, management: Management<'_>) -> Result<NamedSubject, Unfit> {
        match self.who(management, "wallet").await? {
            Subject::Wallet(account) => Ok(Subject::Wallet(account)),
            Subject::User(_) => Err(Unfit::field("wallet", "is the id of a user")),
        }
    }

    async fn who(&self, management: Management<'_>, name: &'static str) -> Result<Subject, Unfit> {
        let found = find_who(management, self.required(name)?, self.kind()?).await;
        found.map_err(|error| match error {
            FindWhoError::Store(error) => Unfit::Store(error),
            error @ (FindWhoError::Unrecognized(_)
            | FindWhoError::SeveralKnown(_)
            | FindWhoError::ContractNowhere) => Unfit::field(name, error),
        })
    }

    fn keep_old(&self) -> Result<KeepOld, Unfit> {
        let keep_old = whole(self.trimmed("keep_old").unwrap_or("0")).and_then(KeepOld::seconds);
        keep_old
            .ok_or_else(|| Unfit::field("keep_old", format!("takes at most {} seconds", KeepOld::LONGEST)))
    }

    fn rule(&self) -> Result<Option<AccessRule>, Unfit> {
        let rule = match self.required("rule")? {
            "default" => return Ok(None),
            "groups" => {
                let groups = self.names("rule_groups")?;
                AccessRule::parse(&format!("groups:{groups}"))
                    .map_err(|rejected| Unfit::field("rule_groups", rejected))
            }
            other => AccessRule::parse(other).map_err(|rejected| Unfit::field("rule", rejected)),
        };
        rule.map(Some)
    }

    fn release(&self) -> Result<Option<Release>, Unfit> {
        Ok(match self.trimmed("release") {
            None => None,
            Some("rule") => Some(Release::OfRule),
            Some("all") => Some(Release::All),
            Some("groups") => {
                let release = Release::parse(&self.names("release_groups")?);
                Some(release.map_err(|rejected| Unfit::field("release_groups", rejected))?)
            }
            Some(_) => return Err(Unfit::field("release", "is rule, all or groups")),
        })
    }

    /// Names with commas between them, without spaces.
    fn names(&self, field: &'static str) -> Result<String, Unfit> {
        let names = self.required(field)?.split(',').map(str::trim).filter(|name| !name.is_empty());
        Ok(names.collect::<Vec<_>>().join(","))
    }

    fn algorithms(&self) -> Result<Vec<SigningAlgorithm>, Unfit> {
        let named = self.all("algorithms").map(SigningAlgorithm::parse).collect::<Option<Vec<_>>>();
        let named = named.ok_or_else(|| Unfit::field("algorithms", "is not an algorithm of this server"))?;
        Ok(if named.is_empty() { SigningAlgorithm::ALL.to_vec() } else { named })
    }

    fn admin_scopes(&self) -> Result<AdminScopes, Unfit> {
        let scopes = self.all("admin_scopes").map(AdminScope::parse).collect::<Result<Vec<_>, _>>();
        let scopes = scopes.map_err(|rejected| Unfit::field("admin_scopes", rejected))?;
        if scopes.is_empty() {
            return Err(Unfit::field("admin_scopes", "is missing"));
        }
        Ok(AdminScopes::of(scopes))
    }

    fn lives(&self) -> Result<Option<u32>, Unfit> {
        let Some(days) = self.trimmed("expires_days") else { return Ok(None) };
        let days = whole::<u32>(days).filter(|days| (1..=MAX_DAYS).contains(days));
        let days =
            days.ok_or_else(|| Unfit::field("expires_days", format!("takes a number, 1 to {MAX_DAYS}")))?;
        Ok(Some(days * 24 * 60 * 60))
    }

    /// The registration of a new client: that of a known application, and over it what was typed.
    fn registration(&self, applications: &dyn Applications) -> Result<RequestedMetadata, Unfit> {
        let Some((name, at)) = self.application()? else {
            return self.metadata(RequestedMetadata::default());
        };
        let known = applications.registration(name, &at);
        let known = known.ok_or_else(|| Unfit::field("application", "is not known"))?;
        self.metadata(known)
    }

    /// The application whose registration is known, and its address.
    pub(super) fn application(&self) -> Result<Option<(&str, PublicUrl)>, Unfit> {
        let Some(name) = self.trimmed("application") else { return Ok(None) };
        let at = PublicUrl::parse(self.required("application_url")?.trim_end_matches('/'));
        let at = at.map_err(|rejected| Unfit::field("application_url", rejected))?;
        Ok(Some((name, at)))
    }

    /// What a client registers. What the form leaves empty is that of `base`.
    fn metadata(&self, mut base: RequestedMetadata) -> Result<RequestedMetadata, Unfit> {
        let mut grant_types = self.all(ClientField::GrantTypes.name());
        if let Some(unknown) = grant_types.find(|name| GrantType::parse(name).is_none()) {
            return Err(Unfit::field("grant_types", format!("{unknown:?} is not known")));
        }
        for field in ClientField::in_words() {
            let name = field.name();
            let texts = || if SEVERAL.contains(&name) { self.several(name) } else { self.lines(name) };
            match base.slot(field) {
                FieldSlot::Text(text) => {
                    if let Some(sent) = self.trimmed(name) {
                        *text = Some(sent.to_owned());
                    }
                }
                FieldSlot::Truth(truth) => {
                    if self.is_ticked(name) {
                        *truth = Some(true);
                    }
                }
                FieldSlot::Texts(list) => {
                    if let sent @ [_, ..] = &*texts() {
                        *list = Some(sent.to_vec());
                    }
                }
                FieldSlot::Several(list) => {
                    if let sent @ [_, ..] = &*texts() {
                        *list = sent.to_vec();
                    }
                }
            }
        }
        Ok(base)
    }

    /// The fields of the form that changes a client: all that it has.
    pub(super) fn of_client(client: &Client) -> Self {
        let mut sent = Self::default();
        sent.add("client", client.id);
        for field in ClientField::in_words() {
            let name = field.name();
            match client.field(field) {
                FieldValue::Text(None) | FieldValue::Truth(false) => {}
                FieldValue::Text(Some(text)) => sent.add(name, text),
                FieldValue::Truth(true) => sent.add(name, TICKED),
                FieldValue::Texts(texts) if SEVERAL.contains(&name) => {
                    texts.into_iter().for_each(|text| sent.add(name, text));
                }
                FieldValue::Texts(texts) => sent.add(name, texts.join("\n")),
            }
        }
        sent
    }

    /// The lines of the field with a resource's scopes.
    pub(super) fn add_scopes(&mut self, scopes: &[ResourceScope]) {
        self.add("resource_scopes", joined(scopes.iter().flat_map(lines_of)));
    }
}

/// The longest time that an admin key can live, in days: 100 years would not fit.
const MAX_DAYS: u32 = 36_500;

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

fn joined(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines of a scope: its title, and one more for each other language.
fn lines_of(scope: &ResourceScope) -> Vec<String> {
    let needs = scope.needs.as_ref().map(|group| format!(" needs {group}")).unwrap_or_default();
    let first = format!("{}{needs} = {}", scope.name, scope.title.as_str());
    let others =
        scope.titles.iter().map(|(tag, title)| format!("{}[{tag}] = {}", scope.name, title.as_str()));
    std::iter::once(first).chain(others).collect()
}

/// Reads the lines of scopes: `photos.read = See your photos`, `photos.admin needs staff = Manage photos`, and the
/// title in another language, `photos.read[de] = Deine Fotos sehen`.
fn scopes_of(lines: &[String]) -> Result<Vec<ResourceScope>, String> {
    let mut scopes: Vec<ResourceScope> = Vec::new();
    for line in lines {
        let (left, title) = match line.split_once('=') {
            Some((left, title)) => (left.trim(), Some(title.trim()).filter(|title| !title.is_empty())),
            None => (line.as_str(), None),
        };
        if let Some((name, tag)) = left.strip_suffix(']').and_then(|left| left.split_once('[')) {
            if !page_languages().any(|known| known == tag) {
                let known = page_languages().collect::<Vec<_>>().join(", ");
                return Err(format!("{line:?}: the languages of the pages are {known}"));
            }
            let scope = scopes.iter_mut().find(|scope| scope.name.as_str() == name.trim());
            let scope = scope.ok_or_else(|| format!("{line:?}: name the scope in a line before"))?;
            let title = title.ok_or_else(|| format!("{line:?}: it has no title"))?;
            let title =
                ScopeTitle::parse(title).map_err(|rejected| format!("{line:?}: a title {rejected}"))?;
            scope.titles.insert(tag.to_owned(), title);
            continue;
        }
        let (name, needs) = match left.split_once(" needs ") {
            Some((name, group)) => (name.trim(), Some(group.trim())),
            None => (left, None),
        };
        let name = ScopeName::parse(name).map_err(|rejected| format!("{line:?}: a name {rejected}"))?;
        if scopes.iter().any(|scope| scope.name == name) {
            return Err(format!("{name} is named twice"));
        }
        let needs = needs.map(GroupName::parse).transpose();
        let needs = needs.map_err(|rejected| format!("{line:?}: {rejected}"))?;
        let title = match title {
            Some(title) => {
                ScopeTitle::parse(title).map_err(|rejected| format!("{line:?}: a title {rejected}"))?
            }
            None => ScopeTitle::of_name(&name),
        };
        scopes.push(ResourceScope { name, title, titles: BTreeMap::new(), needs });
    }
    scopes.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(scopes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_lines_of_scopes_are_read_as_they_are_written() {
        let text = "photos.admin needs staff = Manage = photos\nphotos.read = See your photos\nphotos.read[de] = Deine Fotos sehen";
        let scopes = scopes_of(&lines(text)).unwrap();
        assert_eq!(scopes[0].needs.as_ref().map(GroupName::as_str), Some("staff"));
        assert_eq!(scopes[0].title.as_str(), "Manage = photos");
        assert_eq!(scopes[1].title_in("de"), "Deine Fotos sehen");
        assert_eq!(joined(scopes.iter().flat_map(lines_of)), text);
    }

    #[test]
    fn a_line_that_is_no_scope_is_named() {
        for (text, complaint) in [
            ("two words = x", "a name"),
            ("a = b\na = c", "named twice"),
            ("a[de] = b", "in a line before"),
            ("a = b\na[xx] = c", "languages of the pages"),
            ("a needs Staff! = b", "Staff!"),
            ("a = \u{202e}b", "a title"),
        ] {
            let error = scopes_of(&lines(text)).unwrap_err();
            assert!(error.contains(complaint), "{text}: {error}");
        }
    }
}
