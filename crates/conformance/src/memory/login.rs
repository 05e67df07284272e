//! What a login writes: a user, a grant with its consent, and a session.

use async_trait::async_trait;
use countersign_domain::consent::Consent;
use countersign_domain::grant::{Grant, Holder};
use countersign_domain::id::{SessionId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{CompleteLogin, LoginCompleted, LoginStore, NewSession, StoreError};
use time::OffsetDateTime;

use super::wallets::{WalletRow, key_of};
use super::{GrantRow, MemoryStorage, Tables};

#[async_trait]
impl LoginStore for MemoryStorage {
    async fn complete_login(&self, command: CompleteLogin) -> Result<LoginCompleted, StoreError> {
        let mut tables = self.tables();
        if let Some(row) = tables.grants.get(&command.id) {
            let user = row.grant.holder.user().filter(|_| row.is_of(&command));
            return Ok(
                user.map_or(LoginCompleted::ChallengeSpent, |user| LoginCompleted::CodeIssued { user })
            );
        }
        let user = tables.user_of_wallet(&command.account, command.new_user, command.now);
        tables.record_about(command.event.clone(), user)?;
        if let Some(session) = command.session.clone() {
            tables.remember(session, user, command.account.clone(), command.now);
        }
        tables.agree(&command, user);
        let (session, authenticated_at) = (command.session.as_ref().map(|session| session.id), command.now);
        tables.grant(command, user, session, authenticated_at);
        Ok(LoginCompleted::CodeIssued { user })
    }
}

impl GrantRow {
    /// True if this same command stored the grant. All grants that answer one device have the same id and
    /// code.
    pub(super) fn is_of(&self, command: &CompleteLogin) -> bool {
        self.grant.code_hash == command.code_hash && self.grant.holder.account() == Some(&command.account)
    }
}

impl Tables {
    /// Finds the user of a wallet, or creates one.
    pub(super) fn user_of_wallet(
        &mut self,
        account: &WalletAccount,
        new_user: UserId,
        now: OffsetDateTime,
    ) -> UserId {
        let (users, untold) = (&mut self.users, &mut self.untold);
        let wallet = self.wallets.entry(key_of(account)).or_insert_with(|| {
            users.insert(new_user, now);
            untold.insert(new_user, now);
            WalletRow { user: new_user, chain: account.chain.clone(), linked_at: now, name: None }
        });
        wallet.user
    }

    /// Stores the user's consent to what a login grants.
    fn agree(&mut self, command: &CompleteLogin, user: UserId) {
        let first = Consent {
            client: command.client,
            terms: command.terms.clone(),
            scope: command.signed_scope(),
            granted_at: command.now,
            last_used_at: command.now,
        };
        let consent = self.consents.entry((user, command.client, command.terms.clone())).or_insert(first);
        consent.scope = consent.scope.union(&command.signed_scope());
        consent.last_used_at = command.now;
    }

    /// Stores a grant.
    pub(super) fn grant(
        &mut self,
        command: CompleteLogin,
        user: UserId,
        session: Option<SessionId>,
        authenticated_at: OffsetDateTime,
    ) {
        let grant = Grant {
            id: command.id,
            client: command.client,
            holder: Holder::Person { user, account: command.account },
            redirect_uri: command.redirect_uri,
            scope: command.scope,
            nonce: command.nonce,
            code_challenge: command.code_challenge,
            particulars: command.particulars,
            session,
            code_hash: command.code_hash,
            authenticated_at,
            code_expires_at: command.code_expires_at,
            redeemed: false,
            revoked: false,
        };
        let row =
            GrantRow { grant, newest_token: None, revocation: None, forget_after: command.forget_after };
        self.grants.insert(command.id, row);
    }

    /// Stores a session in place of the browser's earlier one.
    pub(super) fn remember(
        &mut self,
        session: NewSession,
        user: UserId,
        account: WalletAccount,
        now: OffsetDateTime,
    ) {
        if let Some(replaced) = session.replaces {
            self.sessions.remove(&replaced);
        }
        let row = LoginSession {
            id: session.id,
            user,
            account,
            secret_hash: session.secret_hash,
            browser: session.browser,
            authenticated_at: now,
            last_used_at: now,
            expires_at: session.expires_at,
        };
        self.sessions.insert(session.id, row);
    }
}
