//! What is signed for each change: its lines for programs, written and read back, and its words for the operator. Texts
//! that were signed are verified years later, so none of this changes.

use super::fields::{ActWriter, Reader, plain, quoted, read_uuid};
use super::lines::{
    IN_A_DAY, NEEDED_BY, NOW, OFFLINE, all, chosen, read_access, read_client, read_fields, read_group,
    read_invitation, read_inviter, read_limits, read_members, read_metadata, read_name, read_named_user,
    read_release, read_resource, read_some_client, read_some_members, read_title, read_use, read_whom,
    rule_of,
};
use super::words::{
    Side, admitted, application, briefly, called, for_people, listed, named, of_field, of_metadata, released,
    resource_words, spelled, uris, use_of,
};
use super::{Act, ActName, ActUnreadable, OfflineAccess};
use crate::admin_key::{AdminKeyName, AdminScopes};
use crate::admission::ClientAccess;
use crate::client_secrets::KeepOld;
use crate::id::{ClientId, GrantId};
use crate::number::whole;
use crate::scope::ScopeName;
use crate::signing_algorithm::SigningAlgorithm;

impl Act {
    /// The change for programs, among the resources of its text.
    pub fn lines(&self) -> Vec<String> {
        let writer = ActWriter::new(self.name());
        let written = match self {
            Self::Block { who, reason } | Self::Suspend { who, reason } => {
                writer.subject(who).reason(reason.as_deref())
            }
            Self::Unblock { who } | Self::Restore { who } => writer.subject(who),
            Self::SignOut { user, offline } => writer.user(user).offline(*offline),
            Self::Name { who, name } => writer.subject(who).person_name(name.as_ref()),
            Self::DeleteUser { user } => writer.user(user),
            Self::CreateGroup { group, title, members } => {
                writer.group(group).title(title.as_ref()).members(members)
            }
            Self::RetitleGroup { group, title } => writer.group(group).title(title.as_ref()),
            Self::DeleteGroup { group, used_by, needed_by } => {
                let names: Vec<_> = needed_by.iter().map(ScopeName::as_str).collect();
                writer.group(group).used_by(used_by).with_each(NEEDED_BY, &names)
            }
            Self::AddMembers { group, members } | Self::RemoveMembers { group, members } => {
                writer.group(group).members(members)
            }
            Self::CreateInvitation { group, limits, name, inviter, client } => {
                let writer = writer.group(group).uses(limits.uses).lives(Some(limits.lives));
                let writer = writer.person_name(name.as_ref()).inviter(inviter.as_ref());
                writer.client_of_invited(client.as_ref())
            }
            Self::RevokeInvitation { invitation } => writer.invitation(invitation),
            Self::RegisterClient { id, metadata, resources, fields, access } => {
                let writer = writer.with_some("client", *id).metadata(metadata);
                writer.resources(resources).access(access.as_ref()).fields(fields)
            }
            Self::ChangeClient { client, metadata, fields } => {
                writer.client(client).metadata(metadata).fields(fields)
            }
            Self::DeleteClient { client } => writer.client(client),
            Self::RotateSecret { client, keep_old } => writer.client(client).keep_old(*keep_old),
            Self::OpenResources { client, resources } | Self::CloseResources { client, resources } => {
                writer.client(client).resources(resources)
            }
            Self::SetAccess { client, rule, release } => {
                writer.client(client).rule(rule.as_ref()).release(release.as_ref())
            }
            Self::CreateResource { resource } => writer.resource(resource),
            Self::UpdateResource { resource, used_by } => writer.resource(resource).used_by(used_by),
            Self::DeleteResource { uri, used_by } => writer.uri(uri).used_by(used_by),
            Self::RotateKeys { at_once, algorithms } => writer.rotation(*at_once, algorithms),
            Self::WithdrawKey { kid } => writer.kid(kid),
            Self::CreateAdminKey { name, scopes, lives } => {
                writer.key_name(name).admin_scopes(scopes).lives(*lives)
            }
            Self::RevokeAdminKey { name } => writer.key_name(name),
            Self::WithdrawProposal { proposal } => writer.proposal(*proposal),
            Self::RefuseProposal { proposal, reason } => writer.proposal(*proposal).reason(reason.as_deref()),
        };
        written.done()
    }

    /// Reads the lines of a change. Only the lines that [`Act::lines`] writes are those of a change.
    pub fn from_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> Result<Self, ActUnreadable> {
        let lines: Vec<&str> = lines.into_iter().collect();
        let change = read(Reader::new(lines.iter().copied())?)?;
        if change.lines() == lines { Ok(change) } else { Err(ActUnreadable) }
    }

    /// What the operator agrees to, as sentences, in the characters of a statement (ERC-4361). What people
    /// wrote is in quotes.
    pub fn statement(&self) -> String {
        match self {
            Self::Block { who, reason } => match reason {
                Some(reason) => format!("Keep {} out. Reason: {}.", called(who), quoted(reason)),
                None => format!("Keep {} out.", called(who)),
            },
            Self::Unblock { who } => format!("Let {} in again.", called(who)),
            Self::Suspend { who, reason } => {
                let reason = reason.as_deref().map(|reason| format!(" Reason: {}.", quoted(reason)));
                let reason = reason.unwrap_or_default();
                let ends = "Nothing that they sign counts, and their proposals end.";
                format!("Suspend {} as an operator. {ends}{reason}", called(who))
            }
            Self::Restore { who } => format!("Restore {} as an operator.", called(who)),
            Self::SignOut { user, offline } => {
                let offline = match offline {
                    None => "",
                    Some(OfflineAccess::Ended) => " Offline access ends too.",
                    Some(OfflineAccess::Kept) => " Offline access is kept.",
                };
                format!("Sign {} out everywhere.{offline}", named(user))
            }
            Self::Name { who, name: Some(name) } => {
                format!("Give {} the name {}.", called(who), quoted(name.as_str()))
            }
            Self::Name { who, name: None } => format!("Take the name away from {}.", called(who)),
            Self::DeleteUser { user } => format!("Delete {} with everything that is theirs.", named(user)),
            Self::CreateGroup { group, title, members } => {
                let title = title.as_ref().map(|title| format!(" with the title {}", quoted(title.as_str())));
                let members = match members.as_slice() {
                    [] => String::new(),
                    [member] => format!(" Its member is {}.", briefly(member)),
                    members => format!(" Its {} members are {}.", members.len(), listed(members)),
                };
                format!("Create the group {group}{}.{members}", title.unwrap_or_default())
            }
            Self::RetitleGroup { group, title: None } => {
                format!("Take its title away from the group {group}.")
            }
            Self::RetitleGroup { group, title: Some(title) } => {
                format!("Give the group {group} the title {}.", quoted(title.as_str()))
            }
            Self::DeleteGroup { group, used_by, needed_by } => {
                let used_by = use_of("It is", used_by);
                let scopes: Vec<_> = needed_by.iter().map(|scope| plain(scope.as_str())).collect();
                let needed_by = if scopes.is_empty() {
                    String::new()
                } else {
                    format!(" No one gets the scopes that need it: {}.", scopes.join(", "))
                };
                format!("Delete the group {group}. It no longer admits anyone.{used_by}{needed_by}")
            }
            Self::AddMembers { group, members } => match members.as_slice() {
                [member] => format!("Put {} into the group {group}.", called(member)),
                all => format!("Put these {} into the group {group}: {}.", all.len(), listed(all)),
            },
            Self::RemoveMembers { group, members } => match members.as_slice() {
                [member] => format!("Take {} out of the group {group}.", called(member)),
                all => format!("Take these {} out of the group {group}: {}.", all.len(), listed(all)),
            },
            Self::CreateInvitation { group, limits, name, inviter, client } => {
                let people = for_people(limits.uses);
                let name =
                    name.as_ref().map(|name| format!(" It gives them the name {}.", quoted(name.as_str())));
                let from = inviter.as_ref().map(|from| format!(" It is from {}.", quoted(from.as_str())));
                let client =
                    client.as_ref().map(|client| format!(" It leads to the client {}.", application(client)));
                format!(
                    "Invite {people} into the group {group}. The link is valid for {}.{}{}{}",
                    spelled(limits.lives),
                    name.unwrap_or_default(),
                    from.unwrap_or_default(),
                    client.unwrap_or_default()
                )
            }
            Self::RevokeInvitation { invitation } => {
                let group = invitation.group.as_ref().map(|group| format!(" into the group {group}"));
                format!("Revoke the invitation {}{}.", invitation.id, group.unwrap_or_default())
            }
            Self::RegisterClient { id, metadata, resources, fields, access } => {
                let id = id.map(|id| format!(" with the ID {id}")).unwrap_or_default();
                let opened = uris(" These resources are open to it:", resources);
                let said = match fields.as_slice() {
                    [] => of_metadata(metadata),
                    fields => fields.iter().map(|field| of_field(field, Side::Registered)).collect(),
                };
                let admits = access.as_ref().map(|ClientAccess { rule, release }| {
                    format!(" It admits {}.{}", admitted(rule.as_ref()), released(chosen(release)))
                });
                format!("Register a client{id}.{said}{opened}{}", admits.unwrap_or_default())
            }
            Self::ChangeClient { client, metadata, fields } => match fields.as_slice() {
                [] => {
                    let client = application(client);
                    format!("Replace what the client {client} registered.{}", of_metadata(metadata))
                }
                fields => {
                    let said: String = fields.iter().map(|field| of_field(field, Side::Changed)).collect();
                    format!("Change what the client {} registered.{said}", application(client))
                }
            },
            Self::DeleteClient { client } => {
                format!("Delete the client {} with all its tokens.", application(client))
            }
            Self::RotateSecret { client, keep_old } => {
                let old = match keep_old.as_seconds() {
                    0 => "The old one ends at once.".to_owned(),
                    seconds => format!("The old one works for {seconds} more seconds."),
                };
                format!("Give the client {} a new secret. {old}", application(client))
            }
            Self::OpenResources { client, resources } => {
                format!("Open resources to the client {}:{}", application(client), uris("", resources))
            }
            Self::CloseResources { client, resources } => {
                format!("Close resources to the client {}:{}", application(client), uris("", resources))
            }
            Self::SetAccess { client, rule, release } => {
                let (rule, released) = (admitted(rule.as_ref()), released(release.as_ref()));
                format!("Let the client {} admit {rule}.{released}", application(client))
            }
            Self::CreateResource { resource } => format!("Declare the resource {}", resource_words(resource)),
            Self::UpdateResource { resource, used_by } => {
                let used_by = use_of("What it loses is", used_by);
                format!("From now on, declare the resource {}{used_by}", resource_words(resource))
            }
            Self::DeleteResource { uri, used_by } => {
                format!("Delete the resource {} with its scopes.{}", plain(uri), use_of("It is", used_by))
            }
            Self::RotateKeys { at_once, algorithms } => {
                let names: Vec<_> = algorithms.iter().map(|algorithm| algorithm.name()).collect();
                let when = if *at_once {
                    "They sign at once, and the old ones are withdrawn"
                } else {
                    "They sign when everyone can know them"
                };
                format!("Make new signing keys for {}. {when}.", names.join(", "))
            }
            Self::WithdrawKey { kid } => {
                format!("Withdraw the signing key {} for good. What it signed becomes invalid.", quoted(kid))
            }
            Self::CreateAdminKey { name, scopes, lives } => {
                let lives =
                    lives.map(|seconds| format!(" It ends in {seconds} seconds.")).unwrap_or_default();
                format!("Create the admin key {name} with the scopes {scopes}.{lives}")
            }
            Self::RevokeAdminKey { name } => format!("Revoke the admin key {name}."),
            Self::WithdrawProposal { proposal } => format!("Take back the proposal {proposal}."),
            Self::RefuseProposal { proposal, reason } => {
                let reason = reason.as_deref().map(|reason| format!(" Reason: {}.", quoted(reason)));
                format!("Refuse the proposal {proposal}.{}", reason.unwrap_or_default())
            }
        }
    }
}

fn read(mut reader: Reader<'_>) -> Result<Act, ActUnreadable> {
    let fields = &mut reader;
    let name = ActName::parse(fields.change).ok_or(ActUnreadable)?;
    let act = match name {
        ActName::BlockUser | ActName::BlockWallet => {
            Act::Block { who: read_whom(fields)?, reason: fields.maybe("reason") }
        }
        ActName::UnblockUser | ActName::UnblockWallet => Act::Unblock { who: read_whom(fields)? },
        ActName::SuspendOperator => Act::Suspend { who: read_whom(fields)?, reason: fields.maybe("reason") },
        ActName::RestoreOperator => Act::Restore { who: read_whom(fields)? },
        ActName::SignOut => Act::SignOut {
            user: read_named_user(fields)?,
            offline: fields.maybe_parse(OFFLINE, OfflineAccess::parse)?,
        },
        ActName::NameUser | ActName::NameWallet => {
            Act::Name { who: read_whom(fields)?, name: read_name(fields, "name")? }
        }
        ActName::DeleteUser => Act::DeleteUser { user: read_named_user(fields)? },
        ActName::CreateGroup => Act::CreateGroup {
            group: read_group(fields)?,
            title: read_title(fields)?,
            members: read_members(fields)?,
        },
        ActName::RetitleGroup => Act::RetitleGroup { group: read_group(fields)?, title: read_title(fields)? },
        ActName::DeleteGroup => Act::DeleteGroup {
            group: read_group(fields)?,
            used_by: read_use(fields)?,
            needed_by: all(fields.each(NEEDED_BY), |name| ScopeName::parse(name).ok())?,
        },
        ActName::AddMembers => {
            Act::AddMembers { group: read_group(fields)?, members: read_some_members(fields)? }
        }
        ActName::RemoveMembers => {
            Act::RemoveMembers { group: read_group(fields)?, members: read_some_members(fields)? }
        }
        ActName::CreateInvitation => Act::CreateInvitation {
            group: read_group(fields)?,
            limits: read_limits(fields)?,
            name: read_name(fields, "name")?,
            inviter: read_inviter(fields)?,
            client: read_some_client(fields)?,
        },
        ActName::RevokeInvitation => Act::RevokeInvitation { invitation: read_invitation(fields)? },
        ActName::RegisterClient => Act::RegisterClient {
            id: fields.maybe_parse("client", |text| read_uuid(text, ClientId::from_uuid))?,
            metadata: Box::new(read_metadata(fields)?),
            resources: fields.each("resource"),
            access: read_access(fields)?,
            fields: read_fields(fields)?,
        },
        ActName::ChangeClient => Act::ChangeClient {
            client: read_client(fields)?,
            metadata: Box::new(read_metadata(fields)?),
            fields: read_fields(fields)?,
        },
        ActName::DeleteClient => Act::DeleteClient { client: read_client(fields)? },
        ActName::RotateSecret => Act::RotateSecret {
            client: read_client(fields)?,
            keep_old: fields.parse("keep-old", |text| whole(text).and_then(KeepOld::seconds))?,
        },
        ActName::OpenResources => {
            Act::OpenResources { client: read_client(fields)?, resources: fields.each("resource") }
        }
        ActName::CloseResources => {
            Act::CloseResources { client: read_client(fields)?, resources: fields.each("resource") }
        }
        ActName::SetAccess => Act::SetAccess {
            client: read_client(fields)?,
            rule: fields.parse("rule", rule_of)?,
            release: read_release(fields)?,
        },
        ActName::CreateResource => Act::CreateResource { resource: read_resource(fields)? },
        ActName::UpdateResource => {
            Act::UpdateResource { resource: read_resource(fields)?, used_by: read_use(fields)? }
        }
        ActName::DeleteResource => {
            Act::DeleteResource { uri: fields.take("resource")?, used_by: read_use(fields)? }
        }
        ActName::RotateKeys => Act::RotateKeys {
            at_once: fields.parse("when", |text| match text {
                NOW => Some(true),
                IN_A_DAY => Some(false),
                _ => None,
            })?,
            algorithms: all(fields.each("algorithm"), SigningAlgorithm::parse)?,
        },
        ActName::WithdrawKey => Act::WithdrawKey { kid: fields.take("key")? },
        ActName::CreateAdminKey => Act::CreateAdminKey {
            name: fields.parse("name", |text| AdminKeyName::parse(text).ok())?,
            scopes: AdminScopes::from_stored(&fields.each("scope").join(" ")).map_err(|_| ActUnreadable)?,
            lives: fields.maybe_parse("lives", whole)?,
        },
        ActName::RevokeAdminKey => {
            Act::RevokeAdminKey { name: fields.parse("name", |text| AdminKeyName::parse(text).ok())? }
        }
        ActName::WithdrawProposal => {
            Act::WithdrawProposal { proposal: fields.parse("proposal", GrantId::parse)? }
        }
        ActName::RefuseProposal => Act::RefuseProposal {
            proposal: fields.parse("proposal", GrantId::parse)?,
            reason: fields.maybe("reason"),
        },
    };
    reader.done()?;
    Ok(act)
}
