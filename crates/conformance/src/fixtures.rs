//! Builders of values for tests. Fields are public: take what a builder returns, and change what the test is
//! about.
//!
//! Times are whole seconds, because databases keep only microseconds. Ids differ from call to call and from
//! process to process, so that tests can share one database.

mod admin_keys;
mod admission;
mod desk;
mod events;
mod ids;
mod invitations;
mod signing;
mod tokens;

use countersign_domain::admission::ClientAccess;
use countersign_domain::audience::{Audience, TokenAccess};
use countersign_domain::client::{
    Client, ClientAuthentication, ClientMetadata, ClientOrigin, DisplayMetadata, SecretMethod,
};
use countersign_domain::client_secrets::ClientSecrets;
use countersign_domain::consent::{ConsentDestination, ConsentTerms};
use countersign_domain::declaration::{Declaration, DeclaredThing};
use countersign_domain::device::{self, DeviceRequest};
use countersign_domain::email::{EmailAddress, EmailConfirmation};
use countersign_domain::forgetting::{MARGIN, Past, TimeWitness, judge_clock};
use countersign_domain::grant_type::GrantType;
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::id_token::SignedText;
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::login_session::LoginSession;
use countersign_domain::particulars::Particulars;
use countersign_domain::pending::ClientRequest;
use countersign_domain::pkce::CodeChallenge;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::pushed_request::{self, PushedRequest};
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::resource::{
    OpenTo, Resource, ResourceName, ResourceRules, ResourceScope, ScopeTitle,
};
use countersign_domain::scope::{Scope, ScopeName, ScopeSet};
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::wallet::WalletAccount;
use countersign_domain::wallet_name::WalletName;
use countersign_ports::{
    BeginDevice, CompleteLogin, ConfirmEmail, ContinueSession, DeleteAccount, LinkWallet, NameWallet,
    NewSession, OpenSession, PutEmail, RaiseEpoch, RegisterClient, RevokeConsent, SharedAddress, SpendProof,
    TakePushedRequest, UnlinkWallet,
};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

pub use admin_keys::admin_key;
pub use admission::{
    add_member, block_user, block_wallet, change_access, change_one, create_group, end_access, group,
    group_name, groups, new_group, remove_member, rule,
};
pub use desk::{
    change_signature, day_count, end_proposal, hour_count, proposal, put_proposal, replica, signed,
    suspend_operator, take_proposal,
};
pub use events::{event, event_id, event_id_at, pseudonym, seal_events};
use ids::unique_bytes;
pub use ids::{
    admin_key_id, client_id, epoch_id, grant_id, invitation_id, pushed_request_id, session_id, token_id,
    unique, user_id,
};
pub use invitations::{accept_invitation, invitation};
pub use signing::{
    RECORD_KEY, access_claims, add_signing_key, add_signing_key_beside, checkpoint, id_token_claims,
    logout_claims, security_event_claims, short_id_token_claims,
};
pub use tokens::{
    issue_tokens, redeem_code, revoke_grant, revoke_token, rotate_again, rotate_refresh, token,
};

/// The time of all fixtures.
pub const NOW: OffsetDateTime = datetime!(2026-11-21 10:00:00 UTC);

/// A bound up to which things may be forgotten: every clock has passed this time, and the margin with it.
pub fn past(time: OffsetDateTime) -> Past {
    judge_clock(time + MARGIN, TimeWitness::Mark(None), Duration::ZERO).before
}

/// The redirect URI of every client and login.
pub const REDIRECT_URI: &str = "https://client.example/callback";

/// A secret, different at every call.
pub fn secret() -> Secret {
    Secret::from_random(unique_bytes())
}

/// The hash of a secret that nobody has.
pub fn secret_hash() -> SecretHash {
    SecretHash::of(&secret())
}

/// An Ethereum account. The address looks real, but nobody has its key. For one that can sign, see
/// [`crate::fakes::TestWallet`].
pub fn wallet_account() -> WalletAccount {
    WalletAccount {
        family: "eip155".to_owned(),
        chain: "eip155:1".to_owned(),
        address: format!("0x{}", hex::encode(unique_bytes::<20>())),
    }
}

/// The set of all scopes.
pub fn all_scopes() -> ScopeSet {
    ScopeSet::of(&Scope::ALL)
}

/// A client with a secret that nobody has.
pub fn client() -> Client {
    client_with_secret(&secret())
}

/// A client with this secret. It sends the secret in the form.
pub fn client_with_secret(secret: &Secret) -> Client {
    Client {
        id: client_id(),
        authentication: ClientAuthentication::Secret {
            method: SecretMethod::Post,
            secrets: ClientSecrets::only(SecretHash::of(secret)),
        },
        metadata: ClientMetadata {
            name: "Example".to_owned(),
            redirect_uris: vec![redirect_uri(REDIRECT_URI)],
            scopes: all_scopes(),
            grant_types: GrantType::ALL.to_vec(),
            backchannel_logout_uri: None,
            requires_pushed_requests: false,
            requires_bound_tokens: false,
            display: DisplayMetadata::default(),
        },
        origin: ClientOrigin::SelfRegistered,
        document: None,
        resources: Vec::new(),
        access: ClientAccess::default(),
        registration_token: secret_hash(),
        created_at: NOW,
    }
}

/// A client without a secret.
pub fn public_client() -> Client {
    Client { authentication: ClientAuthentication::Public, ..client() }
}

/// A client that authenticates with signatures by its keys.
pub fn client_with_keys() -> Client {
    Client { authentication: ClientAuthentication::Keys, ..client() }
}

/// A proof that is new, valid for five minutes, in a request of its own.
pub fn spend_proof() -> SpendProof {
    SpendProof {
        digest: unique_bytes(),
        attempt: grant_id().as_uuid(),
        before: NOW,
        forget_after: NOW + Duration::minutes(5),
    }
}

/// A redirect URI, without checks.
pub fn redirect_uri(text: &str) -> RedirectUri {
    RedirectUri::from_trusted(text.to_owned())
}

/// Display metadata with a value in every field.
pub fn full_display() -> DisplayMetadata {
    DisplayMetadata {
        client_uri: Some("https://client.example".to_owned()),
        logo_uri: Some("https://client.example/logo.png".to_owned()),
        tos_uri: Some("https://client.example/terms".to_owned()),
        policy_uri: Some("https://client.example/privacy".to_owned()),
        contacts: vec!["ops@client.example".to_owned(), "+49 30 901820".to_owned()],
        jwks: Some("{\n  \"keys\": [{\"kty\": \"EC\", \"kid\": \"🔑\"}]\n}".to_owned()),
        jwks_uri: Some("https://client.example/jwks".to_owned()),
        application_type: Some("native".to_owned()),
        id_token_signed_response_alg: Some("ES256".to_owned()),
        token_endpoint_auth_signing_alg: Some("RS256".to_owned()),
        subject_type: Some("pairwise".to_owned()),
        sector_identifier_uri: Some("https://client.example/sector.json".to_owned()),
        access_token_ttl: Some(300),
        refresh_token_ttl: Some(2_592_000),
        refresh_token_idle_ttl: Some(86_400),
        post_logout_redirect_uris: vec!["https://client.example/bye".to_owned()],
    }
}

/// The command that registers a client.
pub fn register_client() -> RegisterClient {
    RegisterClient { client: client(), event: None }
}

/// A login of a new wallet at a client that need not be registered.
pub fn complete_login() -> CompleteLogin {
    complete_login_of(wallet_account())
}

/// A login of this wallet.
pub fn complete_login_of(account: WalletAccount) -> CompleteLogin {
    CompleteLogin {
        id: grant_id(),
        client: client_id(),
        account,
        new_user: user_id(),
        redirect_uri: Some(redirect_uri(REDIRECT_URI)),
        scope: all_scopes(),
        withheld: ScopeSet::EMPTY,
        terms: terms(),
        nonce: Some("n-0S6_WzA2Mj".to_owned()),
        code_challenge: Some(CodeChallenge::from_bytes(unique_bytes())),
        particulars: particulars(),
        code_hash: secret_hash(),
        now: NOW,
        code_expires_at: NOW + Duration::seconds(60),
        forget_after: NOW + Duration::minutes(5),
        session: None,
        event: None,
    }
}

/// A resource of its own with these scopes. The first has every value, the others have few.
pub fn resource(scopes: &[&str]) -> Resource {
    let title = |text: &str| ScopeTitle::parse(text).unwrap();
    let scope = |(place, name): (usize, &&str)| {
        let titles = [("de", "Deine Fotos sehen"), ("pt-BR", "Ver suas fotos = \"todas\"")];
        let titles = titles.map(|(language, text)| (language.to_owned(), title(text)));
        let is_first = place == 0;
        ResourceScope {
            name: ScopeName::parse(name).unwrap(),
            title: title("See your photos"),
            titles: titles.into_iter().filter(|_| is_first).collect(),
            needs: is_first.then(|| GroupName::parse("staff").unwrap()),
        }
    };
    let mut scopes: Vec<_> = scopes.iter().enumerate().map(scope).collect();
    scopes.sort_by(|one, other| one.name.cmp(&other.name));
    let uri = format!("https://{}.example/api", client_id());
    let name = ResourceName::parse("Photo Store").ok();
    Resource { uri, name, open_to: OpenTo::Everyone, scopes, created_at: NOW }
}

/// A file declared a group.
pub fn declaration() -> Declaration {
    let thing = DeclaredThing::group(&GroupName::parse("staff").unwrap());
    Declaration { thing, source: "/etc/countersign/declared.toml".to_owned(), created_at: NOW }
}

/// A set with these scopes of resources.
pub fn own_scopes(names: &[&str]) -> ScopeSet {
    ScopeSet::of_own(names.iter().map(|name| ScopeName::parse(name).unwrap()))
}

/// The terms of every login: its redirect URI, and everything that [`particulars`] name.
pub fn terms() -> ConsentTerms {
    terms_at(&ConsentDestination::of(&redirect_uri(REDIRECT_URI)), &particulars().resources, all_scopes())
}

/// The terms for these resources, as a user signs them for these scopes.
pub fn terms_at(destination: &ConsentDestination, resources: &[String], scope: ScopeSet) -> ConsentTerms {
    let mut request = ClientRequest::bare(client_id(), redirect_uri(REDIRECT_URI), scope);
    request.access.resources = resources.to_vec();
    ConsentTerms { destination: destination.clone(), ..request.terms() }
}

/// The audience of a token for these resources, or for the issuer if there are none.
pub fn audience(resources: &[&str]) -> Audience {
    let issuer = PublicUrl::parse("http://127.0.0.1:1").unwrap();
    let rules = ResourceRules::new(issuer, Vec::new()).unwrap();
    let resources: Vec<String> = resources.iter().map(|uri| (*uri).to_owned()).collect();
    TokenAccess::of_client(&rules, &client(), &ScopeSet::EMPTY, &resources).unwrap().audience
}

/// Particulars with a value in every field.
pub fn particulars() -> Particulars {
    Particulars {
        resources: vec!["https://api.example/v1".to_owned(), "urn:example:api".to_owned()],
        key: Some(KeyThumbprint::from_bytes(unique_bytes())),
        wallet_proof: Some(SignedText {
            text: "auth.example wants you to sign in\n\nkey none\n".to_owned(),
            signature: "0xab".to_owned(),
        }),
        asked_auth_time: true,
    }
}

/// A login of a new wallet, with a session for the browser.
pub fn remembered_login() -> CompleteLogin {
    remembered_login_of(wallet_account())
}

/// A login of this wallet, with a session for the browser.
pub fn remembered_login_of(account: WalletAccount) -> CompleteLogin {
    CompleteLogin { session: Some(new_session()), ..complete_login_of(account) }
}

/// An hour's session for a browser that had none.
pub fn new_session() -> NewSession {
    NewSession {
        id: session_id(),
        secret_hash: secret_hash(),
        browser: "Firefox on Linux".to_owned(),
        expires_at: NOW + Duration::hours(1),
        replaces: None,
    }
}

/// The command that opens a session of a new wallet.
pub fn open_session() -> OpenSession {
    open_session_of(wallet_account())
}

/// The command that opens a session of this wallet.
pub fn open_session_of(account: WalletAccount) -> OpenSession {
    OpenSession {
        id: grant_id(),
        account,
        new_user: user_id(),
        session: new_session(),
        now: NOW,
        forget_after: NOW + Duration::minutes(5),
        event: None,
    }
}

/// The command that continues a session at this client, with all scopes.
pub fn continue_session(session: &LoginSession, client: ClientId) -> ContinueSession {
    let login = complete_login_of(session.account.clone());
    ContinueSession {
        session: session.id,
        authenticated_at: session.authenticated_at,
        agreed: login.terms.audiences.clone(),
        login: CompleteLogin { client, new_user: session.user, ..login },
    }
}

/// The command that revokes what a user agreed to at a client.
pub fn revoke_consent(user: UserId, client: ClientId) -> RevokeConsent {
    RevokeConsent { user, client, now: NOW, event: None }
}

/// The command that deletes a user's account.
pub fn delete_account(user: UserId) -> DeleteAccount {
    let pseudonym = pseudonym();
    DeleteAccount { user, now: NOW, pseudonym, hiding: RECORD_KEY.hiding(pseudonym), event: None }
}

/// An e-mail address.
pub fn email_address() -> EmailAddress {
    EmailAddress::from_trusted(format!("ada-{}-{}@mail.example", std::process::id(), unique()))
}

/// A confirmation link that is valid for a day.
pub fn email_confirmation() -> EmailConfirmation {
    EmailConfirmation { hash: secret_hash(), expires_at: NOW + Duration::days(1) }
}

/// The command that puts an address on file, with a link, for a user who has none.
pub fn put_email(user: UserId) -> PutEmail {
    PutEmail {
        user,
        address: email_address(),
        confirmation: Some(email_confirmation()),
        replace: false,
        now: NOW,
    }
}

/// The command that follows a confirmation link.
pub fn confirm_email(user: UserId, link: EmailConfirmation) -> ConfirmEmail {
    ConfirmEmail { user, hash: link.hash, shared: SharedAddress::Refused, now: NOW, event: None }
}

/// The command that links a wallet to the signer's user.
pub fn link_wallet(signer: &WalletAccount, wallet: &WalletAccount) -> LinkWallet {
    LinkWallet {
        id: grant_id(),
        signer: signer.clone(),
        wallet: wallet.clone(),
        begun_at: NOW,
        now: NOW,
        forget_after: NOW + Duration::minutes(5),
        most: 1_000,
        event: None,
    }
}

/// The command that gives a wallet of a user a name.
pub fn name_wallet(user: UserId, wallet: &WalletAccount, name: &str) -> NameWallet {
    NameWallet { user, wallet: wallet.clone(), name: WalletName::parse(name).ok() }
}

/// The command that unlinks a wallet from the signer's user.
pub fn unlink_wallet(signer: &WalletAccount, wallet: &WalletAccount) -> UnlinkWallet {
    UnlinkWallet {
        id: grant_id(),
        signer: signer.clone(),
        wallet: wallet.clone(),
        begun_at: NOW,
        now: NOW,
        forget_after: NOW + Duration::minutes(5),
        event: None,
    }
}

/// A request that a client pushed.
pub fn pushed_request() -> PushedRequest {
    PushedRequest {
        id: pushed_request_id(),
        client: client_id(),
        secret_hash: secret_hash(),
        parameters: format!("response_type=code&state=%C3%A9+{}", unique()),
        expires_at: NOW + pushed_request::LIFETIME,
    }
}

/// The command that takes a pushed request.
pub fn take_pushed_request(request: &PushedRequest) -> TakePushedRequest {
    TakePushedRequest { id: request.id, client: request.client, secret_hash: request.secret_hash, now: NOW }
}

/// A backup was restored.
pub fn raise_epoch() -> RaiseEpoch {
    RaiseEpoch { id: epoch_id(), now: NOW, event: None }
}

/// The command that makes a device wait for an answer.
pub fn begin_device() -> BeginDevice {
    let expires_at = NOW + device::LIFETIME;
    let request = DeviceRequest {
        id: grant_id(),
        client: client_id(),
        user_code_hash: secret_hash(),
        code_hash: secret_hash(),
        scope: all_scopes(),
        resources: vec!["https://api.example".to_owned()],
        expires_at,
        denied: false,
    };
    BeginDevice { request, forget_after: expires_at + device::REMEMBERED }
}
