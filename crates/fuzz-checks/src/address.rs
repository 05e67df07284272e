//! What must be true of every address that some family recognizes.

use std::sync::LazyLock;

use countersign_domain::challenge::{ChallengeText, Purpose, TextKey};
use countersign_domain::id::{ClientId, GrantId};
use countersign_domain::public_url::PublicUrl;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::wallet::{AccountName, WalletAccount};
use countersign_ports::{RecognizedAccount, Verdict, WalletVerifier};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::accounts::FAMILIES;
use crate::{ROUTER, is_printable, verdict};

/// The longest address in use, of any family, is a Cosmos address of 90 characters.
const MAX_ADDRESS: usize = 90;

/// A challenge has 1,500 bytes at most.
const MAX_CHALLENGE: usize = 1_500;

static PUBLIC_URL: LazyLock<PublicUrl> =
    LazyLock::new(|| PublicUrl::parse("https://auth.example.com").expect("a public URL"));
static REDIRECT_URI: LazyLock<RedirectUri> =
    LazyLock::new(|| RedirectUri::from_trusted("https://client.example/cb".to_owned()));

/// Reads an address and, after its last line feed, a chain.
pub fn judge(input: &str) {
    let (text, chain) = match input.rsplit_once('\n') {
        Some((text, chain)) => (text, Some(chain)),
        None => (input, None),
    };
    let Ok(name) = AccountName::read(text, chain) else { return };
    let recognized = ROUTER.recognize(name.address, name.chain);
    assert_eq!(
        recognized,
        ROUTER.recognize(name.address, name.chain),
        "the answer depends on the input alone"
    );
    for (position, one) in recognized.iter().enumerate() {
        assert!(!recognized[..position].contains(one), "an account comes twice");
        hold_for(one, &name);
    }
    an_account_of_others_is_not_believed(&name);
}

fn hold_for(one: &RecognizedAccount, name: &AccountName<'_>) {
    let account = &one.account;
    assert!(
        name.chain.is_none_or(|chain| chain == account.chain),
        "{account:?} is not on the chain that was named"
    );
    assert!(account.chain.starts_with(&account.family) && account.chain.contains(':'), "{account:?}");
    assert!(is_printable(&account.address) && account.address.len() <= MAX_ADDRESS, "{account:?}");
    assert!(is_printable(&account.chain) && is_printable(&one.chain_id), "{one:?}");
    assert!(is_printable(&one.kind.replace(' ', "")), "{one:?}");

    // The given spelling names the account on its chain, and the canonical form is a fixed point: alone it also
    // means the account (perhaps among others), and on its chain nothing else of its kind.
    assert!(ROUTER.recognize(name.address, Some(&account.chain)).contains(one), "{one:?}");
    assert_eq!(ROUTER.recognize(&account.address, Some(&account.chain)), std::slice::from_ref(one));
    let anywhere = ROUTER.recognize(&account.address, None);
    let same = anywhere
        .iter()
        .any(|other| other.account.family == account.family && other.account.address == account.address);
    assert!(same, "{one:?} is not found without its chain");
    let caip10 = account.caip10();
    let written = AccountName { address: &account.address, chain: Some(&account.chain), kind: None };
    assert_eq!(AccountName::read(&caip10, None), Ok(written));

    challenge_is_plain(one);
    for hint in ROUTER.signing_hints(account) {
        assert!(!hint.tool.is_empty() && !hint.how.is_empty(), "{one:?}");
    }
    for garbage in ["", "0x", "{}", "é"] {
        let judged = verdict(account, "text", garbage);
        assert!(!matches!(judged, Ok(Verdict::Valid(_))), "{garbage} is a signature for {account:?}");
    }
}

/// The text is printable ASCII and line feeds, and not too long, whatever the account is called.
fn challenge_is_plain(one: &RecognizedAccount) {
    let text = ChallengeText {
        public_url: &PUBLIC_URL,
        account: &one.account,
        account_kind: &one.kind,
        chain_id: &one.chain_id,
        signer_kind: one.account.kind(),
        purpose: Purpose::SignIn {
            redirect_uri: &REDIRECT_URI,
            client: ClientId::from_uuid(Uuid::nil()),
            scope: &ScopeSet::of(&Scope::ALL),
            resources: &[],
        },
        invitation: None,
        key: &TextKey::new([0; 32]),
        random: [0xa5; 12],
        id: GrantId::from_uuid(Uuid::nil()),
        issued_at: OffsetDateTime::UNIX_EPOCH,
        expires_at: OffsetDateTime::UNIX_EPOCH,
    }
    .render();
    assert!(text.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)), "{one:?}");
    assert!(text.len() <= MAX_CHALLENGE, "{one:?}");
    assert_eq!(text.lines().nth(1), Some(one.account.address.as_str()));
}

/// An account can also come from a session that an older version wrote. Whatever it says, a signature is valid
/// only for its own account.
fn an_account_of_others_is_not_believed(name: &AccountName<'_>) {
    for family in FAMILIES {
        let row = &family.signed[0];
        let own = family.account(0);
        let chain = name.chain.unwrap_or(&own.chain);
        let account = WalletAccount {
            family: own.family.clone(),
            chain: chain.to_owned(),
            address: name.address.to_owned(),
        };
        let judged = verdict(&account, row.text, row.signature);
        if matches!(judged, Ok(Verdict::Valid(_))) {
            assert_eq!((&account.address, &account.family), (&own.address, &own.family));
        }
    }
}
