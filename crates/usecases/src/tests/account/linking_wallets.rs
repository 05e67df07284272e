//! One user, many wallets.

use countersign_domain::admission::Release;
use countersign_domain::challenge::ChallengeRejected;
use countersign_domain::client::ClientOrigin;
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::group::GroupName;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::subject::Subject;
use countersign_domain::wallet_change::PendingWalletChange;
use countersign_ports::RemoveBlock;
use time::Duration;

use crate::account::begin_wallet_change::{
    BeginWalletChangeError, WalletChangeTexts, WantedChange, admit_link, begin_wallet_change,
};
use crate::account::change_wallets::{
    ChangeWalletsError, SignedText, WalletsOfUser, link_wallet, unlink_wallet,
};
use crate::steps::login::Browser;
use crate::steps::recognize_account::RecognizeError;
use crate::tests::world::{PERSON, World, named, sign, toy};
use crate::{Refuse, TokenAnswer};

fn begin(
    world: &World,
    wanted: WantedChange,
    signer: &str,
    other: &str,
) -> (PendingWalletChange, WalletChangeTexts) {
    begin_wallet_change(&world.context, wanted, named(signer), named(other)).unwrap()
}

/// The text, signed by this wallet.
fn signed(address: &str, text: &str) -> SignedText {
    SignedText { text: text.to_owned(), signature: sign(address, text) }
}

async fn link(world: &World, signer: &str, other: &str) -> Result<WalletsOfUser, ChangeWalletsError> {
    let (mut pending, texts) = begin(world, WantedChange::Link, signer, other);
    let other_text = texts.other.unwrap().text;
    let (mine, theirs) = (signed(signer, &texts.signer.text), signed(other, &other_text));
    link_wallet(&world.context, &PERSON, &mut pending, mine, theirs, None).await
}

async fn unlink(world: &World, signer: &str, other: &str) -> Result<WalletsOfUser, ChangeWalletsError> {
    let (mut pending, texts) = begin(world, WantedChange::Unlink, signer, other);
    unlink_wallet(&world.context, &PERSON, &mut pending, signed(signer, &texts.signer.text)).await
}

fn addresses(wallets: &WalletsOfUser) -> Vec<&str> {
    wallets.wallets.iter().map(|wallet| wallet.address.as_str()).collect()
}

#[tokio::test]
async fn a_linked_wallet_signs_in_as_the_same_user() {
    let world = World::new();
    let client = world.client().await;
    let ann = world.user_of(&world.tokens(&client, "toy-ann").await).await;
    let wallets = link(&world, "toy-ann", "toy-phone").await.unwrap();
    assert_eq!((wallets.user, addresses(&wallets)), (ann, vec!["toy-ann", "toy-phone"]));
    let by_phone = world.user_info(&world.tokens(&client, "toy-phone").await).await.unwrap();
    assert_eq!(by_phone.subject, ann.as_public());
    assert_eq!(
        by_phone.wallet_address.as_deref(),
        Some("toy-phone"),
        "the client gets the wallet that signed"
    );
}

#[tokio::test]
async fn scope_wallets_releases_the_list_and_no_other_scope_does() {
    let world = World::new();
    let scopes = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let client = world
        .register(countersign_domain::registration::RequestedMetadata {
            scopes: scopes(&["profile", "wallets"]),
            ..Default::default()
        })
        .await;
    let told = async |scope: &str| {
        let code = world.code(&client, "toy-ann", &[("scope", scope)]).await;
        world.user_info(&world.exchange(&client, &code).await.unwrap()).await.unwrap().wallets
    };
    assert_eq!(told("profile").await, None);
    link(&world, "toy-ann", "toy-phone").await.unwrap();
    let list = vec!["toy:1:toy-ann".to_owned(), "toy:1:toy-phone".to_owned()];
    assert_eq!(told("profile wallets").await, Some(list));
    assert_eq!(told("profile").await, None);
}

#[tokio::test]
async fn nobody_links_a_wallet_that_they_cannot_sign_with() {
    let world = World::new();
    let client = world.client().await;
    world.tokens(&client, "toy-ann").await;
    let (pending, texts) = begin(&world, WantedChange::Link, "toy-ann", "toy-bob");
    let (mine, theirs) = (texts.signer.text, texts.other.unwrap().text);
    let attempts = [
        (signed("toy-ann", &mine), signed("toy-ann", &theirs), "signature of the other wallet is not valid"),
        (signed("toy-bob", &mine), signed("toy-bob", &theirs), "signature is not valid"),
        (signed("toy-bob", &mine), signed("toy-ann", &theirs), "signature is not valid"),
        (signed("toy-ann", &mine), signed("toy-ann", &mine), "challenge is refused"),
        (signed("toy-bob", &theirs), signed("toy-ann", &mine), "challenge is refused"),
    ];
    for (mine, theirs, why) in attempts {
        let refused =
            link_wallet(&world.context, &PERSON, &mut pending.clone(), mine, theirs, None).await.unwrap_err();
        assert!(refused.to_string().starts_with(why), "{refused}");
    }
    let bob = world.user_of(&world.tokens(&client, "toy-bob").await).await;
    let ann = world.user_of(&world.tokens(&client, "toy-ann").await).await;
    assert_ne!(ann, bob);
}

#[tokio::test]
async fn a_wallet_belongs_to_one_user_at_a_time() {
    let world = World::new();
    let client = world.client().await;
    for name in ["toy-ann", "toy-bob"] {
        world.tokens(&client, name).await;
    }
    let refused = link(&world, "toy-ann", "toy-bob").await.unwrap_err();
    assert!(matches!(refused, ChangeWalletsError::BelongsToAnother), "{refused:?}");
    let refused = link(&world, "toy-stranger", "toy-new").await.unwrap_err();
    assert!(matches!(refused, ChangeWalletsError::SignerUnknown), "{refused:?}");
    link(&world, "toy-ann", "toy-new").await.unwrap();
    let again = link(&world, "toy-ann", "toy-new").await.unwrap();
    assert_eq!(addresses(&again), ["toy-ann", "toy-new"], "linking twice changes nothing");
    let refused = link(&world, "toy-bob", "toy-new").await.unwrap_err();
    assert!(matches!(refused, ChangeWalletsError::BelongsToAnother), "{refused:?}");
}

#[tokio::test]
async fn a_link_to_a_wallet_with_an_account_is_refused_before_anybody_signs_and_no_stranger_learns_of_it() {
    let world = World::new();
    let client = world.client().await;
    let mut browser = Browser::default();
    let mut pending = world.pending(&client, &[]).await;
    world.remember(&mut browser, &mut pending, "toy-ann").await;
    world.tokens(&client, "toy-bob").await;
    let admit = async |browser: &Browser, signer: &str, other: &str| {
        let (pending, _) = begin(&world, WantedChange::Link, signer, other);
        admit_link(&world.context, browser, &pending).await
    };
    let refused = admit(&browser, "toy-ann", "toy-bob").await.unwrap_err();
    assert!(matches!(refused, ChangeWalletsError::BelongsToAnother), "{refused:?}");
    for (other, why) in [("toy-new", "it has no account"), ("toy-ann2", "nor has this")] {
        assert!(admit(&browser, "toy-ann", other).await.is_ok(), "{why}");
    }
    link(&world, "toy-ann", "toy-phone").await.unwrap();
    assert!(admit(&browser, "toy-ann", "toy-phone").await.is_ok(), "it is theirs already");
    assert!(admit(&Browser::default(), "toy-ann", "toy-bob").await.is_ok(), "no one is signed in");
    assert!(admit(&browser, "toy-bob", "toy-ann").await.is_ok(), "another signer than who is signed in");
    world.advance(Duration::minutes(10));
    assert!(admit(&browser, "toy-ann", "toy-bob").await.is_ok(), "the signature is too old");
}

#[tokio::test]
async fn a_wallet_is_not_linked_to_itself_and_not_to_what_is_no_wallet() {
    let world = World::new();
    let refused = |signer, other| {
        begin_wallet_change(&world.context, WantedChange::Link, named(signer), named(other)).unwrap_err()
    };
    assert_eq!(refused("toy-ann", "toy-ann"), BeginWalletChangeError::SameWallet);
    let unknown = refused("toy-ann", "0xnothing");
    assert_eq!(unknown.refusal().description, "other_wallet_address is not an address of a supported wallet");
    assert_eq!(refused("0xnothing", "toy-ann"), RecognizeError::AddressUnknown.into());
}

#[tokio::test]
async fn an_unlinked_wallet_loses_what_it_was_granted_and_starts_anew() {
    let world = World::new();
    let client = world.client().await;
    let by_ann = world.tokens(&client, "toy-ann").await;
    link(&world, "toy-ann", "toy-phone").await.unwrap();
    let by_phone = world.tokens(&client, "toy-phone").await;
    let ann = world.user_of(&by_ann).await;
    let wallets = unlink(&world, "toy-ann", "toy-phone").await.unwrap();
    assert_eq!((wallets.user, addresses(&wallets)), (ann, vec!["toy-ann"]));
    assert!(world.is_alive(&by_ann).await);
    assert!(!world.is_alive(&by_phone).await);
    assert!(world.refresh(&client, &by_phone).await.is_err());
    let anew = world.user_of(&world.tokens(&client, "toy-phone").await).await;
    assert_ne!(anew, ann);
}

#[tokio::test]
async fn the_last_wallet_cannot_be_unlinked() {
    let world = World::new();
    let client = world.client().await;
    for name in ["toy-ann", "toy-bob"] {
        world.tokens(&client, name).await;
    }
    let refused = unlink(&world, "toy-ann", "toy-ann").await.unwrap_err();
    assert!(matches!(refused, ChangeWalletsError::LastWallet), "{refused:?}");
    let refused = unlink(&world, "toy-ann", "toy-bob").await.unwrap_err();
    assert!(matches!(refused, ChangeWalletsError::NotTheirs), "{refused:?}");
    link(&world, "toy-ann", "toy-phone").await.unwrap();
    let left = unlink(&world, "toy-ann", "toy-ann").await.unwrap();
    assert_eq!(addresses(&left), ["toy-phone"], "a wallet may sign itself off while another stays");
}

/// Whoever is signed in learns it before signing. Who has more than the bound keeps them.
#[tokio::test]
async fn f_26_an_account_has_at_most_so_many_wallets_as_the_settings_say() {
    let mut world = World::new();
    let client = world.client().await;
    let mut browser = Browser::default();
    let mut pending = world.pending(&client, &[]).await;
    world.remember(&mut browser, &mut pending, "toy-ann").await;
    world.context.policy.wallets_per_user = 3;
    for wallet in ["toy-1", "toy-2"] {
        link(&world, "toy-ann", wallet).await.unwrap();
    }
    let full = |refused: ChangeWalletsError| {
        assert!(matches!(refused, ChangeWalletsError::TooMany { most: 3 }), "{refused:?}");
        let said = "this user has as many wallets as a user may have (3): unlink one first";
        assert_eq!(refused.refusal().description, said);
    };
    full(link(&world, "toy-ann", "toy-3").await.unwrap_err());
    let (pending, _) = begin(&world, WantedChange::Link, "toy-ann", "toy-3");
    full(admit_link(&world.context, &browser, &pending).await.unwrap_err());
    world.context.policy.wallets_per_user = 1;
    let of_ann = link(&world, "toy-ann", "toy-2").await.unwrap();
    assert_eq!(addresses(&of_ann), ["toy-1", "toy-2", "toy-ann"], "what is theirs stays theirs");
    world.context.policy.wallets_per_user = 3;
    unlink(&world, "toy-ann", "toy-1").await.unwrap();
    admit_link(&world.context, &browser, &pending).await.unwrap();
    link(&world, "toy-ann", "toy-3").await.unwrap();
}

#[tokio::test]
async fn b_001_the_texts_of_a_change_work_once() {
    let world = World::new();
    let client = world.client().await;
    world.tokens(&client, "toy-ann").await;
    let (pending, texts) = begin(&world, WantedChange::Link, "toy-ann", "toy-phone");
    let mine = signed("toy-ann", &texts.signer.text);
    let theirs = signed("toy-phone", &texts.other.unwrap().text);
    let attempt = async || {
        link_wallet(&world.context, &PERSON, &mut pending.clone(), mine.clone(), theirs.clone(), None).await
    };
    attempt().await.unwrap();
    unlink(&world, "toy-ann", "toy-phone").await.unwrap();
    let again = attempt().await.unwrap_err();
    assert!(matches!(again, ChangeWalletsError::ChallengeSpent), "{again:?}");
    assert_eq!(again.refusal().description, "Challenge is not valid or has expired");
}

#[tokio::test]
async fn b_008_the_texts_of_a_change_expire_and_five_bad_signatures_burn_them() {
    let world = World::new();
    let client = world.client().await;
    world.tokens(&client, "toy-ann").await;
    let (mut pending, texts) = begin(&world, WantedChange::Unlink, "toy-ann", "toy-phone");
    let text = texts.signer.text;
    for _ in 0..5 {
        let bad = signed("toy-mallory", &text);
        let refused = unlink_wallet(&world.context, &PERSON, &mut pending, bad).await.unwrap_err();
        assert_eq!(refused.refusal().description, "Failed to verify signature");
    }
    let burnt =
        unlink_wallet(&world.context, &PERSON, &mut pending, signed("toy-ann", &text)).await.unwrap_err();
    assert!(matches!(burnt, ChangeWalletsError::Challenge(ChallengeRejected::Exhausted)), "{burnt:?}");
    let (mut pending, texts) = begin(&world, WantedChange::Unlink, "toy-ann", "toy-phone");
    world.advance(Duration::minutes(5));
    let late = signed("toy-ann", &texts.signer.text);
    let late = unlink_wallet(&world.context, &PERSON, &mut pending, late).await.unwrap_err();
    assert!(matches!(late, ChangeWalletsError::Challenge(ChallengeRejected::Expired)), "{late:?}");
}

#[tokio::test]
async fn b_016_the_texts_name_both_wallets_and_what_happens() {
    let world = World::new();
    let (_, texts) = begin(&world, WantedChange::Link, "toy-ann", "toy-phone");
    let (mine, theirs) = (texts.signer.text, texts.other.unwrap().text);
    assert!(mine.contains("\ntoy-ann\n\nLet the wallet toy:1:toy-phone sign in as me here. "), "{mine}");
    assert!(
        theirs.contains("\ntoy-phone\n\nJoin the account of the wallet toy:1:toy-ann here. "),
        "{theirs}"
    );
    for text in [&mine, &theirs] {
        assert!(text.starts_with("auth.example.com wants you to sign in with your Toy account:\n"));
        assert!(text.contains("\nURI: https://auth.example.com/account/wallets/link\n"));
    }
    let (_, texts) = begin(&world, WantedChange::Unlink, "toy-ann", "toy-phone");
    assert!(texts.signer.text.contains("Take the wallet toy:1:toy-phone off my account here. "));
    assert!(texts.other.is_none());
}

#[tokio::test]
async fn an_unlinked_wallet_takes_its_groups_along_and_the_tokens_made_next_have_none() {
    let world = World::new();
    let scope = "profile groups";
    let scopes = Some(scope.split(' ').map(ToOwned::to_owned).collect());
    let requested = RequestedMetadata { scopes, ..RequestedMetadata::default() };
    let client = world.register_by(requested, ClientOrigin::Operator).await;
    world.decide(&client, "everyone", Release::All).await;
    world.join("staff", Subject::Wallet(toy("toy-phone"))).await;
    let code = world.code(&client, "toy-ann", &[("scope", scope)]).await;
    let none = world.exchange(&client, &code).await.unwrap();
    let groups = async |tokens: &TokenAnswer| world.user_info(tokens).await.unwrap().groups.unwrap();
    assert_eq!(groups(&none).await, []);
    link(&world, "toy-ann", "toy-phone").await.unwrap();
    let of_both = world.refresh(&client, &none).await.unwrap();
    assert_eq!(groups(&of_both).await, [GroupName::parse("staff").unwrap()]);
    world.decide(&client, "groups:staff", Release::OfRule).await;
    let admitted = world.refresh(&client, &of_both).await.unwrap();
    unlink(&world, "toy-ann", "toy-phone").await.unwrap();
    assert!(world.refresh(&client, &admitted).await.is_err(), "the rule asks for what the wallet brought");
    world.decide(&client, "everyone", Release::All).await;
    let left = world.refresh(&client, &admitted).await.unwrap();
    assert_eq!(groups(&left).await, []);
}

#[tokio::test]
async fn whoever_is_blocked_neither_links_nor_frees_a_wallet() {
    let world = World::new();
    let client = world.client().await;
    let user = world.user_of(&world.tokens(&client, "toy-ann").await).await;
    link(&world, "toy-ann", "toy-phone").await.unwrap();
    for who in [Subject::User(user), Subject::Wallet(toy("toy-ann"))] {
        world.block(who.clone()).await;
        for refused in [
            link(&world, "toy-ann", "toy-other").await.unwrap_err(),
            unlink(&world, "toy-ann", "toy-phone").await.unwrap_err(),
        ] {
            let refusal = refused.refusal();
            assert_eq!(refusal.code, OAuthErrorCode::NotAdmitted);
            assert_eq!(refusal.description, "this server does not admit this wallet");
        }
        assert!(world.context.blocks.unblock(RemoveBlock { who, event: None }).await.unwrap());
    }
}
