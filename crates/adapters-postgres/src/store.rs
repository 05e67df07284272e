//! The port, one line for each operation.

use async_trait::async_trait;
use countersign_domain::client::Client;
use countersign_domain::grant::Grant;
use countersign_domain::id::{ClientId, GrantId, TokenId, UserId};
use countersign_domain::refresh::RefreshSnapshot;
use countersign_domain::signing_key::SealedKey;
use countersign_domain::token::AccessSnapshot;
use countersign_ports::{
    AddSigningKey, ClientStore, CompleteLogin, KeyAdded, KeyStore, LinkWallet, LinkedWallet, LoginCompleted,
    LoginStore, PurgeExpired, Purged, RedeemCode, Redeemed, RegisterClient, Registered, RevokeGrant,
    RevokeToken, Revoked, RotateRefresh, Rotated, StoreError, TokenStore, UnlinkWallet, Upkeep, WalletLinked,
    WalletStore, WalletUnlinked,
};

use crate::PgStorage;
use crate::ops::complete_login::complete_login;
use crate::ops::keys::{add_signing_key, signing_keys};
use crate::ops::link_wallet::link_wallet;
use crate::ops::read::{find_access, find_client, find_grant, find_refresh, list_clients, wallets_of};
use crate::ops::redeem_code::redeem_code;
use crate::ops::register_client::{delete_client, register_client, update_client};
use crate::ops::revoke::{revoke_grant, revoke_token};
use crate::ops::rotate_refresh::rotate_refresh;
use crate::ops::unlink_wallet::unlink_wallet;
use crate::ops::upkeep::{ping, purge_expired};

#[async_trait]
impl ClientStore for PgStorage {
    async fn register_client(&self, command: RegisterClient) -> Result<Registered, StoreError> {
        self.pool.run(move |connection| register_client(connection, &command)).await
    }

    async fn update_client(&self, client: Client) -> Result<bool, StoreError> {
        self.pool.run(move |connection| update_client(connection, &client)).await
    }

    async fn delete_client(&self, id: ClientId) -> Result<bool, StoreError> {
        self.pool.run(move |connection| delete_client(connection, id)).await
    }

    async fn find_client(&self, id: ClientId) -> Result<Option<Client>, StoreError> {
        self.pool.run(move |connection| find_client(connection, id)).await
    }

    async fn list_clients(&self, after: Option<ClientId>, limit: u32) -> Result<Vec<Client>, StoreError> {
        self.pool.run(move |connection| list_clients(connection, after, limit)).await
    }
}

#[async_trait]
impl LoginStore for PgStorage {
    async fn complete_login(&self, command: CompleteLogin) -> Result<LoginCompleted, StoreError> {
        self.pool.run(move |connection| complete_login(connection, &command)).await
    }
}

#[async_trait]
impl WalletStore for PgStorage {
    async fn link_wallet(&self, command: LinkWallet) -> Result<WalletLinked, StoreError> {
        self.pool.run(move |connection| link_wallet(connection, &command)).await
    }

    async fn unlink_wallet(&self, command: UnlinkWallet) -> Result<WalletUnlinked, StoreError> {
        self.pool.run(move |connection| unlink_wallet(connection, &command)).await
    }

    async fn wallets_of(&self, user: UserId) -> Result<Vec<LinkedWallet>, StoreError> {
        self.pool.run(move |connection| wallets_of(connection, user)).await
    }
}

#[async_trait]
impl TokenStore for PgStorage {
    async fn find_grant(&self, id: GrantId) -> Result<Option<Grant>, StoreError> {
        self.pool.run(move |connection| find_grant(connection, id)).await
    }

    async fn redeem_code(&self, command: RedeemCode) -> Result<Redeemed, StoreError> {
        self.pool.run(move |connection| redeem_code(connection, &command)).await
    }

    async fn find_refresh(&self, id: TokenId) -> Result<Option<RefreshSnapshot>, StoreError> {
        self.pool.run(move |connection| find_refresh(connection, id)).await
    }

    async fn rotate_refresh(&self, command: RotateRefresh) -> Result<Rotated, StoreError> {
        self.pool.run(move |connection| rotate_refresh(connection, &command)).await
    }

    async fn find_access(&self, id: TokenId) -> Result<Option<AccessSnapshot>, StoreError> {
        self.pool.run(move |connection| find_access(connection, id)).await
    }

    async fn revoke_token(&self, command: RevokeToken) -> Result<Revoked, StoreError> {
        self.pool.run(move |connection| revoke_token(connection, command)).await
    }

    async fn revoke_grant(&self, command: RevokeGrant) -> Result<Revoked, StoreError> {
        self.pool.run(move |connection| revoke_grant(connection, command)).await
    }
}

#[async_trait]
impl KeyStore for PgStorage {
    async fn add_signing_key(&self, command: AddSigningKey) -> Result<KeyAdded, StoreError> {
        self.pool.run(move |connection| add_signing_key(connection, &command)).await
    }

    async fn signing_keys(&self) -> Result<Vec<SealedKey>, StoreError> {
        self.pool.run(signing_keys).await
    }
}

#[async_trait]
impl Upkeep for PgStorage {
    async fn purge_expired(&self, command: PurgeExpired) -> Result<Purged, StoreError> {
        self.pool.run(move |connection| purge_expired(connection, command)).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.pool.run(ping).await
    }
}
