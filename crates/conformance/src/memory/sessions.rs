//! Remembered sign-ins.

use async_trait::async_trait;
use countersign_domain::id::{SessionId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_ports::{
    ContinueSession, OpenSession, SessionContinued, SessionOpened, SessionStore, StoreError,
};

use super::{MemoryStorage, Tables, count_of};

#[async_trait]
impl SessionStore for MemoryStorage {
    async fn open_session(&self, command: OpenSession) -> Result<SessionOpened, StoreError> {
        let mut tables = self.tables();
        if tables.spent_challenges.contains_key(&command.id) || tables.grants.contains_key(&command.id) {
            let present = tables.sessions.get(&command.session.id);
            let repeated = present.filter(|session| {
                session.secret_hash == command.session.secret_hash && command.now < session.expires_at
            });
            return Ok(repeated.map_or(SessionOpened::ChallengeSpent, |session| SessionOpened::Opened {
                user: session.user,
            }));
        }
        tables.spent_challenges.insert(command.id, command.forget_after);
        let user = tables.user_of_wallet(&command.account, command.new_user, command.now);
        tables.remember(command.session, user, command.account, command.now);
        Ok(SessionOpened::Opened { user })
    }

    async fn find_session(&self, id: SessionId) -> Result<Option<LoginSession>, StoreError> {
        Ok(self.tables().sessions.get(&id).cloned())
    }

    async fn continue_session(&self, command: ContinueSession) -> Result<SessionContinued, StoreError> {
        let mut tables = self.tables();
        let ContinueSession { session, authenticated_at, login } = command;
        if let Some(row) = tables.grants.get(&login.id) {
            let is_repeated = row.grant.code_hash == login.code_hash;
            return Ok(if is_repeated {
                SessionContinued::CodeIssued
            } else {
                SessionContinued::RequestSpent
            });
        }
        let Tables { sessions, consents, .. } = &mut *tables;
        let live = sessions.get_mut(&session).filter(|session| login.now < session.expires_at);
        let Some(live) = live else { return Ok(SessionContinued::SessionEnded) };
        let consent = consents.get(&(live.user, login.client));
        if !consent.is_some_and(|consent| login.scope.is_subset_of(consent.scope)) {
            return Ok(SessionContinued::ConsentMissing);
        }
        live.last_used_at = login.now;
        let user = live.user;
        tables.grant(login, user, authenticated_at);
        Ok(SessionContinued::CodeIssued)
    }

    async fn end_session(&self, user: UserId, id: SessionId) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let is_theirs = tables.sessions.get(&id).is_some_and(|session| session.user == user);
        Ok(is_theirs && tables.sessions.remove(&id).is_some())
    }

    async fn end_sessions(&self, user: UserId) -> Result<u64, StoreError> {
        let mut tables = self.tables();
        let before = tables.sessions.len();
        tables.sessions.retain(|_, session| session.user != user);
        Ok(count_of(before - tables.sessions.len()))
    }
}
