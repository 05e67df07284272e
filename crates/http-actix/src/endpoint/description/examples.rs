//! Values that the examples share, so that together they tell one story from registration to revocation.

use countersign_domain::challenge::{ChallengeText, Purpose, TextKey, iso8601};
use countersign_domain::id::{ClientId, GrantId};
use countersign_domain::public_url::PublicUrl;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::wallet::WalletAccount;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

pub(crate) const CLIENT_ID: &str = "0197a2b4-7c1e-7d3a-9f50-3b6f0f6a2c11";
pub(crate) const CLIENT_SECRET: &str = "Zk3uX0pQv7sW2yB9dF4hJ6kL8mN1rT5vC0eG3iO7aSw";
pub(crate) const REDIRECT_URI: &str = "https://app.example/callback";
pub(crate) const STATE: &str = "af0ifjsldkj";
pub(crate) const WALLET: &str = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
/// Another wallet of the same user.
pub(crate) const OTHER_WALLET: &str = "4deXwQjwooLs7UximXrtvPpP5ZmvwBaGLgaM2mzjxQB4";
pub(crate) const SIGNATURE: &str = "0x2c5a1d0f4f1f3c8e6b7a9d2e4c6f8091a3b5c7d9e1f20314253647586970a1b2\
                                    6d7c8b9a0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a697887960718\
                                    1b";
pub(crate) const CODE: &str = "AZeitmXgc4qfUDtvD2osEQ.q1W2e3R4t5Y6u7I8o9P0aSdFgHjKlZxCvBnM1234567";
pub(crate) const REFRESH_TOKEN: &str = "AZeitm8VdEuaPj4KcXlN2g.mN1bV2cX3zL4kJ5hG6fD7sA8pO9iU0yT1rE2wQ34567";
pub(crate) const DEVICE_CODE: &str = "AZeitnQ1c0mXhYt3Zb7KdRq1W2e3R4t5Y6u7I8o9P0aSdFgHjKlZxCvBnM123456";
pub(crate) const USER_CODE: &str = "WDJB-MJHT";
pub(crate) const ACCESS_TOKEN: &str =
    "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIwMTk3YTJiNCJ9.c2lnbmF0dXJl";
pub(crate) const REGISTRATION_TOKEN: &str = "h8Jq2Lw5Xn9Rb3Tc7Vf1Zm4Kd6Pg0SyUeAiOoQrWtYx";
const ISSUED_AT: i64 = 1_750_846_381;
/// The secret of a form on a page.
pub(crate) const PAGE_FORM: &str = "8qY0r5l9Qw3n1T6uZbXcVg";
pub(crate) const USER: &str = "0197a2b6-1f04-7be2-8c3d-5a1e9d7c4b20";

/// The answer to a registration. Without the secrets it is what later reads return.
pub(crate) fn client(public_url: &PublicUrl, with_secrets: bool) -> Value {
    let mut client = json!({
        "client_id": CLIENT_ID,
        "client_name": "Example app",
        "redirect_uris": [REDIRECT_URI],
        "client_uri": "https://app.example",
        "scopes": ["profile", "email"],
        "scope": "profile email",
        "response_types": ["code"],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "client_secret_post",
        "created_at": "2025-06-25T10:12:36Z",
        "client_id_issued_at": 1_750_846_356,
        "client_secret_expires_at": 0,
        "registration_client_uri": public_url.join(&format!("/oauth/clients/{CLIENT_ID}")),
    });
    if with_secrets {
        client["client_secret"] = json!(CLIENT_SECRET);
        client["registration_access_token"] = json!(REGISTRATION_TOKEN);
    }
    client
}

/// What a client sends to be registered.
pub(crate) fn registration() -> Value {
    json!({
        "client_name": "Example app",
        "redirect_uris": [REDIRECT_URI],
        "client_uri": "https://app.example",
        "scopes": ["profile", "email"],
    })
}

/// The text that a wallet signs to sign in.
pub(crate) fn challenge(public_url: &PublicUrl) -> String {
    let purpose = Purpose::SignIn {
        redirect_uri: &RedirectUri::from_trusted(REDIRECT_URI.to_owned()),
        client: ClientId::parse(CLIENT_ID).unwrap_or(ClientId::from_uuid(Uuid::nil())),
        scope: &ScopeSet::of(&[Scope::Profile, Scope::Email]),
        resources: &[],
    };
    text(public_url, &ethereum_account(), ("Ethereum", "1"), purpose)
}

/// The text that a wallet signs for a program without a browser.
pub(crate) fn program_challenge(public_url: &PublicUrl) -> String {
    let purpose = Purpose::Program {
        client: ClientId::parse(CLIENT_ID).unwrap_or(ClientId::from_uuid(Uuid::nil())),
        scope: &ScopeSet::of(&[Scope::OpenId, Scope::Profile]),
        resources: &[],
    };
    text(public_url, &ethereum_account(), ("Ethereum", "1"), purpose)
}

/// The two texts of a link: one for the user's wallet, one for the wallet that joins it.
pub(crate) fn link_texts(public_url: &PublicUrl) -> (String, String) {
    let (signer, other) = (ethereum_account(), solana_account());
    (
        text(public_url, &signer, ("Ethereum", "1"), Purpose::Link { wallet: &other }),
        text(public_url, &other, ("Solana", "mainnet"), Purpose::Join { wallet: &signer }),
    )
}

pub(crate) fn unlink_text(public_url: &PublicUrl) -> String {
    let purpose = Purpose::Unlink { wallet: &solana_account() };
    text(public_url, &ethereum_account(), ("Ethereum", "1"), purpose)
}

/// The wallet that signs in.
pub(crate) fn ethereum_account() -> WalletAccount {
    WalletAccount { family: "eip155".to_owned(), chain: "eip155:1".to_owned(), address: WALLET.to_owned() }
}

/// The wallet that is linked.
pub(crate) fn solana_account() -> WalletAccount {
    const CHAIN: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
    WalletAccount { family: CHAIN.to_owned(), chain: CHAIN.to_owned(), address: OTHER_WALLET.to_owned() }
}

/// Writes the text with the code that writes the real ones.
fn text(
    public_url: &PublicUrl,
    account: &WalletAccount,
    (account_kind, chain_id): (&str, &str),
    purpose: Purpose<'_>,
) -> String {
    let issued_at = OffsetDateTime::from_unix_timestamp(ISSUED_AT).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    ChallengeText {
        public_url,
        account,
        account_kind,
        chain_id,
        signer_kind: match purpose {
            Purpose::Link { .. } | Purpose::Join { .. } | Purpose::Unlink { .. } | Purpose::Change { .. } => {
                account.kind()
            }
            Purpose::SignIn { .. } | Purpose::Device { .. } | Purpose::Account | Purpose::Program { .. } => {
                None
            }
        },
        purpose,
        invitation: None,
        key: &TextKey::new([0; 32]),
        random: *b"twelve bytes",
        id: GrantId::from_uuid(Uuid::from_u128(0x0197_a2b4_dd20_7a41_b6f2_90c1_e3d5_a784)),
        issued_at,
        expires_at: issued_at + Duration::minutes(5),
    }
    .render()
}

/// When the example's challenge expires.
pub(crate) fn challenge_expires_at() -> String {
    OffsetDateTime::from_unix_timestamp(ISSUED_AT + 300).map(iso8601).unwrap_or_default()
}

/// Where the browser goes after the login.
pub(crate) fn callback(public_url: &PublicUrl) -> String {
    let answer = [("code", CODE), ("state", STATE), ("iss", public_url.as_str())];
    RedirectUri::from_trusted(REDIRECT_URI.to_owned()).with_answer(&answer)
}

/// Where the browser goes after the Deny button.
pub(crate) fn denial(public_url: &PublicUrl) -> String {
    let answer = [("error", "access_denied"), ("state", STATE), ("iss", public_url.as_str())];
    RedirectUri::from_trusted(REDIRECT_URI.to_owned()).with_answer(&answer)
}

/// An answer of the token endpoint.
pub(crate) fn tokens() -> Value {
    json!({
        "access_token": ACCESS_TOKEN,
        "token_type": "Bearer",
        "expires_in": 3600,
        "refresh_token": REFRESH_TOKEN,
        "scope": "profile email",
    })
}

/// The introspection of an access token.
pub(crate) fn introspection(public_url: &PublicUrl) -> Value {
    json!({
        "active": true,
        "scope": "profile email",
        "client_id": CLIENT_ID,
        "username": "User_0197a2b6",
        "sub": USER,
        "exp": ISSUED_AT + 3_600,
        "iat": ISSUED_AT,
        "iss": public_url.as_str(),
        "aud": public_url.as_str(),
        "token_type": "Bearer",
        "jti": "0197a2b6-2a10-7c3d-9a41-6b7e0f1d2c33",
    })
}

/// The claims of the user who signed in.
pub(crate) fn user_info() -> Value {
    json!({
        "sub": USER,
        "address": WALLET,
        "preferred_username": "User_0197a2b6",
        "wallet_address": WALLET,
        "wallet_account": ethereum_account().caip10(),
    })
}
