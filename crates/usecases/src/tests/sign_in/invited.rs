//! People who come in by an invitation.

use countersign_domain::admission::Release;
use countersign_domain::challenge::ReadText;
use countersign_domain::client::ClientOrigin;
use countersign_domain::group::{Group, GroupName};
use countersign_domain::id::{ClientId, InvitationId};
use countersign_domain::invitation::{Invitation, InvitationLimits, InvitationState};
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::person_name::PersonName;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::subject::Subject;
use countersign_ports::{CreateGroup, CreateInvitation, EntropyExt, InvitationCreated, RevokeInvitation};

use crate::sign_in::complete_login::{CompleteLoginError, LoginWishes, SignedChallenge, complete_login};
use crate::sign_in::issue_challenge::issue_challenge;
use crate::sign_in::open_invitation::open_invitation;
use crate::steps::accept_invitation::InvitationRefused;
use crate::steps::login::{Browser, find_login};
use crate::tests::world::{TestClient, World, as_person, named, sign, toy};

fn staff() -> GroupName {
    GroupName::parse("staff").unwrap()
}

/// An invitation into `staff`, and what its link contains.
async fn invite(world: &World, uses: u32, client: Option<&TestClient>) -> (Invitation, Secret) {
    let now = world.context.clock.now();
    let group = Group { name: staff(), title: None, created_at: now };
    let create = CreateGroup { group, members: Vec::new(), event: None, text: None };
    world.context.storage.create_group(create).await.unwrap();
    let secret = Secret::from_random(world.context.entropy.bytes());
    let invitation = Invitation {
        id: InvitationId::at(now, world.context.entropy.bytes()),
        hash: SecretHash::of(&secret),
        group: staff(),
        client: client.and_then(|client| ClientId::named(&client.id)),
        inviter: None,
        name: PersonName::parse("Ann").ok().filter(|_| uses == 1),
        uses,
        used: 0,
        created_at: now,
        expires_at: InvitationLimits::USUAL.end(now),
        revoked_at: None,
    };
    let command = CreateInvitation { invitation: invitation.clone(), event: None };
    let created = world.context.storage.create_invitation(command).await.unwrap();
    assert_eq!(created, InvitationCreated::Stored);
    (invitation, secret)
}

/// A client that only `staff` can sign in to.
async fn of_staff(world: &World) -> TestClient {
    let client = world.register_by(RequestedMetadata::default(), ClientOrigin::Operator).await;
    world.decide(&client, "groups:staff", Release::OfRule).await;
    client
}

/// Presents a text with a signature.
async fn present(
    world: &World,
    pending: &mut PendingAuthorization,
    text: &str,
    signature: &str,
) -> CompleteLoginError {
    let signed = SignedChallenge {
        wallet_address: "toy-ann".to_owned(),
        challenge: text.to_owned(),
        signature: signature.to_owned(),
    };
    complete_login(&world.context, &as_person(), pending, signed, LoginWishes::default()).await.unwrap_err()
}

fn accepting(invitation: &Invitation, pending: PendingAuthorization) -> PendingAuthorization {
    PendingAuthorization { invitation: Some(invitation.accepted()), ..pending }
}

async fn used(world: &World, invitation: &Invitation) -> u32 {
    world.context.storage.find_invitation(invitation.id).await.unwrap().unwrap().used
}

async fn is_staff(world: &World, address: &str) -> bool {
    world.context.storage.standing_of(&toy(address)).await.unwrap().groups.contains(&staff())
}

#[tokio::test]
async fn one_signature_brings_a_stranger_into_the_group_and_to_its_application() {
    let world = World::new();
    let client = of_staff(&world).await;
    let (invitation, _) = invite(&world, 1, Some(&client)).await;
    let refused = world.sign_in(&mut world.pending(&client, &[]).await, "toy-ann").await.unwrap_err();
    assert!(matches!(refused, CompleteLoginError::NotAdmitted(_)), "{refused}");
    let mut pending = accepting(&invitation, world.pending(&client, &[]).await);
    let text = issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap().text;
    let read = ReadText::read(&text).unwrap();
    assert!(read.statement.unwrap().contains("Join the group staff by invitation."), "{text}");
    assert!(text.contains(&format!("urn:countersign:invitation:{}", invitation.id)), "{text}");
    world.sign_in(&mut pending, "toy-ann").await.unwrap();
    assert!(is_staff(&world, "toy-ann").await);
    assert_eq!(used(&world, &invitation).await, 1);
    let who = vec![Subject::Wallet(toy("toy-ann"))];
    let names = world.context.storage.names_of(who).await.unwrap();
    assert_eq!(names[0].as_ref().map(|known| known.name.as_str()), Some("Ann"));
    world.sign_in(&mut world.pending(&client, &[]).await, "toy-ann").await.unwrap();

    let mut late = accepting(&invitation, world.pending(&client, &[]).await);
    let refused = world.sign_in(&mut late, "toy-bob").await.unwrap_err();
    let ended = InvitationRefused::Ended(InvitationState::Used);
    assert!(matches!(refused, CompleteLoginError::Invitation(why) if why == ended), "{refused:?}");
    assert!(!is_staff(&world, "toy-bob").await);
}

#[tokio::test]
async fn an_invitation_is_no_way_around_a_block_or_the_rule_of_an_application() {
    let world = World::new();
    let client = of_staff(&world).await;
    let (invitation, _) = invite(&world, 5, None).await;
    world.block(Subject::Wallet(toy("toy-eve"))).await;
    let mut pending = accepting(&invitation, world.pending(&client, &[]).await);
    let refused = world.sign_in(&mut pending, "toy-eve").await.unwrap_err();
    assert!(matches!(refused, CompleteLoginError::NotAdmitted(_)), "{refused}");
    // Its group does not lead in everywhere.
    world.decide(&client, "groups:board", Release::OfRule).await;
    let mut pending = accepting(&invitation, world.pending(&client, &[]).await);
    let refused = world.sign_in(&mut pending, "toy-ann").await.unwrap_err();
    assert!(matches!(refused, CompleteLoginError::NotAdmitted(_)), "{refused}");
    assert_eq!(used(&world, &invitation).await, 0, "nothing is spent on people who are turned away");
    assert!(!is_staff(&world, "toy-eve").await && !is_staff(&world, "toy-ann").await);
}

#[tokio::test]
async fn a_wrong_signature_spends_nothing() {
    let world = World::new();
    let client = of_staff(&world).await;
    let (invitation, _) = invite(&world, 1, None).await;
    let mut pending = accepting(&invitation, world.pending(&client, &[]).await);
    let text = issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap().text;
    let refused = present(&world, &mut pending, &text, "nonsense").await;
    assert!(matches!(refused, CompleteLoginError::Signature(_)), "{refused}");
    // A text that was issued without the invitation is not one that accepts it.
    let mut plain = world.pending(&client, &[]).await;
    let text = issue_challenge(&world.context, &mut plain, named("toy-ann")).unwrap().text;
    let refused = present(&world, &mut pending, &text, &sign("toy-ann", &text)).await;
    assert!(matches!(refused, CompleteLoginError::Challenge(_)), "{refused}");
    assert_eq!((used(&world, &invitation).await, is_staff(&world, "toy-ann").await), (0, false));
}

#[tokio::test]
async fn a_link_leads_to_its_invitation_and_no_other_text_does() {
    let world = World::new();
    let client = of_staff(&world).await;
    let (invitation, secret) = invite(&world, 1, Some(&client)).await;
    let opened = open_invitation(&world.context, &secret).await.unwrap().unwrap();
    assert_eq!((&opened.invitation, opened.state), (&invitation, InvitationState::Open));
    assert_eq!(opened.leads_to.map(|leads| leads.name).as_deref(), Some("Photo Album"));
    let text = secret.expose();
    let swapped = if text.starts_with('A') { "B" } else { "A" };
    for altered in [
        &text[1..],
        &format!("{text}A"),
        &format!("{swapped}{}", &text[1..]),
        "",
        "../",
        &text.to_lowercase(),
    ] {
        assert_eq!(open_invitation(&world.context, &Secret::new(altered)).await.unwrap(), None, "{altered}");
    }
    let now = world.context.clock.now();
    let command = RevokeInvitation { id: invitation.id, now, event: None };
    assert!(world.context.storage.revoke_invitation(command).await.unwrap());
    let opened = open_invitation(&world.context, &secret).await.unwrap().unwrap();
    assert_eq!(opened.state, InvitationState::Revoked);
}

/// What a session remembers answers no request that accepts an invitation: the text names it.
#[tokio::test]
async fn a_remembered_sign_in_accepts_no_invitation() {
    let world = World::new();
    let client = world.client().await;
    let (invitation, _) = invite(&world, 1, None).await;
    let mut browser = Browser::default();
    world.remember(&mut browser, &mut world.pending(&client, &[]).await, "toy-ann").await;
    let found = find_login(&world.context, browser.login.as_ref()).await.unwrap().unwrap();
    let plain = world.pending(&client, &[]).await;
    assert!(plain.takes_session(&found));
    assert!(!accepting(&invitation, plain).takes_session(&found));
}
