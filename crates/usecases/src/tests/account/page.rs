//! The account page's use-cases.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use countersign_domain::email::{EmailAddress, EmailRejected};
use countersign_domain::id::{ClientId, SessionId};
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::secret::Secret;
use countersign_ports::{Mail, MailError, Mailer, PutEmail, SharedAddress};
use time::Duration;

use crate::Refuse;
use crate::account::change_email::{ChangeEmailError, put_email, remove_email};
use crate::account::confirm_email::{ConfirmEmailError, LinkOpened, confirm_email, open_link};
use crate::account::delete_account::delete_account;
use crate::account::end_sessions::{WhichSessions, end_sessions};
use crate::account::read_account::{AccountShown, download_account, read_account};
use crate::account::revoke_consent::revoke_consent;
use crate::sign_in::complete_login::{CompleteLoginError, LoginWishes, SignedChallenge, complete_login};
use crate::sign_in::deny_authorization::deny_authorization;
use crate::sign_in::issue_challenge::issue_challenge;
use crate::steps::login::{AccountError, Browser, find_login};
use crate::tests::world::{PERSON, World, named, sign};

/// Takes mail and keeps it.
#[derive(Default)]
struct Mailbox(Mutex<Vec<Mail>>);

#[async_trait]
impl Mailer for Mailbox {
    async fn send(&self, mail: Mail) -> Result<(), MailError> {
        self.0.lock().unwrap().push(mail);
        Ok(())
    }

    async fn check(&self) -> Result<(), MailError> {
        Ok(())
    }
}

fn with_mail() -> World {
    let mut world = World::new();
    world.context.mailer = Some(Arc::new(Mailbox::default()));
    world
}

/// Follows a link in a browser, and presses the first button.
async fn follow(world: &World, browser: &Browser, secret: &Secret) -> Result<(), ConfirmEmailError> {
    confirm_email(&world.context, &PERSON, browser, secret, SharedAddress::Refused).await
}

fn account_request(world: &World) -> PendingAuthorization {
    let policy = &world.context.policy;
    PendingAuthorization::for_account(&policy.public_url, world.context.clock.now(), &policy.lifetimes)
}

/// Signs in to the account page.
async fn enter(world: &World, address: &str) -> Browser {
    let mut browser = Browser { name: "Firefox on Linux".to_owned(), login: None };
    let to = world.remember(&mut browser, &mut account_request(world), address).await;
    assert_eq!(to, "https://auth.example.com/account");
    browser
}

async fn shown(world: &World, browser: &Browser) -> AccountShown {
    read_account(&world.context, browser).await.unwrap()
}

#[tokio::test]
async fn the_account_page_is_signed_in_to_with_a_text_that_says_so_and_gives_no_code() {
    let world = World::new();
    let mut request = account_request(&world);
    let text = issue_challenge(&world.context, &mut request, named("toy-ann")).unwrap().text;
    assert!(text.contains("\nSign in to my account here. This costs nothing"), "{text}");
    assert!(text.ends_with("Resources:\n- urn:countersign:account"), "{text}");
    let browser = enter(&world, "toy-ann").await;
    let account = shown(&world, &browser).await;
    assert_eq!(account.signed_in_as.address, "toy-ann");
    assert_eq!((account.wallets.len(), account.sessions.len(), account.consents.len()), (1, 1, 0));
    assert_eq!(account.sessions[0].browser, "Firefox on Linux");
    let to = deny_authorization(&world.context, &request).await.unwrap();
    assert_eq!(to.address(), "https://auth.example.com/");
}

#[tokio::test]
async fn b_001_a_text_for_the_account_page_works_once() {
    let world = World::new();
    let mut request = account_request(&world);
    let text = issue_challenge(&world.context, &mut request, named("toy-ann")).unwrap().text;
    let mut copy = request.clone();
    let signed = SignedChallenge {
        wallet_address: "toy-ann".to_owned(),
        signature: sign("toy-ann", &text),
        challenge: text,
    };
    let wishes = LoginWishes::default;
    complete_login(&world.context, &PERSON, &mut request, signed.clone(), wishes()).await.unwrap();
    let error = complete_login(&world.context, &PERSON, &mut copy, signed, wishes()).await.unwrap_err();
    assert!(matches!(error, CompleteLoginError::ChallengeSpent));
}

#[tokio::test]
async fn whoever_is_not_signed_in_sees_and_changes_nothing() {
    let world = World::new();
    let client = world.client().await;
    enter(&world, "toy-ann").await;
    let nobody = Browser { login: Some(Secret::new("x")), ..Browser::default() };
    let context = &world.context;
    let id = ClientId::parse(&client.id).unwrap();
    let refused = [
        read_account(context, &nobody).await.map(|_| ()).unwrap_err(),
        revoke_consent(context, &PERSON, &nobody, id).await.map(|_| ()).unwrap_err(),
        end_sessions(context, &PERSON, &nobody, WhichSessions::All).await.map(|_| ()).unwrap_err(),
        remove_email(context, &nobody).await.map(|_| ()).unwrap_err(),
        delete_account(context, &PERSON, &nobody).await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.refusal().description, "no one is signed in here");
    }
    let error = put_email(context, &nobody, "ann@example.com").await.unwrap_err();
    assert_eq!(error.refusal().code.name(), "access_denied");
}

#[tokio::test]
async fn taking_access_away_ends_the_clients_tokens_and_its_next_visit_needs_a_signature() {
    let world = World::new();
    let (client, other) = (world.client().await, world.client().await);
    let browser = enter(&world, "toy-ann").await;
    let (tokens, others) = (world.tokens(&client, "toy-ann").await, world.tokens(&other, "toy-ann").await);
    assert_eq!(shown(&world, &browser).await.consents.len(), 2);
    let id = ClientId::parse(&client.id).unwrap();
    assert!(revoke_consent(&world.context, &PERSON, &browser, id).await.unwrap());
    assert!(!world.is_alive(&tokens).await);
    assert!(world.refresh(&client, &tokens).await.is_err());
    assert!(world.is_alive(&others).await);
    assert_eq!(shown(&world, &browser).await.consents.len(), 1);
    assert!(!revoke_consent(&world.context, &PERSON, &browser, id).await.unwrap(), "a second time");
}

#[tokio::test]
async fn a_person_ends_one_session_or_all_and_nobody_elses() {
    let world = World::new();
    let (here, there, bobs) =
        (enter(&world, "toy-ann").await, enter(&world, "toy-ann").await, enter(&world, "toy-bob").await);
    let id_of = |browser: &Browser| SessionId::from_uuid(browser.login.as_ref().unwrap().id().unwrap());
    let is_in =
        async |browser: &Browser| find_login(&world.context, browser.login.as_ref()).await.unwrap().is_some();
    let ended = end_sessions(&world.context, &PERSON, &here, WhichSessions::One(id_of(&bobs))).await.unwrap();
    assert!(!ended.this_one && is_in(&bobs).await, "somebody else's session");
    let ended =
        end_sessions(&world.context, &PERSON, &here, WhichSessions::One(id_of(&there))).await.unwrap();
    assert!(!ended.this_one && !is_in(&there).await && is_in(&here).await);
    let ended = end_sessions(&world.context, &PERSON, &here, WhichSessions::All).await.unwrap();
    assert!(ended.this_one && !is_in(&here).await && is_in(&bobs).await);
}

#[tokio::test]
async fn an_address_is_verified_by_the_link_that_was_mailed_to_it_and_by_no_other() {
    let world = with_mail();
    let browser = enter(&world, "toy-ann").await;
    let context = &world.context;
    let early = put_email(context, &browser, "old@example.com").await.unwrap().link.unwrap();
    let link = put_email(context, &browser, " ann@Example.com ").await.unwrap().link.unwrap();
    assert_eq!(link.to.as_str(), "ann@example.com");
    assert!(link.url(context).starts_with("https://auth.example.com/account/email/confirm?token="));
    assert!(follow(&world, &browser, &early.secret).await.is_err(), "that address is not on file any more");
    assert!(follow(&world, &browser, &Secret::new("x")).await.is_err());
    follow(&world, &browser, &link.secret).await.unwrap();
    assert!(shown(&world, &browser).await.email.unwrap().verified_at.is_some());
    assert!(follow(&world, &browser, &link.secret).await.is_err(), "a second time");
    let again = put_email(context, &browser, "ann@example.com").await.unwrap();
    assert!(again.already_verified && again.link.is_none());
    assert!(remove_email(context, &browser).await.unwrap());
    assert!(shown(&world, &browser).await.email.is_none());
}

#[tokio::test]
async fn a_link_in_a_mail_is_good_for_a_day() {
    let world = with_mail();
    let browser = enter(&world, "toy-ann").await;
    let link = put_email(&world.context, &browser, "ann@example.com").await.unwrap().link.unwrap();
    world.advance(Duration::days(1));
    let browser = enter(&world, "toy-ann").await;
    assert!(matches!(follow(&world, &browser, &link.secret).await, Err(ConfirmEmailError::LinkInvalid)));
}

#[tokio::test]
async fn an_address_given_at_sign_in_is_filed_for_whoever_has_none_and_a_bad_one_stops_before_the_signature()
{
    let world = with_mail();
    let client = world.client().await;
    let sign_in = async |email: &str| {
        let mut pending = world.pending(&client, &[("scope", "profile email")]).await;
        let wishes = LoginWishes { email: Some(email.to_owned()), ..LoginWishes::default() };
        world.sign_in_with(&mut pending, "toy-ann", wishes).await
    };
    let error = sign_in("ann@").await.unwrap_err();
    assert_eq!(error.refusal().description, "email is not an e-mail address such as ada@example.com");
    assert!(sign_in("ann@example.com").await.unwrap().link.is_some());
    assert!(sign_in("eve@example.com").await.unwrap().link.is_none(), "there is one on file");
    let tokens = world.tokens(&client, "toy-ann").await;
    let email = world.user_info(&tokens).await.unwrap().email.unwrap();
    assert_eq!((email.address.as_str(), email.verified), ("ann@example.com", false));
}

#[tokio::test]
async fn a_086_nobody_gets_a_made_up_address_unless_the_operator_says_so() {
    let mut world = World::new();
    let client = world.client().await;
    let tokens = world.tokens(&client, "toy-ann").await;
    assert!(world.user_info(&tokens).await.unwrap().email.is_none());
    world.context.policy.synthetic_email = true;
    let info = world.user_info(&tokens).await.unwrap();
    let email = info.email.unwrap();
    assert_eq!(email.address.as_str(), format!("{}@wallet.invalid", info.subject));
    assert!(!email.verified);
}

#[tokio::test]
async fn an_account_is_deleted_after_a_recent_signature_only_and_then_nothing_of_it_is_left() {
    let world = World::new();
    let client = world.client().await;
    let browser = enter(&world, "toy-ann").await;
    let tokens = world.tokens(&client, "toy-ann").await;
    let before = shown(&world, &browser).await.user;
    world.advance(Duration::minutes(10));
    let error = delete_account(&world.context, &PERSON, &browser).await.unwrap_err();
    assert!(matches!(error, AccountError::SignedInLongAgo));
    let browser = enter(&world, "toy-ann").await;
    delete_account(&world.context, &PERSON, &browser).await.unwrap();
    assert!(!world.is_alive(&tokens).await);
    assert!(matches!(read_account(&world.context, &browser).await, Err(AccountError::SignedOut)));
    let browser = enter(&world, "toy-ann").await;
    let account = shown(&world, &browser).await;
    assert_ne!(account.user, before, "the wallet's next sign-in makes somebody new");
    assert_eq!(account.consents.len(), 0);
}

/// F-10: a link only proves who reads the mail. Their session says whose account it is for.
#[tokio::test]
async fn f_10_a_link_confirms_for_whoever_gave_the_address_and_is_signed_in_and_for_nobody_else() {
    let world = with_mail();
    let (ann, bob) = (enter(&world, "toy-ann").await, enter(&world, "toy-bob").await);
    let context = &world.context;
    let link = put_email(context, &ann, "ann@example.com").await.unwrap().link.unwrap();
    for other in [&bob, &Browser::default()] {
        assert!(matches!(follow(&world, other, &link.secret).await, Err(ConfirmEmailError::NotTheirs)));
        let LinkOpened::ForAnother { wallet, signed_in_as } =
            open_link(context, other, &link.secret).await.unwrap()
        else {
            panic!("the link is Ann's")
        };
        assert_eq!((wallet.address.as_str(), signed_in_as.is_some()), ("toy-ann", other.login.is_some()));
    }
    assert_eq!(open_link(context, &bob, &Secret::new("x")).await.unwrap(), LinkOpened::Invalid);
    let forged = Secret::with_id(link.secret.id().unwrap(), [0; 32]);
    assert_eq!(open_link(context, &bob, &forged).await.unwrap(), LinkOpened::Invalid, "it tells no wallet");
    assert!(shown(&world, &ann).await.email.unwrap().verified_at.is_none());
    follow(&world, &ann, &link.secret).await.unwrap();
    assert!(shown(&world, &ann).await.email.unwrap().verified_at.is_some());
}

/// F-10: an address that another account has confirmed is confirmed only by a person who was told so.
#[tokio::test]
async fn f_10_an_address_of_two_accounts_is_confirmed_for_the_second_only_where_its_owner_agrees() {
    let world = with_mail();
    let (ann, bob) = (enter(&world, "toy-ann").await, enter(&world, "toy-bob").await);
    let context = &world.context;
    let first = put_email(context, &ann, "ann@example.com").await.unwrap().link.unwrap();
    let second = put_email(context, &bob, "Ann@example.com").await.unwrap().link.unwrap();
    follow(&world, &ann, &first.secret).await.unwrap();
    let refused = follow(&world, &bob, &second.secret).await;
    assert!(matches!(refused, Err(ConfirmEmailError::SharedAddress)));
    confirm_email(context, &PERSON, &bob, &second.secret, SharedAddress::Agreed).await.unwrap();
    for browser in [&ann, &bob] {
        assert!(shown(&world, browser).await.email.unwrap().verified_at.is_some());
    }
}

/// B-064: a browser that somebody left open can neither change where their mail goes nor download everything.
#[tokio::test]
async fn an_address_changes_and_everything_is_told_after_a_recent_signature_only() {
    let world = World::new();
    let browser = enter(&world, "toy-ann").await;
    let context = &world.context;
    put_email(context, &browser, "ann@example.com").await.unwrap();
    world.advance(Duration::minutes(10));
    let refused = [
        download_account(context, &browser).await.map(|_| ()).unwrap_err(),
        remove_email(context, &browser).await.map(|_| ()).unwrap_err(),
    ];
    assert!(refused.iter().all(|error| matches!(error, AccountError::SignedInLongAgo)));
    let error = put_email(context, &browser, "eve@example.com").await.unwrap_err();
    assert_eq!(error.refusal().description, "this needs a signature that is not older than ten minutes");
    assert_eq!(shown(&world, &browser).await.email.unwrap().address.as_str(), "ann@example.com");
    let browser = enter(&world, "toy-ann").await;
    download_account(context, &browser).await.unwrap();
    assert!(remove_email(context, &browser).await.unwrap());
}

/// F-14: nobody can file an address that we make up for somebody else, and one that an older build filed
/// counts as none.
#[tokio::test]
async fn f_14_a_synthetic_address_is_never_anybodys_own() {
    let mut world = World::new();
    world.context.policy.synthetic_email = true;
    let client = world.client().await;
    let (ann, bob) = (enter(&world, "toy-ann").await, enter(&world, "toy-bob").await);
    let anns = format!("{}@wallet.invalid", shown(&world, &ann).await.user);
    let context = &world.context;
    let error = put_email(context, &bob, &anns).await.unwrap_err();
    assert!(matches!(error, ChangeEmailError::Email(EmailRejected::Reserved("invalid"))));
    let mut pending = world.pending(&client, &[("scope", "profile email")]).await;
    let wishes = LoginWishes { email: Some(anns.clone()), ..LoginWishes::default() };
    let error = world.sign_in_with(&mut pending, "toy-bob", wishes).await.unwrap_err();
    assert!(error.refusal().description.contains("reserved domain"), "{error:?}");

    let user = shown(&world, &bob).await.user;
    let address = EmailAddress::from_trusted(anns.clone());
    let now = context.clock.now();
    let filed = PutEmail { user, address, confirmation: None, replace: true, now };
    context.storage.put_email(filed).await.unwrap();
    assert!(shown(&world, &bob).await.email.is_none());
    let tokens = world.tokens(&client, "toy-bob").await;
    let told = world.user_info(&tokens).await.unwrap().email;
    assert_ne!(told.map(|email| email.address.to_string()), Some(anns));
}
