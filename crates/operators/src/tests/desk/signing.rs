//! A change is made by the signature of its operator's wallet under its own text, and by nothing else.

use countersign_conformance::one_member::OneMember as _;
use countersign_domain::act::{Act, OfflineAccess, UsedBy};
use countersign_domain::challenge::{ChallengeRejected, MAX_FAILURES};
use countersign_domain::desk::operators::Quorum;
use countersign_domain::desk::pending::FactName;
use countersign_domain::event::EventKind;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::subject::Subject;
use countersign_ports::ChangeMember;
use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::context::blocks::IfBlocked;
use time::Duration;

use super::{Office, Signing, block, delete, group, id_of, signing_with};
use crate::desk::begin_change::{BeginChangeError, begin_change, recall_change};
use crate::desk::complete_change::{CompleteChangeError, Completed};
use crate::desk::{Changed, Stale};
use crate::people::block::block as block_at_terminal;
use crate::people::groups::create_group;
use crate::tests::world::{REDIRECT_URI, sign, toy};

const MALLORY: &str = "toy-mallory";

/// Nothing of what was tried happened.
async fn nothing_happened(office: &Office) {
    assert!(!office.is_blocked(MALLORY).await);
    assert_eq!(office.acts().await, []);
}

#[tokio::test]
async fn a_session_alone_makes_no_change() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let (mut pending, shown) = office.begin(&ada, block(MALLORY)).await;
    let text = shown.text.text;
    let tried = ["", "0x", "toy-ada", "toy-ada signs", &text, &sign("toy-ada", "")];
    for (place, signature) in tried.iter().enumerate() {
        pending.challenge.failures = 0;
        let refused = office.present(&ada, &mut pending, &text, signature).await;
        assert!(matches!(refused, Err(CompleteChangeError::Signature(_))), "{place}: {refused:?}");
    }
    nothing_happened(&office).await;
}

#[tokio::test]
async fn an_older_signature_and_one_for_another_change_make_no_change() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let (mut older, older_shown) = office.begin(&ada, block(MALLORY)).await;
    let (mut other, other_shown) = office.begin(&ada, block("toy-eve")).await;
    let (mut pending, shown) = office.begin(&ada, block(MALLORY)).await;
    let text = &shown.text.text;
    for old in [&older_shown.text.text, &other_shown.text.text] {
        // The old signature under this text, and the old text itself.
        let refused = office.present(&ada, &mut pending, text, &sign("toy-ada", old)).await;
        assert!(matches!(refused, Err(CompleteChangeError::Signature(_))), "{refused:?}");
        let refused = office.present(&ada, &mut pending, old, &sign("toy-ada", old)).await;
        let unknown = ChallengeRejected::Unknown;
        assert!(matches!(refused, Err(CompleteChangeError::Challenge(why)) if why == unknown), "{refused:?}");
    }
    // Nor does a text that was altered, for what was remembered of it.
    for (from, to) in [(MALLORY, "toy-eve"), ("wallet-block", "wallet-unblock"), ("spam", "spam.")] {
        let altered = text.replace(from, to);
        assert_ne!(*text, altered);
        for pending in [&mut older, &mut other, &mut pending] {
            let refused = office.present(&ada, pending, &altered, &sign("toy-ada", &altered)).await;
            assert!(matches!(refused, Err(CompleteChangeError::Challenge(_))), "{refused:?}");
        }
    }
    nothing_happened(&office).await;
}

#[tokio::test]
async fn another_operator_s_wallet_signs_nothing_for_this_one() {
    let office = Office::new(Quorum::One);
    let (ada, bob) = (office.operator("toy-ada").await, office.operator("toy-bob").await);
    let (mut pending, shown) = office.begin(&ada, block(MALLORY)).await;
    let text = &shown.text.text;
    // Bob signs what Ada was shown.
    let refused = office.present(&ada, &mut pending, text, &sign("toy-bob", text)).await;
    assert!(matches!(refused, Err(CompleteChangeError::Signature(_))), "{refused:?}");
    // Ada's signature comes from Bob's browser.
    let refused = office.present(&bob, &mut pending, text, &sign("toy-ada", text)).await;
    assert!(matches!(refused, Err(CompleteChangeError::NotOperator)), "{refused:?}");
    // And Bob's browser is not asked to let Ada's wallet sign, nor a stranger's.
    for wallet in ["toy-ada", "toy-eve"] {
        let refused = begin_change(office.desk(), &bob, block(MALLORY), signing_with(&toy(wallet))).await;
        assert!(matches!(refused, Err(BeginChangeError::NotOperator)), "{refused:?}");
    }
    nothing_happened(&office).await;
}

/// The sign-in stays, and so does what was begun; but the wallet is no operator's any more.
#[tokio::test]
async fn a_wallet_that_was_just_removed_signs_nothing() {
    let mut office = Office::new(Quorum::One);
    office.world.join("ops", Subject::Wallet(toy("toy-dan"))).await;
    let (ada, dan) = (office.operator("toy-ada").await, office.operator("toy-dan").await);
    let mut begun = Vec::new();
    for operator in [&ada, &dan] {
        begun.push((operator.clone(), office.begin(operator, block(MALLORY)).await));
    }
    office.policy().admins.retain(|admin| *admin != toy("toy-ada"));
    let now = office.world.context.clock.now();
    let removed =
        ChangeMember { group: group("ops"), member: Subject::Wallet(toy("toy-dan")), now, event: None };
    assert!(office.world.storage.remove_member(removed).await.unwrap());
    for (operator, begun) in begun {
        let refused = office.finish(&operator, begun).await;
        assert!(matches!(refused, Err(CompleteChangeError::NotOperator)), "{refused:?}");
    }
    nothing_happened(&office).await;
}

#[tokio::test]
async fn a_blocked_or_unlinked_wallet_signs_nothing() {
    let office = Office::new(Quorum::One);
    let (ada, bob, cal) = (
        office.operator("toy-ada").await,
        office.operator("toy-bob").await,
        office.operator("toy-cal").await,
    );
    let mut begun = Vec::new();
    for operator in [&ada, &bob, &cal] {
        begun.push((operator.clone(), office.begin(operator, block(MALLORY)).await));
    }
    office.world.block(Subject::Wallet(toy("toy-ada"))).await;
    office.world.block(Subject::User(bob.session.user)).await;
    office.link("toy-cal", "toy-cal-2").await;
    office.unlink("toy-cal-2", "toy-cal").await;
    for (operator, begun) in begun {
        let refused = office.finish(&operator, begun).await;
        assert!(matches!(refused, Err(CompleteChangeError::NotOperator)), "{refused:?}");
    }
    nothing_happened(&office).await;
}

#[tokio::test]
async fn a_change_expires_at_its_exact_second_and_after_five_wrong_signatures() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let (mut pending, shown) = office.begin(&ada, block(MALLORY)).await;
    let text = &shown.text.text;
    for _ in 0..MAX_FAILURES {
        assert!(recall_change(office.desk(), &pending, text).is_some());
        let refused = office.present(&ada, &mut pending, text, "no").await;
        assert!(matches!(refused, Err(CompleteChangeError::Signature(_))), "{refused:?}");
    }
    assert!(recall_change(office.desk(), &pending, text).is_none());
    let refused = office.present(&ada, &mut pending, text, &sign("toy-ada", text)).await;
    let exhausted = ChallengeRejected::Exhausted;
    assert!(matches!(refused, Err(CompleteChangeError::Challenge(why)) if why == exhausted), "{refused:?}");

    let begun = office.begin(&ada, block(MALLORY)).await;
    let left = begun.1.expires_at - office.world.context.clock.now();
    office.world.advance(left);
    let refused = office.finish(&ada, begun).await;
    let expired = ChallengeRejected::Expired;
    assert!(matches!(refused, Err(CompleteChangeError::Challenge(why)) if why == expired), "{refused:?}");
    nothing_happened(&office).await;
}

#[tokio::test]
async fn a_signature_makes_its_change_once() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let begun =
        office.begin(&ada, Act::Block { who: Subject::Wallet(toy(MALLORY).into()), reason: None }).await;
    let again = begun.clone();
    office.finish(&ada, begun).await.unwrap();
    // It is let in again, so that the subject is as it was when the text was made.
    office.make(&ada, Act::Unblock { who: Subject::Wallet(toy(MALLORY).into()) }).await.unwrap();
    for operator in [&ada, &office.operator("toy-ada").await] {
        let refused = office.finish(operator, again.clone()).await;
        assert!(matches!(refused, Err(CompleteChangeError::Spent)), "{refused:?}");
    }
    assert!(!office.is_blocked(MALLORY).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_present_one_signature_at_once_one_makes_the_change() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    for round in 0..200 {
        let change =
            Act::CreateGroup { group: group(&format!("g{round}")), title: None, members: Vec::new() };
        let begun = office.begin(&ada, change).await;
        let (one, other) = (office.finish(&ada, begun.clone()), office.finish(&ada, begun));
        let (one, other) = tokio::join!(one, other);
        let done = [&one, &other].into_iter().filter(|done| done.is_ok()).count();
        assert_eq!(done, 1, "{one:?} {other:?}");
    }
    assert_eq!(office.acts().await.len(), 200);
}

#[tokio::test]
async fn what_somebody_else_changed_meanwhile_is_told_and_nothing_is_done() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let begun = office.begin(&ada, block(MALLORY)).await;
    let who = Subject::Wallet(toy(MALLORY));
    let reason = Some("other".to_owned());
    block_at_terminal(office.world.context.management(), who, reason, IfBlocked::EndAccess).await.unwrap();
    match office.finish(&ada, begun).await {
        Err(CompleteChangeError::Stale(Stale { changed })) => {
            let (before, now) = (Some("no".to_owned()), Some("yes: other".to_owned()));
            assert_eq!(changed, [Changed { name: FactName::Blocked, before, now }]);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(office.acts().await, []);

    // The subject is gone.
    let client = office.client().await;
    let begun = office.begin(&ada, delete(&client)).await;
    office.make(&ada, delete(&client)).await.unwrap();
    let refused = office.finish(&ada, begun).await;
    assert!(matches!(refused, Err(CompleteChangeError::Stale(_))), "{refused:?}");
    let deleted = office.acts().await.into_iter().filter(|act| act.kind == EventKind::ClientDeleted);
    assert_eq!(deleted.count(), 1);
}

#[tokio::test]
async fn a_long_value_that_changed_only_at_its_end_is_told_too() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let client = office.client().await;
    let uris = |last: &str| {
        let long = format!("https://photos.example/{}", "a".repeat(100));
        Box::new(countersign_domain::registration::RequestedMetadata {
            client_name: Some("Photo Album".to_owned()),
            redirect_uris: Some(vec![format!("{long}{last}")]),
            ..Default::default()
        })
    };
    let change =
        |last| Act::ChangeClient { client: id_of(&client).into(), metadata: uris(last), fields: Vec::new() };
    office.make(&ada, change("1")).await.unwrap();
    let begun = office.begin(&ada, change("2")).await;
    office.make(&ada, change("3")).await.unwrap();
    match office.finish(&ada, begun).await {
        Err(CompleteChangeError::Stale(Stale { changed })) => {
            let names: Vec<_> = changed.iter().map(|changed| changed.name).collect();
            assert_eq!(names, [FactName::RedirectUris]);
        }
        other => panic!("{other:?}"),
    }
}

/// Two operators change the same thing at once: the storage compares what they read, in the commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_changes_of_what_both_read_at_once_one_is_made() {
    let office = Office::new(Quorum::One);
    let (ada, bob) = (office.operator("toy-ada").await, office.operator("toy-bob").await);
    for round in 0..100 {
        let client = office.client().await;
        let rule = |name: &str| Act::SetAccess {
            client: id_of(&client).into(),
            rule: Some(countersign_domain::admission::AccessRule::parse(name).unwrap()),
            release: None,
        };
        let one = office.begin(&ada, rule("nobody")).await;
        let other = office.begin(&bob, rule("everyone")).await;
        let (one, other) = tokio::join!(office.finish(&ada, one), office.finish(&bob, other));
        let done = [&one, &other].into_iter().filter(|done| matches!(done, Ok(Completed::Done { .. })));
        assert_eq!(done.count(), 1, "{round}: {one:?} {other:?}");
        let stale = [one, other].into_iter().filter_map(Result::err);
        for error in stale {
            assert!(matches!(error, CompleteChangeError::Stale(_)), "{error:?}");
        }
    }
}

#[tokio::test]
async fn an_operator_chooses_which_wallet_signs_and_a_wallet_that_is_no_operator_s_cannot() {
    let office = Office::new(Quorum::One);
    office.sign_in("toy-ada").await;
    office.link("toy-ada", "toy-hot").await;
    // Signed in with the wallet that is no operator's: the person is one, and the other wallet signs.
    let ada = office.operator("toy-hot").await;
    assert_eq!(ada.wallets, [toy("toy-ada")]);
    let refused = begin_change(office.desk(), &ada, block(MALLORY), signing_with(&toy("toy-hot"))).await;
    assert!(matches!(refused, Err(BeginChangeError::NotOperator)));
    let (mut pending, shown) = office.begin(&ada, block(MALLORY)).await;
    assert_eq!(shown.signer, toy("toy-ada"));
    let text = &shown.text.text;
    let refused = office.present(&ada, &mut pending, text, &sign("toy-hot", text)).await;
    assert!(matches!(refused, Err(CompleteChangeError::Signature(_))));
    office.present(&ada, &mut pending, text, &sign("toy-ada", text)).await.unwrap();
    assert!(office.is_blocked(MALLORY).await);
}

/// What was used is remembered for as long as its text could be accepted by any replica.
#[tokio::test]
async fn a_spent_text_stays_spent_until_it_has_expired() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let begun =
        office.begin(&ada, Act::Block { who: Subject::Wallet(toy(MALLORY).into()), reason: None }).await;
    office.finish(&ada, begun.clone()).await.unwrap();
    office.make(&ada, Act::Unblock { who: Subject::Wallet(toy(MALLORY).into()) }).await.unwrap();
    let left = begun.1.expires_at - office.world.context.clock.now();
    for step in 0..10 {
        let refused = office.finish(&ada, begun.clone()).await;
        assert!(matches!(refused, Err(CompleteChangeError::Spent)), "{step}: {refused:?}");
        office.world.advance(left / 10 - Duration::milliseconds(1));
    }
    office.world.advance(Duration::seconds(1));
    let refused = office.finish(&ada, begun).await;
    assert!(matches!(refused, Err(CompleteChangeError::Challenge(ChallengeRejected::Expired))));
}

/// F-22: no signature is thrown away. Who adds nothing to a block hears that nothing would change.
#[tokio::test]
async fn a_second_block_is_refused_if_it_adds_nothing_and_leaves_its_signature_if_it_does() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    office.sign_in(MALLORY).await;
    let user = office.user(MALLORY).await;
    for who in [Subject::Wallet(toy(MALLORY).into()), Subject::User(user.into())] {
        let block = |reason: Option<&str>| Act::Block { who: who.clone(), reason: reason.map(str::to_owned) };
        let known = office.acts().await.len();
        office.make(&ada, block(Some("legal hold 4711"))).await.unwrap();
        for nothing in [None, Some("legal hold 4711")] {
            let refused = begin_change(office.desk(), &ada, block(nothing), Signing::default()).await;
            let refused = refused.map(|(_, shown)| shown.change);
            let is_nothing = matches!(refused, Err(BeginChangeError::Refused(ActRefused::NoChange)));
            assert!(is_nothing, "{refused:?}");
        }
        office.world.advance(Duration::SECOND);
        office.make(&ada, block(Some("a joke"))).await.unwrap();
        let acts = office.acts().await;
        let [first, second] = &acts[known..] else { panic!("{acts:#?}") };
        office.world.advance(Duration::SECOND);
        assert_eq!((first.kind, first.details.as_str()), (second.kind, "{}"));
        assert_eq!(second.details.as_str(), r#"{"changed":"reason"}"#);
        assert!(second.signed.as_ref().unwrap().as_str().contains("a joke"));
    }
    office.verify().await.unwrap();
}

/// The reason that is stored is that of the last event, and each operator who is answered that it is done has an event.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_reasons_at_once_the_stored_one_is_signed() {
    let office = Office::new(Quorum::One);
    let (ada, bob) = (office.operator("toy-ada").await, office.operator("toy-bob").await);
    for round in 0..50 {
        let wallet = format!("toy-mallory{round}");
        let block = |reason: &str| Act::Block {
            who: Subject::Wallet(toy(&wallet).into()),
            reason: Some(reason.to_owned()),
        };
        let known = office.acts().await.len();
        let same = round % 2 == 0;
        let one = office.begin(&ada, block("one")).await;
        let other = office.begin(&bob, block(if same { "one" } else { "other" })).await;
        let (one, other) = tokio::join!(office.finish(&ada, one), office.finish(&bob, other));
        let done =
            [&one, &other].into_iter().filter(|done| matches!(done, Ok(Completed::Done { .. }))).count();
        let acts = &office.acts().await[known..];
        assert_eq!(acts.len(), done, "{one:?} {other:?}");
        let stored = office.world.storage.standing_of(&toy(&wallet)).await.unwrap().block.unwrap().reason;
        let signed: Vec<_> = acts.iter().map(|act| act.signed.as_ref().unwrap().as_str()).collect();
        assert!(signed.iter().any(|signed| signed.contains(&format!("'{}'", stored.clone().unwrap()))));
    }
    office.verify().await.unwrap();
}

/// What others did meanwhile is not done once more, and no operator is told that it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_make_the_same_change_at_once_one_hears_that_nothing_changed() {
    let office = Office::new(Quorum::One);
    let (ada, bob) = (office.operator("toy-ada").await, office.operator("toy-bob").await);
    create_group(office.world.context.management(), group("staff"), None, &[]).await.unwrap();
    for _ in 0..25 {
        let member = || Subject::Wallet(toy(MALLORY).into());
        let changes = [
            Act::AddMembers { group: group("staff"), members: vec![member()] },
            Act::RemoveMembers { group: group("staff"), members: vec![member()] },
            Act::Block { who: member(), reason: None },
            Act::Unblock { who: member() },
            Act::CreateGroup { group: group("others"), title: None, members: Vec::new() },
            Act::DeleteGroup { group: group("others"), used_by: UsedBy::default(), needed_by: Vec::new() },
        ];
        for change in changes {
            let known = office.acts().await.len();
            let (one, other) =
                (office.begin(&ada, change.clone()).await, office.begin(&bob, change.clone()).await);
            let (one, other) = tokio::join!(office.finish(&ada, one), office.finish(&bob, other));
            let done = [&one, &other].into_iter().filter(|done| matches!(done, Ok(Completed::Done { .. })));
            assert_eq!(done.count(), 1, "{change:?}: {one:?} {other:?}");
            assert_eq!(office.acts().await.len(), known + 1);
        }
    }
}

#[tokio::test]
async fn signing_out_a_user_who_is_nowhere_signed_in_is_no_change() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    office.sign_in(MALLORY).await;
    let user = office.user(MALLORY).await;
    office.make(&ada, Act::SignOut { user: user.into(), offline: Some(OfflineAccess::Ended) }).await.unwrap();
    let again =
        office.make(&ada, Act::SignOut { user: user.into(), offline: Some(OfflineAccess::Ended) }).await;
    assert!(matches!(again, Err(CompleteChangeError::Refused(ActRefused::NoChange))), "{again:?}");
    assert_eq!(office.acts().await.len(), 1);
}

/// F-27: nothing that is signed is left out of the words.
#[tokio::test]
async fn the_words_of_a_changed_client_name_each_field_and_a_change_of_nothing_is_refused() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let client = office.client().await;
    let plain = RequestedMetadata {
        client_name: Some("Photo Album".to_owned()),
        redirect_uris: Some(vec![REDIRECT_URI.to_owned()]),
        scopes: Some(vec!["profile".to_owned(), "email".to_owned()]),
        ..RequestedMetadata::default()
    };
    let change = |metadata: RequestedMetadata| Act::ChangeClient {
        client: id_of(&client).into(),
        metadata: Box::new(metadata),
        fields: Vec::new(),
    };
    let nothing = begin_change(office.desk(), &ada, change(plain.clone()), Signing::default()).await;
    assert!(matches!(nothing, Err(BeginChangeError::Refused(ActRefused::NoChange))));
    let mut rights = plain.clone();
    rights.grant_types = Some(["authorization_code", "client_credentials"].map(str::to_owned).to_vec());
    rights.scopes = Some(vec!["profile".to_owned(), "groups".to_owned()]);
    rights.backchannel_logout_uri = Some("https://evil.example/out".to_owned());
    rights.dpop_bound_access_tokens = Some(true);
    rights.display.client_uri = Some("https://pay.example/".to_owned());
    let (pending, shown) = office.begin(&ada, change(rights.clone())).await;
    let words = shown.change.statement();
    for said in [
        "It may ask for: no longer 'email', but 'groups'.",
        "It gets tokens by: no longer 'refresh_token', but 'client_credentials'.",
        "Its own address, where it may introspect all tokens for the API there: new is 'https://pay.example/'.",
        "Must its tokens be bound to a key: no longer 'no', but 'yes'.",
        "It is notified of ended sign-ins at: new is 'https://evil.example/out'.",
    ] {
        assert!(words.contains(said), "{said} is not in {words}");
    }
    assert!(shown.text.text.contains(&words), "{}", shown.text.text);
    assert!(!words.contains("Its name") && !words.contains("It sends people to"), "{words}");
    office.finish(&ada, (pending, shown)).await.unwrap();
    office.verify().await.unwrap();
    let (_, back) = office.begin(&ada, change(plain)).await;
    assert!(back.change.statement().contains("no longer 'https://pay.example/'."), "{back:?}");
}
