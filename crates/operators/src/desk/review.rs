//! What a change makes of its subject and who it affects, for the page on which an operator reviews it.

use countersign_domain::act::{Act, NamedSubject, ResourceWords, UsedBy, spelled};
use countersign_domain::client::ClientOrigin;
use countersign_domain::client_change::FieldChange;
use countersign_domain::client_field::ClientField;
use countersign_domain::client_view::FieldValue;
use countersign_domain::desk::pending::{Fact, FactName};
use countersign_domain::id::UserId;
use countersign_domain::registration::{RegistrationRejected, RequestedMetadata, Rules};
use countersign_domain::resource::ResourceScope;
use countersign_domain::subject::Subject;
use countersign_ports::StoreError;
use countersign_usecases::Management;
use countersign_usecases::clients::register_client::{declared_to, judge_new};

use super::Desk;
use super::overview::Counted;
use super::subject::{Guard, NO, SubjectRead, YES, read_subject, release_name, rule_name, yes_because};

/// The most people and grants that are counted.
const MOST_COUNTED: u32 = 10_000;

/// A change, as an operator reviews it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// What becomes different.
    pub becomes: Vec<Becomes>,
    /// Who it affects. What is none is left out.
    pub affects: Vec<(Affected, Counted)>,
}

/// Something about the subject that becomes different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Becomes {
    /// What it is.
    pub name: BecomesName,
    /// The values that stay.
    pub stays: Vec<String>,
    /// The values that it has no longer.
    pub gone: Vec<String>,
    /// The values that it has from then on.
    pub new: Vec<String>,
}

/// What becomes different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BecomesName {
    /// A fact about the subject.
    Fact(FactName),
    /// A field of a client.
    Field(ClientField),
}

/// Who a change affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affected {
    /// People who gave the client access.
    People,
    /// Grants of the client that are valid.
    Grants,
    /// Browsers that remember the sign-in of the user.
    Sessions,
    /// Clients that have access to the user.
    Clients,
}

impl Affected {
    /// The key of its text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::People => "people",
            Self::Grants => "grants",
            Self::Sessions => "sessions",
            Self::Clients => "clients",
        }
    }
}

/// Reads what a change makes of its subject. `user` is the operator who wants it.
pub async fn review_change(desk: Desk<'_>, user: UserId, change: &Act) -> Result<Review, StoreError> {
    let subject = read_subject(desk, user, change.clone()).await?;
    let affects = affects(desk, &subject.named).await?;
    Ok(Review { becomes: becomes(&subject), affects })
}

/// Why a new client could not be registered so, if it could not. Its other fields are judged elsewhere.
pub async fn judge_registration(
    management: Management<'_>,
    requested: RequestedMetadata,
) -> Result<Option<RegistrationRejected>, StoreError> {
    let declared = declared_to(management, &requested, |_, _| true).await?;
    Ok(judge_new(management, requested, Rules::of(ClientOrigin::Operator, &declared)).await.err())
}

async fn affects(desk: Desk<'_>, change: &Act) -> Result<Vec<(Affected, Counted)>, StoreError> {
    let now = desk.context.clock.now();
    let counted = |count: u32| Counted { count, is_limit: count >= MOST_COUNTED };
    let mut all = Vec::new();
    if let Act::DeleteClient { client } | Act::SetAccess { client, .. } | Act::RotateSecret { client, .. } =
        change
    {
        let access = desk.context.storage.count_access(client.id, now, MOST_COUNTED).await?;
        all.push((Affected::People, counted(access.people)));
        all.push((Affected::Grants, counted(access.grants)));
    }
    if let Act::Block { who: Subject::User(user), .. } | Act::SignOut { user, .. } | Act::DeleteUser { user } =
        change
        && let Some(person) = desk.context.storage.find_person(user.id, now).await?
    {
        let of = |length: usize| counted(u32::try_from(length).unwrap_or(u32::MAX));
        all.push((Affected::Sessions, of(person.sessions.len())));
        all.push((Affected::Clients, of(person.consents.len())));
    }
    Ok(all.into_iter().filter(|(_, counted)| counted.count > 0).collect())
}

fn becomes(subject: &SubjectRead) -> Vec<Becomes> {
    let SubjectRead { named, facts, guard, .. } = subject;
    let was = |name: FactName| values(facts, name);
    let all = match named {
        Act::Block { reason, .. } => {
            vec![replaced(FactName::Blocked, was(FactName::Blocked), vec![yes_because(reason.as_deref())])]
        }
        Act::Suspend { reason, .. } => {
            let others = stays(FactName::OtherWallets, was(FactName::OtherWallets));
            vec![
                replaced(FactName::Suspended, was(FactName::Suspended), vec![yes_because(reason.as_deref())]),
                others,
            ]
        }
        Act::Restore { .. } => {
            let others = stays(FactName::OtherWallets, was(FactName::OtherWallets));
            vec![replaced(FactName::Suspended, was(FactName::Suspended), vec![NO.to_owned()]), others]
        }
        Act::Unblock { .. } => {
            vec![replaced(FactName::Blocked, was(FactName::Blocked), vec![NO.to_owned()])]
        }
        Act::Name { name, .. } => {
            let name = name.as_ref().map(ToString::to_string);
            vec![replaced(FactName::Name, was(FactName::Name), name.into_iter().collect())]
        }
        Act::CreateGroup { title, members, .. } => vec![
            replaced(
                FactName::Title,
                Vec::new(),
                title.iter().map(|title| title.as_str().to_owned()).collect(),
            ),
            replaced(FactName::Members, Vec::new(), members.iter().map(called).collect()),
        ],
        Act::RetitleGroup { title, .. } => {
            let title = title.iter().map(|title| title.as_str().to_owned()).collect();
            vec![replaced(FactName::Title, was(FactName::Title), title)]
        }
        Act::AddMembers { members, .. } => {
            vec![replaced(FactName::Members, Vec::new(), members.iter().map(called).collect())]
        }
        Act::RemoveMembers { members, .. } => {
            let gone = replaced(FactName::Members, members.iter().map(called).collect(), Vec::new());
            vec![gone, stays(FactName::StillIn, was(FactName::StillIn))]
        }
        Act::CreateInvitation { group: _, limits, name, inviter, client } => {
            let client =
                client.as_ref().map(|client| client.name.clone().unwrap_or_else(|| client.id.to_string()));
            let one = |name: FactName, value: Option<String>| {
                replaced(name, Vec::new(), value.into_iter().collect())
            };
            vec![
                one(FactName::Uses, Some(limits.uses.to_string())),
                one(FactName::ValidFor, Some(spelled(limits.lives))),
                one(FactName::Name, name.as_ref().map(ToString::to_string)),
                one(FactName::Inviter, inviter.as_ref().map(ToString::to_string)),
                one(FactName::LeadsTo, client),
            ]
        }
        Act::RegisterClient { fields, access, resources, .. } => {
            let rule = access.as_ref().map(|access| rule_name(access.rule.as_ref()));
            let fields = fields.iter().map(|field| of_field(field, guard));
            let others = [
                replaced(FactName::Rule, Vec::new(), rule.into_iter().collect()),
                replaced(FactName::Resources, Vec::new(), resources.clone()),
            ];
            others.into_iter().chain(fields).collect()
        }
        Act::ChangeClient { fields, .. } => fields.iter().map(|field| of_field(field, guard)).collect(),
        Act::SetAccess { rule, release, .. } => {
            let rule = vec![rule_name(rule.as_ref())];
            let released = release.as_ref().map(|release| {
                replaced(FactName::Release, was(FactName::Release), vec![release_name(release)])
            });
            let rule = replaced(FactName::Rule, was(FactName::Rule), rule);
            [Some(rule), released].into_iter().flatten().collect()
        }
        Act::OpenResources { resources, .. } => with_more(was(FactName::Resources), resources),
        Act::CloseResources { resources, .. } => {
            let (gone, stays) = was(FactName::Resources).into_iter().partition(|uri| resources.contains(uri));
            let name = BecomesName::Fact(FactName::Resources);
            vec![Becomes { name, stays, gone, new: Vec::new() }]
        }
        Act::CreateResource { resource } | Act::UpdateResource { resource, .. } => {
            of_resource(resource, guard)
        }
        Act::CreateAdminKey { scopes, .. } => {
            vec![replaced(FactName::AdminScopes, Vec::new(), vec![scopes.to_string()])]
        }
        Act::RevokeAdminKey { .. } | Act::RevokeInvitation { .. } => {
            vec![replaced(FactName::Revoked, was(FactName::Revoked), vec![YES.to_owned()])]
        }
        Act::DeleteUser { .. } => all_gone(facts, &[FactName::Wallets, FactName::Groups]),
        Act::DeleteGroup { used_by, .. } => {
            let names = [FactName::Title, FactName::Users, FactName::Members, FactName::Scopes];
            let mut gone = all_gone(facts, &names);
            gone.extend(used(used_by));
            gone
        }
        Act::DeleteClient { .. } => all_gone(facts, &[FactName::Rule, FactName::RedirectUris]),
        Act::DeleteResource { used_by, .. } => {
            let mut gone = all_gone(facts, &[FactName::Scopes]);
            gone.extend(used(used_by));
            gone
        }
        Act::SignOut { .. }
        | Act::RotateSecret { .. }
        | Act::RotateKeys { .. }
        | Act::WithdrawKey { .. }
        | Act::WithdrawProposal { .. }
        | Act::RefuseProposal { .. } => Vec::new(),
    };
    let is_any = |one: &Becomes| one.gone != one.new || (one.gone.is_empty() && !one.stays.is_empty());
    all.into_iter().filter(is_any).collect()
}

/// The values of a fact; none if it says that there is nothing.
fn values(facts: &[Fact], name: FactName) -> Vec<String> {
    let is_nothing = |fact: &Fact| {
        fact.value.is_empty() || (fact.value == NO && [FactName::Name, FactName::Title].contains(&name))
    };
    let found = facts.iter().filter(|fact| fact.name == name && !is_nothing(fact));
    let lists = [
        FactName::Wallets,
        FactName::OtherWallets,
        FactName::StillIn,
        FactName::Groups,
        FactName::RedirectUris,
        FactName::Resources,
    ];
    found
        .flat_map(|fact| -> Vec<String> {
            if name == FactName::Scopes {
                fact.value.lines().map(str::to_owned).collect()
            } else if lists.contains(&name) {
                fact.value.split(", ").map(str::to_owned).collect()
            } else {
                vec![fact.value.clone()]
            }
        })
        .collect()
}

fn replaced(name: FactName, gone: Vec<String>, new: Vec<String>) -> Becomes {
    Becomes { name: BecomesName::Fact(name), stays: Vec::new(), gone, new }
}

/// What an operator should know because it does not change.
const fn stays(name: FactName, stays: Vec<String>) -> Becomes {
    Becomes { name: BecomesName::Fact(name), stays, gone: Vec::new(), new: Vec::new() }
}

fn all_gone(facts: &[Fact], names: &[FactName]) -> Vec<Becomes> {
    names.iter().map(|name| replaced(*name, values(facts, *name), Vec::new())).collect()
}

fn with_more(before: Vec<String>, more: &[String]) -> Vec<Becomes> {
    let new = more.iter().filter(|uri| !before.contains(uri)).cloned().collect();
    vec![Becomes { name: BecomesName::Fact(FactName::Resources), stays: before, gone: Vec::new(), new }]
}

/// The clients that use what goes.
fn used(by: &UsedBy) -> Option<Becomes> {
    let more = by.clients.saturating_sub(by.names.len() as u64);
    let rest = (more > 0).then(|| format!("+{more}"));
    let names: Vec<String> = by.names.iter().cloned().chain(rest).collect();
    (!names.is_empty()).then(|| replaced(FactName::UsedBy, names, Vec::new()))
}

/// What operators call a member, and which one it is.
fn called(member: &NamedSubject) -> String {
    let id = Subject::from(member.clone()).to_string();
    let name = match member {
        Subject::User(user) => &user.name,
        Subject::Wallet(wallet) => &wallet.name,
    };
    name.as_ref().map_or_else(|| id.clone(), |name| format!("{name} ({id})"))
}

/// A field of a client, with what stays of a list.
fn of_field(change: &FieldChange, guard: &Guard) -> Becomes {
    let FieldChange { field, gone, new } = change;
    let stays = match guard {
        Guard::Client(client) => match client.field(*field) {
            FieldValue::Texts(texts) => texts.into_iter().map(str::to_owned).collect(),
            FieldValue::Text(_) | FieldValue::Truth(_) | FieldValue::Number(_) => Vec::new(),
        },
        Guard::Nothing | Guard::Group(_) | Guard::Resource(_) => Vec::new(),
    };
    let stays = stays.into_iter().filter(|value| !gone.contains(value)).collect();
    Becomes { name: BecomesName::Field(*field), stays, gone: gone.clone(), new: new.clone() }
}

fn of_resource(words: &ResourceWords, guard: &Guard) -> Vec<Becomes> {
    let before = match guard {
        Guard::Resource(resource) => Some(resource),
        Guard::Nothing | Guard::Client(_) | Guard::Group(_) => None,
    };
    let one = |name: FactName, was: Option<String>, is: Option<String>| {
        replaced(name, was.into_iter().collect(), is.into_iter().collect())
    };
    let lines =
        |scopes: &[ResourceScope]| scopes.iter().flat_map(ResourceScope::lines).collect::<Vec<String>>();
    let was = before.map(|resource| lines(&resource.scopes)).unwrap_or_default();
    let is = lines(&words.scopes);
    let (stays, gone): (Vec<_>, Vec<_>) = was.into_iter().partition(|line| is.contains(line));
    let new = is.into_iter().filter(|line| !stays.contains(line)).collect();
    vec![
        one(
            FactName::Name,
            before.and_then(|resource| resource.name.as_ref()).map(|name| name.as_str().to_owned()),
            words.name.as_ref().map(|name| name.as_str().to_owned()),
        ),
        one(
            FactName::OpenTo,
            before.map(|resource| resource.open_to.name().to_owned()),
            Some(words.open_to.name().to_owned()),
        ),
        Becomes { name: BecomesName::Fact(FactName::Scopes), stays, gone, new },
    ]
}
