//! What differs between two moments of a store, as far as an event must tell of it.

use std::collections::BTreeMap;

use countersign_domain::client::{Client, ClientAuthentication};
use countersign_domain::declaration::DeclaredThing;
use countersign_domain::id::{ClientId, UserId};

use super::wallets::account_of;
use super::{MemorySnapshot, Tables};

/// One thing that is otherwise than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What happened to it.
    pub what: Changed,
    /// Its name.
    pub id: String,
    /// The user whose it is.
    pub user: Option<UserId>,
    /// The client that it is about.
    pub client: Option<ClientId>,
}

/// What happened to a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Changed {
    ClientMade,
    ClientGone,
    ClientMetadata,
    ClientResources,
    ClientAccess,
    ClientSecret,
    GroupMade,
    GroupGone,
    GroupTitle,
    MemberIn,
    MemberOut,
    BlockMade,
    BlockGone,
    BlockReason,
    SuspensionMade,
    SuspensionGone,
    NameGiven,
    NameGone,
    ResourceMade,
    ResourceGone,
    ResourceChanged,
    AdminKeyMade,
    AdminKeyRevoked,
    UserMade,
    UserGone,
    WalletLinked,
    WalletUnlinked,
    SessionMade,
    SessionGone,
    ConsentMade,
    ConsentGone,
    InvitationMade,
    InvitationUsed,
    InvitationRevoked,
    InvitationGone,
    GrantMade,
    GrantRevoked,
    GrantGone,
    TokenRevoked,
    EmailConfirmed,
    KeyMade,
    KeyGone,
    KeyWithdrawn,
    ProposalMade,
    ProposalEnded,
    EpochRaised,
}

impl MemorySnapshot {
    /// What is otherwise in a later moment. What no event tells of is left out: what was last used when, what is used up
    /// or waits, what a person wrote down about themselves, which file declared what, and the record itself.
    pub fn differences(&self, later: &Self) -> Vec<Difference> {
        differences(&self.0, &later.0)
    }
}

fn differences(before: &Tables, after: &Tables) -> Vec<Difference> {
    // A new table does not compile until somebody decides whether events tell of it.
    let Tables {
        clients,
        secrets: _,
        client_uses: _,
        users,
        seen: _,
        untold: _,
        left_to_forget: _,
        mark: _,
        wallets,
        consents,
        sessions,
        emails,
        groups,
        group_users,
        group_wallets,
        invitations,
        invitation_uses: _,
        blocked_users,
        blocked_wallets,
        suspended_wallets,
        named_users,
        named_wallets,
        spent_challenges: _,
        grants,
        tokens,
        pushed_requests: _,
        device_requests: _,
        spent_proofs: _,
        resources,
        declarations: _,
        keys,
        admin_keys,
        admin_requests: _,
        fresh_events: _,
        events: _,
        checkpoints: _,
        leases: _,
        event_pushes: _,
        proposals,
        day_counts: _,
        hour_counts: _,
        replicas: _,
        epochs,
    } = after;
    let mut found = Found(Vec::new());
    found.compare(&before.clients, clients, |found, id, sides| {
        let about = |what| Difference { client: Some(*id), ..plain(what, id) };
        match sides {
            (None, _) => found.push(about(Changed::ClientMade)),
            (_, None) => found.push(about(Changed::ClientGone)),
            (Some(before), Some(after)) => found.extend(of_client(before, after).into_iter().map(about)),
        }
    });
    found.compare(&before.groups, groups, |found, name, sides| {
        found.push(plain(pick(sides, Changed::GroupMade, Changed::GroupGone, Changed::GroupTitle), name));
    });
    found.compare(&before.group_users, group_users, |found, (group, user), sides| {
        let what = pick(sides, Changed::MemberIn, Changed::MemberOut, Changed::MemberIn);
        found
            .push(Difference { user: Some(*user), ..plain(what, &DeclaredThing::user_in(group, *user).key) });
    });
    found.compare(&before.group_wallets, group_wallets, |found, (group, wallet), sides| {
        let what = pick(sides, Changed::MemberIn, Changed::MemberOut, Changed::MemberIn);
        found.push(plain(what, &DeclaredThing::wallet_in(group, &account_of(wallet, "")).key));
    });
    found.compare(&before.invitations, invitations, |found, id, sides| match sides {
        (None, Some(_)) => found.push(plain(Changed::InvitationMade, id)),
        (Some(before), Some(after)) if before.revoked_at != after.revoked_at => {
            found.push(plain(Changed::InvitationRevoked, id));
        }
        (Some(before), Some(after)) if before.used != after.used => {
            found.push(plain(Changed::InvitationUsed, id));
        }
        (Some(before), None) => found.push(plain(Changed::InvitationGone, &before.group)),
        (Some(_) | None, _) => {}
    });
    found.compare(&before.blocked_users, blocked_users, |found, user, sides| {
        let what = pick(sides, Changed::BlockMade, Changed::BlockGone, Changed::BlockReason);
        found.push(Difference { user: Some(*user), ..plain(what, user) });
    });
    found.compare(&before.blocked_wallets, blocked_wallets, |found, wallet, sides| {
        let what = pick(sides, Changed::BlockMade, Changed::BlockGone, Changed::BlockReason);
        found.push(plain(what, &account_of(wallet, "").address));
    });
    found.compare(&before.suspended_wallets, suspended_wallets, |found, wallet, sides| {
        let what = pick(sides, Changed::SuspensionMade, Changed::SuspensionGone, Changed::SuspensionMade);
        let user = before.wallets.get(wallet).map(|row| row.user);
        found.push(Difference { user, ..plain(what, &account_of(wallet, "").address) });
    });
    found.compare(&before.named_users, named_users, |found, user, sides| {
        let what = pick(sides, Changed::NameGiven, Changed::NameGone, Changed::NameGiven);
        found.push(Difference { user: Some(*user), ..plain(what, user) });
    });
    found.compare(&before.named_wallets, named_wallets, |found, wallet, sides| {
        let what = pick(sides, Changed::NameGiven, Changed::NameGone, Changed::NameGiven);
        // With the account of its user, the name of a wallet goes.
        let user = before.wallets.get(wallet).map(|row| row.user);
        found.push(Difference { user, ..plain(what, &account_of(wallet, "").address) });
    });
    found.compare(&before.resources, resources, |found, uri, sides| {
        let what = pick(sides, Changed::ResourceMade, Changed::ResourceGone, Changed::ResourceChanged);
        found.push(plain(what, uri));
    });
    found.compare(&before.admin_keys, admin_keys, |found, _, sides| match sides {
        (None, Some(key)) => found.push(plain(Changed::AdminKeyMade, &key.name)),
        (Some(before), Some(after)) if before.revoked_at != after.revoked_at => {
            found.push(plain(Changed::AdminKeyRevoked, &after.name));
        }
        (Some(_) | None, _) => {}
    });
    found.compare(&before.users, users, |found, user, sides| {
        let what = pick(sides, Changed::UserMade, Changed::UserGone, Changed::UserMade);
        found.push(Difference { user: Some(*user), ..plain(what, user) });
    });
    found.compare(&before.wallets, wallets, |found, wallet, sides| {
        let owner = |side: Option<&super::WalletRow>| side.map(|row| row.user);
        let address = account_of(wallet, "").address;
        if owner(sides.0) != owner(sides.1) {
            let of = |what, user| Difference { user, ..plain(what, &address) };
            found.extend(sides.0.map(|row| of(Changed::WalletUnlinked, Some(row.user))));
            found.extend(sides.1.map(|row| of(Changed::WalletLinked, Some(row.user))));
        }
    });
    found.compare(&before.sessions, sessions, |found, id, (before, after)| {
        let of = |what, user| Difference { user: Some(user), ..plain(what, &format!("{id:?}")) };
        match (before, after) {
            (None, Some(session)) => found.push(of(Changed::SessionMade, session.user)),
            (Some(session), None) => found.push(of(Changed::SessionGone, session.user)),
            (Some(_) | None, _) => {}
        }
    });
    found.compare(&before.consents, consents, |found, (user, client, terms), sides| {
        let of = |what| Difference {
            user: Some(*user),
            client: Some(*client),
            ..plain(what, &format!("{terms:?}"))
        };
        match sides {
            (None, Some(_)) => found.push(of(Changed::ConsentMade)),
            (Some(_), None) => found.push(of(Changed::ConsentGone)),
            (Some(_) | None, _) => {}
        }
    });
    found.compare(&before.grants, grants, |found, id, sides| {
        let of = |what, row: &super::GrantRow| Difference {
            user: row.grant.holder.user(),
            client: Some(row.grant.client),
            ..plain(what, id)
        };
        match sides {
            (None, Some(row)) => found.push(of(Changed::GrantMade, row)),
            (Some(row), None) => found.push(of(Changed::GrantGone, row)),
            (Some(before), Some(after)) if before.grant.revoked != after.grant.revoked => {
                // A deleted account leaves a grant that names nobody.
                found.push(of(Changed::GrantRevoked, before));
            }
            (Some(_) | None, _) => {}
        }
    });
    found.compare(&before.tokens, tokens, |found, id, sides| {
        if let (Some(before), Some(after)) = sides
            && before.access_revoked_at != after.access_revoked_at
        {
            found.push(plain(Changed::TokenRevoked, id));
        }
    });
    found.compare(&before.emails, emails, |found, user, sides| {
        let verified = |side: Option<&countersign_domain::email::UserEmail>| {
            side.is_some_and(|email| email.verified_at.is_some())
        };
        if !verified(sides.0) && verified(sides.1) {
            found.push(Difference { user: Some(*user), ..plain(Changed::EmailConfirmed, user) });
        }
    });
    found.compare(&before.keys, keys, |found, kid, sides| {
        let what = pick(sides, Changed::KeyMade, Changed::KeyGone, Changed::KeyWithdrawn);
        found.push(plain(what, kid));
    });
    found.compare(&before.proposals, proposals, |found, id, sides| match sides {
        (None, _) => found.push(plain(Changed::ProposalMade, id)),
        (Some(before), Some(after)) if before.state != after.state => {
            found.push(plain(Changed::ProposalEnded, id));
        }
        (Some(_), _) => {}
    });
    let raised = epochs.iter().filter(|epoch| !before.epochs.contains(epoch));
    found.0.extend(raised.map(|epoch| plain(Changed::EpochRaised, &epoch.number)));
    found.0
}

/// What is found of each thing that is not equal in both tables.
struct Found(Vec<Difference>);

impl Found {
    fn compare<K: Ord, V: PartialEq>(
        &mut self,
        before: &BTreeMap<K, V>,
        after: &BTreeMap<K, V>,
        mut each: impl FnMut(&mut Vec<Difference>, &K, (Option<&V>, Option<&V>)),
    ) {
        for (key, old) in before {
            let new = after.get(key);
            if new != Some(old) {
                each(&mut self.0, key, (Some(old), new));
            }
        }
        for (key, new) in after.iter().filter(|(key, _)| !before.contains_key(key)) {
            each(&mut self.0, key, (None, Some(new)));
        }
    }
}

fn plain(what: Changed, id: &impl ToString) -> Difference {
    Difference { what, id: id.to_string(), user: None, client: None }
}

fn pick<V>(sides: (Option<&V>, Option<&V>), made: Changed, gone: Changed, changed: Changed) -> Changed {
    match sides {
        (None, _) => made,
        (_, None) => gone,
        (Some(_), Some(_)) => changed,
    }
}

fn of_client(before: &Client, after: &Client) -> Vec<Changed> {
    let Client {
        id: _,
        authentication,
        metadata,
        origin: _,
        document: _,
        resources,
        access,
        registration_token: _,
        created_at: _,
    } = after;
    let secret = |authentication: &ClientAuthentication| match authentication {
        ClientAuthentication::Secret { secrets, .. } => Some(secrets.current),
        ClientAuthentication::Keys | ClientAuthentication::Public => None,
    };
    let is_other = *metadata != before.metadata || authentication.method() != before.authentication.method();
    let all = [
        (Changed::ClientMetadata, is_other),
        (Changed::ClientResources, *resources != before.resources),
        (Changed::ClientAccess, *access != before.access),
        (Changed::ClientSecret, secret(authentication) != secret(&before.authentication)),
    ];
    all.into_iter().filter(|(_, is_so)| *is_so).map(|(what, _)| what).collect()
}
