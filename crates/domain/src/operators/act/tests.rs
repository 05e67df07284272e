//! Every change is read as it is written, whatever people wrote into it, and nobody forges a line with it.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::written::WrittenChange;
use super::*;
use crate::admin_key::AdminScope;
use crate::challenge::{
    ChallengeText, MAX_CHANGE_TEXT, MAX_OWN_TEXT, Purpose, ReadText, TextKey, fits, is_ours,
};
use crate::client::DisplayMetadata;
use crate::client_field::ClientField;
use crate::desk::pending::{Fact, FactName, Seen};
use crate::public_url::PublicUrl;
use crate::resource::{ResourceName, ScopeTitle};
use crate::scope::ScopeName;
use crate::subject::Subject;

const KEY: TextKey = TextKey::new([7; 32]);

fn wallet(family: &str) -> WalletAccount {
    WalletAccount {
        family: family.to_owned(),
        chain: "eip155:1".to_owned(),
        address: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045".to_owned(),
    }
}

/// The text of a change, as the first operator or as the second signs it.
fn text(change: &Act, proposal: Option<GrantId>) -> String {
    let seen = Seen::of(&[Fact::new(FactName::Exists, "no")]);
    let written = WrittenChange { change: change.clone(), seen, proposal };
    let now = OffsetDateTime::from_unix_timestamp(1_750_846_356).unwrap();
    ChallengeText {
        public_url: &PublicUrl::parse("https://auth.example").unwrap(),
        account: &wallet("eip155"),
        account_kind: "Ethereum",
        chain_id: "1",
        signer_kind: wallet("eip155").kind(),
        purpose: Purpose::Change { words: &written.words() },
        invitation: None,
        key: &KEY,
        random: [1; 12],
        id: GrantId::from_uuid(Uuid::from_u128(5)),
        issued_at: now,
        expires_at: now + Duration::minutes(5),
    }
    .render()
}

fn group(name: &str) -> GroupName {
    GroupName::parse(name).unwrap()
}

fn user() -> NamedUser {
    NamedUser { id: UserId::from_uuid(Uuid::from_u128(1)), wallet: Some(wallet("eip155")), name: None }
}

fn ledger() -> NamedWallet {
    NamedWallet { account: wallet("eip155"), name: PersonName::parse("Ann's \"Ledger\"").ok() }
}

fn client() -> NamedClient {
    NamedClient { id: ClientId::from_uuid(Uuid::from_u128(2)), name: Some("Photo \"Album\"".to_owned()) }
}

fn invitation() -> NamedInvitation {
    NamedInvitation { id: InvitationId::from_uuid(Uuid::from_u128(4)), group: Some(group("staff")) }
}

fn metadata() -> Box<RequestedMetadata> {
    Box::new(RequestedMetadata {
        client_name: Some("Photos".to_owned()),
        redirect_uris: Some(vec!["https://photos.example/cb".to_owned()]),
        scopes: Some(vec!["profile".to_owned(), "email".to_owned()]),
        ..RequestedMetadata::default()
    })
}

fn resource() -> ResourceWords {
    let scope = ResourceScope {
        name: ScopeName::parse("photos.read").unwrap(),
        title: ScopeTitle::parse("See your photos").unwrap(),
        titles: BTreeMap::from([("de".to_owned(), ScopeTitle::parse("Deine Fotos sehen").unwrap())]),
        needs: Some(group("staff")),
    };
    let (uri, name) = ("https://api.example".to_owned(), ResourceName::parse("Photo Store").ok());
    ResourceWords { uri, name, open_to: OpenTo::Everyone, scopes: vec![scope] }
}

/// An act of each name, in the order of [`ActName::ALL`].
fn one_of_each() -> Vec<Act> {
    let key = |name| AdminKeyName::parse(name).unwrap();
    let title = |text| GroupTitle::parse(text).ok();
    vec![
        Act::Block { who: Subject::User(user()), reason: Some("don't \"spam\" é".to_owned()) },
        Act::Block { who: Subject::Wallet(wallet("eip155").into()), reason: None },
        Act::Unblock { who: Subject::User(user()) },
        Act::Unblock { who: Subject::Wallet(wallet("eip155:1").into()) },
        Act::Suspend { who: Subject::User(user()), reason: Some("last day".to_owned()) },
        Act::Restore { who: Subject::Wallet(wallet("eip155").into()) },
        Act::SignOut { user: user(), offline: None },
        Act::Name { who: Subject::User(user()), name: PersonName::parse("Ann").ok() },
        Act::Name { who: Subject::Wallet(ledger()), name: None },
        Act::DeleteUser { user: UserId::from_uuid(Uuid::from_u128(1)).into() },
        Act::CreateGroup { group: group("staff"), title: title("The staff"), members: Vec::new() },
        Act::RetitleGroup { group: group("staff"), title: None },
        Act::DeleteGroup { group: group("staff"), used_by: UsedBy::default(), needed_by: Vec::new() },
        Act::AddMembers { group: group("staff"), members: vec![Subject::User(user())] },
        Act::RemoveMembers { group: group("staff"), members: vec![Subject::Wallet(wallet("eip155").into())] },
        Act::CreateInvitation {
            group: group("staff"),
            limits: InvitationLimits::USUAL,
            name: PersonName::parse("Ann").ok(),
            inviter: Inviter::parse("The \"Millers\"").ok(),
            client: Some(client()),
        },
        Act::RevokeInvitation { invitation: invitation() },
        Act::RegisterClient {
            id: Some(client().id),
            metadata: metadata(),
            resources: Vec::new(),
            fields: Vec::new(),
            access: None,
        },
        Act::ChangeClient { client: client(), metadata: metadata(), fields: Vec::new() },
        Act::DeleteClient { client: client() },
        Act::RotateSecret { client: client(), keep_old: KeepOld::seconds(60).unwrap() },
        Act::OpenResources { client: client(), resources: vec!["https://api.example".to_owned()] },
        Act::CloseResources { client: client(), resources: vec!["https://api.example".to_owned()] },
        Act::SetAccess { client: client(), rule: Some(AccessRule::Everyone), release: Some(Release::All) },
        Act::CreateResource { resource: resource() },
        Act::UpdateResource { resource: resource(), used_by: UsedBy::default() },
        Act::DeleteResource { uri: "https://api.example".to_owned(), used_by: UsedBy::default() },
        Act::RotateKeys { at_once: true, algorithms: vec![SigningAlgorithm::Es256] },
        Act::WithdrawKey { kid: "kid-1".to_owned() },
        Act::CreateAdminKey {
            name: key("CI"),
            scopes: AdminScopes::of([AdminScope::parse("clients:write").unwrap()]),
            lives: Some(3_600),
        },
        Act::RevokeAdminKey { name: key("CI") },
        Act::WithdrawProposal { proposal: GrantId::from_uuid(Uuid::from_u128(3)) },
        Act::RefuseProposal {
            proposal: GrantId::from_uuid(Uuid::from_u128(3)),
            reason: Some("too many rights".to_owned()),
        },
    ]
}

/// They are part of what was signed, and signatures are verified years later: a released line never changes.
#[test]
fn the_words_of_each_change_are_these_for_ever() {
    let words: Vec<String> = one_of_each().iter().map(Act::statement).collect();
    let wallet = "wallet eip155:1:0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
    let (user, client) = ("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002");
    let known = format!("user {user}, who has the {wallet},");
    let photos = format!("'Photo (U+0022)Album(U+0022)' ({client})");
    let registered =
        " Its name: 'Photos'. It sends people to https://photos.example/cb. It may ask for 'profile email'.";
    let api = "https://api.example, called 'Photo Store': every client can name it. Scope photos.read: 'See your photos', for the group staff.";
    let expected = [
        format!("Keep {known} out. Reason: 'don(U+0027)t (U+0022)spam(U+0022) (U+00E9)'."),
        format!("Keep {wallet} out."),
        format!("Let {known} in again."),
        format!("Let contract {wallet} in again."),
        format!(
            "Suspend {known} as an operator. Nothing that they sign counts, and their proposals end. \
             Reason: 'last day'."
        ),
        format!("Restore {wallet} as an operator."),
        format!("Sign {known} out everywhere."),
        format!("Give {known} the name 'Ann'."),
        format!("Take the name away from {wallet} called 'Ann(U+0027)s (U+0022)Ledger(U+0022)'."),
        format!("Delete user {user} with everything that is theirs."),
        "Create the group staff with the title 'The staff'.".to_owned(),
        "Take its title away from the group staff.".to_owned(),
        "Delete the group staff. It no longer admits anyone.".to_owned(),
        format!("Put {known} into the group staff."),
        format!("Take {wallet} out of the group staff."),
        format!(
            "Invite one person into the group staff. The link is valid for 7 days. It gives them the name 'Ann'. \
             It is from 'The (U+0022)Millers(U+0022)'. It leads to the client {photos}."
        ),
        "Revoke the invitation 00000000-0000-0000-0000-000000000004 into the group staff.".to_owned(),
        format!("Register a client with the ID {client}.{registered}"),
        format!("Replace what the client {photos} registered.{registered}"),
        format!("Delete the client {photos} with all its tokens."),
        format!("Give the client {photos} a new secret. The old one works for 60 more seconds."),
        format!("Open resources to the client {photos}: https://api.example."),
        format!("Close resources to the client {photos}: https://api.example."),
        format!("Let the client {photos} admit everyone. It gets all groups of a person."),
        format!("Declare the resource {api}"),
        format!("From now on, declare the resource {api}"),
        "Delete the resource https://api.example with its scopes.".to_owned(),
        "Make new signing keys for ES256. They sign at once, and the old ones are withdrawn.".to_owned(),
        "Withdraw the signing key 'kid-1' for good. What it signed becomes invalid.".to_owned(),
        "Create the admin key CI with the scopes clients:write. It ends in 3600 seconds.".to_owned(),
        "Revoke the admin key CI.".to_owned(),
        "Take back the proposal 00000000-0000-0000-0000-000000000003.".to_owned(),
        "Refuse the proposal 00000000-0000-0000-0000-000000000003. Reason: 'too many rights'.".to_owned(),
    ];
    assert_eq!(words, expected);
}

/// A text of before offline access was named is read as it was signed, and is another change.
#[test]
fn signing_a_user_out_says_what_becomes_of_offline_access() {
    let id = UserId::from_uuid(Uuid::from_u128(1));
    for (offline, words, line) in [
        (None, "", None),
        (Some(OfflineAccess::Ended), " Offline access ends too.", Some("offline_access:ended")),
        (Some(OfflineAccess::Kept), " Offline access is kept.", Some("offline_access:kept")),
    ] {
        let change = Act::SignOut { user: id.into(), offline };
        assert_eq!(change.statement(), format!("Sign user {id} out everywhere.{words}"));
        let lines = change.lines();
        assert_eq!(
            lines.get(2).map(String::as_str),
            line.map(|line| format!("urn:countersign:with:{line}")).as_deref()
        );
        assert_eq!(Act::from_lines(lines.iter().map(String::as_str)), Ok(change));
    }
}

/// A text of before scopes were named is read as it was signed.
#[test]
fn deleting_a_group_names_the_scopes_that_need_it() {
    let scopes = ["photos.admin", "photos.read"].map(|name| ScopeName::parse(name).unwrap()).to_vec();
    let change = Act::DeleteGroup { group: group("staff"), used_by: UsedBy::default(), needed_by: scopes };
    let words = "Delete the group staff. It no longer admits anyone. \
                 No one gets the scopes that need it: photos.admin, photos.read.";
    assert_eq!(change.statement(), words);
    let lines = change.lines();
    assert_eq!(
        lines[2..],
        ["photos.admin", "photos.read"].map(|name| format!("urn:countersign:with:needed-by:{name}"))
    );
    assert_eq!(Act::from_lines(lines.iter().map(String::as_str)), Ok(change));
}

#[test]
fn the_lines_of_a_change_are_these_for_ever() {
    let lines = one_of_each().remove(0).lines();
    assert_eq!(
        lines,
        [
            "urn:countersign:change:user-block",
            "urn:countersign:with:user:00000000-0000-0000-0000-000000000001",
            "urn:countersign:with:known-by:wallet:eip155:1:0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
            "urn:countersign:with:reason:don%27t%20%22spam%22%20%C3%A9",
        ]
    );
}

#[test]
fn each_change_has_a_name_of_its_own_and_is_read_back_from_its_text() {
    let names: Vec<_> = one_of_each().iter().map(Act::name).collect();
    assert_eq!(names, ActName::ALL);
    assert_eq!(BTreeSet::from_iter(names.iter().map(|name| name.word())).len(), ActName::ALL.len());
    let proposal = GrantId::from_uuid(Uuid::from_u128(9));
    for change in one_of_each() {
        for proposal in [None, Some(proposal)] {
            let text = text(&change, proposal);
            let read = WrittenChange::of(&ReadText::read(&text).unwrap()).unwrap();
            assert_eq!((read.change, read.proposal), (change.clone(), proposal), "{text}");
            assert!(is_ours(&KEY, &text));
        }
    }
}

/// What the lines say is what the words say: nobody reads one change and signs another.
#[test]
fn a_text_whose_words_and_lines_differ_is_that_of_no_change() {
    for one in one_of_each() {
        for other in one_of_each().iter().filter(|other| other.statement() != one.statement()) {
            let forged = text(&one, None).replace(&one.statement(), &other.statement());
            assert!(WrittenChange::of(&ReadText::read(&forged).unwrap()).is_err(), "{forged}");
        }
        let more = format!("{}\nA line of somebody's", text(&one, None));
        assert!(WrittenChange::of(&ReadText::read(&more).unwrap()).is_err());
        let more = format!("{}\n- urn:countersign:with:reason:x", text(&one, None));
        assert!(WrittenChange::of(&ReadText::read(&more).unwrap()).is_err());
    }
}

#[test]
fn with_one_missing_doubled_or_moved_line_it_is_no_change_or_another_one() {
    for change in one_of_each() {
        let lines = change.lines();
        let read = |lines: &[String]| Act::from_lines(lines.iter().map(String::as_str));
        for place in 0..lines.len() {
            let mut missing = lines.clone();
            missing.remove(place);
            assert_ne!(read(&missing), Ok(change.clone()));
            let mut doubled = lines.clone();
            doubled.insert(place, lines[place].clone());
            assert_ne!(read(&doubled), Ok(change.clone()));
            if place > 0 {
                let mut moved = lines.clone();
                moved.swap(place - 1, place);
                assert_ne!(read(&moved), Ok(change.clone()));
            }
        }
    }
}

#[test]
fn two_must_sign_what_decides_who_operators_are_and_what_cannot_be_undone() {
    let policy = DeskPolicy { admins: Vec::new(), group: Some(group("staff")), quorum: Quorum::Two };
    let weigh = |is_about_operator| Weight { default_access: &AccessRule::Everyone, is_about_operator };
    let two = |policy: &DeskPolicy, is_about_operator| -> Vec<&str> {
        let changes = one_of_each();
        let dangerous = changes.iter().filter(|change| change.needs_second(policy, weigh(is_about_operator)));
        dangerous.map(|act| act.name().word()).collect()
    };
    let always = [
        "user-delete",
        "client-delete",
        "client-access",
        "keys-rotate",
        "key-withdraw",
        "admin-key-create",
        "admin-key-revoke",
        "operator-restore",
    ];
    let of_group = ["group-create", "group-delete", "member-add", "member-remove", "invitation-create"];
    let of_operators = ["user-block", "wallet-block", "user-unblock", "wallet-unblock"];
    let sorted = |parts: &[&[&'static str]]| {
        let mut names: Vec<_> = parts.concat();
        names.sort_by_key(|name| ActName::parse(name));
        names
    };
    assert_eq!(two(&policy, false), sorted(&[&always, &of_group]));
    assert_eq!(two(&policy, true), sorted(&[&always, &of_group, &of_operators]));
    let elsewhere = DeskPolicy { group: Some(group("ops")), ..policy.clone() };
    assert_eq!(two(&elsewhere, false), sorted(&[&always]));
    let alone = DeskPolicy { quorum: Quorum::One, ..policy.clone() };
    assert!(two(&alone, true).is_empty());

    // The default counts, not the word for it.
    let follows = Act::SetAccess { client: client(), rule: None, release: None };
    let needs = |default: &AccessRule| {
        let weight = Weight { default_access: default, is_about_operator: false };
        follows.needs_second(&policy, weight)
    };
    assert!(needs(&AccessRule::Everyone) && !needs(&AccessRule::Nobody));

    // A new client lets in more people than the setting only if two sign it.
    let registers = |rule: Option<AccessRule>, default: &AccessRule| {
        let access = Some(ClientAccess { rule, release: Release::OfRule });
        let (metadata, resources, fields) = (metadata(), Vec::new(), Vec::new());
        let act = Act::RegisterClient { id: None, metadata, resources, fields, access };
        act.needs_second(&policy, Weight { default_access: default, is_about_operator: false })
    };
    assert!(registers(Some(AccessRule::Everyone), &AccessRule::Nobody));
    assert!(!registers(Some(AccessRule::Everyone), &AccessRule::Everyone));
    assert!(!registers(Some(AccessRule::Nobody), &AccessRule::Nobody));
    assert!(!registers(None, &AccessRule::Everyone));
}

#[test]
fn a_text_names_each_of_its_members_and_says_who_can_sign_in() {
    let members = vec![Subject::User(user()), Subject::Wallet(wallet("eip155").into())];
    let named = "the user with the wallet eip155:1:0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045, the wallet eip155:1:0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
    let said = |act: Act| act.statement();
    let (group, title) = (group("staff"), None);
    let add = |members| Act::AddMembers { group: group.clone(), members };
    let remove = |members| Act::RemoveMembers { group: group.clone(), members };
    let create = |members| Act::CreateGroup { group: group.clone(), title: title.clone(), members };
    assert_eq!(said(add(members.clone())), format!("Put these 2 into the group staff: {named}."));
    assert_eq!(said(remove(members.clone())), format!("Take these 2 out of the group staff: {named}."));
    assert_eq!(said(create(members.clone())), format!("Create the group staff. Its 2 members are {named}."));
    assert_eq!(
        said(create(members[1..].to_vec())),
        "Create the group staff. Its member is the wallet eip155:1:0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045."
    );
    assert!(add(members.clone()).is_about_several() && !add(members[1..].to_vec()).is_about_several());
    assert!(create(members[1..].to_vec()).is_about_several() && !create(Vec::new()).is_about_several());

    let access = |rule| Some(ClientAccess { rule, release: Release::All });
    let registers = |access| {
        let (metadata, resources, fields) = (metadata(), Vec::new(), Vec::new());
        said(Act::RegisterClient { id: None, metadata, resources, fields, access })
    };
    let (silent, all) = (registers(None), "It gets all groups of a person.");
    let staff = AccessRule::parse("groups:staff").ok();
    assert_eq!(registers(access(staff)), format!("{silent} It admits groups:staff. {all}"));
    let setting = "whomever the setting default_access lets in";
    assert_eq!(registers(access(None)), format!("{silent} It admits {setting}. {all}"));
}

#[test]
fn a_change_may_be_longer_than_other_texts_and_not_longer_than_4000_bytes() {
    let url = PublicUrl::parse("https://auth.example").unwrap();
    let of_length = |length: usize| {
        let metadata = RequestedMetadata {
            client_name: Some("a".to_owned()),
            display: DisplayMetadata { jwks: Some("a".repeat(length)), ..DisplayMetadata::default() },
            ..RequestedMetadata::default()
        };
        Act::RegisterClient {
            id: None,
            metadata: Box::new(metadata),
            resources: Vec::new(),
            fields: Vec::new(),
            access: None,
        }
    };
    let mut longest = 0;
    for length in 0..4_000 {
        let change = of_length(length);
        let written = WrittenChange { change: change.clone(), seen: Seen::of(&[]), proposal: None };
        if fits(&url, Purpose::Change { words: &written.words() }) {
            longest = text(&change, None).len();
            assert!(longest <= MAX_CHANGE_TEXT);
        }
    }
    assert!(longest > 2 * MAX_OWN_TEXT, "{longest}");
}

/// What people could write to be read as something else.
fn hostile() -> BoxedStrategy<String> {
    prop_oneof![
        "(?s).{1,40}",
        "[\n\r\"\\\\%:/, é\u{202e}]{1,20}",
        Just("\n- urn:countersign:change:user-delete".to_owned()),
        Just("x\n- urn:countersign:with:user:00000000-0000-0000-0000-000000000001".to_owned()),
        Just("urn:countersign:seen:00000000000000000000000000000000".to_owned()),
        Just("\". This costs nothing and cannot move funds.\n\nURI: https://evil.example".to_owned()),
        Just("%0A- urn%3Acountersign%3Achange%3Auser-delete".to_owned()),
        Just("\nNonce: 000000000000000000000000".to_owned()),
        Just("urn:countersign:proposal:00000000-0000-0000-0000-000000000001".to_owned()),
    ]
    .boxed()
}

/// The same, as far as a person can read it.
fn readable() -> BoxedStrategy<String> {
    prop_oneof![
        "[!-~é写][ -~é写]{0,40}[!-~é写]",
        Just("urn:countersign:with:reason:x".to_owned()),
        Just("\". Delete user 1.".to_owned()),
        Just("\\\" \\".to_owned()),
    ]
    .boxed()
}

fn any_wallet() -> BoxedStrategy<WalletAccount> {
    let named = |family: &str, chain: &str| {
        let (family, chain) = (family.to_owned(), chain.to_owned());
        "[0-9a-zA-Z]{1,60}".prop_map(move |address| WalletAccount {
            family: family.clone(),
            chain: chain.clone(),
            address,
        })
    };
    prop_oneof![
        named("eip155", "eip155:1"),
        named("eip155:10", "eip155:10"),
        named("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"),
    ]
    .boxed()
}

fn any_whom() -> BoxedStrategy<NamedSubject> {
    prop_oneof![any_user().prop_map(Subject::User), any_named_wallet().prop_map(Subject::Wallet)].boxed()
}

fn any_user() -> BoxedStrategy<NamedUser> {
    (any::<u128>(), prop::option::of(any_wallet()), any_name())
        .prop_map(|(id, wallet, name)| NamedUser { id: UserId::from_uuid(Uuid::from_u128(id)), wallet, name })
        .boxed()
}

fn any_named_wallet() -> BoxedStrategy<NamedWallet> {
    (any_wallet(), any_name()).prop_map(|(account, name)| NamedWallet { account, name }).boxed()
}

/// A name of a person, as far as what someone typed can be one.
fn any_name() -> BoxedStrategy<Option<PersonName>> {
    prop_oneof![Just(None), hostile().prop_map(|text| PersonName::parse(&text).ok())].boxed()
}

fn any_client() -> BoxedStrategy<NamedClient> {
    (any::<u128>(), prop::option::of(hostile()))
        .prop_map(|(id, name)| NamedClient { id: ClientId::from_uuid(Uuid::from_u128(id)), name })
        .boxed()
}

fn any_group() -> BoxedStrategy<GroupName> {
    "[a-z][a-z0-9_.:-]{0,20}".prop_map(|name| group(&name)).boxed()
}

fn any_use() -> BoxedStrategy<UsedBy> {
    let some = (1..9_u64, prop::collection::vec(hostile(), 0..4));
    let some = some.prop_map(|(clients, names)| UsedBy { clients, names });
    prop_oneof![Just(UsedBy::default()), some].boxed()
}

/// Whoever signs knows whom the change takes something from.
#[test]
fn the_words_say_by_whom_something_is_used() {
    let used_by = |clients, names: &[&str]| UsedBy {
        clients,
        names: names.iter().map(|name| (*name).to_owned()).collect(),
    };
    let uri = "https://api.example".to_owned();
    let changes = [
        Act::DeleteGroup { group: group("staff"), used_by: used_by(1, &["Wiki"]), needed_by: Vec::new() },
        Act::DeleteResource { uri, used_by: used_by(5, &["Wiki", "don't", "é"]) },
        Act::UpdateResource { resource: resource(), used_by: used_by(2, &["Wiki", "Mail"]) },
    ];
    let words = changes.map(|change| change.statement());
    assert_eq!(
        words[0],
        "Delete the group staff. It no longer admits anyone. It is used by 1 client: 'Wiki'."
    );
    let deleted =
        "Delete the resource https://api.example with its scopes. It is used by 5 clients: 'Wiki', ";
    assert!(words[1].starts_with(deleted) && words[1].ends_with(" and others."), "{}", words[1]);
    assert!(words[2].ends_with(" What it loses is used by 2 clients: 'Wiki', 'Mail'."), "{}", words[2]);
}

fn any_title() -> BoxedStrategy<Option<GroupTitle>> {
    prop::option::of(readable().prop_filter_map("a title", |text| GroupTitle::parse(&text).ok())).boxed()
}

fn list() -> BoxedStrategy<Option<Vec<String>>> {
    prop::option::of(prop::collection::vec(hostile(), 0..4)).boxed()
}

fn any_fields() -> impl Strategy<Value = Vec<FieldChange>> {
    let values = || prop::collection::vec(hostile(), 0..3);
    let field = (prop::sample::select(ClientField::in_words()), values(), values());
    let field = field.prop_map(|(field, gone, new)| FieldChange { field, gone, new });
    prop::collection::vec(field, 0..4)
}

fn any_metadata() -> BoxedStrategy<Box<RequestedMetadata>> {
    let word = || prop::option::of(hostile());
    let display = (word(), word(), word(), word(), word(), word(), prop::collection::vec(hostile(), 0..3));
    let lists = (list(), list(), list(), list());
    (
        word(),
        lists,
        word(),
        word(),
        word(),
        any::<(Option<bool>, Option<bool>)>(),
        any::<Option<u32>>(),
        display,
    )
        .prop_map(|(client_name, lists, scope, method, subject_type, flags, lifetime, display)| {
            let (pushed, bound) = flags;
            let (redirect_uris, scopes, response_types, grant_types) = lists;
            let (client_uri, jwks, jwks_uri, logo_uri, tos_uri, policy_uri, contacts) = display;
            Box::new(RequestedMetadata {
                client_name,
                redirect_uris,
                scopes,
                scope,
                response_types,
                grant_types,
                token_endpoint_auth_method: method,
                backchannel_logout_uri: jwks_uri.clone(),
                require_pushed_authorization_requests: pushed,
                dpop_bound_access_tokens: bound,
                display: DisplayMetadata {
                    client_uri,
                    logo_uri,
                    tos_uri,
                    policy_uri,
                    post_logout_redirect_uris: contacts.clone(),
                    contacts,
                    jwks,
                    jwks_uri,
                    application_type: Some("web".to_owned()),
                    id_token_signed_response_alg: None,
                    token_endpoint_auth_signing_alg: None,
                    sector_identifier_uri: subject_type.clone(),
                    subject_type,
                    access_token_ttl: lifetime,
                    refresh_token_ttl: lifetime,
                    refresh_token_idle_ttl: None,
                },
            })
        })
        .boxed()
}

fn any_resource() -> BoxedStrategy<ResourceWords> {
    let title = || readable().prop_filter_map("a title", |text| ScopeTitle::parse(&text).ok());
    let titles = prop::collection::btree_map("[a-z]{2}", title(), 0..3);
    let scope = ("api[a-z0-9._:/-]{1,12}", title(), titles, prop::option::of(any_group()));
    let scope = scope.prop_filter_map("a scope", |(name, title, titles, needs)| {
        ScopeName::parse(&name).ok().map(|name| ResourceScope { name, title, titles, needs })
    });
    let name = prop::option::of(readable().prop_filter_map("a name", |text| ResourceName::parse(&text).ok()));
    (hostile(), name, any::<bool>(), prop::collection::vec(scope, 0..4))
        .prop_map(|(uri, name, everyone, scopes)| {
            let open_to = if everyone { OpenTo::Everyone } else { OpenTo::Named };
            ResourceWords { uri, name, open_to, scopes }
        })
        .boxed()
}

fn any_access() -> BoxedStrategy<(Option<AccessRule>, Option<Release>)> {
    let groups = || {
        prop::collection::btree_set("[a-z]{1,8}", 1..4)
            .prop_map(|names| names.iter().map(|name| group(name)).collect::<Vec<_>>())
    };
    let rule = prop_oneof![
        Just(None),
        Just(Some(AccessRule::Everyone)),
        Just(Some(AccessRule::Nobody)),
        groups().prop_map(|groups| Some(AccessRule::Groups(groups))),
    ];
    let release = prop_oneof![
        Just(None),
        Just(Some(Release::OfRule)),
        Just(Some(Release::All)),
        // Groups whose names are the other words.
        Just(Some(Release::Groups(vec![group("rule")]))),
        Just(Some(Release::Groups(vec![group("all"), group("rule")]))),
        groups().prop_map(|groups| Some(Release::Groups(groups))),
    ];
    (rule, release).boxed()
}

fn any_members(least: usize) -> BoxedStrategy<Vec<NamedSubject>> {
    prop::collection::vec(any_whom(), least..4).boxed()
}

fn any_change() -> BoxedStrategy<Act> {
    let uris = || prop::collection::vec(hostile(), 0..4);
    let of_people = prop_oneof![
        (any_whom(), prop::option::of(hostile())).prop_map(|(who, reason)| Act::Block { who, reason }),
        any_whom().prop_map(|who| Act::Unblock { who }),
        (any_whom(), prop::option::of(hostile())).prop_map(|(who, reason)| Act::Suspend { who, reason }),
        any_whom().prop_map(|who| Act::Restore { who }),
        (
            any_user(),
            prop_oneof![Just(None), Just(Some(OfflineAccess::Ended)), Just(Some(OfflineAccess::Kept))]
        )
            .prop_map(|(user, offline)| Act::SignOut { user, offline }),
        (any_whom(), any_name()).prop_map(|(who, name)| Act::Name { who, name }),
        any_user().prop_map(|user| Act::DeleteUser { user }),
        (any_group(), any_title(), any_members(0)).prop_map(|(group, title, members)| Act::CreateGroup {
            group,
            title,
            members
        }),
        (any_group(), any_title()).prop_map(|(group, title)| Act::RetitleGroup { group, title }),
        (
            any_group(),
            any_use(),
            prop::collection::vec(
                "[a-z.:]{1,9}".prop_filter_map("scopes", |name| ScopeName::parse(&name).ok()),
                0..3
            )
        )
            .prop_map(|(group, used_by, needed_by)| Act::DeleteGroup { group, used_by, needed_by }),
        (any_group(), any_members(1)).prop_map(|(group, members)| Act::AddMembers { group, members }),
        (any_group(), any_members(1)).prop_map(|(group, members)| Act::RemoveMembers { group, members }),
    ]
    .boxed();
    let of_clients = prop_oneof![
        (any::<Option<u128>>(), any_metadata(), uris(), any_fields(), prop::option::of(any_access()))
            .prop_map(|(id, metadata, resources, fields, access)| {
                let id = id.map(|id| ClientId::from_uuid(Uuid::from_u128(id)));
                let access =
                    access.map(|(rule, release)| ClientAccess { rule, release: release.unwrap_or_default() });
                Act::RegisterClient { id, metadata, resources, fields, access }
            }),
        (any_client(), any_metadata(), any_fields())
            .prop_map(|(client, metadata, fields)| Act::ChangeClient { client, metadata, fields }),
        any_client().prop_map(|client| Act::DeleteClient { client }),
        (any_client(), 0..=KeepOld::LONGEST).prop_map(|(client, seconds)| {
            Act::RotateSecret { client, keep_old: KeepOld::seconds(seconds).unwrap() }
        }),
        (any_client(), uris()).prop_map(|(client, resources)| Act::OpenResources { client, resources }),
        (any_client(), uris()).prop_map(|(client, resources)| Act::CloseResources { client, resources }),
        (any_client(), any_access()).prop_map(|(client, (rule, release))| Act::SetAccess {
            client,
            rule,
            release
        }),
    ]
    .boxed();
    let of_server = prop_oneof![
        any_resource().prop_map(|resource| Act::CreateResource { resource }),
        (any_resource(), any_use()).prop_map(|(resource, used_by)| Act::UpdateResource { resource, used_by }),
        (hostile(), any_use()).prop_map(|(uri, used_by)| Act::DeleteResource { uri, used_by }),
        (any::<bool>(), prop::sample::subsequence(SigningAlgorithm::ALL.to_vec(), 0..=3))
            .prop_map(|(at_once, algorithms)| Act::RotateKeys { at_once, algorithms }),
        hostile().prop_map(|kid| Act::WithdrawKey { kid }),
        ("[A-Za-z][A-Za-z0-9_.-]{0,20}", any::<Option<u32>>(), 0..32_usize).prop_filter_map(
            "a name",
            |(name, lives, bits)| {
                let words = ["clients:write", "users:read", "groups:write", "events:read", "keys:read"];
                let chosen = words.iter().enumerate().filter(|(place, _)| bits >> place & 1 == 1);
                let scopes = AdminScopes::of(chosen.map(|(_, word)| AdminScope::parse(word).unwrap()));
                Some(Act::CreateAdminKey { name: AdminKeyName::parse(&name).ok()?, scopes, lives })
            }
        ),
        any::<u128>()
            .prop_map(|id| { Act::WithdrawProposal { proposal: GrantId::from_uuid(Uuid::from_u128(id)) } }),
    ]
    .boxed();
    prop_oneof![of_people, of_clients, of_server].boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_change_is_read_as_it_is_written(change in any_change()) {
        let lines = change.lines();
        prop_assert_eq!(Act::from_lines(lines.iter().map(String::as_str)), Ok(change));
    }

    #[test]
    fn no_word_of_a_person_forges_a_line_of_the_text(change in any_change(), is_second in any::<bool>()) {
        let proposal = is_second.then(|| GrantId::from_uuid(Uuid::from_u128(9)));
        let text = text(&change, proposal);
        prop_assert!(text.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)), "{}", text);
        // Whatever else stands in a statement, wallets do not read the text as a sign-in (ERC-4361).
        let statement = change.statement();
        prop_assert!(
            statement.chars().all(|one| one.is_ascii_alphanumeric() || " -._~:/?#[]@!$&'()*+,;=".contains(one)),
            "{}",
            statement
        );
        if text.len() > MAX_CHANGE_TEXT {
            return Ok(());
        }
        let read = ReadText::read(&text).unwrap();
        let own = change.lines().len() + 2 + usize::from(is_second);
        prop_assert_eq!(read.resources.len(), own, "{}", text);
        prop_assert!(read.other_lines.is_empty());
        let path = if is_second { "/admin/proposals/sign" } else { "/admin/changes/sign" };
        prop_assert_eq!(read.uri.unwrap(), format!("https://auth.example{path}"));
        let written = WrittenChange::of(&read).unwrap();
        prop_assert_eq!((written.change, written.proposal), (change, proposal));
        prop_assert!(is_ours(&KEY, &text));
    }

    #[test]
    fn two_changes_never_have_the_same_lines(one in any_change(), other in any_change()) {
        prop_assert_eq!(one == other, one.lines() == other.lines());
    }

    #[test]
    fn no_lines_make_the_reader_panic(lines in prop::collection::vec(
        "(urn:countersign:(change|with):)?(user-block|client-register|resource-create|user|who|scope|title-in)?:?.{0,20}",
        0..6,
    )) {
        if let Ok(change) = Act::from_lines(lines.iter().map(String::as_str)) {
            prop_assert_eq!(change.lines(), lines);
        }
    }
}

/// F-27: whatever changes is said, with what it was and what it becomes.
#[test]
fn each_field_of_a_client_that_changes_is_said_with_its_value_before_and_after() {
    let metadata = metadata();
    let words =
        |fields| Act::ChangeClient { client: client(), metadata: metadata.clone(), fields }.statement();
    let texts = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
    for field in ClientField::in_words() {
        let said = |gone: &[&str], new: &[&str]| {
            words(vec![FieldChange { field, gone: texts(gone), new: texts(new) }])
        };
        let (label, before) = (field.label(), format!("Change what the client {} registered. ", PHOTOS));
        assert_eq!(said(&["a"], &["b", "c"]), format!("{before}{label}: no longer 'a', but 'b', 'c'."));
        assert_eq!(said(&[], &["b"]), format!("{before}{label}: new is 'b'."));
        assert_eq!(said(&["a"], &[]), format!("{before}{label}: no longer 'a'."));
        assert_eq!(said(&[], &[]), format!("{before}{label}: the same as before, in another order."));
        assert!(label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" ,-".contains(&byte)), "{label}");
    }
    let new = vec![FieldChange {
        field: ClientField::GrantTypes,
        gone: Vec::new(),
        new: texts(&["client_credentials"]),
    }];
    let (id, resources) = (None, Vec::new());
    let registered = Act::RegisterClient { id, metadata, resources, fields: new, access: None };
    assert_eq!(registered.statement(), "Register a client. It gets tokens by: 'client_credentials'.");
}

const PHOTOS: &str = "'Photo (U+0022)Album(U+0022)' (00000000-0000-0000-0000-000000000002)";
