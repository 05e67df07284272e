//! How people, wallets, groups and access are shown: text for people, JSON for scripts. The names in JSON are
//! fixed: scripts lean on them.

use std::collections::BTreeSet;
use std::io::{self, Write};

use countersign_domain::act::OfflineAccess;
use countersign_domain::admission::{AccessRule, Block, ClientAccess, Release};
use countersign_domain::client::Client;
use countersign_domain::consent::Consent;
use countersign_domain::group::{Group, GroupName, GroupTitle, Membership, Through};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::person_name::PersonName;
use countersign_domain::scope::ScopeName;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_operators::people::Ended;
use countersign_operators::people::add_members::Added;
use countersign_operators::people::block::BlockedNow;
use countersign_operators::people::change_access::AccessChanged;
use countersign_operators::people::list_operators::OperatorListed;
use countersign_operators::people::list_wallets::WalletListed;
use countersign_operators::people::names::Names;
use countersign_operators::people::read_access::AccessRead;
use countersign_operators::people::read_group::GroupRead;
use countersign_operators::people::read_person::PersonRead;
use countersign_operators::people::remove_members::Removed;
use countersign_ports::group_store::counted as members_counted;
use countersign_ports::{
    BlockPut, BlockedWallet, CountedGroup, LinkedWallet, NamePut, OperatorSuspended, PersonListed,
};
use countersign_usecases::act_refused::{GroupUse, members_in_words};
use serde_json::{Map, Value, json};

use crate::cli::Output;
use crate::output::table;
use crate::output::terminal::{count, visible, without_nulls, written};

/// What is shown where there is nothing.
const NOTHING: &str = "-";

/// Which clients were notified, of those that registered an address for it.
#[derive(Debug, Default)]
pub(crate) struct Notified {
    /// They know.
    pub(crate) notified: BTreeSet<ClientId>,
    /// They could not be notified of everything.
    pub(crate) not_notified: BTreeSet<ClientId>,
}

/// Shows a list of users.
pub(crate) fn people(
    people: &[PersonListed],
    names: &Names,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => {
            write_json(Value::Array(people.iter().map(|person| listed(person, names)).collect()), out)
        }
        Output::Table if people.is_empty() => writeln!(out, "no users"),
        Output::Table => {
            let heading =
                ["USER ID", "NAME", "CREATED", "LAST SIGN-IN", "BLOCKED", "WALLETS"].map(str::to_owned);
            let rows = people.iter().map(|person| {
                let wallets: Vec<_> = person.wallets.iter().map(|wallet| label(&wallet.account)).collect();
                [
                    person.id.to_string(),
                    name_cell(&Subject::User(person.id), names),
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
pub(crate) fn person(
    read: &PersonRead,
    names: &Names,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let person = &read.person;
    match output {
        Output::Json => {
            let mut shown = listed(&person.listed, names);
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
            write_json(shown, out)
        }
        Output::Table => {
            let listed = &person.listed;
            let mut rows = vec![
                ("id", vec![listed.id.to_string()]),
                ("name", names.text(&Subject::User(listed.id)).map(str::to_owned).into_iter().collect()),
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

/// Says what a user or a wallet is called now.
pub(crate) fn named_now(
    who: &Subject,
    name: Option<&PersonName>,
    put: NamePut,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let is_changed = put == NamePut::Stored;
    match output {
        Output::Json => {
            let mut shown = named(who);
            shown.insert("name".to_owned(), json!(name.map(PersonName::as_str)));
            shown.insert("changed".to_owned(), json!(is_changed));
            write_json(Value::Object(shown), out)
        }
        Output::Table => {
            let who = called(who, &Names::default());
            let already = if is_changed { "" } else { " already" };
            match name {
                Some(name) => writeln!(out, "{who} is called {}{already}", in_quotes(name.as_str())),
                None if is_changed => writeln!(out, "{who} has no name any more"),
                None => writeln!(out, "{who} had no name"),
            }
        }
    }
}

/// Says that a user or a wallet was blocked.
pub(crate) fn blocked(
    who: &Subject,
    names: &Names,
    blocked: &BlockedNow,
    notified: &Notified,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => {
            let mut shown = named(who);
            shown.insert("already".to_owned(), json!(blocked.put != BlockPut::Stored));
            shown.extend(ended(&blocked.ended, notified));
            write_json(Value::Object(shown), out)
        }
        Output::Table => {
            let verb = match blocked.put {
                BlockPut::Stored => "is blocked",
                BlockPut::ReasonReplaced => "was blocked already, and the reason is replaced",
                BlockPut::AlreadyThere | BlockPut::UserUnknown => "was blocked already",
            };
            writeln!(out, "{} {verb}: {}", called(who, names), ended_text(&blocked.ended, notified))
        }
    }
}

/// Says that a user or a wallet is let in again.
pub(crate) fn unblocked(
    who: &Subject,
    names: &Names,
    still: &[Subject],
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => {
            let mut shown = named(who);
            shown.insert("was_blocked".to_owned(), json!(true));
            shown.insert("still_blocked".to_owned(), ids(still));
            write_json(Value::Object(shown), out)
        }
        Output::Table => {
            writeln!(out, "{} is unblocked; what the block ended stays ended", called(who, names))
        }
    }
}

/// Says that an operator was suspended.
pub(crate) fn suspended(
    who: &Subject,
    names: &Names,
    suspended: OperatorSuspended,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (already, proposals) = match suspended {
        OperatorSuspended::Suspended { proposals } => (false, proposals),
        OperatorSuspended::AlreadySo | OperatorSuspended::UserUnknown => (true, 0),
    };
    match output {
        Output::Json => {
            let mut shown = named(who);
            shown.insert("already".to_owned(), json!(already));
            shown.insert("proposals_ended".to_owned(), json!(proposals));
            write_json(Value::Object(shown), out)
        }
        Output::Table if already => writeln!(out, "{} is suspended already", called(who, names)),
        Output::Table => {
            let ended = count(proposals, "proposal");
            writeln!(out, "{} is suspended as an operator; {ended} ended", called(who, names))
        }
    }
}

/// Says that an operator can act again.
pub(crate) fn restored(who: &Subject, names: &Names, output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => {
            let mut shown = named(who);
            shown.insert("was_suspended".to_owned(), json!(true));
            write_json(Value::Object(shown), out)
        }
        Output::Table => writeln!(out, "{} can act as an operator again", called(who, names)),
    }
}

/// Shows the operators.
pub(crate) fn operators(
    operators: &[OperatorListed],
    names: &Names,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let user = |operator: &OperatorListed| operator.owner().map(|user| user.to_string());
    match output {
        Output::Json => {
            let shown = operators.iter().map(|operator| {
                let suspended = operator.suspension.as_ref();
                json!({
                    "who": operator.who.to_string(),
                    "name": names.text(&operator.who),
                    "user": user(operator),
                    "through": operator.through.name(),
                    "suspended": suspended.map(|found| json!({"at": written(found.at), "reason": found.reason})),
                })
            });
            write_json(Value::Array(shown.collect()), out)
        }
        Output::Table if operators.is_empty() => writeln!(out, "no operators"),
        Output::Table => {
            let heading =
                ["OPERATOR", "NAME", "USER ID", "THROUGH", "SUSPENDED", "REASON"].map(str::to_owned);
            let rows = operators.iter().map(|operator| {
                let suspended = operator.suspension.as_ref();
                let reason = suspended.and_then(|found| found.reason.as_deref());
                [
                    match &operator.who {
                        Subject::User(user) => user.to_string(),
                        Subject::Wallet(account) => visible(&label(account)).into_owned(),
                    },
                    name_cell(&operator.who, names),
                    user(operator).unwrap_or_else(|| NOTHING.to_owned()),
                    operator.through.name().to_owned(),
                    suspended.map_or_else(|| NOTHING.to_owned(), |found| written(found.at)),
                    visible(reason.unwrap_or(NOTHING)).into_owned(),
                ]
            });
            table::write(&std::iter::once(heading).chain(rows).collect::<Vec<_>>(), out)
        }
    }
}

/// Says that a user was signed out.
pub(crate) fn signed_out(
    user: UserId,
    names: &Names,
    offline: OfflineAccess,
    done: &Ended,
    notified: &Notified,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let who = Subject::User(user);
    match output {
        Output::Json => {
            let mut shown = Map::from_iter([("id".to_owned(), json!(user.to_string()))]);
            shown.insert("offline_access".to_owned(), json!(offline.name()));
            shown.extend(ended(done, notified));
            write_json(Value::Object(shown), out)
        }
        Output::Table => {
            let kept = match offline {
                OfflineAccess::Ended => "",
                OfflineAccess::Kept => "; offline access is kept",
            };
            writeln!(out, "{} is signed out: {}{kept}", called(&who, names), ended_text(done, notified))
        }
    }
}

/// Says that a user was deleted.
pub(crate) fn deleted_user(
    user: UserId,
    notified: &Notified,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => {
            let mut shown = notified_json(notified);
            shown.insert("id".to_owned(), json!(user.to_string()));
            write_json(Value::Object(shown), out)
        }
        Output::Table => writeln!(out, "deleted {user}{}", notified_text(notified)),
    }
}

/// Shows a list of wallets.
pub(crate) fn wallets(
    wallets: &[WalletListed],
    names: &Names,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let who = |wallet: &WalletListed| Subject::Wallet(wallet.account.clone());
    match output {
        Output::Json => {
            let shown = wallets.iter().map(|wallet| {
                json!({
                    "wallet": wallet.account.caip10(),
                    "name": names.text(&who(wallet)),
                    "user": wallet.user.map(|user| user.to_string()),
                    "blocked": wallet.block.as_ref().map(block),
                })
            });
            write_json(Value::Array(shown.collect()), out)
        }
        Output::Table if wallets.is_empty() => writeln!(out, "no wallets"),
        Output::Table => {
            let heading = ["WALLET", "NAME", "USER ID", "BLOCKED", "REASON"].map(str::to_owned);
            let rows = wallets.iter().map(|wallet| {
                let reason = wallet.block.as_ref().and_then(|block| block.reason.as_deref());
                [
                    visible(&label(&wallet.account)).into_owned(),
                    name_cell(&who(wallet), names),
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
            Value::Array(groups.iter().map(|counted| Value::Object(counted_group(counted))).collect()),
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
pub(crate) fn created_group(counted: &CountedGroup, output: Output, out: &mut dyn Write) -> io::Result<()> {
    let CountedGroup { group, users, wallets } = counted;
    match output {
        Output::Json => write_json(Value::Object(counted_group(counted)), out),
        Output::Table if users + wallets == 0 => writeln!(out, "created {}", group.name),
        Output::Table => writeln!(out, "created {} with {}", group.name, count(users + wallets, "member")),
    }
}

/// Shows a group and some of its members.
pub(crate) fn group(read: &GroupRead, names: &Names, output: Output, out: &mut dyn Write) -> io::Result<()> {
    let group = &read.counted.group;
    match output {
        Output::Json => {
            let mut shown = counted_group(&read.counted);
            let members = read.members.iter().map(|member| {
                let wallet = match &member.member {
                    Subject::User(_) => None,
                    Subject::Wallet(account) => Some(account.caip10()),
                };
                json!({
                    "wallet": wallet,
                    "name": names.text(&member.member),
                    "user": member.user.map(|user| user.to_string()),
                    "added_at": written(member.added_at),
                })
            });
            shown.insert("members".to_owned(), Value::Array(members.collect()));
            let clients: Vec<_> = read.clients.iter().map(Client::wire_id).collect();
            shown.insert("clients".to_owned(), json!(clients));
            shown.insert("default_access".to_owned(), json!(read.is_default));
            write_json(Value::Object(shown), out)
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
                ("members", vec![members_in_words(&read.counted)]),
            ];
            pairs(&rows, out)?;
            let heading = ["MEMBER", "NAME", "SINCE", "USER ID"].map(str::to_owned);
            let rows = read.members.iter().map(|member| {
                let (name, user) = match &member.member {
                    Subject::User(user) => (format!("user {user}"), NOTHING.to_owned()),
                    Subject::Wallet(account) => {
                        let user = member.user.map(|user| user.to_string());
                        (label(account), user.unwrap_or_else(|| "no one yet".to_owned()))
                    }
                };
                let called = name_cell(&member.member, names);
                [visible(&name).into_owned(), called, written(member.added_at), user]
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
    names: &Names,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => {
            let shown = added.iter().map(|added| {
                let mut shown = member_fields(&added.who, added.user);
                shown.insert("added".to_owned(), json!(!added.already));
                Value::Object(shown)
            });
            write_json(Value::Array(shown.collect()), out)
        }
        Output::Table => added.iter().try_for_each(|added| {
            let verb = if added.already { "was in" } else { "added to" };
            let whose = owner(&added.who, added.user);
            let already = if added.already { " already" } else { "" };
            writeln!(out, "{verb} {group}{already}: {}{whose}", called(&added.who, names))
        }),
    }
}

/// Says who is no longer a member.
pub(crate) fn removed(
    group: &GroupName,
    removed: &[Removed],
    names: &Names,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => {
            let shown = removed.iter().map(|removed| {
                let mut shown = member_fields(&removed.who, removed.user);
                shown.insert("removed".to_owned(), json!(removed.was_member));
                shown.insert("still_member_as".to_owned(), ids(&removed.still));
                Value::Object(shown)
            });
            write_json(Value::Array(shown.collect()), out)
        }
        Output::Table => removed.iter().filter(|removed| removed.was_member).try_for_each(|removed| {
            let whose = owner(&removed.who, removed.user);
            writeln!(out, "removed from {group}: {}{whose}", called(&removed.who, names))
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
                "users": found.counted.users,
                "wallets": found.counted.wallets,
                "clients": clients,
                "scopes": scopes,
                "default_access": found.is_default,
            });
            write_json(shown, out)
        }
        Output::Table => writeln!(out, "deleted {name}, which had {}", members_in_words(&found.counted)),
    }
}

/// Shows who can sign in to a client.
pub(crate) fn access(
    read: &AccessRead,
    default: &AccessRule,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => write_json(Value::Object(access_fields(read, default)), out),
        Output::Table => {
            let groups = read.groups.iter().map(|(name, counted)| match counted {
                Some(counted) => format!("{name}: {}", members_in_words(counted)),
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

/// Shows what changed about who can sign in to a client.
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
            write_json(Value::Object(shown), out)
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
pub(crate) fn called(who: &Subject, names: &Names) -> String {
    let name = names.text(who).map(|name| format!(", called {},", in_quotes(name))).unwrap_or_default();
    match who {
        Subject::User(user) => format!("user {user}{name}"),
        Subject::Wallet(account) => format!("wallet {}{name}", label(account)),
    }
}

/// What operators call someone, so that nothing in it looks like the words around it.
fn in_quotes(name: &str) -> String {
    visible(&format!("{name:?}")).into_owned()
}

fn name_cell(who: &Subject, names: &Names) -> String {
    visible(names.text(who).unwrap_or(NOTHING)).into_owned()
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

fn listed(person: &PersonListed, names: &Names) -> Value {
    let wallets: Vec<_> = person.wallets.iter().map(|wallet| wallet.account.caip10()).collect();
    json!({
        "id": person.id.to_string(),
        "name": names.text(&Subject::User(person.id)),
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

fn member_fields(who: &Subject, user: Option<UserId>) -> Map<String, Value> {
    let mut fields = named(who);
    if let Subject::Wallet(_) = who {
        fields.insert("user".to_owned(), json!(user.map(|user| user.to_string())));
    }
    fields
}

/// Whose wallet it is, after its name.
fn owner(who: &Subject, user: Option<UserId>) -> String {
    match (who, user) {
        (Subject::User(_), _) => String::new(),
        (Subject::Wallet(_), Some(user)) => format!(", which belongs to user {user}"),
        (Subject::Wallet(_), None) => ", which was never used to sign in".to_owned(),
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

fn named(who: &Subject) -> Map<String, Value> {
    Map::from_iter([("who".to_owned(), json!(who.to_string()))])
}

fn ids(who: &[Subject]) -> Value {
    Value::Array(who.iter().map(|who| json!(who.to_string())).collect())
}

fn ended(ended: &Ended, notified: &Notified) -> Map<String, Value> {
    let mut fields = notified_json(notified);
    fields.insert("sessions_ended".to_owned(), json!(ended.sessions));
    fields.insert("grants_ended".to_owned(), json!(ended.grants));
    fields
}

/// The command has notified clients already, so it knows which ones it did not reach.
fn notified_json(notified: &Notified) -> Map<String, Value> {
    let ids = |clients: &mut dyn Iterator<Item = &ClientId>| {
        Value::Array(clients.map(|client| json!(client.to_string())).collect())
    };
    Map::from_iter([
        ("clients_to_tell".to_owned(), ids(&mut notified.notified.union(&notified.not_notified))),
        ("clients_not_told".to_owned(), ids(&mut notified.not_notified.iter())),
    ])
}

fn ended_text(ended: &Ended, notified: &Notified) -> String {
    let (sessions, grants) = (count(ended.sessions, "session"), count(ended.grants, "grant"));
    format!("{sessions} and {grants} ended{}", notified_text(notified))
}

fn notified_text(notified: &Notified) -> String {
    let number = |clients: usize| count(u64::try_from(clients).unwrap_or(u64::MAX), "client");
    match (notified.notified.len(), notified.not_notified.len()) {
        (0, 0) => String::new(),
        (some, 0) => format!(", {} notified", number(some)),
        (some, others) => format!(", {} notified, {} not notified", number(some), number(others)),
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

/// Writes JSON. What has no value is left out.
fn write_json(value: Value, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", visible(&format!("{:#}", without_nulls(value))))
}
