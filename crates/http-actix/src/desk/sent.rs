//! What a form of the desk sent, and the change that it asks for.

use std::collections::BTreeMap;

use countersign_domain::admin_key::{AdminKeyName, AdminScope, AdminScopes};
use countersign_domain::admission::{AccessRule, Block, Release};
use countersign_domain::client::{Client, DisplayMetadata};
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::desk::change::{Change, ResourceWords, UsedBy, Whom};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::grant_type::GrantType;
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_domain::id::{ClientId, GrantId, UserId};
use countersign_domain::public_url::PublicUrl;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::{OpenTo, ResourceScope, ScopeTitle};
use countersign_domain::scope::ScopeName;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_ports::StoreError;
use countersign_usecases::Management;
use countersign_usecases::people::Who;
use countersign_usecases::people::find_who::{FindWhoError, find_who};

use crate::error::ApiError;
use crate::extract::body::Body;
use crate::page::language::page_languages;
use crate::settings::Applications;

/// The fields that may be sent several times: those of ticks.
const SEVERAL: [&str; 3] = ["grant_types", "algorithms", "admin_scopes"];

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
    /// Somebody could not be looked up.
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

    fn is_ticked(&self, name: &str) -> bool {
        self.one(name) == Some("yes")
    }

    /// The values that ask for the same text again.
    pub(super) fn to_repeat(&self) -> impl Iterator<Item = (&str, &str)> {
        let values = self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        values.filter(|(name, _)| !["form", "signer"].contains(name))
    }

    /// The change that the form asks for.
    pub(super) async fn change(
        &self,
        management: Management<'_>,
        applications: &dyn Applications,
    ) -> Result<Change, Unfit> {
        let name = self.one("change").unwrap_or_default();
        Ok(match name {
            "user-block" => Change::Block { who: Whom::User(self.user()?.into()), reason: self.reason()? },
            "user-unblock" => Change::Unblock { who: Whom::User(self.user()?.into()) },
            "user-sign-out" => Change::SignOut { user: self.user()?.into() },
            "user-delete" => Change::DeleteUser { user: self.user()?.into() },
            "wallet-block" => Change::Block { who: self.wallet(management).await?, reason: self.reason()? },
            "wallet-unblock" => Change::Unblock { who: self.wallet(management).await? },
            "group-create" => Change::CreateGroup { group: self.group()?, title: self.title()? },
            "group-retitle" => Change::RetitleGroup { group: self.group()?, title: self.title()? },
            "group-delete" => Change::DeleteGroup { group: self.group()?, used_by: UsedBy::default() },
            "member-add" => {
                Change::AddMember { group: self.group()?, member: self.member(management).await? }
            }
            "member-remove" => {
                Change::RemoveMember { group: self.group()?, member: self.member(management).await? }
            }
            "client-register" => Change::RegisterClient {
                id: None,
                metadata: Box::new(self.registration(applications)?),
                resources: self.lines("resources"),
            },
            "client-change" => {
                let metadata = Box::new(self.metadata(emptied())?);
                Change::ChangeClient { client: self.client()?.into(), metadata }
            }
            "client-delete" => Change::DeleteClient { client: self.client()?.into() },
            "client-rotate-secret" => {
                Change::RotateSecret { client: self.client()?.into(), keep_old: self.keep_old()? }
            }
            "client-open-resources" => {
                Change::OpenResources { client: self.client()?.into(), resources: self.resources()? }
            }
            "client-close-resources" => {
                Change::CloseResources { client: self.client()?.into(), resources: self.resources()? }
            }
            "client-access" => Change::SetAccess {
                client: self.client()?.into(),
                rule: self.rule()?,
                release: self.release()?,
            },
            "resource-create" => Change::CreateResource { resource: self.resource()? },
            "resource-update" => {
                Change::UpdateResource { resource: self.resource()?, used_by: UsedBy::default() }
            }
            "resource-delete" => {
                Change::DeleteResource { uri: self.required("uri")?.to_owned(), used_by: UsedBy::default() }
            }
            "keys-rotate" => {
                Change::RotateKeys { at_once: self.is_ticked("at_once"), algorithms: self.algorithms()? }
            }
            "key-withdraw" => Change::WithdrawKey { kid: self.required("kid")?.to_owned() },
            "admin-key-create" => Change::CreateAdminKey {
                name: self.key_name()?,
                scopes: self.admin_scopes()?,
                lives: self.lives()?,
            },
            "admin-key-revoke" => Change::RevokeAdminKey { name: self.key_name()? },
            "proposal-withdraw" => Change::WithdrawProposal { proposal: self.proposal()? },
            _ => return Err(Unfit::NoChange),
        })
    }

    /// The proposal that the form is about.
    pub(super) fn proposal(&self) -> Result<GrantId, Unfit> {
        let id = GrantId::parse(self.required("proposal")?);
        id.ok_or_else(|| Unfit::field("proposal", "is not an id"))
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

    fn user(&self) -> Result<UserId, Unfit> {
        UserId::parse(self.required("user")?).ok_or_else(|| Unfit::field("user", "is not an id"))
    }

    fn client(&self) -> Result<ClientId, Unfit> {
        ClientId::parse(self.required("client")?).ok_or_else(|| Unfit::field("client", "is not an id"))
    }

    fn group(&self) -> Result<GroupName, Unfit> {
        GroupName::parse(self.required("group")?).map_err(|rejected| Unfit::field("group", rejected))
    }

    fn title(&self) -> Result<Option<GroupTitle>, Unfit> {
        let title = self.trimmed("title").map(GroupTitle::parse).transpose();
        title.map_err(|rejected| Unfit::field("title", rejected))
    }

    fn reason(&self) -> Result<Option<String>, Unfit> {
        let reason = self.trimmed("reason").map(Block::judge_reason).transpose();
        reason.map_err(|rejected| Unfit::field("reason", rejected))
    }

    fn kind(&self) -> Result<Option<AccountKind>, Unfit> {
        let Some(word) = self.trimmed("wallet_kind") else { return Ok(None) };
        let kind = AccountKind::parse(word);
        kind.map(Some).ok_or_else(|| Unfit::field("wallet_kind", "is key or contract"))
    }

    async fn wallet(&self, management: Management<'_>) -> Result<Whom, Unfit> {
        match self.who(management, "wallet").await? {
            Who::Wallet(account) => Ok(Whom::Wallet(account)),
            Who::User(_) => Err(Unfit::field("wallet", "is the id of a user")),
        }
    }

    async fn member(&self, management: Management<'_>) -> Result<Whom, Unfit> {
        Ok(match self.who(management, "member").await? {
            Who::User(user) => Whom::User(user.into()),
            Who::Wallet(account) => Whom::Wallet(account),
        })
    }

    async fn who(&self, management: Management<'_>, name: &'static str) -> Result<Who, Unfit> {
        let found = find_who(management, self.required(name)?, self.kind()?).await;
        found.map_err(|error| match error {
            FindWhoError::Store(error) => Unfit::Store(error),
            error @ (FindWhoError::Unrecognized(_)
            | FindWhoError::SeveralKnown(_)
            | FindWhoError::ContractNowhere) => Unfit::field(name, error),
        })
    }

    fn keep_old(&self) -> Result<KeepOld, Unfit> {
        let seconds = self.trimmed("keep_old").unwrap_or("0").parse().ok();
        let keep_old = seconds.and_then(KeepOld::seconds);
        keep_old
            .ok_or_else(|| Unfit::field("keep_old", format!("takes at most {} seconds", KeepOld::LONGEST)))
    }

    fn resources(&self) -> Result<Vec<String>, Unfit> {
        let resources = self.lines("resources");
        if resources.is_empty() { Err(Unfit::field("resources", "is missing")) } else { Ok(resources) }
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

    fn resource(&self) -> Result<ResourceWords, Unfit> {
        let uri = self.required("uri")?.to_owned();
        let open_to = OpenTo::parse(self.trimmed("open_to").unwrap_or("everyone"));
        let open_to = open_to.ok_or_else(|| Unfit::field("open_to", "is everyone or named"))?;
        let scopes = scopes_of(&self.lines("resource_scopes"))
            .map_err(|why| Unfit::Field { name: "resource_scopes", why })?;
        Ok(ResourceWords { uri, open_to, scopes })
    }

    fn algorithms(&self) -> Result<Vec<SigningAlgorithm>, Unfit> {
        let named = self.all("algorithms").map(SigningAlgorithm::parse).collect::<Option<Vec<_>>>();
        let named = named.ok_or_else(|| Unfit::field("algorithms", "is not an algorithm of this server"))?;
        Ok(if named.is_empty() { SigningAlgorithm::ALL.to_vec() } else { named })
    }

    fn key_name(&self) -> Result<AdminKeyName, Unfit> {
        AdminKeyName::parse(self.required("key_name")?).map_err(|rejected| Unfit::field("key_name", rejected))
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
        let days = days.parse::<u32>().ok().filter(|days| (1..=MAX_DAYS).contains(days));
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
    fn metadata(&self, base: RequestedMetadata) -> Result<RequestedMetadata, Unfit> {
        let text = |name: &'static str, base: Option<String>| self.trimmed(name).map(str::to_owned).or(base);
        let lines = |name: &'static str| Some(self.lines(name)).filter(|lines| !lines.is_empty());
        let grant_types: Vec<String> = self.all("grant_types").map(str::to_owned).collect();
        if let Some(unknown) = grant_types.iter().find(|name| GrantType::parse(name).is_none()) {
            return Err(Unfit::field("grant_types", format!("{unknown:?} is not known")));
        }
        let tick = |name: &str, base: Option<bool>| if self.is_ticked(name) { Some(true) } else { base };
        let shown = base.display;
        Ok(RequestedMetadata {
            client_name: text("client_name", base.client_name),
            redirect_uris: lines("redirect_uris").or(base.redirect_uris),
            scopes: base.scopes,
            scope: text("scope", base.scope),
            response_types: base.response_types,
            grant_types: Some(grant_types).filter(|types| !types.is_empty()).or(base.grant_types),
            token_endpoint_auth_method: text("token_endpoint_auth_method", base.token_endpoint_auth_method),
            subject_type: base.subject_type,
            backchannel_logout_uri: text("backchannel_logout_uri", base.backchannel_logout_uri),
            require_pushed_authorization_requests: tick(
                "require_pushed_authorization_requests",
                base.require_pushed_authorization_requests,
            ),
            dpop_bound_access_tokens: tick("dpop_bound_access_tokens", base.dpop_bound_access_tokens),
            display: DisplayMetadata {
                client_uri: text("client_uri", shown.client_uri),
                logo_uri: text("logo_uri", shown.logo_uri),
                tos_uri: text("tos_uri", shown.tos_uri),
                policy_uri: text("policy_uri", shown.policy_uri),
                contacts: lines("contacts").unwrap_or(shown.contacts),
                jwks: text("jwks", shown.jwks),
                jwks_uri: text("jwks_uri", shown.jwks_uri),
                application_type: text("application_type", shown.application_type),
                id_token_signed_response_alg: text(
                    "id_token_signed_response_alg",
                    shown.id_token_signed_response_alg,
                ),
                token_endpoint_auth_signing_alg: text(
                    "token_endpoint_auth_signing_alg",
                    shown.token_endpoint_auth_signing_alg,
                ),
                post_logout_redirect_uris: lines("post_logout_redirect_uris")
                    .unwrap_or(shown.post_logout_redirect_uris),
            },
        })
    }

    /// The fields of the form that changes a client.
    pub(super) fn of_client(client: &Client) -> Self {
        let metadata = &client.metadata;
        let shown = &metadata.display;
        let mut sent = Self::default();
        sent.add("client", client.id);
        sent.add("client_name", &metadata.name);
        sent.add("redirect_uris", joined(metadata.redirect_uris.iter().map(RedirectUri::to_string)));
        sent.add("scope", &metadata.scopes);
        sent.add("token_endpoint_auth_method", client.authentication.method());
        for kind in &metadata.grant_types {
            sent.add("grant_types", kind.name());
        }
        sent.add("post_logout_redirect_uris", joined(shown.post_logout_redirect_uris.iter().cloned()));
        sent.add("contacts", joined(shown.contacts.iter().cloned()));
        for (name, is_set) in [
            ("require_pushed_authorization_requests", metadata.requires_pushed_requests),
            ("dpop_bound_access_tokens", metadata.requires_bound_tokens),
        ] {
            if is_set {
                sent.add(name, "yes");
            }
        }
        for (name, value) in [
            ("backchannel_logout_uri", &metadata.backchannel_logout_uri),
            ("client_uri", &shown.client_uri),
            ("logo_uri", &shown.logo_uri),
            ("tos_uri", &shown.tos_uri),
            ("policy_uri", &shown.policy_uri),
            ("application_type", &shown.application_type),
            ("id_token_signed_response_alg", &shown.id_token_signed_response_alg),
            ("token_endpoint_auth_signing_alg", &shown.token_endpoint_auth_signing_alg),
            ("jwks_uri", &shown.jwks_uri),
            ("jwks", &shown.jwks),
        ] {
            if let Some(value) = value {
                sent.add(name, value);
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
    RequestedMetadata {
        require_pushed_authorization_requests: Some(false),
        dpop_bound_access_tokens: Some(false),
        ..RequestedMetadata::default()
    }
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
