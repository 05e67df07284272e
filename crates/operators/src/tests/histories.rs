//! F-22 and the second sentence: nothing changes without its event, and no event reports something that did not happen.
//!
//! Random histories of operators, clients, people and programs that repeat their requests. After each act, what
//! differs in the whole store is compared with the events since: each difference is explained by one of them, and each
//! of them explains a difference. The clock goes forward in steps of all sizes, and some acts come two at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use countersign_conformance::memory::MemoryStorage;
use countersign_conformance::memory::differences::{Changed, Difference};
use countersign_domain::act::OfflineAccess;
use countersign_domain::admin_key::{AdminKeyName, AdminScopes};
use countersign_domain::admission::{AccessRule, Release};
use countersign_domain::client::ClientOrigin;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::declaration::DeclaredThing;
use countersign_domain::desk::operators::{DeskPolicy, Quorum};
use countersign_domain::event::{Event, EventKind, EventPerson};
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_domain::id::{AdminKeyId, ClientId, EventId, UserId};
use countersign_domain::invitation::InvitationLimits;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::person_name::PersonName;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::repeat_key::RepeatKey;
use countersign_domain::resource::{OpenTo, Resource};
use countersign_domain::secret::Secret;
use countersign_domain::subject::Subject;
use countersign_ports::InvitationStore as _;
use countersign_ports::{EventStore, WalletStore};
use countersign_usecases::TokenAnswer;
use countersign_usecases::account::end_sessions::{WhichSessions, end_sessions};
use countersign_usecases::account::revoke_consent::revoke_consent;
use countersign_usecases::clients::change_client::change_client;
use countersign_usecases::clients::declare_resource::{create_resource, delete_resource, update_resource};
use countersign_usecases::clients::delete_client::remove_client;
use countersign_usecases::clients::open_resource::{close_resources, open_resources};
use countersign_usecases::clients::register_client::{Given, register_client, register_declared};
use countersign_usecases::clients::rotate_client_secret::{replace_client_secret, rotate_client_secret};
use countersign_usecases::clients::update_client::update_client;
use countersign_usecases::context::blocks::IfBlocked;
use countersign_usecases::sign_in::begin_authorization::{Begun, begin_authorization};
use countersign_usecases::sign_in::complete_login::LoginWishes;
use countersign_usecases::steps::login::Browser;
use serde_json::Value;
use time::Duration;

use super::world::{PERSON, REDIRECT_URI, TestClient, World, as_person, code_of, request, toy};
use crate::admin_keys::begin_repeatable::begin_repeatable;
use crate::admin_keys::create_admin_key::create_admin_key;
use crate::admin_keys::revoke_admin_key::revoke_admin_key;
use crate::people::add_members::add_members;
use crate::people::block::block;
use crate::people::change_access::change_access;
use crate::people::delete_user::delete_user;
use crate::people::groups::create_group;
use crate::people::groups::delete_group;
use crate::people::groups::retitle_group;
use crate::people::invitations::{NewInvitation, create_invitation, revoke_invitation};
use crate::people::names::name_subject;
use crate::people::remove_members::remove_members;
use crate::people::sign_out_user::sign_out_user;
use crate::people::suspend::{restore, suspend};
use crate::people::unblock::unblock;

/// Numbers that look random, and are the same for each seed (xorshift64*).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let rolled = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(rolled).unwrap() % sides
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { items.get(self.roll(items.len())) }
    }
}

/// What an act is about, rolled beforehand, so that two acts can run at once.
#[derive(Clone, Debug)]
struct Act {
    name: &'static str,
    client: Option<TestClient>,
    token: Option<TokenAnswer>,
    code: Option<(TestClient, Secret)>,
    user: Option<UserId>,
    wallet: &'static str,
    browser: Browser,
    group: GroupName,
    numbers: [usize; 4],
}

/// What an act leaves for later ones.
#[derive(Default)]
struct Left {
    client: Option<TestClient>,
    code: Option<(TestClient, Secret)>,
    token: Option<TokenAnswer>,
    browser: Option<Browser>,
}

const ACTS: [&str; 42] = [
    "register",
    "change",
    "change itself",
    "access",
    "open",
    "close",
    "rotate",
    "replace secret",
    "delete client",
    "create group",
    "retitle group",
    "delete group",
    "add member",
    "add member",
    "remove member",
    "invite",
    "revoke invitation",
    "come in",
    "block",
    "block",
    "block anew",
    "unblock",
    "suspend",
    "restore",
    "name",
    "sign out user",
    "delete user",
    "create resource",
    "update resource",
    "delete resource",
    "create key",
    "revoke key",
    "once client",
    "once group",
    "once resource",
    "sign in",
    "sign in",
    "remember",
    "exchange",
    "refresh",
    "revoke",
    "revoke consent",
];
const WALLETS: [&str; 4] = ["toy-ann", "toy-bob", "toy-cy", "toy-dee"];
const GROUPS: [&str; 3] = ["staff", "guests", "staff2"];
const URIS: [&str; 2] = ["https://one.example", "https://two.example"];
const KEYS: [&str; 2] = ["CI", "backup"];
const OPEN: [&str; 3] = ["https://a.example", "https://b.example", "https://named.example"];

struct History {
    world: World,
    storage: Arc<MemoryStorage>,
    dice: Dice,
    clients: Vec<TestClient>,
    codes: Vec<(TestClient, Secret)>,
    tokens: Vec<TokenAnswer>,
    browsers: Vec<Browser>,
    key: AdminKeyId,
    seen: BTreeSet<EventId>,
    /// How many acts of each name changed something, and how many changed nothing.
    counted: BTreeMap<&'static str, (u32, u32)>,
}

fn metadata(numbers: [usize; 4]) -> RequestedMetadata {
    let [name, uris, scopes, _] = numbers;
    let other = "https://photos.example/other".to_owned();
    RequestedMetadata {
        client_name: Some(["Photos", "Albums"][name % 2].to_owned()),
        redirect_uris: Some(
            [vec![REDIRECT_URI.to_owned()], vec![REDIRECT_URI.to_owned(), other]][uris % 2].clone(),
        ),
        scopes: Some(vec!["profile".to_owned(), ["email", "openid"][scopes % 2].to_owned()]),
        ..RequestedMetadata::default()
    }
}

impl History {
    async fn new(seed: u64) -> Self {
        let storage = Arc::new(MemoryStorage::default());
        let mut world = World::on(Arc::<MemoryStorage>::clone(&storage));
        let admins = WALLETS.map(toy).to_vec();
        world.context.policy.desk = Some(DeskPolicy { admins, group: None, quorum: Quorum::One });
        let scopes = AdminScopes::from_stored("clients:write").unwrap();
        let name = AdminKeyName::parse("program").unwrap();
        let key = create_admin_key(world.context.management(), name, scopes, None).await.unwrap().key.id;
        let mut history = Self {
            world,
            storage,
            dice: Dice(seed),
            clients: Vec::new(),
            codes: Vec::new(),
            tokens: Vec::new(),
            browsers: Vec::new(),
            key,
            seen: BTreeSet::new(),
            counted: BTreeMap::new(),
        };
        history.news().await;
        history
    }

    async fn roll(&mut self) -> Act {
        let dice = &mut self.dice;
        let wallet = *dice.pick(&WALLETS).unwrap();
        let owner = *dice.pick(&WALLETS).unwrap();
        let browser = dice.pick(&self.browsers).cloned().unwrap_or_default();
        Act {
            name: dice.pick(&ACTS).unwrap(),
            client: dice.pick(&self.clients).cloned(),
            token: dice.pick(&self.tokens).cloned(),
            code: dice.pick(&self.codes).cloned(),
            group: GroupName::parse(dice.pick(&GROUPS).unwrap()).unwrap(),
            numbers: std::array::from_fn(|_| dice.roll(1_000)),
            user: self.storage.find_owner(toy(owner)).await.unwrap(),
            wallet,
            browser,
        }
    }

    /// Carries out an act. Refusals are as good as anything else: they must leave no event.
    async fn act(&self, act: &Act) -> Left {
        let world = &self.world;
        let management = world.context.management();
        let mut left = Left::default();
        let [one, two, three, _] = act.numbers;
        let id = act.client.as_ref().and_then(|client| ClientId::named(&client.id));
        let who = match act.user {
            Some(user) if one % 2 == 0 => Subject::User(user),
            Some(_) | None => Subject::Wallet(toy(act.wallet)),
        };
        let reason = [None, Some("spam".to_owned()), Some("fraud".to_owned())][two % 3].clone();
        let title = [None, GroupTitle::parse("Staff").ok(), GroupTitle::parse("All").ok()][two % 3].clone();
        let uri = URIS[one % 2];
        let now = world.context.clock.now().replace_nanosecond(0).unwrap();
        let open_to = [OpenTo::Everyone, OpenTo::Named][two % 2];
        let resource =
            Resource { uri: uri.to_owned(), name: None, open_to, scopes: Vec::new(), created_at: now };
        let open = [OPEN[one % 3].to_owned()];
        match act.name {
            "register" => {
                let origin = [ClientOrigin::Operator, ClientOrigin::SelfRegistered][three % 2];
                let registered = register_client(management, metadata(act.numbers), origin).await.unwrap();
                left.client = Some(TestClient {
                    id: registered.client.id.to_string(),
                    secret: registered.secret,
                    registration_token: registered.registration_token,
                });
            }
            "change" | "access" => {
                let found = match id {
                    Some(id) => world.context.clients.find_fresh(id).await.unwrap(),
                    None => None,
                };
                let Some(found) = found else { return left };
                if act.name == "change" {
                    let _ = change_client(management, found, metadata(act.numbers)).await;
                } else {
                    let rule = [None, Some("everyone"), Some("nobody"), Some("groups:staff")][one % 4];
                    let rule = rule.map(|rule| AccessRule::parse(rule).unwrap());
                    let release = [None, Some(Release::All), Some(Release::OfRule)][two % 3].clone();
                    let _ = change_access(management, found, rule, release).await;
                }
            }
            "change itself" => {
                let Some(client) = &act.client else { return left };
                let (token, requested) = (&client.registration_token, metadata(act.numbers));
                let _ = update_client(&world.context, &PERSON, &client.id, token, None, requested).await;
            }
            "open" => {
                let Some(id) = id else { return left };
                let _ = open_resources(management, id, &open).await;
            }
            "close" => {
                let Some(id) = id else { return left };
                let _ = close_resources(management, id, &open).await;
            }
            "rotate" => {
                let Some(id) = id else { return left };
                let keep = KeepOld::seconds([0, 3_600][one % 2]).unwrap();
                let _ = rotate_client_secret(management, id, keep).await;
            }
            "replace secret" => {
                let Some(id) = id else { return left };
                let secret = Secret::new(["0123456789abcdef0", "0123456789abcdef1"][one % 2]);
                let keep = KeepOld::seconds([0, 3_600][two % 2]).unwrap();
                let _ = replace_client_secret(management, id, secret, keep).await;
            }
            "delete client" => {
                let Some(id) = id else { return left };
                remove_client(management, id).await.unwrap();
            }
            "create group" => drop(create_group(management, act.group.clone(), title, &[]).await),
            "retitle group" => drop(retitle_group(management, &act.group, title, None).await),
            "delete group" => drop(delete_group(management, &act.group, true, None).await),
            "add member" => drop(add_members(management, &act.group, vec![who]).await),
            "remove member" => drop(remove_members(management, &act.group, vec![who]).await),
            "invite" => {
                let limits = InvitationLimits { uses: 1 + u32::try_from(two % 2).unwrap(), lives: 86_400 };
                let name = PersonName::parse("Cy").ok().filter(|_| limits.uses == 1 && three % 2 == 0);
                let new =
                    NewInvitation { group: act.group.clone(), limits, name, inviter: None, client: None };
                let _ = create_invitation(management, new).await;
            }
            "revoke invitation" | "come in" => {
                let all = self.storage.list_invitations(Some(&act.group), None, 3).await.unwrap();
                let Some(invitation) = all.get(one % 3) else { return left };
                if act.name == "revoke invitation" {
                    let _ = revoke_invitation(management, invitation.id).await;
                    return left;
                }
                let policy = &world.context.policy;
                let now = world.context.clock.now();
                let mut pending =
                    PendingAuthorization::for_account(&policy.public_url, now, &policy.lifetimes);
                pending.invitation = Some(invitation.accepted());
                let _ = world.sign_in_with(&mut pending, act.wallet, LoginWishes::default()).await;
            }
            "block" => drop(block(management, who, reason, IfBlocked::EndAccess).await),
            "block anew" => drop(block(management, who, reason, IfBlocked::LeaveIt).await),
            "unblock" => drop(unblock(management, who).await),
            "suspend" => drop(suspend(management, who, reason).await),
            "restore" => drop(restore(management, who).await),
            "name" => {
                let name = ["Ann", "Bob"].get(one % 3).and_then(|name| PersonName::parse(name).ok());
                let _ = name_subject(management, who, name).await;
            }
            "sign out user" => {
                let Some(user) = act.user else { return left };
                let _ = sign_out_user(management, user, OfflineAccess::Ended).await;
            }
            "delete user" => {
                let Some(user) = act.user else { return left };
                let _ = delete_user(management, &world.context.keys.record, user).await;
            }
            "create resource" => drop(create_resource(management, resource).await),
            "update resource" => drop(update_resource(management, resource, true).await),
            "delete resource" => drop(delete_resource(management, uri, true).await),
            "create key" => {
                let name = AdminKeyName::parse(KEYS[one % 2]).unwrap();
                let scopes = AdminScopes::from_stored("clients:write").unwrap();
                let _ = create_admin_key(management, name, scopes, None).await;
            }
            "revoke key" => drop(revoke_admin_key(management, KEYS[one % 2]).await),
            "once client" | "once group" | "once resource" => {
                // A program has few names for its requests, so it repeats most of them.
                let name = format!("{} {}", act.name, one % 3);
                let asked = name.as_bytes();
                let key = RepeatKey::new([7; 32]);
                let Ok(begun) = begin_repeatable(management, &key, self.key, &name, asked).await else {
                    return left;
                };
                let management = begun.of(management);
                match act.name {
                    "once client" => {
                        let made =
                            register_declared(management, metadata([one % 3; 4]), Given::default()).await;
                        left.client = made.ok().map(|made| TestClient {
                            id: made.client.id.to_string(),
                            secret: made.secret,
                            registration_token: made.registration_token,
                        });
                    }
                    "once group" => {
                        let group = GroupName::parse(GROUPS[one % 3]).unwrap();
                        let _ = create_group(management, group, None, &[]).await;
                    }
                    _ => {
                        let now = management.clock.now().replace_nanosecond(0).unwrap();
                        let (uri, open_to) = (URIS[one % 3 % 2].to_owned(), OpenTo::Everyone);
                        let resource =
                            Resource { uri, name: None, open_to, scopes: Vec::new(), created_at: now };
                        let _ = create_resource(management, resource).await;
                    }
                }
            }
            "sign in" | "remember" => {
                let Some(client) = &act.client else { return left };
                let asked = request(client, &[]);
                let begun = begin_authorization(&world.context, as_person, &asked, &Browser::default()).await;
                let Ok(Begun::Ask(mut pending)) = begun else { return left };
                if act.name == "sign in" {
                    let Ok(to) = world.sign_in(&mut pending, act.wallet).await else { return left };
                    left.code = Some((client.clone(), code_of(&to)));
                } else {
                    let browser = Browser::default();
                    let wishes =
                        LoginWishes { remember: true, browser: browser.clone(), ..Default::default() };
                    let signed_in = world.sign_in_with(&mut pending, act.wallet, wishes).await;
                    let Ok(signed_in) = signed_in else { return left };
                    let login = signed_in.remembered.map(|remembered| remembered.secret);
                    left.browser = Some(Browser { login, ..browser });
                }
            }
            "exchange" => {
                let Some((client, code)) = &act.code else { return left };
                left.token = world.exchange(client, code).await.ok();
            }
            "refresh" => {
                let (Some(client), Some(token)) = (&act.client, &act.token) else { return left };
                if token.refresh_token.is_some() {
                    left.token = world.refresh(client, token).await.ok();
                }
            }
            "revoke" => {
                let (Some(client), Some(token)) = (&act.client, &act.token) else { return left };
                let refresh = token.refresh_token.as_ref().filter(|_| one % 2 == 0);
                let _ = world.revoke(client, refresh.unwrap_or(&token.access_token)).await;
            }
            "revoke consent" => {
                if two % 3 == 0 {
                    let _ = end_sessions(&world.context, &PERSON, &act.browser, WhichSessions::All).await;
                } else if let Some(id) = id {
                    let _ = revoke_consent(&world.context, &PERSON, &act.browser, id).await;
                }
            }
            other => panic!("{other} is no act"),
        }
        left
    }

    fn keep(&mut self, left: Left) {
        const MOST: usize = 6;
        fn push<T>(all: &mut Vec<T>, new: Option<T>) {
            all.extend(new);
            if all.len() > MOST {
                all.remove(0);
            }
        }
        push(&mut self.clients, left.client);
        push(&mut self.codes, left.code);
        push(&mut self.tokens, left.token);
        push(&mut self.browsers, left.browser);
    }

    async fn news(&mut self) -> Vec<Event> {
        let events = self.storage.fresh_events(u32::MAX).await.unwrap().into_iter();
        events.filter(|event| self.seen.insert(event.id)).collect()
    }

    /// One act, or two at once.
    async fn step(&mut self) {
        let first = self.roll().await;
        let second = if self.dice.roll(5) == 0 { Some(self.roll().await) } else { None };
        let before = self.storage.snapshot();
        let (one, two) = match &second {
            None => (Box::pin(self.act(&first)).await, Left::default()),
            Some(second) => tokio::join!(Box::pin(self.act(&first)), Box::pin(self.act(second))),
        };
        self.keep(one);
        self.keep(two);
        let differences = before.differences(&self.storage.snapshot());
        let news = self.news().await;
        let what = || format!("{first:#?} {second:#?}\nchanged {differences:#?}\nand told {news:#?}");
        for difference in &differences {
            let is_told = news.iter().any(|event| {
                explains(event, difference)
                    || as_made(difference).is_some_and(|made| second.is_some() && explains(event, &made))
            });
            assert!(is_told, "{difference:?} has no event: {}", what());
        }
        // Of two acts one may undo the other.
        let is_alone = second.is_none();
        for event in news.iter().filter(|_| is_alone) {
            let is_so = differences.iter().any(|difference| explains(event, difference));
            assert!(is_so, "{event:?} did not happen: {}", what());
        }
        let counted = self.counted.entry(first.name).or_default();
        if differences.is_empty() {
            counted.1 += 1
        } else {
            counted.0 += 1
        }
        let steps = [0, 0, 0, 1, 1_000, 61_000, 3_600_000, 90_000_000, 2_600_000_000];
        let millis = *self.dice.pick(&steps).unwrap();
        self.world.advance(Duration::milliseconds(millis));
    }
}

/// If two acts at once take a thing away and make it again, it looks changed.
fn as_made(difference: &Difference) -> Option<Difference> {
    let made = [
        (Changed::BlockReason, Changed::BlockMade),
        (Changed::ResourceChanged, Changed::ResourceMade),
        (Changed::GroupTitle, Changed::GroupMade),
    ];
    let (_, what) = made.into_iter().find(|(changed, _)| *changed == difference.what)?;
    Some(Difference { what, ..difference.clone() })
}

/// Does an event tell of this difference?
#[expect(clippy::wildcard_enum_match_arm, reason = "every kind of event is named, with what it explains")]
fn explains(event: &Event, difference: &Difference) -> bool {
    let Difference { what, id, user, client } = difference;
    let details: Value = serde_json::from_str(event.details.as_str()).unwrap();
    let told = |name: &str| details.get(name).and_then(Value::as_str);
    let told_user = match event.person {
        Some(EventPerson::User(user)) => Some(user),
        Some(EventPerson::Deleted(_)) | None => None,
    };
    let is_hidden = matches!(event.person, Some(EventPerson::Deleted(_)));
    let is_client = event.client.is_some() && event.client == *client;
    let is_user = told_user.is_some() && told_user == *user;
    let address = event.wallet.as_ref().map(|wallet| wallet.address.as_str());
    let blocked = || told_user.map_or(address.map(str::to_owned), |user| Some(user.to_string()));
    match event.kind {
        EventKind::SignIn => match what {
            Changed::UserMade | Changed::SessionMade => is_user,
            Changed::WalletLinked => is_user && address == Some(id),
            Changed::ConsentMade => is_user && is_client,
            // If the user is deleted at the same time, the event no longer names them.
            Changed::GrantMade => is_client && told("grant") == Some(id),
            _ => false,
        },
        EventKind::SignInContinued => *what == Changed::GrantMade && told("grant") == Some(id),
        EventKind::SignOut | EventKind::SessionEnded => {
            is_user && matches!(what, Changed::SessionGone | Changed::GrantRevoked)
        }
        EventKind::ConsentRevoked => {
            is_user && is_client && matches!(what, Changed::ConsentGone | Changed::GrantRevoked)
        }
        EventKind::WalletLinked => *what == Changed::WalletLinked && is_user && address == Some(id),
        EventKind::WalletUnlinked => *what == Changed::WalletUnlinked && is_user && address == Some(id),
        EventKind::EmailConfirmed => *what == Changed::EmailConfirmed && is_user,
        EventKind::AccountDeleted => match what {
            // The event no longer names them.
            Changed::UserGone
            | Changed::WalletUnlinked
            | Changed::SessionGone
            | Changed::ConsentGone
            | Changed::GrantRevoked
            | Changed::MemberOut
            | Changed::BlockGone
            | Changed::NameGone => user.is_some(),
            _ => false,
        },
        EventKind::GrantRevoked => match what {
            Changed::GrantRevoked => told("grant").map_or(is_user || address.is_some(), |grant| grant == id),
            Changed::SessionGone => told("grant").is_none(),
            Changed::TokenRevoked => told("access_token") == Some(id),
            _ => false,
        },
        EventKind::ClientRegistered => *what == Changed::ClientMade && is_client,
        EventKind::ClientChanged => match told("what") {
            Some("metadata") => *what == Changed::ClientMetadata && is_client,
            Some("resources") => *what == Changed::ClientResources && is_client,
            Some(_) | None => false,
        },
        EventKind::ClientDeleted => {
            is_client && matches!(what, Changed::ClientGone | Changed::GrantGone | Changed::ConsentGone)
        }
        EventKind::SecretRotated => *what == Changed::ClientSecret && is_client,
        EventKind::AccessChanged => *what == Changed::ClientAccess && is_client,
        EventKind::UserBlocked | EventKind::WalletBlocked => {
            let kind =
                if told("changed") == Some("reason") { Changed::BlockReason } else { Changed::BlockMade };
            *what == kind && (is_hidden || blocked().as_ref() == Some(id))
        }
        EventKind::UserUnblocked | EventKind::WalletUnblocked => {
            *what == Changed::BlockGone && (is_hidden || blocked().as_ref() == Some(id))
        }
        // It is about everything that hangs together with the user or the wallet.
        EventKind::OperatorSuspended => *what == Changed::SuspensionMade,
        EventKind::OperatorRestored => *what == Changed::SuspensionGone,
        EventKind::UserNamed | EventKind::WalletNamed => {
            let is_name = matches!(what, Changed::NameGiven | Changed::NameGone);
            is_name && (is_hidden || blocked().as_ref() == Some(id))
        }
        EventKind::UserSignedOut => is_user && matches!(what, Changed::SessionGone | Changed::GrantRevoked),
        EventKind::GroupCreated => *what == Changed::GroupMade && told("group") == Some(id),
        EventKind::GroupChanged => *what == Changed::GroupTitle && told("group") == Some(id),
        EventKind::GroupDeleted => match what {
            Changed::GroupGone => told("group") == Some(id),
            Changed::MemberOut => told("group") == id.split(' ').next(),
            Changed::InvitationGone => told("group") == Some(id),
            _ => false,
        },
        EventKind::GroupMemberAdded | EventKind::GroupMemberRemoved => {
            let is_added = event.kind == EventKind::GroupMemberAdded;
            let group = GroupName::parse(told("group").unwrap()).unwrap();
            let thing = match (told_user, &event.wallet) {
                (Some(user), _) => DeclaredThing::user_in(&group, user),
                (None, Some(wallet)) => DeclaredThing::wallet_in(&group, wallet),
                // If the account is deleted at the same time, the event no longer names its wallet.
                (None, None) => return is_hidden && matches!(what, Changed::MemberIn | Changed::MemberOut),
            };
            *what == if is_added { Changed::MemberIn } else { Changed::MemberOut } && thing.key == *id
        }
        EventKind::InvitationCreated => *what == Changed::InvitationMade && told("invitation") == Some(id),
        EventKind::InvitationRevoked => *what == Changed::InvitationRevoked && told("invitation") == Some(id),
        EventKind::InvitationUsed => match what {
            Changed::InvitationUsed => told("invitation") == Some(id),
            Changed::MemberIn => told("group") == id.split(' ').next(),
            // The person who comes in by it gets its name.
            Changed::NameGiven => is_hidden || blocked().as_ref() == Some(id),
            _ => false,
        },
        EventKind::ResourceCreated => *what == Changed::ResourceMade && told("resource") == Some(id),
        EventKind::ResourceChanged => *what == Changed::ResourceChanged && told("resource") == Some(id),
        EventKind::ResourceDeleted => *what == Changed::ResourceGone && told("resource") == Some(id),
        EventKind::AdminKeyCreated => *what == Changed::AdminKeyMade && told("key") == Some(id),
        EventKind::AdminKeyRevoked => *what == Changed::AdminKeyRevoked && told("key") == Some(id),
        EventKind::ChangeProposed => *what == Changed::ProposalMade && told("proposal") == Some(id),
        EventKind::ChangeWithdrawn => *what == Changed::ProposalEnded && told("proposal") == Some(id),
        EventKind::KeyAnnounced => *what == Changed::KeyMade && told("key") == Some(id),
        EventKind::KeyWithdrawn => *what == Changed::KeyWithdrawn && told("key") == Some(id),
        EventKind::KeyRetired => *what == Changed::KeyGone && told("key") == Some(id),
        EventKind::Restored => *what == Changed::EpochRaised,
        EventKind::KeyActivated | EventKind::Upgraded | EventKind::HostNoted | EventKind::ChangeSigned => {
            false
        }
    }
}

/// How many acts there are in one history.
const LENGTH: usize = 250;

async fn histories(part: u64) {
    let mut counted: BTreeMap<&'static str, (u32, u32)> = BTreeMap::new();
    for seed in 0..100 {
        let mut history = History::new(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(part * 1_000 + seed + 1)).await;
        for _ in 0..LENGTH {
            history.step().await;
        }
        for (name, (some, none)) in history.counted {
            let all = counted.entry(name).or_default();
            *all = (all.0 + some, all.1 + none);
        }
    }
    let (some, none) = counted.values().fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
    println!("{} acts: {some} changed something and {none} nothing; {counted:?}", some + none);
    assert!(some + none >= 25_000 && some > 5_000 && none > 2_000);
    assert!(counted.values().all(|(some, _)| *some > 20), "each act does something: {counted:?}");
}

macro_rules! parts {
    ($($name:ident: $part:literal;)*) => {
        $(#[tokio::test]
        async fn $name() {
            histories($part).await;
        })*
    };
}

parts! {
    acts_and_events_agree_in_100_000_acts_first_part: 1;
    acts_and_events_agree_in_100_000_acts_second_part: 2;
    acts_and_events_agree_in_100_000_acts_third_part: 3;
    acts_and_events_agree_in_100_000_acts_fourth_part: 4;
}
