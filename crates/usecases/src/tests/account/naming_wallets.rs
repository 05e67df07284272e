//! The names of wallets: the wallet's own at first, then whatever its person likes.

use countersign_domain::pending::PendingAuthorization;
use countersign_domain::readable::NameRejected;

use crate::Refuse;
use crate::account::begin_wallet_change::{WantedChange, begin_wallet_change};
use crate::account::change_wallets::{SignedText, link_wallet};
use crate::account::read_account::read_account;
use crate::account::rename_wallet::{RenameWalletError, WalletToName, rename_wallet};
use crate::sign_in::complete_login::LoginWishes;
use crate::steps::login::{AccountError, Browser};
use crate::tests::breakable::{break_after, world as breakable_world};
use crate::tests::world::{PERSON, World, named, sign};

fn wishes(wallet_name: &str) -> LoginWishes {
    LoginWishes { wallet_name: Some(wallet_name.to_owned()), ..LoginWishes::default() }
}

fn account_request(world: &World) -> PendingAuthorization {
    let policy = &world.context.policy;
    PendingAuthorization::for_account(&policy.public_url, world.context.clock.now(), &policy.lifetimes)
}

/// Signs in to the account page with a wallet that gives itself this name.
async fn enter(world: &World, address: &str, wallet_name: &str) -> Browser {
    let mut request = account_request(world);
    let done = world.sign_in_with(&mut request, address, wishes(wallet_name)).await.unwrap();
    Browser { login: done.remembered.map(|remembered| remembered.secret), ..Browser::default() }
}

/// The user's wallets by address, with their names.
async fn names(world: &World, browser: &Browser) -> Vec<(String, Option<String>)> {
    let shown = read_account(&world.context, browser).await.unwrap();
    let name = |linked: countersign_ports::LinkedWallet| {
        (linked.account.address, linked.name.map(|name| name.to_string()))
    };
    shown.wallets.into_iter().map(name).collect()
}

fn is(address: &str, name: Option<&str>) -> (String, Option<String>) {
    (address.to_owned(), name.map(ToOwned::to_owned))
}

async fn link(world: &World, signer: &str, other: &str, own_name: Option<&str>) {
    let (mut pending, texts) =
        begin_wallet_change(&world.context, WantedChange::Link, named(signer), named(other)).unwrap();
    let signed = |address: &str, text: String| SignedText { signature: sign(address, &text), text };
    let (mine, theirs) = (signed(signer, texts.signer.text), signed(other, texts.other.unwrap().text));
    link_wallet(&world.context, &PERSON, &mut pending, mine, theirs, own_name).await.unwrap();
}

async fn rename(
    world: &World,
    browser: &Browser,
    address: &str,
    name: &str,
) -> Result<(), RenameWalletError> {
    let account = format!("toy:1:{address}");
    rename_wallet(&world.context, browser, WalletToName { account: &account, kind: None }, name).await
}

#[tokio::test]
async fn a_wallet_has_the_name_that_it_gives_itself_from_its_first_sign_in_or_its_link() {
    let world = World::new();
    let browser = enter(&world, "toy-ann", "MetaMask").await;
    link(&world, "toy-ann", "toy-phone", Some("Phantom")).await;
    link(&world, "toy-ann", "toy-old", None).await;
    let expected = [is("toy-ann", Some("MetaMask")), is("toy-phone", Some("Phantom")), is("toy-old", None)];
    let mut found = names(&world, &browser).await;
    found.sort_by_key(|(address, _)| expected.iter().position(|(known, _)| known == address));
    assert_eq!(found, expected);

    let client = world.client().await;
    let mut pending = world.pending(&client, &[]).await;
    world.sign_in_with(&mut pending, "toy-bob", wishes("Rabby")).await.unwrap();
    let bob = enter(&world, "toy-bob", "Somebody else").await;
    assert_eq!(names(&world, &bob).await, [is("toy-bob", Some("Rabby"))], "a client's sign-in names it too");
}

/// Other programs on the person's machine cannot rename a wallet by signing in with it.
#[tokio::test]
async fn what_a_known_wallet_calls_itself_later_changes_nothing() {
    let world = World::new();
    let browser = enter(&world, "toy-ann", "MetaMask").await;
    rename(&world, &browser, "toy-ann", "Savings").await.unwrap();
    let browser = enter(&world, "toy-ann", "Evil").await;
    link(&world, "toy-ann", "toy-phone", Some("Phantom")).await;
    link(&world, "toy-ann", "toy-phone", Some("Evil")).await;
    let found = names(&world, &browser).await;
    assert!(found.contains(&is("toy-ann", Some("Savings"))), "{found:?}");
    assert!(found.contains(&is("toy-phone", Some("Phantom"))), "{found:?}");
}

#[tokio::test]
async fn a_wallet_that_gives_itself_an_unreadable_name_signs_in_and_has_none() {
    let world = World::new();
    let long = "x".repeat(61);
    for (number, name) in
        ["", "  ", "Meta\u{202E}ksaM", "Meta\u{200B}Mask", "a\nb", &long].into_iter().enumerate()
    {
        let address = format!("toy-{number}");
        let browser = enter(&world, &address, name).await;
        assert_eq!(names(&world, &browser).await, [is(&address, None)], "{name:?}");
    }
}

#[tokio::test]
async fn a_sign_in_without_a_name_or_with_a_known_wallet_writes_nothing_more() {
    let (world, storage) = breakable_world();
    let client = world.client().await;
    let mut pending = world.pending(&client, &[]).await;
    world.sign_in(&mut pending, "toy-ann").await.unwrap();
    let mut pending = world.pending(&client, &[]).await;
    world.sign_in_with(&mut pending, "toy-ann", wishes("MetaMask")).await.unwrap();
    assert!(!storage.asked().contains(&"name_wallet"));
    let mut pending = world.pending(&client, &[]).await;
    world.sign_in_with(&mut pending, "toy-new", wishes("MetaMask")).await.unwrap();
    assert!(storage.asked().contains(&"name_wallet"));
}

#[tokio::test]
async fn a_sign_in_does_not_fail_with_the_name_that_came_with_it() {
    let (world, storage) = breakable_world();
    let client = world.client().await;
    let mut pending = world.pending(&client, &[]).await;
    break_after(&world, &storage, 3).await;
    world.sign_in_with(&mut pending, "toy-ann", wishes("MetaMask")).await.unwrap();
    let browser = enter(&world, "toy-ann", "x").await;
    assert_eq!(names(&world, &browser).await, [is("toy-ann", None)]);
}

#[tokio::test]
async fn a_person_renames_a_wallet_and_takes_its_name_away() {
    let world = World::new();
    let browser = enter(&world, "toy-ann", "MetaMask").await;
    rename(&world, &browser, "toy-ann", "  My savings ").await.unwrap();
    assert_eq!(names(&world, &browser).await, [is("toy-ann", Some("My savings"))]);
    for hidden in ["a\u{202E}b", "\u{FEFF}", "\u{301}"] {
        let refused = rename(&world, &browser, "toy-ann", hidden).await.unwrap_err();
        assert!(matches!(refused, RenameWalletError::Name(_)), "{refused:?}");
        assert!(
            refused.refusal().description.starts_with("name must hold")
                || refused.refusal().description.starts_with("name must not"),
            "{refused:?}"
        );
    }
    let refused = rename(&world, &browser, "toy-ann", &"x".repeat(61)).await.unwrap_err();
    assert!(matches!(refused, RenameWalletError::Name(NameRejected::Length { most: 60 })));
    assert_eq!(names(&world, &browser).await, [is("toy-ann", Some("My savings"))]);
    rename(&world, &browser, "toy-ann", " ").await.unwrap();
    assert_eq!(names(&world, &browser).await, [is("toy-ann", None)]);
}

#[tokio::test]
async fn nobody_renames_the_wallet_of_another_or_without_being_signed_in() {
    let world = World::new();
    let ann = enter(&world, "toy-ann", "MetaMask").await;
    let bob = enter(&world, "toy-bob", "Rabby").await;
    for address in ["toy-ann", "toy-nobody", ""] {
        let refused = rename(&world, &bob, address, "Mine").await.unwrap_err();
        assert!(matches!(refused, RenameWalletError::NotTheirs), "{refused:?}");
    }
    let refused = rename(&world, &Browser::default(), "toy-ann", "Mine").await.unwrap_err();
    assert!(matches!(refused, RenameWalletError::Account(AccountError::SignedOut)), "{refused:?}");
    assert_eq!(names(&world, &ann).await, [is("toy-ann", Some("MetaMask"))]);
}
