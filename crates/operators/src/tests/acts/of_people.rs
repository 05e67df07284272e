//! What people do: signing in and out, and everything at `/account`.

use std::sync::Arc;

use async_trait::async_trait;
use countersign_domain::admission::Block;
use countersign_domain::client::ClientOrigin;
use countersign_domain::event::{EventKind, EventPerson};
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, SessionId};
use countersign_domain::invitation::InvitationLimits;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::person_name::PersonName;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;
use countersign_domain::subject::Subject;
use countersign_ports::{
    BlockStore, Clock, EventStore, Mail, MailError, Mailer, PutBlock, SharedAddress, WalletStore,
};
use countersign_usecases::account::begin_wallet_change::{WantedChange, begin_wallet_change};
use countersign_usecases::account::change_email::put_email;
use countersign_usecases::account::change_wallets::{SignedText, link_wallet, unlink_wallet};
use countersign_usecases::account::confirm_email::confirm_email;
use countersign_usecases::account::delete_account::delete_account;
use countersign_usecases::account::end_sessions::{WhichSessions, end_sessions};
use countersign_usecases::account::revoke_consent::revoke_consent;
use countersign_usecases::sign_in::begin_authorization::{Begun, begin_authorization};
use countersign_usecases::sign_in::begin_device::{DeviceAsks, begin_device};
use countersign_usecases::sign_in::complete_login::{
    CompleteLoginError, LoginWishes, SignedChallenge, SignedIn, complete_login,
};
use countersign_usecases::sign_in::continue_session::{ContinueWishes, continue_session};
use countersign_usecases::sign_in::find_device::find_device;
use countersign_usecases::sign_in::issue_challenge::issue_challenge;
use countersign_usecases::sign_in::sign_out::sign_out;
use countersign_usecases::steps::login::Browser;
use countersign_usecases::tokens::sign_in_program::sign_in_program;
use serde_json::json;
use time::Duration;
use uuid::Uuid;

use super::{Scene, Told, by_person, grant_of};
use crate::people::groups::create_group;
use crate::people::invitations::{NewInvitation, create_invitation};
use crate::tests::breakable;
use crate::tests::programs;
use crate::tests::world::{
    CHALLENGE, REDIRECT_URI, TestClient, code_of, named, parameter, request, sign, toy,
};

async fn sign_in(
    scene: &Scene,
    pending: &mut PendingAuthorization,
    address: &str,
    wishes: LoginWishes,
) -> Result<SignedIn, CompleteLoginError> {
    let text = issue_challenge(&scene.world.context, pending, named(address)).unwrap().text;
    let signed = SignedChallenge {
        wallet_address: address.to_owned(),
        signature: sign(address, &text),
        challenge: text,
    };
    complete_login(&scene.world.context, &by_person(), pending, signed, wishes).await
}

fn of_account(scene: &Scene) -> PendingAuthorization {
    let policy = &scene.world.context.policy;
    PendingAuthorization::for_account(&policy.public_url, scene.world.context.clock.now(), &policy.lifetimes)
}

/// A browser that is signed in to the account page.
async fn enter(scene: &Scene, address: &str) -> Browser {
    let mut browser = Browser { name: "Firefox on Linux".to_owned(), login: None };
    scene.world.remember(&mut browser, &mut of_account(scene), address).await;
    browser
}

fn nobody() -> Browser {
    Browser { login: Some(Secret::with_id(Uuid::nil(), [0; 32])), ..Browser::default() }
}

fn session_of(browser: &Browser) -> SessionId {
    SessionId::from_uuid(browser.login.as_ref().unwrap().id().unwrap())
}

pub(super) async fn signing_in(scene: &mut Scene) {
    let client = scene.world.client().await;
    let mut pending = scene.world.pending(&client, &[]).await;
    scene.begin().await;
    let text = issue_challenge(&scene.world.context, &mut pending, named("toy-ann")).unwrap().text;
    let signed = |signature: String| SignedChallenge {
        wallet_address: "toy-ann".to_owned(),
        signature,
        challenge: text.clone(),
    };
    let by_person = by_person();
    let context = &scene.world.context;
    let wrong = signed("nonsense".to_owned());
    complete_login(context, &by_person, &mut pending, wrong, LoginWishes::default()).await.unwrap_err();
    let good = signed(sign("toy-ann", &text));
    let mut copy = pending.clone();
    let done = complete_login(context, &by_person, &mut pending, good.clone(), LoginWishes::default()).await;
    let code = code_of(&done.unwrap().to.address());
    let spent = complete_login(context, &by_person, &mut copy, good, LoginWishes::default()).await;
    assert!(matches!(spent, Err(CompleteLoginError::ChallengeSpent)));
    let details = json!({ "way": "browser", "grant": grant_of(&code), "session": false });
    let user = scene.user("toy-ann").await;
    let told = Told::of(EventKind::SignIn, &by_person, details).user(user).wallet("toy-ann").client(&client);
    scene.told(&[told]).await;
    scene.world.exchange(&client, &code).await.unwrap();
    scene.nothing_told().await;
}

pub(super) async fn signing_in_remembered(scene: &mut Scene) {
    let client = scene.world.client().await;
    let mut pending = scene.world.pending(&client, &[]).await;
    scene.begin().await;
    let wishes = LoginWishes { remember: true, ..LoginWishes::default() };
    let done = sign_in(scene, &mut pending, "toy-ann", wishes).await.unwrap();
    let grant = grant_of(&code_of(&done.to.address()));
    let details = json!({ "way": "browser", "grant": grant, "session": true });
    let user = scene.user("toy-ann").await;
    let told =
        Told::of(EventKind::SignIn, &by_person(), details).user(user).wallet("toy-ann").client(&client);
    scene.told(&[told]).await;
}

pub(super) async fn signing_in_to_the_account_page(scene: &mut Scene) {
    scene.begin().await;
    sign_in(scene, &mut of_account(scene), "toy-ann", LoginWishes::default()).await.unwrap();
    let user = scene.user("toy-ann").await;
    let details = json!({ "way": "account", "session": true });
    scene.told(&[Told::of(EventKind::SignIn, &by_person(), details).user(user).wallet("toy-ann")]).await;
}

pub(super) async fn coming_in_by_an_invitation(scene: &mut Scene) {
    let group = GroupName::parse("staff").unwrap();
    create_group(scene.management(), group.clone(), None, &[]).await.unwrap();
    let limits = InvitationLimits { uses: 1, lives: 3_600 };
    let name = PersonName::parse("Ann").ok();
    let new = NewInvitation { group, limits, name, inviter: None, client: None };
    let invitation = create_invitation(scene.management(), new).await.unwrap().invitation;
    let pending = || PendingAuthorization { invitation: Some(invitation.accepted()), ..of_account(scene) };
    let (first, second, late) = (pending(), pending(), pending());
    scene.begin().await;
    for (mut pending, is_new) in [(first, true), (second, false)] {
        sign_in(scene, &mut pending, "toy-ann", LoginWishes::default()).await.unwrap();
        let user = scene.user("toy-ann").await;
        let details = json!({ "way": "account", "session": true });
        let signed_in = Told::of(EventKind::SignIn, &by_person(), details).user(user).wallet("toy-ann");
        let details = json!({ "invitation": invitation.id.to_string(), "group": "staff" });
        // Who it is becomes known with the sign-in that follows.
        let came = Told::of(EventKind::InvitationUsed, &by_person(), details).wallet("toy-ann");
        let told = [signed_in, came];
        scene.told(if is_new { &told } else { &told[..1] }).await;
    }
    let mut late = late;
    let refused = sign_in(scene, &mut late, "toy-bob", LoginWishes::default()).await.unwrap_err();
    assert!(matches!(refused, CompleteLoginError::Invitation(_)), "{refused:?}");
    scene.nothing_told().await;
}

pub(super) async fn signing_in_for_a_device(scene: &mut Scene) {
    let grant_types = Some(vec!["urn:ietf:params:oauth:grant-type:device_code".to_owned()]);
    let redirect_uris = Some(Vec::new());
    let requested = RequestedMetadata { grant_types, redirect_uris, ..RequestedMetadata::default() };
    let client = scene.world.register(requested).await;
    let asks = DeviceAsks { credentials: client.credentials(), scope: None, resources: Vec::new() };
    let waits = begin_device(&scene.world.context, asks).await.unwrap();
    let found = find_device(&scene.world.context, &waits.user_code.to_string()).await.unwrap();
    scene.begin().await;
    sign_in(scene, &mut found.unwrap(), "toy-ann", LoginWishes::default()).await.unwrap();
    let user = scene.user("toy-ann").await;
    let details = json!({ "way": "device", "grant": grant_of(&waits.device_code), "session": false });
    let told =
        Told::of(EventKind::SignIn, &by_person(), details).user(user).wallet("toy-ann").client(&client);
    scene.told(&[told]).await;
}

pub(super) async fn signing_in_by_a_program(scene: &mut Scene) {
    let client = programs::program(&scene.world).await;
    let text = programs::text(&scene.world, &client).await;
    scene.begin().await;
    let (context, by_person) = (&scene.world.context, by_person());
    let mut wrong = programs::signed(&client, &text);
    wrong.signature.push('x');
    sign_in_program(context, &by_person, wrong).await.unwrap_err();
    sign_in_program(context, &by_person, programs::signed(&client, &text)).await.unwrap();
    sign_in_program(context, &by_person, programs::signed(&client, &text)).await.unwrap_err();
    let user = scene.user("toy-ann").await;
    let [told] = &scene.news().await[..] else {
        assert!(scene.world.context.policy.events.retention.is_none());
        return;
    };
    assert_eq!(
        (told.details["way"].as_str(), told.details["session"].as_bool()),
        (Some("program"), Some(false))
    );
    let details = told.details.clone();
    let expected =
        Told::of(EventKind::SignIn, &by_person, details).user(user).wallet("toy-ann").client(&client);
    assert_eq!(*told, expected);
}

/// What is stored of such a client is a copy of a public document, so no event tells of it.
pub(super) async fn signing_in_at_a_client_with_a_document(scene: &mut Scene) {
    const ADDRESS: &str = "https://app.example/client.json";
    let document = json!({
        "client_id": ADDRESS, "client_name": "App", "redirect_uris": [REDIRECT_URI],
        "token_endpoint_auth_method": "none",
    });
    scene.world.outside.put(ADDRESS, &document.to_string());
    let client = TestClient { id: ADDRESS.to_owned(), secret: None, registration_token: Secret::new("none") };
    let pkce = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];
    let mut pending = scene.world.pending(&client, &pkce).await;
    scene.begin().await;
    let done = sign_in(scene, &mut pending, "toy-ann", LoginWishes::default()).await.unwrap();
    let grant = grant_of(&code_of(&done.to.address()));
    let user = scene.user("toy-ann").await;
    let details = json!({ "way": "browser", "grant": grant, "session": false });
    let told =
        Told::of(EventKind::SignIn, &by_person(), details).user(user).wallet("toy-ann").client(&client);
    scene.told(&[told]).await;
}

/// A client asked for another user: that one signed in all the same, and the server took the grant back.
pub(super) async fn signing_in_as_somebody_else(scene: &mut Scene) {
    let scopes = Some(vec!["openid".to_owned()]);
    let client = scene.world.register(RequestedMetadata { scopes, ..RequestedMetadata::default() }).await;
    let code = scene.world.code(&client, "toy-ann", &[("scope", "openid")]).await;
    let hint = scene.world.exchange(&client, &code).await.unwrap().id_token.unwrap();
    let again = [("scope", "openid"), ("id_token_hint", hint.expose())];
    let mut pending = scene.world.pending(&client, &again).await;
    scene.begin().await;
    let done = sign_in(scene, &mut pending, "toy-bob", LoginWishes::default()).await.unwrap();
    assert_eq!(parameter(&done.to.address(), "error").as_deref(), Some("login_required"));
    let user = scene.user("toy-bob").await;
    let news = scene.news().await;
    let Some(signed_in) = news.iter().find(|told| told.kind == EventKind::SignIn) else {
        assert!(scene.world.context.policy.events.retention.is_none());
        return;
    };
    assert_eq!((signed_in.person, news.len()), (Some(EventPerson::User(user)), 2));
    let details = json!({ "reason": "other_user", "grant": signed_in.details["grant"] });
    let by_server = by_person().by_server();
    let revoked = Told::of(EventKind::GrantRevoked, &by_server, details).user(user).client(&client);
    assert!(news.contains(&revoked), "{news:#?}");
}

pub(super) async fn continuing(scene: &mut Scene) {
    let client = scene.world.client().await;
    let mut browser = Browser::default();
    let mut pending = scene.world.pending(&client, &[]).await;
    scene.world.remember(&mut browser, &mut pending, "toy-ann").await;
    let next = scene.world.pending(&client, &[("state", "next")]).await;
    let wider = scene.world.pending(&client, &[("state", "wider"), ("scope", "profile email")]).await;
    scene.begin().await;
    let (context, by_person) = (&scene.world.context, by_person());
    let wishes = ContinueWishes::default();
    continue_session(context, &by_person, &wider, &browser, wishes).await.unwrap_err();
    continue_session(context, &by_person, &next, &nobody(), wishes).await.unwrap_err();
    let done = continue_session(context, &by_person, &next, &browser, wishes).await.unwrap();
    continue_session(context, &by_person, &next, &browser, wishes).await.unwrap_err();
    let grant = grant_of(&code_of(&done.to.address()));
    let user = scene.user("toy-ann").await;
    let told = Told::of(EventKind::SignInContinued, &by_person, json!({ "way": "browser", "grant": grant }));
    scene.told(&[told.user(user).wallet("toy-ann").client(&client)]).await;
}

pub(super) async fn continuing_silently(scene: &mut Scene) {
    let client = scene.world.client_by(ClientOrigin::Operator).await;
    let mut browser = Browser::default();
    let mut pending = scene.world.pending(&client, &[]).await;
    scene.world.remember(&mut browser, &mut pending, "toy-ann").await;
    scene.begin().await;
    let asked = request(&client, &[("prompt", "none")]);
    let context = &scene.world.context;
    begin_authorization(context, by_person, &asked, &nobody()).await.unwrap_err();
    let Begun::Answered { to } = begin_authorization(context, by_person, &asked, &browser).await.unwrap()
    else {
        panic!("the person was asked");
    };
    let grant = grant_of(&code_of(&to.address()));
    let user = scene.user("toy-ann").await;
    let details = json!({ "way": "browser", "grant": grant });
    let told = Told::of(EventKind::SignInContinued, &by_person(), details);
    scene.told(&[told.user(user).wallet("toy-ann").client(&client)]).await;
}

pub(super) async fn signing_out(scene: &mut Scene) {
    let browser = enter(scene, "toy-ann").await;
    scene.begin().await;
    sign_out(&scene.world.context, &by_person(), &nobody()).await.unwrap();
    sign_out(&scene.world.context, &by_person(), &browser).await.unwrap();
    sign_out(&scene.world.context, &by_person(), &browser).await.unwrap();
    let user = scene.user("toy-ann").await;
    let told = Told::of(EventKind::SignOut, &by_person(), json!({ "revoked": true }));
    scene.told(&[told.user(user)]).await;
}

pub(super) async fn signing_out_here(scene: &mut Scene) {
    let browser = enter(scene, "toy-ann").await;
    scene.begin().await;
    let (context, by_person) = (&scene.world.context, by_person());
    end_sessions(context, &by_person, &browser, WhichSessions::This).await.unwrap();
    end_sessions(context, &by_person, &browser, WhichSessions::This).await.unwrap_err();
    let user = scene.user("toy-ann").await;
    let told = Told::of(EventKind::SignOut, &by_person, json!({ "revoked": false }));
    scene.told(&[told.user(user)]).await;
}

pub(super) async fn ending_another_session(scene: &mut Scene) {
    let (here, there) = (enter(scene, "toy-ann").await, enter(scene, "toy-ann").await);
    let bobs = session_of(&enter(scene, "toy-bob").await);
    let theirs = session_of(&there);
    scene.begin().await;
    for session in [bobs, theirs, theirs] {
        let which = WhichSessions::One(session);
        end_sessions(&scene.world.context, &by_person(), &here, which).await.unwrap();
    }
    let user = scene.user("toy-ann").await;
    let told = Told::of(EventKind::SessionEnded, &by_person(), json!({ "sessions": "other" }));
    scene.told(&[told.user(user)]).await;
}

pub(super) async fn ending_all_sessions(scene: &mut Scene) {
    let (here, _) = (enter(scene, "toy-ann").await, enter(scene, "toy-ann").await);
    scene.begin().await;
    let (context, by_person) = (&scene.world.context, by_person());
    end_sessions(context, &by_person, &here, WhichSessions::All).await.unwrap();
    end_sessions(context, &by_person, &here, WhichSessions::All).await.unwrap_err();
    let user = scene.user("toy-ann").await;
    let told = Told::of(EventKind::SessionEnded, &by_person, json!({ "sessions": "all" }));
    scene.told(&[told.user(user)]).await;
}

pub(super) async fn revoking_a_consent(scene: &mut Scene) {
    let client = scene.world.client().await;
    scene.world.tokens(&client, "toy-ann").await;
    let browser = enter(scene, "toy-ann").await;
    let id = ClientId::named(&client.id).unwrap();
    scene.begin().await;
    let (context, by_person) = (&scene.world.context, by_person());
    revoke_consent(context, &by_person, &nobody(), id).await.unwrap_err();
    assert!(revoke_consent(context, &by_person, &browser, id).await.unwrap());
    assert!(!revoke_consent(context, &by_person, &browser, id).await.unwrap());
    let user = scene.user("toy-ann").await;
    let told = Told::of(EventKind::ConsentRevoked, &by_person, json!({}));
    scene.told(&[told.user(user).client(&client)]).await;
}

pub(super) async fn linking_and_unlinking(scene: &mut Scene) {
    enter(scene, "toy-ann").await;
    enter(scene, "toy-bob").await;
    scene.begin().await;
    let (context, by_person) = (&scene.world.context, by_person());
    let signed =
        |address: &str, text: &str| SignedText { text: text.to_owned(), signature: sign(address, text) };
    let link = async |other: &str| {
        let wanted = WantedChange::Link;
        let (mut pending, texts) =
            begin_wallet_change(context, wanted, named("toy-ann"), named(other)).unwrap();
        let mine = signed("toy-ann", &texts.signer.text);
        let theirs = signed(other, &texts.other.unwrap().text);
        link_wallet(context, &by_person, &mut pending, mine, theirs, Some("My own words")).await
    };
    let unlink = async |other: &str| {
        let wanted = WantedChange::Unlink;
        let (mut pending, texts) =
            begin_wallet_change(context, wanted, named("toy-ann"), named(other)).unwrap();
        unlink_wallet(context, &by_person, &mut pending, signed("toy-ann", &texts.signer.text)).await
    };
    link("toy-bob").await.unwrap_err();
    link("toy-phone").await.unwrap();
    link("toy-phone").await.unwrap();
    unlink("toy-bob").await.unwrap_err();
    let user = context.storage.find_owner(toy("toy-ann")).await.unwrap().unwrap();
    let linked = Told::of(EventKind::WalletLinked, &by_person, json!({})).user(user).wallet("toy-phone");
    unlink("toy-phone").await.unwrap();
    unlink("toy-phone").await.unwrap_err();
    unlink("toy-ann").await.unwrap_err();
    let unlinked = Told::of(EventKind::WalletUnlinked, &by_person, json!({})).user(user).wallet("toy-phone");
    scene.told(&[linked, unlinked]).await;
}

struct Mailbox;

#[async_trait]
impl Mailer for Mailbox {
    async fn send(&self, _: Mail) -> Result<(), MailError> {
        Ok(())
    }

    async fn check(&self) -> Result<(), MailError> {
        Ok(())
    }
}

pub(super) async fn confirming_an_address(scene: &mut Scene) {
    scene.world.context.mailer = Some(Arc::new(Mailbox));
    let (ann, bob) = (enter(scene, "toy-ann").await, enter(scene, "toy-bob").await);
    scene.begin().await;
    let (context, by_person) = (&scene.world.context, by_person());
    let link = put_email(context, &ann, "ann@example.com").await.unwrap().link.unwrap().secret;
    let confirm =
        async |browser| confirm_email(context, &by_person, browser, &link, SharedAddress::Refused).await;
    confirm(&bob).await.unwrap_err();
    confirm(&ann).await.unwrap();
    confirm(&ann).await.unwrap_err();
    let user = scene.user("toy-ann").await;
    scene.told(&[Told::of(EventKind::EmailConfirmed, &by_person, json!({})).user(user)]).await;
}

pub(super) async fn deleting_an_account(scene: &mut Scene) {
    let client = scene.world.client().await;
    scene.world.tokens(&client, "toy-ann").await;
    let browser = enter(scene, "toy-ann").await;
    scene.begin().await;
    let context = &scene.world.context;
    delete_account(context, &by_person(), &nobody()).await.unwrap_err();
    delete_account(context, &by_person(), &browser).await.unwrap();
    delete_account(context, &by_person(), &browser).await.unwrap_err();
    let told = scene.news().await;
    let [told] = &told[..] else {
        assert!(scene.world.context.policy.events.retention.is_none(), "{told:#?}");
        return;
    };
    scene.kinds.insert(told.kind);
    // Two sign-ins were told of her.
    assert_eq!(
        (told.kind, &told.details),
        (EventKind::AccountDeleted, &json!({ "proof": told.details["proof"], "events": 2 }))
    );
    assert!(matches!(told.person, Some(EventPerson::Deleted(_))), "{told:?}");
    assert_eq!((&told.wallet, &told.client, &told.cause.request), (&None, &None, &None));
}

/// A block that is stored while a sign-in is under way: what was told stays true, and the end is told too.
#[tokio::test]
async fn what_a_sign_in_gave_is_told_and_that_the_server_took_it_back() {
    for way in ["browser", "account", "program"] {
        let (world, storage) = breakable::world();
        let client = programs::program(&world).await;
        let mut pending = match way {
            "browser" => world.pending(&client, &[]).await,
            _ => {
                let policy = &world.context.policy;
                let now = world.context.clock.now();
                PendingAuthorization::for_account(&policy.public_url, now, &policy.lifetimes)
            }
        };
        let text = match way {
            "program" => programs::text(&world, &client).await,
            _ => issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap().text,
        };
        let by_person = by_person();
        let sign_in = async |pending: &mut PendingAuthorization| {
            if way == "program" {
                let asked = programs::signed(&client, &text);
                return sign_in_program(&world.context, &by_person, asked).await.is_ok();
            }
            let wishes = LoginWishes { remember: true, ..LoginWishes::default() };
            let signed = SignedChallenge {
                wallet_address: "toy-ann".to_owned(),
                signature: sign("toy-ann", &text),
                challenge: text.clone(),
            };
            complete_login(&world.context, &by_person, pending, signed, wishes).await.is_ok()
        };
        // The door looks for blocks after its commit. By then a moment has passed, and somebody is blocked.
        let (inner, clock) = (storage.inner(), Arc::clone(&world.clock));
        let block = async move {
            let block = Block { at: clock.now(), reason: None };
            let who = Subject::Wallet(toy("toy-ann"));
            inner.put_block(PutBlock { who, block, event: None }).await.unwrap();
            clock.advance(Duration::seconds(1));
        };
        storage.after_first(["complete_login", "open_session"], Box::pin(block));
        assert!(!sign_in(&mut pending).await, "{way}");
        let events = storage.inner().fresh_events(100).await.unwrap().into_iter();
        let of_people = events.filter(|event| event.kind != EventKind::ClientRegistered);
        let told: Vec<_> = of_people.map(Told::from).collect();
        let kinds: Vec<_> = told.iter().map(|told| (told.kind, told.cause.actor.to_string())).collect();
        let revoked = (EventKind::GrantRevoked, "server".to_owned());
        let ended = (EventKind::SessionEnded, "server".to_owned());
        let mut expected = vec![(EventKind::SignIn, "person".to_owned())];
        match way {
            "browser" => expected.extend([revoked, ended]),
            "account" => expected.push(ended),
            _ => expected.push(revoked),
        }
        let (mut kinds, mut wanted) = (kinds, expected);
        kinds.sort();
        wanted.sort();
        assert_eq!(kinds, wanted, "{way}: {told:#?}");
        let user = storage.inner().find_owner(toy("toy-ann")).await.unwrap().unwrap();
        assert!(told.iter().all(|told| told.person == Some(EventPerson::User(user))), "{told:#?}");
    }
}
