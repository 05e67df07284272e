//! A text to try things on.

use super::*;
use crate::scope::Scope;
use uuid::Uuid;

pub(super) const KEY: TextKey = TextKey::new([7; 32]);

/// The text of a sign-in, with this randomness.
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
            redirect_uri: &RedirectUri::parse("https://photos.example/cb").unwrap(),
            client: ClientId::from_uuid(Uuid::from_u128(1)),
            scope: ScopeSet::of(&[Scope::Profile]),
        },
        key: &KEY,
        random,
        id: GrantId::from_uuid(Uuid::from_u128(5)),
        issued_at,
        expires_at: issued_at + time::Duration::minutes(5),
    }
    .render()
}
