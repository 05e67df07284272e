//! How people, wallets, groups and access are shown: text for people, JSON for scripts. The names in JSON are
//! fixed: scripts lean on them.

use std::collections::BTreeSet;
use std::io::{self, Write};

use countersign_domain::admission::{AccessRule, Block, ClientAccess, Release};
use countersign_domain::client::Client;
use countersign_domain::consent::Consent;
use countersign_domain::group::{Group, GroupName, GroupTitle, Membership, Through};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::scope::ScopeName;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_ports::group_store::{MOST_COUNTED, counted as members_counted};
use countersign_ports::{BlockedWallet, CountedGroup, LinkedWallet, Member, PersonListed};
use countersign_usecases::people::add_members::Added;
use countersign_usecases::people::block::BlockedNow;
use countersign_usecases::people::change_access::AccessChanged;
use countersign_usecases::people::delete_group::GroupUse;
use countersign_usecases::people::list_wallets::WalletListed;
use countersign_usecases::people::read_access::AccessRead;
use countersign_usecases::people::read_group::GroupRead;
use countersign_usecases::people::read_person::PersonRead;
use countersign_usecases::people::remove_members::Removed;
use countersign_usecases::people::{Ended, Who};
use serde_json::{Map, Value, json};

use crate::cli::Output;
use crate::table;
use crate::terminal::{count, visible, written};

/// What stands where there is nothing.
const NOTHING: &str = "-";

/// Which clients were told, of those that registered an address for it.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// They know.
    pub(crate) told: BTreeSet<ClientId>,
    /// They could not be told everything.
    pub(crate) not_told: BTreeSet<ClientId>,
}

/// Shows a list of users.
pub(crate) fn people(people: &[PersonListed], output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => write_json(&Value::Array(people.iter().map(listed).collect()), out),
        Output::Table if people.is_empty() => writeln!(out, "no users"),
        Output::Table => {
            let heading = ["USER ID", "CREATED", "LAST SIGN-IN", "BLOCKED", "WALLETS"].map(str::to_owned);
            let rows = people.iter().map(|person| {
                let wallets: Vec<_> = person.wallets.iter().map(|wallet| label(&wallet.account)).collect();
                [
                    person.id.to_string(),
                    written(person.created_at),
                    person.last_sign_in_at.map_or_else(|| NOTHING.to_owned(), written),
                    blocked_at(person.block.as_ref()),
                    visible(&wallets.join(" ")).into_owned(),
                ]
            });
            table::write(&std::iter::once(heading).chain(rows).collect::<Vec<_>>(), out)
        }
    }
}

/// Shows everything about a user.
pub(crate) fn person(read: &PersonRead, output: Output, out: &mut dyn Write) -> io::Result<()> {
    let person = &read.person;
    match output {
        Output::Json => {
            let mut shown = listed(&person.listed);
            if let Value::Object(fields) = &mut shown {
                let of = |values: Vec<Value>| Value::Array(values);
                let blocked = person.blocked_wallets.iter().map(blocked_wallet_json);
                fields.insert("blocked_wallets".to_owned(), of(blocked.collect()));
                fields.insert("groups".to_owned(), of(person.memberships.iter().map(membership).collect()));
                fields.insert("sessions".to_owned(), of(person.sessions.iter().map(session).collect()));
                fields.insert(
                    "grants".to_owned(),
                    of(person.consents.iter().map(|of| grant(read, of)).collect()),
                );
            }
            write_json(&shown, out)
        }
        Output::Table => {
            let listed = &person.listed;
            let mut rows = vec![
                ("id", vec![listed.id.to_string()]),
                ("created_at", vec![written(listed.created_at)]),
                ("last_sign_in_at", listed.last_sign_in_at.map(written).into_iter().collect()),
                ("blocked", listed.block.as_ref().map(block_text).into_iter().collect()),
            ];
            rows.push(("wallets", listed.wallets.iter().map(|wallet| wallet_text(read, wallet)).collect()));
            rows.push(("groups", person.memberships.iter().map(membership_text).collect()));
            rows.push(("sessions", person.sessions.iter().map(session_text).collect()));
            rows.push(("grants", person.consents.iter().map(|consent| grant_text(read, consent)).collect()));
            pairs(&rows, out)
        }
    }
}

/// Says that a user or a wallet was blocked.
pub(crate) fn blocked(
    who: &Who,
    blocked: &BlockedNow,
    told: &Told,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => {
            let mut shown = named(who);
            shown.insert("blocked".to_owned(), json!(true));
            shown.insert("already".to_owned(), json!(blocked.already));
            shown.extend(ended(&blocked.ended, told));
            write_json(&Value::Object(shown), out)
        }
        Output::Table => {
            let verb = if blocked.already { "was blocked already" } else { "is blocked" };
            writeln!(out, "{} {verb}: {}", called(who), ended_text(&blocked.ended, told))
        }
    }
}

/// Says that a user or a wallet is let in again.
pub(crate) fn unblocked(who: &Who, still: &[Who], output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => {
            let mut shown = named(who);
            shown.insert("blocked".to_owned(), json!(false));
            shown.insert("still_blocked".to_owned(), names(still));
            write_json(&Value::Object(shown), out)
        }
        Output::Table => writeln!(out, "{} is unblocked; what the block ended stays ended", called(who)),
    }
}

/// Says that a user was signed out.
pub(crate) fn signed_out(
    user: UserId,
    done: &Ended,
    told: &Told,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let who = Who::User(user);
    match output {
        Output::Json => {
            let mut shown = named(&who);
            shown.extend(ended(done, told));
            write_json(&Value::Object(shown), out)
        }
        Output::Table => writeln!(out, "{} is signed out: {}", called(&who), ended_text(done, told)),
    }
}

/// Says that a user was deleted.
pub(crate) fn deleted_user(user: UserId, told: &Told, output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => {
            let mut shown = Map::new();
            shown.insert("id".to_owned(), json!(user.to_string()));
            shown.insert("removed".to_owned(), json!(true));
            shown.extend(told_json(told));
            write_json(&Value::Object(shown), out)
        }
        Output::Table => writeln!(out, "deleted {user}{}", told_text(told)),
    }
}

/// Shows a list of wallets.
pub(crate) fn wallets(wallets: &[WalletListed], output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => {
            let shown = wallets.iter().map(|wallet| {
                json!({
                    "wallet": wallet.account.caip10(),
                    "user": wallet.user.map(|user| user.to_string()),
                    "blocked": wallet.block.as_ref().map(block),
                })
            });
            write_json(&Value::Array(shown.collect()), out)
        }
        Output::Table if wallets.is_empty() => writeln!(out, "no wallets"),
        Output::Table => {
            let heading = ["WALLET", "USER ID", "BLOCKED", "REASON"].map(str::to_owned);
            let rows = wallets.iter().map(|wallet| {
                let reason = wallet.block.as_ref().and_then(|block| block.reason.as_deref());
                [
                    visible(&label(&wallet.account)).into_owned(),
                    wallet.user.map_or_else(|| NOTHING.to_owned(), |user| user.to_string()),
                    blocked_at(wallet.block.as_ref()),
                    visible(reason.unwrap_or(NOTHING)).into_owned(),
                ]
            });
            table::write(&std::iter::once(heading).chain(rows).collect::<Vec<_>>(), out)
        }
    }
}

/// Shows all groups.
pub(crate) fn groups(groups: &[CountedGroup], output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => write_json(
            &Value::Array(groups.iter().map(|counted| Value::Object(counted_group(counted))).collect()),
            out,
        ),
        Output::Table if groups.is_empty() => writeln!(out, "no groups"),
        Output::Table => {
            let heading = ["GROUP", "USERS", "WALLETS", "TITLE"].map(str::to_owned);
            let rows = groups.iter().map(|counted| {
                let title = counted.group.title.as_ref().map_or(NOTHING, GroupTitle::as_str);
                [
                    counted.group.name.to_string(),
                    members_counted(counted.users),
                    members_counted(counted.wallets),
                    visible(title).into_owned(),
                ]
            });
            table::write(&std::iter::once(heading).chain(rows).collect::<Vec<_>>(), out)
        }
    }
}

/// Says that a group was created.
pub(crate) fn created_group(group: &Group, output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => write_json(&Value::Object(group_fields(group)), out),
        Output::Table => writeln!(out, "created {}", group.name),
    }
}

/// Shows a group and some of its members.
pub(crate) fn group(read: &GroupRead, output: Output, out: &mut dyn Write) -> io::Result<()> {
    let group = &read.counted.group;
    match output {
        Output::Json => {
            let mut shown = counted_group(&read.counted);
            let members = read.members.iter().map(|member| {
                let wallet = match &member.member {
                    Member::User(_) => None,
                    Member::Wallet(account) => Some(account.caip10()),
                };
                json!({
                    "wallet": wallet,
                    "user": member.user.map(|user| user.to_string()),
                    "added_at": written(member.added_at),
                })
            });
            shown.insert("members".to_owned(), Value::Array(members.collect()));
            let clients: Vec<_> = read.clients.iter().map(Client::wire_id).collect();
            shown.insert("clients".to_owned(), json!(clients));
            shown.insert("default_access".to_owned(), json!(read.is_default));
            write_json(&Value::Object(shown), out)
        }
        Output::Table => {
            let title = group.title.as_ref().map(|title| visible(title.as_str()).into_owned());
            let mut lets_in: Vec<_> = read.clients.iter().map(client_name).collect();
            if read.is_default {
                lets_in.push("every client without a rule of its own (default_access)".to_owned());
            }
            let rows = [
                ("group", vec![group.name.to_string()]),
                ("title", title.into_iter().collect()),
                ("created_at", vec![written(group.created_at)]),
                ("clients", lets_in),
                ("members", vec![members(&read.counted)]),
            ];
            pairs(&rows, out)?;
            let heading = ["MEMBER", "SINCE", "USER ID"].map(str::to_owned);
            let rows = read.members.iter().map(|member| {
                let (name, user) = match &member.member {
                    Member::User(user) => (format!("user {user}"), NOTHING.to_owned()),
                    Member::Wallet(account) => {
                        let user = member.user.map(|user| user.to_string());
                        (label(account), user.unwrap_or_else(|| "nobody yet".to_owned()))
                    }
                };
                [visible(&name).into_owned(), written(member.added_at), user]
            });
            let rows: Vec<_> = rows.collect();
            if rows.is_empty() {
                return Ok(());
            }
            writeln!(out)?;
            table::write(&std::iter::once(heading).chain(rows).collect::<Vec<_>>(), out)
        }
    }
}

/// Says who is a member now.
pub(crate) fn added(
    group: &GroupName,
    added: &[Added],
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => {
            let shown = added.iter().map(|added| {
                let mut shown = member_fields(group, &added.who, added.user);
                shown.insert("added".to_owned(), json!(!added.already));
                Value::Object(shown)
            });
            write_json(&Value::Array(shown.collect()), out)
        }
        Output::Table => added.iter().try_for_each(|added| {
            let verb = if added.already { "was in" } else { "added to" };
            let whose = owner(&added.who, added.user);
            let already = if added.already { " already" } else { "" };
            writeln!(out, "{verb} {group}{already}: {}{whose}", called(&added.who))
        }),
    }
}

/// Says who is no member any more.
pub(crate) fn removed(
    group: &GroupName,
    removed: &[Removed],
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => {
            let shown = removed.iter().map(|removed| {
                let mut shown = member_fields(group, &removed.who, removed.user);
                shown.insert("removed".to_owned(), json!(removed.was_member));
                shown.insert("still_member_as".to_owned(), names(&removed.still));
                Value::Object(shown)
            });
            write_json(&Value::Array(shown.collect()), out)
        }
        Output::Table => removed.iter().filter(|removed| removed.was_member).try_for_each(|removed| {
            let whose = owner(&removed.who, removed.user);
            writeln!(out, "removed from {group}: {}{whose}", called(&removed.who))
        }),
    }
}

/// Says that a group was deleted.
pub(crate) fn deleted_group(
    name: &GroupName,
    found: &GroupUse,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => {
            let clients: Vec<_> = found.clients.iter().map(Client::wire_id).collect();
            let scopes: Vec<_> = found.scopes.iter().map(ScopeName::as_str).collect();
            let shown = json!({
                "name": name.as_str(),
                "removed": true,
                "users": found.counted.users,
                "wallets": found.counted.wallets,
                "clients": clients,
                "scopes": scopes,
            });
            write_json(&shown, out)
        }
        Output::Table => writeln!(out, "deleted {name}, which had {}", members(&found.counted)),
    }
}

/// Shows whom a client lets in.
pub(crate) fn access(
    read: &AccessRead,
    default: &AccessRule,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => write_json(&Value::Object(access_fields(read, default)), out),
        Output::Table => {
            let groups = read.groups.iter().map(|(name, counted)| match counted {
                Some(counted) => format!("{name}: {}", members(counted)),
                None => format!("{name}: not there"),
            });
            let rows = [
                ("client", vec![client_name(&read.client)]),
                ("rule", vec![rule_text(&read.client.access, default)]),
                ("release", vec![release_text(&read.client.access)]),
                ("groups", groups.collect()),
            ];
            pairs(&rows, out)
        }
    }
}

/// Shows what changed about whom a client lets in.
pub(crate) fn changed_access(
    changed: &AccessChanged,
    default: &AccessRule,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (before, after) = (&changed.before, &changed.now.client.access);
    let mut rows = Vec::new();
    if before.rule != after.rule {
        rows.push(("rule", rule_text(before, default), rule_text(after, default)));
    }
    if before.release != after.release {
        rows.push(("release", release_text(before), release_text(after)));
    }
    match output {
        Output::Json => {
            let mut shown = access_fields(&changed.now, default);
            let names: Vec<_> = rows.iter().map(|(name, ..)| name).collect();
            shown.insert("changed".to_owned(), json!(names));
            write_json(&Value::Object(shown), out)
        }
        Output::Table => {
            writeln!(out, "{}", client_name(&changed.now.client))?;
            if rows.is_empty() {
                return writeln!(out, "nothing changed");
            }
            let heading = ["CHANGED", "BEFORE", "NOW"].map(str::to_owned);
            let rows = rows.into_iter().map(|(name, before, now)| [name.to_owned(), before, now]);
            table::write(&std::iter::once(heading).chain(rows).collect::<Vec<_>>(), out)
        }
    }
}

/// A user or a wallet as people read it in a sentence.
pub(crate) fn called(who: &Who) -> String {
    match who {
        Who::User(user) => format!("user {user}"),
        Who::Wallet(account) => format!("wallet {}", label(account)),
    }
}

/// A wallet by CAIP-10, and whether it is a contract.
fn label(account: &WalletAccount) -> String {
    match account.kind() {
        Some(AccountKind::Contract) => format!("{} (contract)", account.caip10()),
        Some(AccountKind::Key) | None => account.caip10(),
    }
}

/// A client's name and id.
pub(crate) fn client_name(client: &Client) -> String {
    visible(&format!("{} ({})", client.shown_name(), client.wire_id())).into_owned()
}

/// The members of a group, in numbers.
pub(crate) fn members(counted: &CountedGroup) -> String {
    let some = |members, what| {
        if members > MOST_COUNTED {
            format!("more than {MOST_COUNTED} {what}s")
        } else {
            count(members, what)
        }
    };
    format!("{} and {}", some(counted.users, "user"), some(counted.wallets, "wallet"))
}

/// A member as an operator names it.
pub(crate) fn member_name(member: &Member) -> String {
    match member {
        Member::User(user) => user.to_string(),
        Member::Wallet(account) => account.caip10(),
    }
}

fn listed(person: &PersonListed) -> Value {
    let wallets: Vec<_> = person.wallets.iter().map(|wallet| wallet.account.caip10()).collect();
    json!({
        "id": person.id.to_string(),
        "created_at": written(person.created_at),
        "last_sign_in_at": person.last_sign_in_at.map(written),
        "wallets": wallets,
        "blocked": person.block.as_ref().map(block),
    })
}

fn block(block: &Block) -> Value {
    json!({"at": written(block.at), "reason": block.reason})
}

fn blocked_wallet_json(blocked: &BlockedWallet) -> Value {
    let Block { at, reason } = &blocked.block;
    json!({"wallet": blocked.account.caip10(), "at": written(*at), "reason": reason})
}

fn membership(membership: &Membership) -> Value {
    let through = match &membership.through {
        Through::User => "user".to_owned(),
        Through::Wallet(account) => account.caip10(),
    };
    json!({"name": membership.group.as_str(), "through": through})
}

fn session(session: &LoginSession) -> Value {
    json!({
        "id": session.id.to_string(),
        "browser": session.browser,
        "wallet": session.account.caip10(),
        "signed_in_at": written(session.authenticated_at),
        "last_used_at": written(session.last_used_at),
        "expires_at": written(session.expires_at),
    })
}

fn grant(read: &PersonRead, consent: &Consent) -> Value {
    json!({
        "client": read.clients.get(&consent.client).map_or_else(|| consent.client.to_string(), Client::wire_id),
        "scopes": scopes(consent),
        "since": written(consent.granted_at),
        "last_used_at": written(consent.last_used_at),
    })
}

fn scopes(consent: &Consent) -> Vec<&str> {
    consent.scope.names().collect()
}

fn block_text(block: &Block) -> String {
    let since = written(block.at);
    match &block.reason {
        Some(reason) => format!("since {since}: {reason}"),
        None => format!("since {since}"),
    }
}

fn blocked_at(block: Option<&Block>) -> String {
    block.map_or_else(|| NOTHING.to_owned(), |block| written(block.at))
}

fn wallet_text(read: &PersonRead, wallet: &LinkedWallet) -> String {
    let account = &wallet.account;
    let is_this = |blocked: &&BlockedWallet| {
        (&blocked.account.family, &blocked.account.address) == (&account.family, &account.address)
    };
    match read.person.blocked_wallets.iter().find(is_this) {
        Some(blocked) => format!("{}, blocked {}", label(account), block_text(&blocked.block)),
        None => label(account),
    }
}

fn membership_text(membership: &Membership) -> String {
    match &membership.through {
        Through::User => membership.group.to_string(),
        Through::Wallet(account) => format!("{} by {}", membership.group, label(account)),
    }
}

fn session_text(session: &LoginSession) -> String {
    let (used, ends) = (written(session.last_used_at), written(session.expires_at));
    format!("{} with {}, last used {used}, ends {ends}", session.browser, label(&session.account))
}

fn grant_text(read: &PersonRead, consent: &Consent) -> String {
    let client = read.clients.get(&consent.client);
    let name = client.map_or_else(|| consent.client.to_string(), client_name);
    format!("{name}: {}, since {}", scopes(consent).join(" "), written(consent.granted_at))
}

fn group_fields(group: &Group) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("name".to_owned(), json!(group.name.as_str()));
    fields.insert("title".to_owned(), json!(group.title.as_ref().map(GroupTitle::as_str)));
    fields.insert("created_at".to_owned(), json!(written(group.created_at)));
    fields
}

fn counted_group(counted: &CountedGroup) -> Map<String, Value> {
    let mut fields = group_fields(&counted.group);
    fields.insert("users".to_owned(), json!(counted.users));
    fields.insert("wallets".to_owned(), json!(counted.wallets));
    fields
}

fn member_fields(group: &GroupName, who: &Who, user: Option<UserId>) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("group".to_owned(), json!(group.as_str()));
    fields.insert("wallet".to_owned(), Value::Null);
    fields.insert("user".to_owned(), json!(user.map(|user| user.to_string())));
    if let Who::Wallet(account) = who {
        fields.insert("wallet".to_owned(), json!(account.caip10()));
    }
    fields
}

/// Whose wallet it is, after its name.
fn owner(who: &Who, user: Option<UserId>) -> String {
    match (who, user) {
        (Who::User(_), _) => String::new(),
        (Who::Wallet(_), Some(user)) => format!(", which belongs to user {user}"),
        (Who::Wallet(_), None) => ", with which nobody has signed in yet".to_owned(),
    }
}

fn access_fields(read: &AccessRead, default: &AccessRule) -> Map<String, Value> {
    let ClientAccess { rule, release } = &read.client.access;
    let groups = read.groups.iter().map(|(name, counted)| {
        json!({
            "name": name.as_str(),
            "users": counted.as_ref().map(|counted| counted.users),
            "wallets": counted.as_ref().map(|counted| counted.wallets),
        })
    });
    let mut fields = Map::new();
    fields.insert("client_id".to_owned(), json!(read.client.wire_id()));
    fields.insert("client_name".to_owned(), json!(read.client.metadata.name));
    fields.insert("access".to_owned(), json!(read.rule.to_string()));
    fields.insert("rule".to_owned(), json!(rule.as_ref().map(ToString::to_string)));
    fields.insert("default_access".to_owned(), json!(default.to_string()));
    fields.insert("release".to_owned(), json!(release_name(release)));
    fields.insert("groups".to_owned(), Value::Array(groups.collect()));
    fields
}

/// The release for programs.
pub(crate) fn release_name(release: &Release) -> String {
    match release {
        Release::OfRule => "rule".to_owned(),
        Release::All | Release::Groups(_) => release.to_string(),
    }
}

pub(crate) fn rule_text(access: &ClientAccess, default: &AccessRule) -> String {
    match &access.rule {
        Some(rule) => rule.to_string(),
        None => format!("{default} (default_access)"),
    }
}

pub(crate) fn release_text(access: &ClientAccess) -> String {
    match &access.release {
        Release::OfRule => "those of its rule".to_owned(),
        release @ (Release::All | Release::Groups(_)) => release.to_string(),
    }
}

fn named(who: &Who) -> Map<String, Value> {
    let (field, name) = name(who);
    Map::from_iter([(field.to_owned(), json!(name))])
}

fn names(who: &[Who]) -> Value {
    Value::Array(who.iter().map(|who| json!(name(who).1)).collect())
}

fn name(who: &Who) -> (&'static str, String) {
    match who {
        Who::User(user) => ("user", user.to_string()),
        Who::Wallet(account) => ("wallet", account.caip10()),
    }
}

fn ended(ended: &Ended, told: &Told) -> Map<String, Value> {
    let mut fields = told_json(told);
    fields.insert("sessions_ended".to_owned(), json!(ended.sessions));
    fields.insert("grants_ended".to_owned(), json!(ended.grants));
    fields
}

fn told_json(told: &Told) -> Map<String, Value> {
    let ids = |clients: &BTreeSet<ClientId>| {
        Value::Array(clients.iter().map(|client| json!(client.to_string())).collect())
    };
    Map::from_iter([
        ("clients_told".to_owned(), ids(&told.told)),
        ("clients_not_told".to_owned(), ids(&told.not_told)),
    ])
}

fn ended_text(ended: &Ended, told: &Told) -> String {
    let (sessions, grants) = (count(ended.sessions, "session"), count(ended.grants, "grant"));
    format!("{sessions} and {grants} ended{}", told_text(told))
}

fn told_text(told: &Told) -> String {
    let number = |clients: usize| count(u64::try_from(clients).unwrap_or(u64::MAX), "client");
    match (told.told.len(), told.not_told.len()) {
        (0, 0) => String::new(),
        (some, 0) => format!(", {} told", number(some)),
        (some, others) => format!(", {} told, {} not told", number(some), number(others)),
    }
}

/// Writes names and their values, one line for each value.
fn pairs(rows: &[(&str, Vec<String>)], out: &mut dyn Write) -> io::Result<()> {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, values) in rows {
        let mut name = *name;
        if values.is_empty() {
            writeln!(out, "{name:width$}  {NOTHING}")?;
        }
        for value in values {
            writeln!(out, "{name:width$}  {}", visible(value).replace('\n', "\\n"))?;
            name = "";
        }
    }
    Ok(())
}

fn write_json(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", visible(&format!("{value:#}")))
}

#[cfg(test)]
mod tests;
