//! The text with which a wallet signs in a program, and how we recognize it when it comes back.
//!
//! The server does not store it. It is ours if this server's key made its nonce. It is of this kind if
//! writing the same facts again gives the same bytes. So the text of a browser sign-in can never pass for
//! one, whatever it says.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{CLIENT, ChallengeText, Purpose, ReadText, SCOPE, TextKey, is_ours};
use crate::audience::SignedAudiences;
use crate::consent::{ConsentDestination, ConsentTerms};
use crate::id::{ClientId, GrantId};
use crate::public_url::PublicUrl;
use crate::scope::ScopeSet;
use crate::wallet::WalletAccount;

/// The facts in the text that a program brings back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramText {
    /// The client that asked for it.
    pub client: ClientId,
    /// The scopes that are granted.
    pub scope: ScopeSet,
    /// The resources that access tokens are for.
    pub resources: Vec<String>,
    /// The id of the sign-in, which works once.
    pub id: GrantId,
    /// When the text expires.
    pub expires_at: OffsetDateTime,
    issued_at: OffsetDateTime,
    random: [u8; 12],
}

/// The account that a text names, with the words that the text uses for it.
#[derive(Clone, Copy)]
struct NamedAccount<'a> {
    account: &'a WalletAccount,
    kind: &'a str,
    chain_id: &'a str,
}

impl ProgramText {
    /// The terms that someone who signs it agrees to, beside client and scopes.
    pub fn terms(&self) -> ConsentTerms {
        ConsentTerms {
            destination: ConsentDestination::Program,
            audiences: SignedAudiences::of(&self.resources, &self.scope),
        }
    }

    /// Reads one of our texts; every other text is `None`. The caller, who knows the wallets, supplies the
    /// account that the text names, what its family calls such accounts, and how it writes the chain.
    pub fn read(
        public_url: &PublicUrl,
        key: &TextKey,
        text: &str,
        find_account: impl FnOnce(&ReadText<'_>) -> Option<(WalletAccount, String, String)>,
    ) -> Option<(Self, WalletAccount)> {
        if !is_ours(key, text) {
            return None;
        }
        let says = ReadText::read(text)?;
        let this = Self::of(&says)?;
        let (account, kind, chain_id) = find_account(&says)?;
        let named = NamedAccount { account: &account, kind: &kind, chain_id: &chain_id };
        (this.write(public_url, key, named) == text).then_some((this, account))
    }

    fn of(says: &ReadText<'_>) -> Option<Self> {
        let time = |text: Option<&str>| OffsetDateTime::parse(text?, &Rfc3339).ok();
        let mut random = [0; 12];
        hex::decode_to_slice(says.nonce?.get(..24)?, &mut random).ok()?;
        let (client, rest) = says.resources.split_first()?;
        let scopes = rest.iter().map_while(|resource| resource.strip_prefix(SCOPE));
        Some(Self {
            client: ClientId::parse(client.strip_prefix(CLIENT)?)?,
            scope: ScopeSet::from_stored_names(scopes.clone()).ok()?,
            resources: rest.iter().skip(scopes.count()).map(|resource| (*resource).to_owned()).collect(),
            id: GrantId::parse(says.request_id?)?,
            expires_at: time(says.expiration_time)?,
            issued_at: time(says.issued_at)?,
            random,
        })
    }

    fn write(&self, public_url: &PublicUrl, key: &TextKey, named: NamedAccount<'_>) -> String {
        ChallengeText {
            public_url,
            account: named.account,
            account_kind: named.kind,
            chain_id: named.chain_id,
            signer_kind: None,
            purpose: Purpose::Program { client: self.client, scope: &self.scope, resources: &self.resources },
            invitation: None,
            key,
            random: self.random,
            id: self.id,
            issued_at: self.issued_at,
            expires_at: self.expires_at,
        }
        .render()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::challenge::tests::{KEY, text};
    use crate::scope::Scope;

    fn url() -> PublicUrl {
        PublicUrl::parse("https://auth.example").unwrap()
    }

    fn account() -> WalletAccount {
        WalletAccount {
            family: "eip155".to_owned(),
            chain: "eip155:1".to_owned(),
            address: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045".to_owned(),
        }
    }

    fn facts(scope: ScopeSet, resources: &[&str]) -> ProgramText {
        let issued_at = OffsetDateTime::from_unix_timestamp(1_750_846_356).unwrap();
        ProgramText {
            client: ClientId::from_uuid(Uuid::from_u128(1)),
            scope,
            resources: resources.iter().map(|uri| (*uri).to_owned()).collect(),
            id: GrantId::from_uuid(Uuid::from_u128(5)),
            expires_at: issued_at + time::Duration::minutes(5),
            issued_at,
            random: [1; 12],
        }
    }

    fn written(facts: &ProgramText) -> String {
        facts.write(&url(), &KEY, NamedAccount { account: &account(), kind: "Ethereum", chain_id: "1" })
    }

    fn read(text: &str) -> Option<ProgramText> {
        read_at(&url(), text)
    }

    fn read_at(public_url: &PublicUrl, text: &str) -> Option<ProgramText> {
        let named = |says: &ReadText<'_>| {
            let account = account();
            (says.address? == account.address).then(|| (account, "Ethereum".to_owned(), "1".to_owned()))
        };
        ProgramText::read(public_url, &KEY, text, named).map(|(facts, _)| facts)
    }

    #[test]
    fn a_049_what_was_written_for_a_program_is_read_again() {
        for resources in [&[][..], &["https://api.example/v1"], &["urn:a", "http://[::1]:9/mcp"]] {
            let own = ScopeSet::from_stored("photos.read https://api.example/v1 profile").unwrap();
            for scope in [ScopeSet::of(&[Scope::Profile]), ScopeSet::of(&Scope::ALL), own] {
                let facts = facts(scope, resources);
                assert_eq!(read(&written(&facts)), Some(facts));
            }
        }
    }

    #[test]
    fn the_text_says_that_it_is_for_a_program() {
        let text = written(&facts(ScopeSet::of(&[Scope::Profile]), &["https://api.example"]));
        let statement = "\nLet a program act as me here, without a browser: whoever asked for this text. This costs nothing";
        assert!(text.contains(statement), "{text}");
        assert!(text.contains("\nURI: https://auth.example/oauth/token\n"), "{text}");
        let resources = "Resources:\n- urn:countersign:client:00000000-0000-0000-0000-000000000001\n\
                         - urn:countersign:scope:profile\n- https://api.example";
        assert!(text.ends_with(resources), "{text}");
    }

    #[test]
    fn b_002_the_text_of_a_browsers_sign_in_is_none_of_a_program() {
        assert!(is_ours(&KEY, &text([1; 12])), "the text is ours, but of another kind");
        assert_eq!(read(&text([1; 12])), None);
    }

    #[test]
    fn b_004_a_text_of_another_server_or_key_is_none() {
        let text = written(&facts(ScopeSet::of(&[Scope::Profile]), &[]));
        assert_eq!(read_at(&PublicUrl::parse("https://auth.example/sso").unwrap(), &text), None);
        assert_eq!(read_at(&PublicUrl::parse("https://evil.example").unwrap(), &text), None);
        let named = |_: &ReadText<'_>| Some((account(), "Ethereum".to_owned(), "1".to_owned()));
        assert_eq!(ProgramText::read(&url(), &TextKey::new([9; 32]), &text, named), None);
        let other_chain = |_: &ReadText<'_>| Some((account(), "Ethereum".to_owned(), "10".to_owned()));
        assert_eq!(ProgramText::read(&url(), &KEY, &text, other_chain), None);
    }

    #[test]
    fn b_003_not_one_character_may_be_changed_added_or_left_out() {
        let ours = written(&facts(ScopeSet::of(&[Scope::Profile]), &["https://api.example"]));
        for position in 0..ours.len() {
            let (head, tail) = ours.split_at(position);
            let other = if tail.starts_with('x') { 'y' } else { 'x' };
            for text in
                [head.to_owned(), format!("{head}{}", &tail[1..]), format!("{head}{other}{}", &tail[1..])]
            {
                assert_eq!(read(&text), None, "at {position}");
            }
        }
    }

    proptest! {
        #[test]
        fn whatever_strangers_send_is_none(text in ".{0,80}") {
            prop_assert_eq!(read(&text), None);
        }
    }
}
