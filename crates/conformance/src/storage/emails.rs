//! Addresses are stored, confirmed and removed.

use std::sync::Arc;

use countersign_domain::email::{EmailAddress, EmailConfirmation, UserEmail};
use countersign_domain::id::UserId;
use countersign_domain::secret::SecretHash;
use countersign_ports::{ConfirmEmail, EmailConfirmed, EmailPut, PutEmail, SharedAddress, Storage};
use time::{Duration, OffsetDateTime};

use super::steps;
use crate::fixtures;

async fn put(store: &dyn Storage, command: &PutEmail) -> EmailPut {
    store.put_email(command.clone()).await.unwrap()
}

async fn email(store: &dyn Storage, user: UserId) -> Option<UserEmail> {
    store.find_email(user).await.unwrap()
}

async fn confirm(store: &dyn Storage, user: UserId, link: EmailConfirmation) -> bool {
    follow(store, fixtures::confirm_email(user, link)).await == EmailConfirmed::Confirmed
}

async fn follow(store: &dyn Storage, command: ConfirmEmail) -> EmailConfirmed {
    store.confirm_email(command).await.unwrap()
}

/// A user with an address and its link.
async fn user_with_address(store: &dyn Storage) -> (PutEmail, EmailConfirmation) {
    let user = steps::sign_in(store).await.new_user;
    let link = fixtures::email_confirmation();
    let command = PutEmail { confirmation: Some(link), ..fixtures::put_email(user) };
    assert_eq!(put(store, &command).await, EmailPut::Stored);
    (command, link)
}

/// What must be on file after this command.
fn on_file(command: &PutEmail) -> UserEmail {
    UserEmail {
        address: command.address.clone(),
        added_at: command.now,
        verified_at: None,
        confirmation: command.confirmation,
    }
}

fn later(hours: i64) -> OffsetDateTime {
    fixtures::NOW + Duration::hours(hours)
}

/// With a link or without one; the account shows it.
pub async fn an_address_that_was_put_is_on_file(store: Arc<dyn Storage>) {
    for confirmation in [None, Some(fixtures::email_confirmation())] {
        let user = steps::sign_in(&*store).await.new_user;
        assert_eq!(email(&*store, user).await, None);
        assert_eq!(steps::account(&*store, user).await.email, None);
        let command = PutEmail { confirmation, now: later(3), ..fixtures::put_email(user) };
        assert_eq!(put(&*store, &command).await, EmailPut::Stored);
        assert_eq!(email(&*store, user).await, Some(on_file(&command)));
        assert_eq!(steps::account(&*store, user).await.email, Some(on_file(&command)));
    }
}

/// The longest address, unusual ones, every byte of a hash, extreme times.
pub async fn every_value_of_an_address_survives(store: Arc<dyn Storage>) {
    let longest = format!("{}@{}.example", "a".repeat(64), vec!["b".repeat(59); 3].join("."));
    for (text, byte) in
        [(longest.as_str(), 0), ("o'hara\"{}|~%_@mail.example", 128), ("é🦀@例え.テスト", 255)]
    {
        let user = steps::sign_in(&*store).await.new_user;
        let hash = SecretHash::from_bytes([byte; 32]);
        let now = fixtures::NOW + Duration::days(40_000);
        let confirmation = Some(EmailConfirmation { hash, expires_at: now + Duration::days(1) });
        let address = EmailAddress::from_trusted(text.to_owned());
        let command = PutEmail { user, address, confirmation, replace: false, now };
        assert_eq!(put(&*store, &command).await, EmailPut::Stored);
        assert_eq!(email(&*store, user).await, Some(on_file(&command)));
        let shared = SharedAddress::Refused;
        let command_of_link = ConfirmEmail { user, hash, shared, now, event: None };
        assert_eq!(follow(&*store, command_of_link).await, EmailConfirmed::Confirmed);
        assert_eq!(email(&*store, user).await.unwrap().address, command.address);
    }
}

/// An address for an unknown user is refused.
pub async fn an_address_of_nobody_is_refused(store: Arc<dyn Storage>) {
    let nobody = fixtures::user_id();
    for replace in [false, true] {
        let command = PutEmail { replace, ..fixtures::put_email(nobody) };
        assert_eq!(put(&*store, &command).await, EmailPut::UserUnknown);
    }
    assert_eq!(email(&*store, nobody).await, None);
    assert!(!store.remove_email(nobody).await.unwrap());
    assert!(!confirm(&*store, nobody, fixtures::email_confirmation()).await);
}

/// Its creation time stays; the new link confirms it, and the old one does not.
pub async fn the_same_address_again_gets_the_new_link(store: Arc<dyn Storage>) {
    for replace in [false, true] {
        let (first, old) = user_with_address(&*store).await;
        let new = fixtures::email_confirmation();
        let again = PutEmail { confirmation: Some(new), replace, now: later(1), ..first.clone() };
        for _ in 0..2 {
            assert_eq!(put(&*store, &again).await, EmailPut::Stored);
            let expected = UserEmail { confirmation: Some(new), ..on_file(&first) };
            assert_eq!(email(&*store, first.user).await, Some(expected));
        }
        assert!(!confirm(&*store, first.user, old).await);
        assert!(confirm(&*store, first.user, new).await);
    }
}

/// It stays verified, and the new link is not stored.
pub async fn a_verified_address_again_changes_nothing(store: Arc<dyn Storage>) {
    for replace in [false, true] {
        let (first, link) = user_with_address(&*store).await;
        assert!(confirm(&*store, first.user, link).await);
        let before = email(&*store, first.user).await;
        let new = fixtures::email_confirmation();
        let again = PutEmail { confirmation: Some(new), replace, now: later(1), ..first.clone() };
        assert_eq!(put(&*store, &again).await, EmailPut::AlreadyVerified);
        assert_eq!(email(&*store, first.user).await, before);
        assert!(!confirm(&*store, first.user, new).await);
        assert_eq!(email(&*store, first.user).await, before);
    }
}

/// Verified or not, a command that does not say so does not replace it, and its link stays valid. Addresses
/// are compared byte for byte.
pub async fn another_address_is_refused_where_it_may_not_replace(store: Arc<dyn Storage>) {
    let (first, link) = user_with_address(&*store).await;
    let upper_case = EmailAddress::from_trusted(first.address.as_str().to_uppercase());
    for address in [fixtures::email_address(), upper_case] {
        let other = PutEmail { address, now: later(1), ..fixtures::put_email(first.user) };
        assert_eq!(put(&*store, &other).await, EmailPut::OtherOnFile);
        assert_eq!(email(&*store, first.user).await, Some(on_file(&first)));
        assert!(!confirm(&*store, first.user, other.confirmation.unwrap()).await);
    }
    assert!(confirm(&*store, first.user, link).await);
    let before = email(&*store, first.user).await;
    let other = fixtures::put_email(first.user);
    assert_eq!(put(&*store, &other).await, EmailPut::OtherOnFile);
    assert_eq!(email(&*store, first.user).await, before);
}

/// The new address is not verified, whether the old one was or not, and a link for the old one confirms
/// nothing.
pub async fn another_address_replaces_where_it_may(store: Arc<dyn Storage>) {
    for (is_verified, confirmation) in [
        (false, Some(fixtures::email_confirmation())),
        (true, Some(fixtures::email_confirmation())),
        (false, None),
        (true, None),
    ] {
        let (first, old) = user_with_address(&*store).await;
        if is_verified {
            assert!(confirm(&*store, first.user, old).await);
        }
        let other =
            PutEmail { confirmation, replace: true, now: later(1), ..fixtures::put_email(first.user) };
        assert_eq!(put(&*store, &other).await, EmailPut::Stored);
        assert_eq!(email(&*store, first.user).await, Some(on_file(&other)));
        assert!(!confirm(&*store, first.user, old).await);
        assert_eq!(email(&*store, first.user).await, Some(on_file(&other)));
        // The first address may come back, and starts afresh.
        let back = PutEmail { replace: true, now: later(2), ..first };
        assert_eq!(put(&*store, &back).await, EmailPut::Stored);
        assert_eq!(email(&*store, back.user).await, Some(on_file(&back)));
    }
}

/// Once, with the time of confirmation. The link is used up, and the address stays verified.
pub async fn a_link_confirms_once(store: Arc<dyn Storage>) {
    let (command, link) = user_with_address(&*store).await;
    let once = ConfirmEmail { now: later(2), ..fixtures::confirm_email(command.user, link) };
    assert_eq!(follow(&*store, once.clone()).await, EmailConfirmed::Confirmed);
    let verified = UserEmail { verified_at: Some(later(2)), confirmation: None, ..on_file(&command) };
    assert_eq!(email(&*store, command.user).await, Some(verified.clone()));
    for now in [once.now, later(3)] {
        let again = ConfirmEmail { now, ..once.clone() };
        assert_eq!(follow(&*store, again).await, EmailConfirmed::LinkInvalid);
        assert_eq!(email(&*store, command.user).await, Some(verified.clone()));
    }
}

/// A guessed secret, the link of another user, and any link if none was mailed.
pub async fn a_wrong_link_confirms_nothing(store: Arc<dyn Storage>) {
    let (one, link) = user_with_address(&*store).await;
    let (other, others) = user_with_address(&*store).await;
    let silent =
        PutEmail { confirmation: None, ..fixtures::put_email(steps::sign_in(&*store).await.new_user) };
    assert_eq!(put(&*store, &silent).await, EmailPut::Stored);
    let guessed = fixtures::email_confirmation();
    let zeros = EmailConfirmation { hash: SecretHash::from_bytes([0; 32]), ..guessed };
    for (command, wrong) in
        [(&one, guessed), (&one, zeros), (&one, others), (&other, link), (&silent, zeros), (&silent, link)]
    {
        assert!(!confirm(&*store, command.user, wrong).await);
        assert_eq!(email(&*store, command.user).await, Some(on_file(command)));
    }
    assert!(confirm(&*store, one.user, link).await);
    assert!(confirm(&*store, other.user, others).await);
}

/// A link that has just expired confirms nothing; a new link for the same address is valid again.
pub async fn an_expired_link_confirms_nothing(store: Arc<dyn Storage>) {
    let (command, link) = user_with_address(&*store).await;
    let in_time = fixtures::confirm_email(command.user, link);
    for late in [Duration::ZERO, Duration::seconds(1), Duration::days(400)] {
        let too_late = ConfirmEmail { now: link.expires_at + late, ..in_time.clone() };
        assert_eq!(follow(&*store, too_late).await, EmailConfirmed::LinkInvalid);
        assert_eq!(email(&*store, command.user).await, Some(on_file(&command)));
    }
    let expires_at = link.expires_at + Duration::days(1);
    let new = EmailConfirmation { expires_at, ..fixtures::email_confirmation() };
    let again = PutEmail { confirmation: Some(new), now: link.expires_at, ..command };
    assert_eq!(put(&*store, &again).await, EmailPut::Stored);
    let last =
        ConfirmEmail { now: expires_at - Duration::seconds(1), ..fixtures::confirm_email(again.user, new) };
    assert_eq!(follow(&*store, last).await, EmailConfirmed::Confirmed);
}

/// Its link is no longer valid, even if the same address comes back, which starts afresh.
pub async fn an_address_that_was_removed_is_gone(store: Arc<dyn Storage>) {
    let (first, link) = user_with_address(&*store).await;
    let (bystander, _) = user_with_address(&*store).await;
    assert!(confirm(&*store, first.user, link).await);
    assert!(store.remove_email(first.user).await.unwrap());
    assert_eq!(email(&*store, first.user).await, None);
    assert!(!store.remove_email(first.user).await.unwrap(), "it is already removed");

    let waiting = PutEmail { confirmation: Some(fixtures::email_confirmation()), ..first.clone() };
    assert_eq!(put(&*store, &waiting).await, EmailPut::Stored);
    assert!(store.remove_email(first.user).await.unwrap());
    assert!(!confirm(&*store, first.user, waiting.confirmation.unwrap()).await);
    let back = PutEmail { confirmation: None, now: later(1), ..first };
    assert_eq!(put(&*store, &back).await, EmailPut::Stored);
    assert!(!confirm(&*store, back.user, waiting.confirmation.unwrap()).await);
    assert_eq!(email(&*store, back.user).await, Some(on_file(&back)));
    assert_eq!(email(&*store, bystander.user).await, Some(on_file(&bystander)));
}

/// Two users may have the same address on file. The one who confirms second is refused until they agree,
/// whatever the letter case. The first one keeps it, and unconfirmed addresses block nobody.
pub async fn an_address_that_another_user_confirmed_needs_an_agreement(store: Arc<dyn Storage>) {
    let (one, link) = user_with_address(&*store).await;
    let user = steps::sign_in(&*store).await.new_user;
    let upper_case = EmailAddress::from_trusted(one.address.as_str().to_uppercase());
    let other = PutEmail { address: upper_case, ..fixtures::put_email(user) };
    assert_eq!(put(&*store, &other).await, EmailPut::Stored);
    assert!(confirm(&*store, one.user, link).await, "the other user has not confirmed it");
    let first = email(&*store, one.user).await;
    let second = fixtures::confirm_email(user, other.confirmation.unwrap());
    for _ in 0..2 {
        assert_eq!(follow(&*store, second.clone()).await, EmailConfirmed::SharedAddress);
        assert_eq!(email(&*store, user).await, Some(on_file(&other)));
    }
    let wrong = ConfirmEmail { hash: SecretHash::from_bytes([0; 32]), ..second.clone() };
    assert_eq!(follow(&*store, wrong).await, EmailConfirmed::LinkInvalid);
    let agreed = ConfirmEmail { shared: SharedAddress::Agreed, ..second.clone() };
    assert_eq!(follow(&*store, agreed.clone()).await, EmailConfirmed::Confirmed);
    assert_eq!(email(&*store, one.user).await, first, "the first user keeps it");
    assert_eq!(follow(&*store, agreed).await, EmailConfirmed::LinkInvalid);
}

/// If the first user removed it, or has another address by now, nobody is told.
pub async fn an_address_that_another_user_gave_up_needs_no_agreement(store: Arc<dyn Storage>) {
    let (one, link) = user_with_address(&*store).await;
    assert!(confirm(&*store, one.user, link).await);
    let user = steps::sign_in(&*store).await.new_user;
    let other = PutEmail { address: one.address.clone(), ..fixtures::put_email(user) };
    assert_eq!(put(&*store, &other).await, EmailPut::Stored);
    assert!(store.remove_email(one.user).await.unwrap());
    assert!(confirm(&*store, user, other.confirmation.unwrap()).await);
}
