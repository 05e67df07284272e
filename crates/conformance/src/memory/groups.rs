//! Groups, and who is in them.

use std::collections::BTreeSet;

use async_trait::async_trait;
use countersign_domain::admission::{Standing, UserStanding};
use countersign_domain::declaration::DeclaredThing;
use countersign_domain::event::Event;
use countersign_domain::group::{Group, GroupName, Membership, Through};
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::group_store::MOST_COUNTED;
use countersign_ports::{
    ChangeMember, ChangeMembers, CountedGroup, CreateGroup, DeleteGroup, GroupChange, GroupCreated,
    GroupMember, GroupStore, IfGroupUnchanged, MemberCursor, MembersChanged, MembersGo, RetitleGroup,
    StoreError,
};
use time::OffsetDateTime;

use super::wallets::{WalletKey, account_of, key_of};
use super::{MemoryStorage, Tables, count, count_of};

/// A wallet that was put into a group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MemberRow {
    pub(super) chain: String,
    pub(super) added_at: OffsetDateTime,
}

#[async_trait]
impl GroupStore for MemoryStorage {
    async fn create_group(&self, command: CreateGroup) -> Result<GroupCreated, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let group = command.group;
        if let Some(present) = tables.groups.get(&group.name) {
            let is_repeated = tables
                .is_recorded(command.event.as_deref())
                .unwrap_or(present.created_at == group.created_at);
            return Ok(if is_repeated { GroupCreated::Stored } else { GroupCreated::NameTaken });
        }
        for change in &command.members {
            if let Some(user) = tables.unknown_user(change) {
                return Ok(GroupCreated::UserUnknown(user));
            }
        }
        tables.record(command.event)?;
        tables.groups.insert(group.name.clone(), group);
        tables.change_members(MembersGo::In, command.members, command.text)?;
        Ok(GroupCreated::Stored)
    }

    async fn retitle_group(&self, command: RetitleGroup) -> Result<bool, StoreError> {
        self.tables_for(command.event.as_deref())?.retitle_group(command)
    }

    async fn delete_group(&self, command: DeleteGroup) -> Result<bool, StoreError> {
        self.tables_for(command.event.as_deref())?.delete_group(command)
    }

    async fn if_group_unchanged(&self, command: IfGroupUnchanged) -> Result<bool, StoreError> {
        let event = match &command.change {
            GroupChange::Retitle(change) => &change.event,
            GroupChange::Delete(change) => &change.event,
        };
        let mut tables = self.tables_for(event.as_deref())?;
        let name = command.read.group.name.clone();
        if tables.groups.get(&name).map(|group| tables.counted(group)) != Some(command.read) {
            return Ok(false);
        }
        match command.change {
            GroupChange::Retitle(change) => tables.retitle_group(change),
            GroupChange::Delete(change) => tables.delete_group(change),
        }
    }

    async fn find_group(&self, name: &GroupName) -> Result<Option<CountedGroup>, StoreError> {
        let tables = self.tables();
        Ok(tables.groups.get(name).map(|group| tables.counted(group)))
    }

    async fn list_groups(
        &self,
        after: Option<&GroupName>,
        limit: u32,
    ) -> Result<Vec<CountedGroup>, StoreError> {
        let tables = self.tables();
        let later = tables.groups.values().filter(|group| after.is_none_or(|after| group.name > *after));
        Ok(later.take(count(limit)).map(|group| tables.counted(group)).collect())
    }

    async fn group_names(&self, limit: u32) -> Result<Vec<GroupName>, StoreError> {
        Ok(self.tables().groups.keys().take(count(limit)).cloned().collect())
    }

    async fn change_members(&self, command: ChangeMembers) -> Result<MembersChanged, StoreError> {
        let ChangeMembers { way, changes, event: text } = command;
        let events = changes.iter().map(|change| &change.event).chain([&text]).flatten();
        let mut tables = self.tables_for_all(events.map(|event| &**event))?;
        if way == MembersGo::In {
            for change in &changes {
                if !tables.groups.contains_key(&change.group) {
                    return Ok(MembersChanged::GroupUnknown(change.group.clone()));
                }
                if let Some(user) = tables.unknown_user(change) {
                    return Ok(MembersChanged::UserUnknown(user));
                }
            }
        }
        tables.change_members(way, changes, text).map(MembersChanged::Changed)
    }

    async fn list_members(
        &self,
        group: &GroupName,
        after: Option<&MemberCursor>,
        limit: u32,
    ) -> Result<Vec<GroupMember>, StoreError> {
        let tables = self.tables();
        let users = tables.group_users.iter().filter(|((of, _), _)| of == group);
        let users = users.map(|((_, user), added_at)| GroupMember {
            member: Subject::User(*user),
            added_at: *added_at,
            user: Some(*user),
        });
        let wallets = tables.group_wallets.iter().filter(|((of, _), _)| of == group);
        let wallets = wallets.map(|((_, key), row)| {
            let wallet = account_of(key, &row.chain);
            let user = tables.owner_of(&wallet);
            GroupMember { member: Subject::Wallet(wallet), added_at: row.added_at, user }
        });
        let later = users
            .chain(wallets)
            .filter(|listed| after.is_none_or(|after| place_of(&listed.member) > place_of(after)));
        Ok(later.take(count(limit)).collect())
    }

    async fn memberships_of(&self, user: UserId) -> Result<Vec<Membership>, StoreError> {
        Ok(self.tables().memberships_of(user))
    }

    async fn standing_of(&self, wallet: &WalletAccount) -> Result<Standing, StoreError> {
        let tables = self.tables();
        let user = tables.owner_of(wallet);
        let of_user = user.and_then(|user| tables.blocked_users.get(&user));
        let key = key_of(wallet);
        let of_wallet = tables.blocked_wallets.get(&key).map(|row| &row.block);
        let of_key = tables.group_wallets.keys().filter(|(_, of)| *of == key);
        let groups = match user {
            Some(user) => tables.groups_of(user),
            None => of_key.map(|(group, _)| group.clone()).collect(),
        };
        Ok(Standing { user, block: of_user.or(of_wallet).cloned(), groups })
    }

    async fn standing_of_user(&self, user: UserId) -> Result<UserStanding, StoreError> {
        let tables = self.tables();
        let mut wallets = tables.wallets_of(user);
        let is_blocked = tables.blocked_users.contains_key(&user);
        wallets
            .retain(|linked| !is_blocked && !tables.blocked_wallets.contains_key(&key_of(&linked.account)));
        if wallets.is_empty() {
            return Ok(UserStanding::default());
        }
        let wallets = wallets.into_iter().map(|linked| linked.account).collect();
        let is_suspended = tables.is_suspended(&Subject::User(user));
        Ok(UserStanding { wallets, groups: tables.groups_of(user), is_suspended })
    }

    async fn groups_of(&self, user: UserId) -> Result<Vec<GroupName>, StoreError> {
        Ok(self.tables().groups_of(user))
    }
}

/// What members are sorted by.
fn place_of(member: &Subject) -> (Option<WalletKey>, Option<UserId>) {
    match member {
        Subject::User(user) => (None, Some(*user)),
        Subject::Wallet(wallet) => (Some(key_of(wallet)), None),
    }
}

impl Tables {
    fn unknown_user(&self, change: &ChangeMember) -> Option<UserId> {
        match change.member {
            Subject::User(user) => (!self.users.contains_key(&user)).then_some(user),
            Subject::Wallet(_) => None,
        }
    }

    fn change_members(
        &mut self,
        way: MembersGo,
        changes: Vec<ChangeMember>,
        text: Option<Box<Event>>,
    ) -> Result<Vec<bool>, StoreError> {
        let mut changed = Vec::with_capacity(changes.len());
        for change in changes {
            changed.push(match way {
                MembersGo::In => self.add_member(change)?,
                MembersGo::Out => self.remove_member(change)?,
            });
        }
        if changed.contains(&true) {
            self.record(text)?;
        }
        Ok(changed)
    }

    fn add_member(&mut self, change: ChangeMember) -> Result<bool, StoreError> {
        let ChangeMember { group, member, now, event } = change;
        match member {
            Subject::User(user) => {
                let key = (group, user);
                if self.group_users.contains_key(&key) {
                    return Ok(false);
                }
                self.record(event)?;
                self.group_users.insert(key, now);
            }
            Subject::Wallet(wallet) => {
                let key = (group, key_of(&wallet));
                if self.group_wallets.contains_key(&key) {
                    return Ok(false);
                }
                self.record(event)?;
                let row = MemberRow { chain: wallet.chain.clone(), added_at: now };
                self.group_wallets.insert(key, row);
            }
        }
        Ok(true)
    }

    fn remove_member(&mut self, change: ChangeMember) -> Result<bool, StoreError> {
        let thing = DeclaredThing::member_of(&change.group, &change.member);
        let is_removed = match change.member {
            Subject::User(user) => self.group_users.remove(&(change.group, user)).is_some(),
            Subject::Wallet(wallet) => self.group_wallets.remove(&(change.group, key_of(&wallet))).is_some(),
        };
        if is_removed {
            self.declarations.remove(&thing);
            self.record(change.event)?;
        }
        Ok(is_removed)
    }

    fn retitle_group(&mut self, command: RetitleGroup) -> Result<bool, StoreError> {
        let Some(mut group) = self.groups.get(&command.group).cloned() else { return Ok(false) };
        if group.title != command.title {
            self.record(command.event)?;
            group.title = command.title;
            self.groups.insert(command.group, group);
        }
        Ok(true)
    }

    fn delete_group(&mut self, command: DeleteGroup) -> Result<bool, StoreError> {
        let DeleteGroup { name, event } = command;
        if self.groups.contains_key(&name) {
            self.record(event)?;
        }
        self.group_users.retain(|(group, _), _| *group != name);
        self.group_wallets.retain(|(group, _), _| *group != name);
        let Self { invitations, invitation_uses, .. } = self;
        invitations.retain(|_, invitation| invitation.group != name);
        invitation_uses.retain(|(id, _), _| invitations.contains_key(id));
        Ok(self.groups.remove(&name).is_some())
    }

    fn counted(&self, group: &Group) -> CountedGroup {
        let users = self.group_users.keys().filter(|(of, _)| *of == group.name).count();
        let wallets = self.group_wallets.keys().filter(|(of, _)| *of == group.name).count();
        let up_to_one_more = |members: usize| count_of(members).min(MOST_COUNTED + 1);
        CountedGroup { group: group.clone(), users: up_to_one_more(users), wallets: up_to_one_more(wallets) }
    }

    /// The ways in which a user is in groups. Both tables are in the order of the answer already.
    pub(super) fn memberships_of(&self, user: UserId) -> Vec<Membership> {
        let own = self.group_users.keys().filter(|(_, member)| *member == user);
        let own = own.map(|(group, _)| Membership { group: group.clone(), through: Through::User });
        let through_wallets = self.group_wallets.keys().filter_map(|(group, key)| {
            let wallet = self.wallets.get(key).filter(|wallet| wallet.user == user)?;
            let through = Through::Wallet(account_of(key, &wallet.chain));
            Some(Membership { group: group.clone(), through })
        });
        let mut memberships: Vec<_> = own.chain(through_wallets).collect();
        // The sort is stable, so the user's own come first and wallets stay in order.
        memberships.sort_by(|one, other| one.group.cmp(&other.group));
        memberships
    }

    pub(super) fn groups_of(&self, user: UserId) -> Vec<GroupName> {
        let groups = self.memberships_of(user).into_iter().map(|membership| membership.group);
        groups.collect::<BTreeSet<_>>().into_iter().collect()
    }
}
