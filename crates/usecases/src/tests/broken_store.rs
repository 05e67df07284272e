//! C-05: storage fails at each call of each flow; the right error comes out and nothing is half done.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use countersign_conformance::memory::MemoryStorage;
use countersign_domain::client::Client;
use countersign_domain::consent::Consent;
use countersign_domain::device::DeviceRequest;
use countersign_domain::email::UserEmail;
use countersign_domain::grant::Grant;
use countersign_domain::id::{ClientId, GrantId, SessionId, TokenId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::pushed_request::PushedRequest;
use countersign_domain::refresh::RefreshSnapshot;
use countersign_domain::secret::SecretHash;
use countersign_domain::signing_key::SealedKey;
use countersign_domain::token::AccessSnapshot;
use countersign_ports::{
    Account, AccountStore, AddSigningKey, BeginDevice, ClientStore, Clock, CompleteLogin, ConfirmEmail,
    ContinueSession, DeleteAccount, DenyDevice, DeviceBegun, DeviceDenied, EmailPut, IssueTokens, KeyAdded,
    KeyStore, LinkWallet, LinkedWallet, LoginCompleted, LoginStore, OpenSession, PurgeExpired, Purged,
    PutEmail, RedeemCode, Redeemed, RegisterClient, Registered, ReplayStore, RequestStore, RevokeConsent,
    RevokeGrant, RevokeToken, Revoked, RotateRefresh, Rotated, SessionClient, SessionContinued,
    SessionOpened, SessionStore, SignOut, SpendProof, StoreError, TakePushedRequest, TokenStore,
    TokensIssued, UnlinkWallet, Upkeep, WalletLinked, WalletStore, WalletUnlinked,
};
use time::OffsetDateTime;

use super::programs;
use super::world::World;
use crate::Refuse;
use crate::complete_login::LoginWishes;
use crate::continue_session::{ContinueWishes, continue_session};
use crate::login::Browser;

/// Fails the call after so many that work.
#[derive(Default)]
struct Breakable {
    inner: MemoryStorage,
    calls_left: AtomicI64,
}

impl Breakable {
    fn call(&self) -> Result<(), StoreError> {
        if self.calls_left.fetch_sub(1, Ordering::SeqCst) == 0 {
            return Err(StoreError::Unavailable("the test pulled the plug".into()));
        }
        Ok(())
    }
}

macro_rules! breakable {
    ($port:ident { $($name:ident($($argument:ident: $type:ty),+) -> $answer:ty;)* }) => {
        #[async_trait]
        impl $port for Breakable {
            $(async fn $name(&self, $($argument: $type),+) -> Result<$answer, StoreError> {
                self.call()?;
                self.inner.$name($($argument),+).await
            })*
        }
    };
}

breakable!(ClientStore {
    register_client(command: RegisterClient) -> Registered;
    update_client(client: Client) -> bool;
    delete_client(id: ClientId) -> bool;
    find_client(id: ClientId) -> Option<Client>;
    list_clients(after: Option<ClientId>, limit: u32) -> Vec<Client>;
});
breakable!(LoginStore { complete_login(command: CompleteLogin) -> LoginCompleted; });
breakable!(WalletStore {
    link_wallet(command: LinkWallet) -> WalletLinked;
    unlink_wallet(command: UnlinkWallet) -> WalletUnlinked;
    wallets_of(user: UserId) -> Vec<LinkedWallet>;
});
breakable!(SessionStore {
    open_session(command: OpenSession) -> SessionOpened;
    find_session(id: SessionId) -> Option<LoginSession>;
    continue_session(command: ContinueSession) -> SessionContinued;
    sign_out(command: SignOut) -> bool;
    clients_of_sessions(user: UserId) -> Vec<SessionClient>;
    end_session(user: UserId, id: SessionId) -> bool;
    end_sessions(user: UserId) -> u64;
});
breakable!(AccountStore {
    find_consent(user: UserId, client: ClientId) -> Option<Consent>;
    find_account(user: UserId) -> Option<Account>;
    revoke_consent(command: RevokeConsent) -> bool;
    find_email(user: UserId) -> Option<UserEmail>;
    put_email(command: PutEmail) -> EmailPut;
    confirm_email(command: ConfirmEmail) -> bool;
    remove_email(user: UserId) -> bool;
    delete_account(command: DeleteAccount) -> bool;
});
breakable!(ReplayStore { spend_proof(command: SpendProof) -> bool; });
breakable!(TokenStore {
    find_grant(id: GrantId) -> Option<Grant>;
    redeem_code(command: RedeemCode) -> Redeemed;
    issue_tokens(command: IssueTokens) -> TokensIssued;
    find_refresh(id: TokenId) -> Option<RefreshSnapshot>;
    rotate_refresh(command: RotateRefresh) -> Rotated;
    find_access(id: TokenId) -> Option<AccessSnapshot>;
    revoke_token(command: RevokeToken) -> Revoked;
    revoke_grant(command: RevokeGrant) -> Revoked;
});

breakable!(RequestStore {
    push_request(request: PushedRequest) -> ();
    take_pushed_request(command: TakePushedRequest) -> Option<String>;
    begin_device(command: BeginDevice) -> DeviceBegun;
    find_device(id: GrantId) -> Option<DeviceRequest>;
    find_device_by_user_code(hash: SecretHash) -> Option<DeviceRequest>;
    deny_device(command: DenyDevice) -> DeviceDenied;
});

#[async_trait]
impl KeyStore for Breakable {
    async fn add_signing_key(&self, command: AddSigningKey) -> Result<KeyAdded, StoreError> {
        self.inner.add_signing_key(command).await
    }

    async fn withdraw_signing_key(&self, kid: &str, now: OffsetDateTime) -> Result<bool, StoreError> {
        self.inner.withdraw_signing_key(kid, now).await
    }

    async fn remove_signing_key(&self, kid: &str) -> Result<bool, StoreError> {
        self.inner.remove_signing_key(kid).await
    }

    async fn signing_keys(&self) -> Result<Vec<SealedKey>, StoreError> {
        self.inner.signing_keys().await
    }
}

#[async_trait]
impl Upkeep for Breakable {
    async fn purge_expired(&self, command: PurgeExpired) -> Result<Purged, StoreError> {
        self.inner.purge_expired(command).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.inner.ping().await
    }
}

fn world() -> (World, Arc<Breakable>) {
    let storage = Arc::new(Breakable { calls_left: AtomicI64::new(-1), ..Breakable::default() });
    (World::on(Arc::<Breakable>::clone(&storage)), storage)
}

/// No client is remembered then: what happens next asks the storage for it.
async fn break_after(world: &World, storage: &Breakable, calls: i64) {
    world.clock.wait(Duration::from_secs(1)).await;
    storage.calls_left.store(calls, Ordering::SeqCst);
}

fn is_unavailable(error: &impl Refuse) -> bool {
    error.refusal().code.name() == "temporarily_unavailable"
}

#[tokio::test]
async fn a_072_an_exchange_that_storage_broke_can_be_repeated() {
    for calls in 0..3 {
        let (world, storage) = world();
        let client = world.client().await;
        let code = world.code(&client, "toy-ann", &[]).await;
        break_after(&world, &storage, calls).await;
        let error = world.exchange(&client, &code).await.unwrap_err();
        assert!(is_unavailable(&error), "after {calls} calls: {error:?}");
        assert!(world.exchange(&client, &code).await.is_ok(), "after {calls} calls");
    }
}

#[tokio::test]
async fn a_refresh_that_storage_broke_can_be_repeated() {
    for calls in 0..3 {
        let (world, storage) = world();
        let client = world.client().await;
        let tokens = world.tokens(&client, "toy-ann").await;
        break_after(&world, &storage, calls).await;
        let error = world.refresh(&client, &tokens).await.unwrap_err();
        assert!(is_unavailable(&error), "after {calls} calls: {error:?}");
        assert!(world.refresh(&client, &tokens).await.is_ok(), "after {calls} calls");
    }
}

#[tokio::test]
async fn a_092_a_revocation_that_storage_broke_is_no_success() {
    for calls in 0..3 {
        let (world, storage) = world();
        let client = world.client().await;
        let tokens = world.tokens(&client, "toy-ann").await;
        break_after(&world, &storage, calls).await;
        let error = world.revoke(&client, tokens.refresh_token.as_ref().unwrap()).await.unwrap_err();
        assert!(is_unavailable(&error), "after {calls} calls: {error:?}");
        assert!(world.is_alive(&tokens).await);
        world.revoke(&client, tokens.refresh_token.as_ref().unwrap()).await.unwrap();
        assert!(!world.is_alive(&tokens).await);
    }
}

#[tokio::test]
async fn a_login_that_storage_broke_can_be_repeated_with_the_same_signature() {
    for calls in 0..2 {
        let (world, storage) = world();
        let client = world.client().await;
        let mut pending = world.pending(&client, &[]).await;
        break_after(&world, &storage, calls).await;
        let error = world.sign_in(&mut pending, "toy-ann").await.unwrap_err();
        assert!(is_unavailable(&error), "after {calls} calls: {error:?}");
        assert!(world.sign_in(&mut pending, "toy-ann").await.is_ok());
    }
}

#[tokio::test]
async fn a_session_whose_continuing_storage_broke_can_be_continued_again() {
    for calls in 0..2 {
        let (world, storage) = world();
        let client = world.client().await;
        let mut browser = Browser::default();
        world.remember(&mut browser, &mut world.pending(&client, &[]).await, "toy-ann").await;
        let next = world.pending(&client, &[("state", "next")]).await;
        break_after(&world, &storage, calls).await;
        let error =
            continue_session(&world.context, &next, &browser, ContinueWishes::default()).await.unwrap_err();
        assert!(is_unavailable(&error), "after {calls} calls: {error:?}");
        assert!(continue_session(&world.context, &next, &browser, ContinueWishes::default()).await.is_ok());
    }
}

#[tokio::test]
async fn a_sign_in_does_not_fail_with_the_e_mail_address_that_came_with_it() {
    let (world, storage) = world();
    let client = world.client().await;
    let mut pending = world.pending(&client, &[]).await;
    break_after(&world, &storage, 2).await;
    let wishes = LoginWishes { email: Some("ann@example.com".to_owned()), ..LoginWishes::default() };
    let done = world.sign_in_with(&mut pending, "toy-ann", wishes).await.unwrap();
    assert!(done.link.is_none());
}

#[tokio::test]
async fn a_replayed_code_is_never_answered_before_its_tokens_are_dead() {
    let (world, storage) = world();
    let client = world.client().await;
    let code = world.code(&client, "toy-ann", &[]).await;
    world.exchange(&client, &code).await.unwrap();
    break_after(&world, &storage, 2).await;
    let error = world.exchange(&client, &code).await.unwrap_err();
    assert!(is_unavailable(&error), "the revocation failed, so the answer is not invalid_grant: {error:?}");
}

#[tokio::test]
async fn a_072_a_program_whose_sign_in_storage_broke_can_repeat_it() {
    for calls in 0..4 {
        let (world, storage) = world();
        let client = programs::program(&world).await;
        let text = programs::text(&world, &client).await;
        break_after(&world, &storage, calls).await;
        let error = programs::redeem(&world, programs::signed(&client, &text)).await.unwrap_err();
        assert!(is_unavailable(&error), "after {calls} calls: {error:?}");
        assert!(
            programs::redeem(&world, programs::signed(&client, &text)).await.is_ok(),
            "after {calls} calls"
        );
    }
}
