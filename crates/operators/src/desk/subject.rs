//! The subject of a change: what it is now, whether the change is possible, and what must still be so when it is
//! carried out.

use countersign_domain::act::{
    Act, NamedClient, NamedSubject, NamedUser, NamedWallet, ResourceWords, UsedBy, Weight,
};
use countersign_domain::admission::{AccessRule, Block, Release};
use countersign_domain::challenge::iso8601;
use countersign_domain::client::{Client, ClientAuthentication, ClientOrigin};
use countersign_domain::client_change::FieldChange;
use countersign_domain::desk::pending::{Fact, FactName, mark_of};
use countersign_domain::group::{GroupName, Through};
use countersign_domain::id::{ClientId, GrantId, UserId};
use countersign_domain::registration::{JudgedMetadata, RequestedMetadata, Rules};
use countersign_domain::resource::{MAX_RESOURCE_SCOPES, Resource, ResourceScope};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::group_store::counted as members_counted;
use countersign_ports::{CountedGroup, KeyRingError, ListedKey, Person, StoreError};
use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::clients::change_client::judge_change;
use countersign_usecases::clients::open_resource::judge_opened;
use countersign_usecases::clients::register_client::{declared_to, judge_new};

use super::{Desk, waits};
use crate::people::invitations::NewInvitation;
use crate::people::names::own_name;
use crate::people::suspend::{is_operator, person_of, suspension_of};
use crate::people::{all_clients, ways_into};

/// What a change is about, as it is now.
#[derive(Debug)]
pub(super) struct SubjectRead {
    /// The change, with the names of what it is about.
    pub(super) named: Act,
    /// What is so.
    pub(super) facts: Vec<Fact>,
    /// Why the change is not possible now, if it is not.
    pub(super) refused: Option<ActRefused>,
    /// What must still be as it was read when the change is made.
    pub(super) guard: Guard,
    /// Must two operators sign it?
    pub(super) needs_second: bool,
}

/// What must still be as it was read. The storage compares it in the commit of the change.
#[derive(Clone, Debug)]
pub(super) enum Guard {
    /// Nothing that storage could compare.
    Nothing,
    /// A client.
    Client(Box<Client>),
    /// A group.
    Group(CountedGroup),
    /// A resource.
    Resource(Resource),
}

/// What is known of a subject before the change is weighed.
struct Known {
    facts: Vec<Fact>,
    refused: Option<ActRefused>,
    guard: Guard,
    is_about_operator: bool,
}

impl Known {
    fn of(facts: Vec<Fact>) -> Self {
        Self { facts, refused: None, guard: Guard::Nothing, is_about_operator: false }
    }

    /// What is to be changed is not there.
    fn missing(refused: ActRefused) -> Self {
        Self::of(vec![exists(false)]).refused(Some(refused))
    }

    fn refused(self, refused: Option<ActRefused>) -> Self {
        Self { refused, ..self }
    }

    fn and(mut self, facts: impl IntoIterator<Item = Fact>) -> Self {
        self.facts.extend(facts);
        self
    }

    fn guarded(self, guard: Guard) -> Self {
        Self { guard, ..self }
    }
}

/// Reads what a change is about. `user` is who wants it.
pub(super) async fn read_subject(
    desk: Desk<'_>,
    user: UserId,
    change: Act,
) -> Result<SubjectRead, StoreError> {
    let mut change = change;
    let known = read(desk, user, &mut change).await?;
    call_by_name(desk, &mut change).await?;
    let Known { facts, refused, guard, is_about_operator } = known;
    let policy = &desk.context.policy;
    let weight = Weight { default_access: &policy.default_access, is_about_operator };
    let needs_second = policy.desk.as_ref().is_some_and(|desk| change.needs_second(desk, weight));
    // A proposal names one person, so that it goes with that person.
    let is_too_many = needs_second && change.is_about_several();
    let refused = refused.or(is_too_many.then_some(ActRefused::OneAtATime));
    Ok(SubjectRead { named: change, facts, refused, guard, needs_second })
}

/// Adds to a text what operators call the people in it.
async fn call_by_name(desk: Desk<'_>, change: &mut Act) -> Result<(), StoreError> {
    let mut people = change.people();
    if people.is_empty() {
        return Ok(());
    }
    let who = people.iter().map(|one| one.subject()).collect();
    let names = desk.context.storage.names_of(who).await?;
    for (one, known) in people.iter_mut().zip(names) {
        one.call(known.map(|known| known.name));
    }
    Ok(())
}

async fn read(desk: Desk<'_>, user: UserId, change: &mut Act) -> Result<Known, StoreError> {
    match change {
        Act::Block { who, reason } => {
            let judged = reason.as_deref().map(Block::judge_reason).transpose();
            let known = blocked_or_not(desk, who).await?;
            let refused = match judged {
                Err(rejected) => Some(ActRefused::Reason(rejected)),
                Ok(_) => is_blocked_for(&known.facts, reason.as_deref()).then_some(ActRefused::NoChange),
            };
            Ok(Known { refused: known.refused.or(refused), ..known })
        }
        Act::Unblock { who } => {
            let known = blocked_or_not(desk, who).await?;
            let is_free = known.facts.contains(&Fact::new(FactName::Blocked, NO));
            let refused = is_free.then_some(ActRefused::NoChange);
            Ok(Known { refused: known.refused.or(refused), ..known })
        }
        Act::Suspend { who, reason } => {
            let judged = reason.as_deref().map(Block::judge_reason).transpose();
            let (known, is_suspended) = suspended_or_not(desk, who).await?;
            let refused = match judged {
                Err(rejected) => Some(ActRefused::Reason(rejected)),
                Ok(_) if !known.is_about_operator => Some(ActRefused::NotOperator(who.clone().into())),
                Ok(_) => is_suspended.then_some(ActRefused::NoChange),
            };
            Ok(Known { refused: known.refused.or(refused), ..known })
        }
        Act::Restore { who } => {
            let (known, is_suspended) = suspended_or_not(desk, who).await?;
            let refused = (!is_suspended).then_some(ActRefused::NoChange);
            Ok(Known { refused: known.refused.or(refused), ..known })
        }
        Act::SignOut { user, .. } => person(desk, user).await.map(|(known, _)| known),
        Act::Name { who, name } => {
            let known = blocked_or_not(desk, who).await?;
            let own = own_name(&*desk.context.storage, who.clone().into()).await?;
            let refused = (own == *name).then_some(ActRefused::NoChange);
            let own = own.map_or_else(|| NO.to_owned(), |name| name.to_string());
            Ok(Known {
                refused: known.refused.or(refused),
                facts: vec![Fact::new(FactName::Name, own)],
                ..known
            })
        }
        Act::DeleteUser { user } => {
            let (mut known, person) = person(desk, user).await?;
            if let Some(person) = person {
                let groups = person.memberships.iter().map(|membership| membership.group.to_string());
                known.facts.push(Fact::new(FactName::Groups, joined(groups)));
            }
            Ok(known)
        }
        Act::CreateGroup { group, members, .. } => {
            let found = desk.context.storage.find_group(group).await?;
            let refused = found.is_some().then_some(ActRefused::GroupTaken(group.clone()));
            let unknown = look_up_members(desk, members).await?;
            Ok(Known::of(vec![exists(found.is_some())]).refused(refused.or(unknown)))
        }
        Act::RetitleGroup { group, title } => {
            let Some(counted) = desk.context.storage.find_group(group).await? else {
                return Ok(Known::missing(ActRefused::GroupUnknown(group.clone())));
            };
            let refused = (counted.group.title == *title).then_some(ActRefused::NoChange);
            Ok(Known::of(vec![title_of(&counted)]).refused(refused).guarded(Guard::Group(counted)))
        }
        Act::DeleteGroup { group, used_by, needed_by } => {
            let Some(counted) = desk.context.storage.find_group(group).await? else {
                return Ok(Known::missing(ActRefused::GroupUnknown(group.clone())));
            };
            let default = &desk.context.policy.default_access;
            let rule = |client: &Client| client.access.rule.clone().unwrap_or_else(|| default.clone());
            *used_by = clients_that(desk, |client| rule(client).groups().contains(group)).await?;
            *needed_by = desk.context.resources.read_fresh().await?.needing(group).cloned().collect();
            let facts = vec![
                title_of(&counted),
                Fact::new(FactName::Users, members_counted(counted.users)),
                Fact::new(FactName::Members, members_counted(counted.wallets)),
            ];
            let scopes = joined(needed_by.iter().map(ToString::to_string));
            let scopes = (!needed_by.is_empty()).then(|| Fact::new(FactName::Scopes, scopes));
            let facts = facts.into_iter().chain(used(used_by)).chain(scopes).collect();
            Ok(Known::of(facts).guarded(Guard::Group(counted)))
        }
        Act::AddMembers { group, members } => memberships(desk, group, members, false).await,
        Act::RemoveMembers { group, members } => memberships(desk, group, members, true).await,
        Act::CreateInvitation { group, limits, name, inviter, client } => {
            let Some(counted) = desk.context.storage.find_group(group).await? else {
                return Ok(Known::missing(ActRefused::GroupUnknown(group.clone())));
            };
            let id = match client {
                Some(client) => {
                    named_client(desk, client).await?;
                    Some(client.id)
                }
                None => None,
            };
            let (name, inviter) = (name.clone(), inviter.clone());
            let new = NewInvitation { group: group.clone(), limits: *limits, name, inviter, client: id };
            let refused = match new.judge(desk.management()).await {
                Ok(()) => None,
                Err(ActRefused::Store(error)) => return Err(error),
                Err(refused) => Some(refused),
            };
            Ok(Known::of(vec![title_of(&counted)]).refused(refused))
        }
        Act::RevokeInvitation { invitation: named } => {
            let Some(found) = desk.context.storage.find_invitation(named.id).await? else {
                return Ok(Known::missing(ActRefused::InvitationUnknown(named.id)));
            };
            let facts = vec![
                Fact::new(FactName::Uses, format!("{}/{}", found.used, found.uses)),
                Fact::new(FactName::Expires, iso8601(found.expires_at)),
                Fact::new(FactName::Revoked, yes_or_no(found.revoked_at.is_some())),
            ];
            let refused = found.revoked_at.is_some().then_some(ActRefused::InvitationRevoked);
            named.group = Some(found.group);
            Ok(Known::of(facts).refused(refused))
        }
        Act::RegisterClient { id: _, metadata, resources, fields, access } => {
            let rule = Fact::new(FactName::Rule, &desk.context.policy.default_access);
            let refused = match judge_registration(desk, metadata, resources).await? {
                Ok(judged) => {
                    *fields = FieldChange::of_new(&judged.metadata, judged.method.name());
                    None
                }
                Err(refused) => Some(refused),
            };
            let unknown = match access {
                Some(access) => unknown_group(desk, access.rule.as_ref(), Some(&access.release)).await?,
                None => None,
            };
            let refused = refused.or(unknown.map(ActRefused::NamedGroupUnknown));
            Ok(Known::of(vec![exists(false), rule]).refused(refused))
        }
        Act::ChangeClient { client, metadata, fields } => {
            let Some(found) = named_client(desk, client).await? else { return Ok(no_client(client.id)) };
            let judged = judge_change(desk.management(), found.clone(), (**metadata).clone()).await;
            let refused = match judged {
                Ok(change) => {
                    let (before, after) = change.sides();
                    *fields = FieldChange::between(before, after);
                    (!change.is_any()).then_some(ActRefused::NoChange)
                }
                Err(ActRefused::Store(error)) => return Err(error),
                Err(refused) => Some(refused),
            };
            Ok(of_client(found).refused(refused))
        }
        Act::DeleteClient { client } => {
            let found = named_client(desk, client).await?;
            Ok(found.map_or_else(|| no_client(client.id), of_client))
        }
        Act::RotateSecret { client, .. } => {
            let Some(found) = named_client(desk, client).await? else { return Ok(no_client(client.id)) };
            let refused = match found.authentication {
                ClientAuthentication::Secret { .. } => None,
                ClientAuthentication::Keys | ClientAuthentication::Public => Some(ActRefused::NoSecret),
            };
            Ok(of_client(found).refused(refused))
        }
        Act::OpenResources { client, resources } => {
            let Some(found) = named_client(desk, client).await? else { return Ok(no_client(client.id)) };
            let rules = desk.management().resource_rules().await?;
            let is_open = resources.iter().all(|uri| found.resources.contains(uri));
            let refused = match judge_opened(&rules, resources) {
                Err(refused) => Some(refused),
                Ok(()) => is_open.then_some(ActRefused::NoChange),
            };
            Ok(of_client(found).refused(refused))
        }
        Act::CloseResources { client, resources } => {
            let Some(found) = named_client(desk, client).await? else { return Ok(no_client(client.id)) };
            let is_closed = !resources.iter().any(|uri| found.resources.contains(uri));
            Ok(of_client(found).refused(is_closed.then_some(ActRefused::NoChange)))
        }
        Act::SetAccess { client, rule, release } => {
            let Some(found) = named_client(desk, client).await? else { return Ok(no_client(client.id)) };
            let is_so = found.access.rule == *rule
                && release.as_ref().is_none_or(|release| *release == found.access.release);
            let refused = match unknown_group(desk, rule.as_ref(), release.as_ref()).await? {
                Some(group) => Some(ActRefused::NamedGroupUnknown(group)),
                None => is_so.then_some(ActRefused::NoChange),
            };
            Ok(of_client(found).refused(refused))
        }
        Act::CreateResource { resource } => new_resource(desk, resource).await,
        Act::UpdateResource { resource, used_by } => changed_resource(desk, resource, used_by).await,
        Act::DeleteResource { uri, used_by } => {
            let catalog = desk.context.resources.read_fresh().await?;
            let Some(resource) = catalog.resource(uri) else { return Ok(no_resource(uri)) };
            let has_scope = |client: &Client| {
                resource.scopes.iter().any(|scope| client.metadata.scopes.has_own(&scope.name))
            };
            let is_user = |client: &Client| client.resources.contains(uri) || has_scope(client);
            *used_by = clients_that(desk, is_user).await?;
            Ok(of_resource(resource.clone()).and(used(used_by)))
        }
        Act::RotateKeys { algorithms, .. } => {
            let refused = algorithms.is_empty().then_some(ActRefused::NoChange);
            Ok(Known::of(vec![keys(&listed(desk).await?)]).refused(refused))
        }
        Act::WithdrawKey { kid } => {
            let listed = listed(desk).await?;
            let is_known = listed.iter().any(|key| key.kid == *kid);
            let unknown = || ActRefused::Keys(KeyRingError::Unknown(kid.clone()));
            Ok(Known::of(vec![keys(&listed)]).refused((!is_known).then(unknown)))
        }
        Act::CreateAdminKey { name, scopes, .. } => {
            let known = desk.context.storage.list_admin_keys().await?;
            let is_taken = known.iter().any(|key| key.name == *name);
            let refused = if scopes.is_empty() {
                Some(ActRefused::NoScope)
            } else {
                is_taken.then_some(ActRefused::AdminKeyTaken)
            };
            Ok(Known::of(vec![exists(is_taken)]).refused(refused))
        }
        Act::RevokeAdminKey { name } => {
            let known = desk.context.storage.list_admin_keys().await?;
            let Some(key) = known.into_iter().find(|key| key.name == *name) else {
                return Ok(Known::missing(ActRefused::AdminKeyUnknown(name.to_string())));
            };
            let facts = vec![
                Fact::new(FactName::AdminScopes, &key.scopes),
                Fact::new(FactName::Expires, key.expires_at.map_or_else(|| NO.to_owned(), iso8601)),
                Fact::new(FactName::Revoked, yes_or_no(key.revoked_at.is_some())),
            ];
            let refused = key.revoked_at.is_some().then_some(ActRefused::AdminKeyRevoked);
            Ok(Known::of(facts).refused(refused))
        }
        Act::WithdrawProposal { proposal } => proposal_to_end(desk, *proposal, |first| first == user).await,
        Act::RefuseProposal { proposal, reason } => {
            let judged = reason.as_deref().map(Block::judge_reason).transpose();
            let known = proposal_to_end(desk, *proposal, |first| first != user).await?;
            Ok(Known { refused: known.refused.or(judged.err().map(ActRefused::Reason)), ..known })
        }
    }
}

/// A proposal that waits, and that this operator may end because of who made it.
async fn proposal_to_end(
    desk: Desk<'_>,
    id: GrantId,
    may_end: impl Fn(UserId) -> bool,
) -> Result<Known, StoreError> {
    let found = desk.context.storage.find_proposal(id).await?;
    let Some(found) = found.filter(|found| may_end(found.user)) else {
        return Ok(Known::missing(ActRefused::NoSuchProposal));
    };
    let now = desk.context.clock.now();
    let facts = vec![Fact::new(FactName::Proposal, found.state_at(now).name())];
    let is_over = !waits(desk.context, &found, now);
    Ok(Known::of(facts).refused(is_over.then_some(ActRefused::NoSuchProposal)))
}

/// Words of facts that are so or not.
pub(super) const YES: &str = "yes";
pub(super) const NO: &str = "no";

const fn yes_or_no(is_so: bool) -> &'static str {
    if is_so { YES } else { NO }
}

fn exists(is_there: bool) -> Fact {
    Fact::new(FactName::Exists, yes_or_no(is_there))
}

fn joined(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

fn title_of(counted: &CountedGroup) -> Fact {
    Fact::new(FactName::Title, counted.group.title.as_ref().map_or(NO, |title| title.as_str()))
}

/// Is there a block, and would this reason add nothing to it?
fn is_blocked_for(facts: &[Fact], reason: Option<&str>) -> bool {
    let is_free = Fact::new(FactName::Blocked, NO);
    let is_so = |fact: &Fact| match reason {
        None => *fact != is_free,
        Some(reason) => fact.value == yes_because(Some(reason)),
    };
    facts.iter().any(|fact| fact.name == FactName::Blocked && is_so(fact))
}

fn blocked(block: Option<&Block>) -> Fact {
    Fact::new(
        FactName::Blocked,
        block.map_or_else(|| NO.to_owned(), |block| yes_because(block.reason.as_deref())),
    )
}

/// That something is so, with the reason if there is one.
pub(super) fn yes_because(reason: Option<&str>) -> String {
    reason.map_or_else(|| YES.to_owned(), |reason| format!("{YES}: {reason}"))
}

/// A wallet, as distinct from the contract with the same address.
fn wallet_name(wallet: &WalletAccount) -> String {
    match wallet.kind() {
        Some(kind) => format!("{} ({})", wallet.caip10(), kind.name()),
        None => wallet.caip10(),
    }
}

async fn blocked_or_not(desk: Desk<'_>, who: &mut NamedSubject) -> Result<Known, StoreError> {
    match who {
        Subject::User(user) => Ok(person(desk, user).await?.0),
        Subject::Wallet(NamedWallet { account: wallet, .. }) => {
            let storage = &desk.context.storage;
            let standing = storage.standing_of(wallet).await?;
            let own_block = match standing.user {
                // The block of a user comes before that of the wallet.
                Some(user) => {
                    let person = storage.find_person(user, desk.context.clock.now()).await?;
                    let blocked = person.map(|person| person.blocked_wallets).unwrap_or_default();
                    let is_it = |account: &WalletAccount| {
                        (&account.family, &account.address) == (&wallet.family, &wallet.address)
                    };
                    blocked.into_iter().find(|blocked| is_it(&blocked.account)).map(|found| found.block)
                }
                None => standing.block,
            };
            let facts = vec![owner(standing.user), blocked(own_block.as_ref())];
            let policy = desk.context.policy.desk.as_ref();
            let is_about_operator = policy.is_some_and(|policy| policy.names(wallet, &standing.groups));
            Ok(Known { is_about_operator, ..Known::of(facts) })
        }
    }
}

/// Says who the operator is, whether they are suspended, and which other wallets are the same person's.
async fn suspended_or_not(desk: Desk<'_>, who: &mut NamedSubject) -> Result<(Known, bool), StoreError> {
    let mut known = blocked_or_not(desk, who).await?;
    let storage = &*desk.context.storage;
    let subject = Subject::from(who.clone());
    let found = suspension_of(storage, subject.clone()).await?;
    let value = found.as_ref().map_or_else(|| NO.to_owned(), |found| yes_because(found.reason.as_deref()));
    let user = match &subject {
        Subject::User(user) => Some(*user),
        Subject::Wallet(wallet) => storage.find_owner(wallet.clone()).await?,
    };
    let mut others = person_of(storage, &subject).await?.into_wallets();
    if let Some(user) = user {
        let linked = storage.wallets_of(user).await?;
        others.retain(|other| !linked.iter().any(|linked| linked.account.is_same(other)));
    }
    others.retain(|other| !Subject::Wallet(other.clone()).is_same(&subject));
    let others = joined(others.iter().map(wallet_name));
    known.is_about_operator = is_operator(desk.management(), &subject).await?;
    known.facts.retain(|fact| fact.name != FactName::Blocked);
    known.facts.push(Fact::new(FactName::Suspended, value));
    known.facts.extend((!others.is_empty()).then(|| Fact::new(FactName::OtherWallets, others)));
    Ok((known, found.is_some()))
}

/// What operators called a user or a wallet themselves.
fn owner(user: Option<UserId>) -> Fact {
    Fact::new(FactName::Owner, user.map_or_else(|| NO.to_owned(), |user| user.to_string()))
}

/// Looks a user up, and names them by their oldest wallet.
async fn person(desk: Desk<'_>, user: &mut NamedUser) -> Result<(Known, Option<Person>), StoreError> {
    let found = desk.context.storage.find_person(user.id, desk.context.clock.now()).await?;
    let Some(person) = found else {
        return Ok((Known::missing(ActRefused::UserUnknown(user.id)), None));
    };
    let wallets = &person.listed.wallets;
    user.wallet = wallets.first().map(|wallet| wallet.account.clone());
    let facts = vec![
        Fact::new(FactName::Wallets, joined(wallets.iter().map(|wallet| wallet_name(&wallet.account)))),
        blocked(person.listed.block.as_ref()),
    ];
    let groups: Vec<GroupName> =
        person.memberships.iter().map(|membership| membership.group.clone()).collect();
    let policy = desk.context.policy.desk.as_ref();
    let is_about_operator =
        policy.is_some_and(|policy| wallets.iter().any(|wallet| policy.names(&wallet.account, &groups)));
    Ok((Known { is_about_operator, ..Known::of(facts) }, Some(person)))
}

/// Names the users as texts do, up to one who is not there.
async fn look_up_members(
    desk: Desk<'_>,
    members: &mut [NamedSubject],
) -> Result<Option<ActRefused>, StoreError> {
    for member in members {
        if let Subject::User(user) = member
            && let (known, None) = person(desk, user).await?
        {
            return Ok(known.refused);
        }
    }
    Ok(None)
}

/// Whether users and wallets are in a group, which the change reverses. It is possible if it changes one of them.
async fn memberships(
    desk: Desk<'_>,
    group: &GroupName,
    members: &mut [NamedSubject],
    wanted: bool,
) -> Result<Known, StoreError> {
    let Some(counted) = desk.context.storage.find_group(group).await? else {
        return Ok(Known::missing(ActRefused::GroupUnknown(group.clone())));
    };
    if let [member] = members {
        return membership(desk, &counted, member, wanted).await;
    }
    let mut unchanged = Vec::new();
    for member in members.iter_mut() {
        match membership(desk, &counted, member, wanted).await?.refused {
            Some(ActRefused::NoChange) => unchanged.push(<Subject>::from(member.clone()).to_string()),
            Some(refused) => return Ok(Known::of(vec![title_of(&counted)]).refused(Some(refused))),
            None => {}
        }
    }
    let refused = (unchanged.len() == members.len()).then_some(ActRefused::NoChange);
    let name = if wanted { FactName::NotInGroup } else { FactName::InGroup };
    let as_they_are = (!unchanged.is_empty()).then(|| Fact::new(name, joined(unchanged.into_iter())));
    Ok(Known::of(vec![title_of(&counted)]).and(as_they_are).refused(refused))
}

/// The same for one of them.
async fn membership(
    desk: Desk<'_>,
    counted: &CountedGroup,
    member: &mut NamedSubject,
    wanted: bool,
) -> Result<Known, StoreError> {
    let (storage, group) = (&desk.context.storage, &counted.group.name);
    let (who, user) = match member {
        Subject::User(user) => {
            let (known, found) = person(desk, user).await?;
            if found.is_none() {
                return Ok(known);
            }
            let wallets = known.facts.into_iter().find(|fact| fact.name == FactName::Wallets);
            (wallets, Some(user.id))
        }
        Subject::Wallet(wallet) => {
            let user = storage.find_owner(wallet.account.clone()).await?;
            (Some(owner(user)), user)
        }
    };
    let is_in = match (&*member, user) {
        (_, Some(user)) => {
            let memberships = storage.memberships_of(user).await?;
            let mut here = memberships.iter().filter(|membership| membership.group == *group);
            here.any(|membership| match (&membership.through, &*member) {
                (Through::User, Subject::User(_)) => true,
                (Through::Wallet(through), Subject::Wallet(wallet)) => through.is_same(&wallet.account),
                (Through::User, Subject::Wallet(_)) | (Through::Wallet(_), Subject::User(_)) => false,
            })
        }
        (Subject::Wallet(wallet), None) => storage.standing_of(&wallet.account).await?.groups.contains(group),
        (Subject::User(_), None) => false,
    };
    let in_group = Fact::new(FactName::InGroup, yes_or_no(is_in));
    let mut still = Vec::new();
    if let (true, Some(user)) = (wanted, user) {
        let taken = Subject::from(member.clone());
        let ways = ways_into(desk.management(), group, user).await?;
        still.extend(ways.into_iter().filter(|way| !way.is_same(&taken)).map(|way| way.to_string()));
    }
    let still = (!still.is_empty()).then(|| Fact::new(FactName::StillIn, joined(still.into_iter())));
    let facts = [title_of(counted), in_group].into_iter().chain(who).chain(still).collect();
    Ok(Known::of(facts).refused((is_in != wanted).then_some(ActRefused::NoChange)))
}

async fn named_client(desk: Desk<'_>, named: &mut NamedClient) -> Result<Option<Client>, StoreError> {
    let found = desk.context.clients.find_fresh(named.id).await?;
    if let Some(client) = &found {
        named.name = Some(client.metadata.name.clone());
    }
    Ok(found)
}

fn no_client(id: ClientId) -> Known {
    Known::missing(ActRefused::ClientUnknown(id))
}

/// A client with everything that an operator can change, and hashes of what no one reads.
fn of_client(client: Client) -> Known {
    let metadata = &client.metadata;
    let redirect_uris = metadata.redirect_uris.iter().map(|uri| uri.as_str().to_owned());
    let grant_types = metadata.grant_types.iter().map(|grant_type| grant_type.name().to_owned());
    let rest = (
        &metadata.backchannel_logout_uri,
        metadata.requires_pushed_requests,
        metadata.requires_bound_tokens,
        &metadata.display,
    );
    let mut facts = vec![
        Fact::new(FactName::Name, &metadata.name),
        Fact::new(FactName::RedirectUris, joined(redirect_uris)),
        Fact::new(FactName::Scopes, &metadata.scopes),
        Fact::new(FactName::GrantTypes, joined(grant_types)),
        Fact::new(FactName::Authentication, client.authentication.method()),
        Fact::new(FactName::Metadata, mark_of(format!("{rest:?}"))),
        Fact::new(FactName::Rule, rule_name(client.access.rule.as_ref())),
        Fact::new(FactName::Release, release_name(&client.access.release)),
        Fact::new(FactName::Resources, joined(client.resources.iter().cloned())),
        Fact::new(FactName::RegisteredBy, client.origin.name()),
    ];
    if let ClientAuthentication::Secret { secrets, .. } = &client.authentication {
        facts.push(Fact::new(FactName::Secret, mark_of(secrets.current.as_bytes())));
    }
    Known::of(facts).guarded(Guard::Client(Box::new(client)))
}

/// The word for the rule of the setting `default_access`.
const DEFAULT: &str = "default";

pub(super) fn rule_name(rule: Option<&AccessRule>) -> String {
    rule.map_or_else(|| DEFAULT.to_owned(), ToString::to_string)
}

pub(super) fn release_name(release: &Release) -> String {
    match release {
        Release::OfRule => "rule".to_owned(),
        Release::All | Release::Groups(_) => release.to_string(),
    }
}

async fn judge_registration(
    desk: Desk<'_>,
    metadata: &RequestedMetadata,
    resources: &[String],
) -> Result<Result<JudgedMetadata, ActRefused>, StoreError> {
    let management = desk.management();
    if let Err(refused) = judge_opened(&management.resource_rules().await?, resources) {
        return Ok(Err(refused));
    }
    let declared = declared_to(management, metadata, |_, _| true).await?;
    let judged = judge_new(management, metadata.clone(), Rules::of(ClientOrigin::Operator, &declared)).await;
    Ok(judged.map_err(ActRefused::Metadata))
}

/// A group that a rule or a release names and that is not there.
async fn unknown_group(
    desk: Desk<'_>,
    rule: Option<&AccessRule>,
    release: Option<&Release>,
) -> Result<Option<GroupName>, StoreError> {
    let released = match release {
        Some(Release::Groups(groups)) => groups.as_slice(),
        Some(Release::OfRule | Release::All) | None => &[],
    };
    for name in rule.into_iter().flat_map(AccessRule::groups).chain(released) {
        if desk.context.storage.find_group(name).await?.is_none() {
            return Ok(Some(name.clone()));
        }
    }
    Ok(None)
}

fn no_resource(uri: &str) -> Known {
    Known::missing(ActRefused::ResourceUnknown(uri.to_owned()))
}

fn of_resource(resource: Resource) -> Known {
    let scopes: Vec<String> = resource.scopes.iter().flat_map(ResourceScope::lines).collect();
    let name = resource.name.as_ref().map(|name| Fact::new(FactName::Name, name.as_str()));
    let others = [
        Fact::new(FactName::OpenTo, resource.open_to.name()),
        Fact::new(FactName::Scopes, scopes.join("\n")),
    ];
    let facts = name.into_iter().chain(others).collect();
    Known::of(facts).guarded(Guard::Resource(resource))
}

async fn new_resource(desk: Desk<'_>, words: &ResourceWords) -> Result<Known, StoreError> {
    let rules = &desk.context.policy.resources;
    let uri = words.uri.clone();
    let catalog = desk.context.resources.read_fresh().await?;
    let is_there = catalog.resource(&uri).is_some();
    let refused = if let Err(unfit) = rules.may_be_declared(&uri) {
        Some(ActRefused::ResourceUnfit { uri, unfit })
    } else if rules.openness(&uri).is_some() {
        Some(ActRefused::InSettings(uri))
    } else if is_there {
        Some(ActRefused::ResourceTaken(uri))
    } else {
        unfit_scopes(words, |name| catalog.owner(name).map(|owner| owner.uri.clone()))
    };
    Ok(Known::of(vec![exists(is_there)]).refused(refused))
}

async fn changed_resource(
    desk: Desk<'_>,
    words: &ResourceWords,
    used_by: &mut UsedBy,
) -> Result<Known, StoreError> {
    let catalog = desk.context.resources.read_fresh().await?;
    let Some(resource) = catalog.resource(&words.uri) else { return Ok(no_resource(&words.uri)) };
    let owner = |name: &str| {
        let owner = catalog.owner(name).map(|owner| owner.uri.clone());
        owner.filter(|owner| *owner != words.uri)
    };
    let refused = unfit_scopes(words, owner);
    let is_so = resource.open_to == words.open_to && resource.scopes == words.scopes;
    let refused = refused.or(is_so.then_some(ActRefused::NoChange));
    let lost = resource.scopes.iter().map(|scope| &scope.name);
    let lost: Vec<_> = lost.filter(|name| words.scopes.iter().all(|scope| scope.name != **name)).collect();
    if !lost.is_empty() {
        let is_user = |client: &Client| lost.iter().any(|name| client.metadata.scopes.has_own(name));
        *used_by = clients_that(desk, is_user).await?;
    }
    Ok(of_resource(resource.clone()).and(used(used_by)).refused(refused))
}

/// How many clients use what a change takes away, and the names of the first. All clients are read, as for the
/// same change at the command line.
async fn clients_that(desk: Desk<'_>, is_user: impl Fn(&Client) -> bool) -> Result<UsedBy, StoreError> {
    let clients = all_clients(desk.management()).await?;
    let users: Vec<&Client> = clients.iter().filter(|client| is_user(client)).collect();
    let named = users.iter().take(NAMED).map(|client| client.metadata.name.clone());
    Ok(UsedBy { clients: u64::try_from(users.len()).unwrap_or(u64::MAX), names: named.collect() })
}

/// How many clients a text names that use what it takes away.
const NAMED: usize = 3;

fn used(used_by: &UsedBy) -> Option<Fact> {
    let UsedBy { clients, names } = used_by;
    let fact = || Fact::new(FactName::UsedBy, format!("{clients}: {}", names.join(", ")));
    (*clients > 0).then(fact)
}

fn unfit_scopes(words: &ResourceWords, owner: impl Fn(&str) -> Option<String>) -> Option<ActRefused> {
    if words.scopes.len() > MAX_RESOURCE_SCOPES {
        return Some(ActRefused::TooManyScopes);
    }
    let mut scopes = words.scopes.iter().enumerate();
    scopes.find_map(|(place, scope)| {
        let is_repeated = words.scopes.iter().take(place).any(|before| before.name == scope.name);
        let owner = owner(scope.name.as_str()).or_else(|| is_repeated.then(|| words.uri.clone()))?;
        Some(ActRefused::ScopeTaken { name: scope.name.clone(), owner })
    })
}

async fn listed(desk: Desk<'_>) -> Result<Vec<ListedKey>, StoreError> {
    desk.keys.list(desk.context.clock.now()).await
}

/// The keys and their states. A key that begins to sign is not a change by an operator, but an operator who
/// rotates or withdraws keys should know.
fn keys(listed: &[ListedKey]) -> Fact {
    let words = listed.iter().map(|key| format!("{} {} {}", key.kid, key.algorithm, key.state.name()));
    Fact::new(FactName::Keys, joined(words))
}
