//! The lines of each change: written, and read back.

use std::collections::BTreeMap;

use super::{Change, ChangeUnreadable, NamedClient, NamedUser, ResourceWords, UsedBy, Whom};
use crate::admin_key::{AdminKeyName, AdminScopes};
use crate::admission::{AccessRule, Release};
use crate::client::DisplayMetadata;
use crate::client_secrets::KeepOld;
use crate::desk::fields::{Reader, Writer, read_user, read_uuid, read_wallet, written_wallet};
use crate::group::{GroupName, GroupTitle};
use crate::id::{ClientId, GrantId};
use crate::registration::RequestedMetadata;
use crate::resource::{OpenTo, ResourceScope, ScopeTitle};
use crate::scope::ScopeName;
use crate::signing_algorithm::SigningAlgorithm;

impl Change {
    /// The change for programs, among the resources of its text.
    pub fn lines(&self) -> Vec<String> {
        let writer = Writer::new(self.name());
        let written = match self {
            Self::Block { who, reason } => whom(writer, who).with_some("reason", reason.as_ref()),
            Self::Unblock { who } => whom(writer, who),
            Self::SignOut { user } | Self::DeleteUser { user } => named_user(writer, user),
            Self::CreateGroup { group, title } | Self::RetitleGroup { group, title } => {
                writer.with("group", group).with_some("title", title.as_ref().map(GroupTitle::as_str))
            }
            Self::DeleteGroup { group, used_by } => written_use(writer.with("group", group), used_by),
            Self::AddMember { group, member } | Self::RemoveMember { group, member } => {
                whom(writer.with("group", group), member)
            }
            Self::RegisterClient { id, metadata, resources } => {
                let writer = written_metadata(writer.with_some("client", *id), metadata);
                writer.with_each("resource", resources)
            }
            Self::ChangeClient { client, metadata } => {
                written_metadata(named_client(writer, client), metadata)
            }
            Self::DeleteClient { client } => named_client(writer, client),
            Self::RotateSecret { client, keep_old } => {
                named_client(writer, client).with("keep-old", keep_old.as_seconds())
            }
            Self::OpenResources { client, resources } | Self::CloseResources { client, resources } => {
                named_client(writer, client).with_each("resource", resources)
            }
            Self::SetAccess { client, rule, release } => {
                let writer = named_client(writer, client);
                let writer = match rule {
                    Some(rule) => writer.with("rule", rule),
                    None => writer.with("rule", DEFAULT),
                };
                writer.with_some("release", release.as_ref().map(written_release))
            }
            Self::CreateResource { resource } => written_resource(writer, resource),
            Self::UpdateResource { resource, used_by } => {
                written_use(written_resource(writer, resource), used_by)
            }
            Self::DeleteResource { uri, used_by } => written_use(writer.with("resource", uri), used_by),
            Self::RotateKeys { at_once, algorithms } => {
                let names: Vec<_> = algorithms.iter().map(|algorithm| algorithm.name()).collect();
                writer.with("when", if *at_once { NOW } else { IN_A_DAY }).with_each("algorithm", &names)
            }
            Self::WithdrawKey { kid } => writer.with("key", kid),
            Self::CreateAdminKey { name, scopes, lives } => {
                let scopes: Vec<_> = scopes.iter().collect();
                writer.with("name", name).with_each("scope", &scopes).with_some("lives", *lives)
            }
            Self::RevokeAdminKey { name } => writer.with("name", name),
            Self::WithdrawProposal { proposal } => writer.with("proposal", proposal),
        };
        written.done()
    }

    /// Reads the lines of a change. Only the lines that [`Change::lines`] writes are those of a change.
    pub fn from_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> Result<Self, ChangeUnreadable> {
        let lines: Vec<&str> = lines.into_iter().collect();
        let change = read(Reader::new(lines.iter().copied())?)?;
        if change.lines() == lines { Ok(change) } else { Err(ChangeUnreadable) }
    }
}

/// The word for the rule of the setting `default_access`.
const DEFAULT: &str = "default";
/// The word for the groups that a client's rule names.
const OF_RULE: &str = "rule";
/// Keys that sign at once.
const NOW: &str = "now";
/// Keys that sign when everyone knows them.
const IN_A_DAY: &str = "in-a-day";

fn read(mut reader: Reader<'_>) -> Result<Change, ChangeUnreadable> {
    let fields = &mut reader;
    let change = match fields.change {
        "user-block" | "wallet-block" => {
            Change::Block { who: read_whom(fields)?, reason: fields.maybe("reason") }
        }
        "user-unblock" | "wallet-unblock" => Change::Unblock { who: read_whom(fields)? },
        "user-sign-out" => Change::SignOut { user: read_named_user(fields)? },
        "user-delete" => Change::DeleteUser { user: read_named_user(fields)? },
        "group-create" => Change::CreateGroup { group: read_group(fields)?, title: read_title(fields)? },
        "group-retitle" => Change::RetitleGroup { group: read_group(fields)?, title: read_title(fields)? },
        "group-delete" => Change::DeleteGroup { group: read_group(fields)?, used_by: read_use(fields)? },
        "member-add" => Change::AddMember { group: read_group(fields)?, member: read_whom(fields)? },
        "member-remove" => Change::RemoveMember { group: read_group(fields)?, member: read_whom(fields)? },
        "client-register" => Change::RegisterClient {
            id: fields.maybe_parse("client", |text| read_uuid(text, ClientId::from_uuid))?,
            metadata: Box::new(read_metadata(fields)?),
            resources: fields.each("resource"),
        },
        "client-change" => {
            Change::ChangeClient { client: read_client(fields)?, metadata: Box::new(read_metadata(fields)?) }
        }
        "client-delete" => Change::DeleteClient { client: read_client(fields)? },
        "client-rotate-secret" => Change::RotateSecret {
            client: read_client(fields)?,
            keep_old: fields.parse("keep-old", |text| text.parse().ok().and_then(KeepOld::seconds))?,
        },
        "client-open-resources" => {
            Change::OpenResources { client: read_client(fields)?, resources: fields.each("resource") }
        }
        "client-close-resources" => {
            Change::CloseResources { client: read_client(fields)?, resources: fields.each("resource") }
        }
        "client-access" => Change::SetAccess {
            client: read_client(fields)?,
            rule: fields.parse("rule", |text| match text {
                DEFAULT => Some(None),
                rule => AccessRule::parse(rule).ok().map(Some),
            })?,
            release: fields.maybe_parse("release", |text| match text {
                OF_RULE => Some(Release::OfRule),
                // The same letters as a group of that name would have.
                release => Release::parse(release.strip_prefix("groups:").unwrap_or(release)).ok(),
            })?,
        },
        "resource-create" => Change::CreateResource { resource: read_resource(fields)? },
        "resource-update" => {
            Change::UpdateResource { resource: read_resource(fields)?, used_by: read_use(fields)? }
        }
        "resource-delete" => {
            Change::DeleteResource { uri: fields.take("resource")?, used_by: read_use(fields)? }
        }
        "keys-rotate" => Change::RotateKeys {
            at_once: fields.parse("when", |text| match text {
                NOW => Some(true),
                IN_A_DAY => Some(false),
                _ => None,
            })?,
            algorithms: all(fields.each("algorithm"), SigningAlgorithm::parse)?,
        },
        "key-withdraw" => Change::WithdrawKey { kid: fields.take("key")? },
        "admin-key-create" => Change::CreateAdminKey {
            name: fields.parse("name", |text| AdminKeyName::parse(text).ok())?,
            scopes: AdminScopes::from_stored(&fields.each("scope").join(" "))
                .map_err(|_| ChangeUnreadable)?,
            lives: fields.maybe_parse("lives", |text| text.parse().ok())?,
        },
        "admin-key-revoke" => {
            Change::RevokeAdminKey { name: fields.parse("name", |text| AdminKeyName::parse(text).ok())? }
        }
        "proposal-withdraw" => {
            Change::WithdrawProposal { proposal: fields.parse("proposal", GrantId::parse)? }
        }
        _ => return Err(ChangeUnreadable),
    };
    reader.done()?;
    Ok(change)
}

fn whom(writer: Writer, who: &Whom) -> Writer {
    match who {
        Whom::User(user) => named_user(writer, user),
        Whom::Wallet(wallet) => writer.with("who", written_wallet(wallet)),
    }
}

fn read_whom(fields: &mut Reader<'_>) -> Result<Whom, ChangeUnreadable> {
    Ok(match fields.maybe("who") {
        Some(wallet) => Whom::Wallet(read_wallet(&wallet).ok_or(ChangeUnreadable)?),
        None => Whom::User(read_named_user(fields)?),
    })
}

fn named_user(writer: Writer, user: &NamedUser) -> Writer {
    writer.with("user", user.id).with_some("known-by", user.wallet.as_ref().map(written_wallet))
}

fn read_named_user(fields: &mut Reader<'_>) -> Result<NamedUser, ChangeUnreadable> {
    Ok(NamedUser {
        id: fields.parse("user", read_user)?,
        wallet: fields.maybe_parse("known-by", read_wallet)?,
    })
}

fn named_client(writer: Writer, client: &NamedClient) -> Writer {
    writer.with("client", client.id).with_some("known-as", client.name.as_ref())
}

fn read_client(fields: &mut Reader<'_>) -> Result<NamedClient, ChangeUnreadable> {
    Ok(NamedClient {
        id: fields.parse("client", |text| read_uuid(text, ClientId::from_uuid))?,
        name: fields.maybe("known-as"),
    })
}

fn read_group(fields: &mut Reader<'_>) -> Result<GroupName, ChangeUnreadable> {
    fields.parse("group", |text| GroupName::parse(text).ok())
}

fn read_title(fields: &mut Reader<'_>) -> Result<Option<GroupTitle>, ChangeUnreadable> {
    fields.maybe_parse("title", |text| GroupTitle::parse(text).ok())
}

/// What a client is told. Groups have a prefix, so that none of them is one of the other words.
fn written_release(release: &Release) -> String {
    match release {
        Release::OfRule => OF_RULE.to_owned(),
        Release::All => release.to_string(),
        Release::Groups(_) => format!("groups:{release}"),
    }
}

fn written_metadata(writer: Writer, metadata: &RequestedMetadata) -> Writer {
    let RequestedMetadata {
        client_name,
        redirect_uris,
        scopes,
        scope,
        response_types,
        grant_types,
        token_endpoint_auth_method,
        subject_type,
        backchannel_logout_uri,
        require_pushed_authorization_requests,
        dpop_bound_access_tokens,
        display,
    } = metadata;
    let DisplayMetadata {
        client_uri,
        logo_uri,
        tos_uri,
        policy_uri,
        contacts,
        jwks,
        jwks_uri,
        application_type,
        id_token_signed_response_alg,
        token_endpoint_auth_signing_alg,
        post_logout_redirect_uris,
    } = display;
    let list = |writer: Writer, name, values: &Option<Vec<String>>| match values {
        Some(values) => writer.with_list(name, values),
        None => writer,
    };
    let writer = writer.with_some("client_name", client_name.as_ref());
    let writer = list(writer, "redirect_uris", redirect_uris);
    let writer = list(writer, "scopes", scopes).with_some("scope", scope.as_ref());
    let writer = list(writer, "response_types", response_types);
    list(writer, "grant_types", grant_types)
        .with_some("token_endpoint_auth_method", token_endpoint_auth_method.as_ref())
        .with_some("subject_type", subject_type.as_ref())
        .with_some("backchannel_logout_uri", backchannel_logout_uri.as_ref())
        .with_some("require_pushed_authorization_requests", *require_pushed_authorization_requests)
        .with_some("dpop_bound_access_tokens", *dpop_bound_access_tokens)
        .with_some("client_uri", client_uri.as_ref())
        .with_some("logo_uri", logo_uri.as_ref())
        .with_some("tos_uri", tos_uri.as_ref())
        .with_some("policy_uri", policy_uri.as_ref())
        .with_each("contacts", contacts)
        .with_some("jwks", jwks.as_ref())
        .with_some("jwks_uri", jwks_uri.as_ref())
        .with_some("application_type", application_type.as_ref())
        .with_some("id_token_signed_response_alg", id_token_signed_response_alg.as_ref())
        .with_some("token_endpoint_auth_signing_alg", token_endpoint_auth_signing_alg.as_ref())
        .with_each("post_logout_redirect_uris", post_logout_redirect_uris)
}

fn read_metadata(fields: &mut Reader<'_>) -> Result<RequestedMetadata, ChangeUnreadable> {
    let truth = |text: &str| text.parse().ok();
    Ok(RequestedMetadata {
        client_name: fields.maybe("client_name"),
        redirect_uris: fields.list("redirect_uris"),
        scopes: fields.list("scopes"),
        scope: fields.maybe("scope"),
        response_types: fields.list("response_types"),
        grant_types: fields.list("grant_types"),
        token_endpoint_auth_method: fields.maybe("token_endpoint_auth_method"),
        subject_type: fields.maybe("subject_type"),
        backchannel_logout_uri: fields.maybe("backchannel_logout_uri"),
        require_pushed_authorization_requests: fields
            .maybe_parse("require_pushed_authorization_requests", truth)?,
        dpop_bound_access_tokens: fields.maybe_parse("dpop_bound_access_tokens", truth)?,
        display: DisplayMetadata {
            client_uri: fields.maybe("client_uri"),
            logo_uri: fields.maybe("logo_uri"),
            tos_uri: fields.maybe("tos_uri"),
            policy_uri: fields.maybe("policy_uri"),
            contacts: fields.each("contacts"),
            jwks: fields.maybe("jwks"),
            jwks_uri: fields.maybe("jwks_uri"),
            application_type: fields.maybe("application_type"),
            id_token_signed_response_alg: fields.maybe("id_token_signed_response_alg"),
            token_endpoint_auth_signing_alg: fields.maybe("token_endpoint_auth_signing_alg"),
            post_logout_redirect_uris: fields.each("post_logout_redirect_uris"),
        },
    })
}

fn written_resource(writer: Writer, resource: &ResourceWords) -> Writer {
    let ResourceWords { uri, open_to, scopes } = resource;
    let writer = writer.with("resource", uri).with("open-to", open_to.name());
    scopes.iter().fold(writer, |writer, scope| {
        let ResourceScope { name, title, titles, needs } = scope;
        let titles: Vec<_> =
            titles.iter().map(|(language, title)| format!("{language}:{}", title.as_str())).collect();
        let writer = writer.with("scope", name).with("title", title.as_str());
        writer.with_each("title-in", &titles).with_some("needs", needs.as_ref())
    })
}

fn read_resource(fields: &mut Reader<'_>) -> Result<ResourceWords, ChangeUnreadable> {
    let uri = fields.take("resource")?;
    let open_to = fields.parse("open-to", OpenTo::parse)?;
    let mut scopes = Vec::new();
    while let Some(name) = fields.maybe("scope") {
        let mut titles = BTreeMap::new();
        let name = ScopeName::parse(&name).map_err(|_| ChangeUnreadable)?;
        let title = fields.parse("title", |text| ScopeTitle::parse(text).ok())?;
        for written in fields.each("title-in") {
            let (language, title) = written.split_once(':').ok_or(ChangeUnreadable)?;
            titles.insert(language.to_owned(), ScopeTitle::parse(title).map_err(|_| ChangeUnreadable)?);
        }
        let needs = fields.maybe_parse("needs", |text| GroupName::parse(text).ok())?;
        scopes.push(ResourceScope { name, title, titles, needs });
    }
    Ok(ResourceWords { uri, open_to, scopes })
}

/// Nothing if nobody uses it, as in the texts of releases that did not say it.
fn written_use(writer: Writer, used_by: &UsedBy) -> Writer {
    match used_by.clients {
        0 => writer,
        clients => writer.with("used-by", clients).with_each("used-by-name", &used_by.names),
    }
}

fn read_use(fields: &mut Reader<'_>) -> Result<UsedBy, ChangeUnreadable> {
    match fields.maybe_parse("used-by", |text| text.parse().ok())? {
        Some(clients) => Ok(UsedBy { clients, names: fields.each("used-by-name") }),
        None => Ok(UsedBy::default()),
    }
}

fn all<T>(texts: Vec<String>, parse: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, ChangeUnreadable> {
    texts.iter().map(|text| parse(text).ok_or(ChangeUnreadable)).collect()
}
