//! Texts for the tests, and the limit on their length.

use super::*;
use crate::redirect_uri::UriOwner;
use crate::scope::Scope;
use uuid::Uuid;

pub(super) const KEY: TextKey = TextKey::new([7; 32]);

/// The text of a sign-in with these random bytes.
pub(super) fn text(random: [u8; 12]) -> String {
    let issued_at = OffsetDateTime::from_unix_timestamp(1_750_846_356).unwrap();
    ChallengeText {
        public_url: &PublicUrl::parse("https://auth.example").unwrap(),
        account: &WalletAccount {
            family: "eip155".to_owned(),
            chain: "eip155:1".to_owned(),
            address: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045".to_owned(),
        },
        account_kind: "Ethereum",
        chain_id: "1",
        signer_kind: None,
        purpose: Purpose::SignIn {
            redirect_uri: &RedirectUri::parse("https://photos.example/cb", UriOwner::Registered).unwrap(),
            client: ClientId::from_uuid(Uuid::from_u128(1)),
            scope: &ScopeSet::of(&[Scope::Profile]),
            resources: &[],
        },
        invitation: None,
        key: &KEY,
        random,
        id: GrantId::from_uuid(Uuid::from_u128(5)),
        issued_at,
        expires_at: issued_at + time::Duration::minutes(5),
    }
    .render()
}

#[test]
fn a_text_that_accepts_an_invitation_names_it_and_its_group() {
    let plain = text([1; 12]);
    let group = crate::group::GroupName::parse(&"g".repeat(64)).unwrap();
    let id = crate::id::InvitationId::from_uuid(Uuid::from_u128(4));
    let invitation = AcceptedInvitation { id, group };
    let resources = ["https://api.example".to_owned()];
    let redirect_uri = RedirectUri::parse("https://photos.example/cb", UriOwner::Registered).unwrap();
    let (client, scope) = (ClientId::from_uuid(Uuid::from_u128(1)), ScopeSet::of(&[Scope::Profile]));
    let purpose =
        Purpose::SignIn { redirect_uri: &redirect_uri, client, scope: &scope, resources: &resources };
    let public_url = PublicUrl::parse("https://auth.example").unwrap();
    let account = WalletAccount {
        family: "eip155".to_owned(),
        chain: "eip155:1".to_owned(),
        address: "0xA".to_owned(),
    };
    let time = OffsetDateTime::from_unix_timestamp(1_750_846_356).unwrap();
    let text = ChallengeText {
        public_url: &public_url,
        account: &account,
        account_kind: "Ethereum",
        chain_id: "1",
        signer_kind: Some(AccountKind::Key),
        purpose,
        invitation: Some(&invitation),
        key: &KEY,
        random: [1; 12],
        id: GrantId::from_uuid(Uuid::from_u128(5)),
        issued_at: time,
        expires_at: time,
    }
    .render();
    let read = ReadText::read(&text).unwrap();
    let statement = format!(
        "Sign in to photos.example. Join the group {} by invitation. This costs nothing and cannot move funds.",
        invitation.group
    );
    assert_eq!(read.statement.as_deref(), Some(statement.as_str()));
    let named =
        [format!("urn:countersign:invitation:{id}"), format!("urn:countersign:group:{}", invitation.group)];
    assert!(named.iter().all(|line| read.resources.contains(&line.as_str())), "{text}");
    assert_eq!(
        (read.signer_kind(), read.access_to()),
        (Some(AccountKind::Key), &["https://api.example"][..])
    );
    assert!(!plain.contains("invitation"), "nothing is said of what is not accepted");
    assert!(fits_with(&public_url, purpose, Some(&invitation)));
    let long = ["https://api.example/".to_owned() + &"a".repeat(700)];
    let purpose = Purpose::SignIn { redirect_uri: &redirect_uri, client, scope: &scope, resources: &long };
    assert!(!fits_with(&public_url, purpose, Some(&invitation)) && fits(&public_url, Purpose::Account));
}

mod lengths {
    //! Every text that we write stays within its limit.

    use proptest::prelude::*;

    use super::*;

    fn letters(length: usize) -> String {
        "a".repeat(length)
    }

    /// A host of this length, with labels that DNS allows.
    fn host(length: usize) -> String {
        let text: String = (0..length).map(|place| if place % 60 == 59 { '.' } else { 'a' }).collect();
        text.trim_end_matches('.').to_owned()
    }

    fn rendered(public_url: &PublicUrl, account: &WalletAccount, purpose: Purpose<'_>) -> String {
        let (kind, chain_id) = (letters(MAX_KIND), letters(MAX_CHAIN));
        ChallengeText {
            public_url,
            account,
            account_kind: &kind,
            chain_id: &chain_id,
            signer_kind: Some(crate::wallet::AccountKind::Contract),
            purpose,
            invitation: None,
            key: &KEY,
            random: [1; 12],
            id: GrantId::from_uuid(Uuid::from_u128(5)),
            issued_at: OffsetDateTime::from_unix_timestamp(1_750_846_356).unwrap(),
            expires_at: OffsetDateTime::from_unix_timestamp(1_750_846_656).unwrap(),
        }
        .render()
    }

    fn longest_account() -> WalletAccount {
        WalletAccount { family: String::new(), chain: letters(MAX_CHAIN), address: letters(MAX_ADDRESS) }
    }

    #[test]
    fn a_055_whoever_asks_for_no_resource_always_has_a_text_at_an_ordinary_host() {
        let url = PublicUrl::parse(&format!("https://{}/{}", host(150), letters(90))).unwrap();
        let redirect_uri =
            RedirectUri::parse(&format!("https://{}/cb", host(80)), UriOwner::Registered).unwrap();
        let scope = &ScopeSet::of(&Scope::ALL);
        let client = ClientId::from_uuid(Uuid::from_u128(1));
        assert!(fits(&url, Purpose::SignIn { redirect_uri: &redirect_uri, client, scope, resources: &[] }));
    }

    #[test]
    fn a_055_what_is_surely_short_is_short() {
        let url = PublicUrl::parse("https://a.example").unwrap();
        let redirect_uri = RedirectUri::parse("https://b.example/cb", UriOwner::Registered).unwrap();
        let (client, scope) = (ClientId::from_uuid(Uuid::from_u128(1)), &ScopeSet::of(&Scope::ALL));
        let purpose = Purpose::SignIn { redirect_uri: &redirect_uri, client, scope, resources: &[] };
        let text = rendered(&url, &longest_account(), purpose);
        let named = 2 * "a.example".len() + 2 * "b.example".len();
        assert!(text.len() - named <= MAX_REST, "{} {text}", text.len() - named);
    }

    proptest! {
        #[test]
        fn a_055_no_text_is_longer_than_1500_bytes(
            url_host in 1_usize..230, path in 0_usize..250, redirect_host in 1_usize..240, scheme in 3_usize..2_000,
            bits in 0_u8..64, resources in prop::collection::vec(1_usize..512, 0..9), address in 1_usize..=90,
        ) {
            let path = path.min(254_usize.saturating_sub("https://".len() + host(url_host).len() + 1));
            let url = PublicUrl::parse(&format!("https://{}/{}", host(url_host), letters(path))).unwrap();
            let account = WalletAccount { address: letters(address), ..longest_account() };
            let longest = longest_account();
            let scope = &ScopeSet::from_bits(bits).unwrap();
            let client = ClientId::from_uuid(Uuid::from_u128(1));
            let resources: Vec<String> =
                resources.into_iter().map(|length| format!("urn:{}", letters(length))).collect();
            let site = RedirectUri::parse(&format!("https://{}:65535/cb", host(redirect_host)), UriOwner::Registered).unwrap();
            let app = RedirectUri::parse(&format!("a.{}:/cb", letters(scheme)), UriOwner::Registered).unwrap();
            let resources = resources.as_slice();
            let code = UserCode::parse("WDJB-MJHT").unwrap();
            let judged = [
                Purpose::SignIn { redirect_uri: &site, client, scope, resources },
                Purpose::SignIn { redirect_uri: &site, client, scope, resources: &[] },
                Purpose::SignIn { redirect_uri: &app, client, scope, resources },
                Purpose::SignIn { redirect_uri: &app, client, scope, resources: &[] },
                Purpose::Device { code, client, scope, resources },
                Purpose::Program { client, scope, resources },
            ];
            for purpose in judged {
                let text = rendered(&url, &account, purpose);
                prop_assert!(!fits(&url, purpose) || text.len() <= MAX_OWN_TEXT, "{} {text}", text.len());
                prop_assert!(fits(&url, purpose) || rendered(&url, &longest, purpose).len() > MAX_OWN_TEXT);
            }
            // These are never checked: they always fit.
            let always = [
                Purpose::Account,
                Purpose::Link { wallet: &longest },
                Purpose::Join { wallet: &longest },
                Purpose::Unlink { wallet: &longest },
                Purpose::Device { code, client, scope, resources: &[] },
                Purpose::Program { client, scope, resources: &[] },
            ];
            for purpose in always {
                let text = rendered(&url, &account, purpose);
                prop_assert!(fits(&url, purpose) && text.len() <= MAX_OWN_TEXT, "{} {text}", text.len());
            }
        }
    }
}
