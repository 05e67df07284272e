//! Remembered sign-ins.

use std::collections::BTreeSet;

use async_trait::async_trait;
use countersign_domain::consent::ConsentTerms;
use countersign_domain::grant::{Grant, RevocationReason};
use countersign_domain::id::{SessionId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_ports::{
    ContinueSession, EndSession, EndSessions, OpenSession, SessionClient, SessionContinued, SessionOpened,
    SessionStore, SignOut, StoreError,
};

use super::{MemoryStorage, Revocation, Tables, count_of};

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
        tables.record_about(command.event, user)?;
        Ok(SessionOpened::Opened { user })
    }

    async fn find_session(&self, id: SessionId) -> Result<Option<LoginSession>, StoreError> {
        Ok(self.tables().sessions.get(&id).cloned())
    }

    async fn continue_session(&self, command: ContinueSession) -> Result<SessionContinued, StoreError> {
        let mut tables = self.tables();
        let ContinueSession { session, authenticated_at, login, agreed } = command;
        if let Some(row) = tables.grants.get(&login.id) {
            return Ok(if row.is_of(&login) {
                SessionContinued::CodeIssued
            } else {
                SessionContinued::RequestSpent
            });
        }
        let Tables { sessions, consents, .. } = &mut *tables;
        let live = sessions.get_mut(&session).filter(|session| login.now < session.expires_at);
        let Some(live) = live else { return Ok(SessionContinued::SessionEnded) };
        let terms = ConsentTerms { destination: login.terms.destination.clone(), audiences: agreed };
        let consent = consents.get_mut(&(live.user, login.client, terms));
        let Some(consent) = consent.filter(|consent| login.signed_scope().is_subset_of(&consent.scope))
        else {
            return Ok(SessionContinued::ConsentMissing);
        };
        consent.last_used_at = login.now;
        live.last_used_at = login.now;
        let user = live.user;
        tables.record_about(login.event.clone(), user)?;
        tables.grant(login, user, Some(session), authenticated_at);
        Ok(SessionContinued::CodeIssued)
    }

    async fn sign_out(&self, command: SignOut) -> Result<bool, StoreError> {
        let SignOut { user, session, keeps, now, event } = command;
        let mut tables = self.tables();
        let of_session = |grant: &Grant| grant.holder.user() == Some(user) && grant.session == Some(session);
        let revocation = Revocation { at: now, reason: RevocationReason::SignedOut };
        for row in tables.grants.values_mut().filter(|row| of_session(&row.grant)) {
            if !row.grant.scope.contains(keeps) {
                row.revoke(revocation);
            }
        }
        let is_ended = tables.end_session(user, session);
        if is_ended {
            tables.record_about(event, user)?;
        }
        Ok(is_ended)
    }

    async fn clients_of_sessions(&self, user: UserId) -> Result<Vec<SessionClient>, StoreError> {
        let tables = self.tables();
        let live = tables.grants.values().map(|row| &row.grant).filter(|grant| !grant.revoked);
        let clients: BTreeSet<SessionClient> = live
            .filter(|grant| grant.holder.user() == Some(user))
            .filter_map(|grant| Some(SessionClient { session: grant.session?, client: grant.client }))
            .filter(|client| tables.sessions.contains_key(&client.session))
            .collect();
        Ok(clients.into_iter().collect())
    }

    async fn end_session(&self, command: EndSession) -> Result<bool, StoreError> {
        let EndSession { user, id, event } = command;
        let mut tables = self.tables();
        let is_ended = tables.end_session(user, id);
        if is_ended {
            tables.record_about(event, user)?;
        }
        Ok(is_ended)
    }

    async fn end_sessions(&self, command: EndSessions) -> Result<u64, StoreError> {
        let EndSessions { user, event } = command;
        let mut tables = self.tables_for(event.as_deref())?;
        let before = tables.sessions.len();
        tables.sessions.retain(|_, session| session.user != user);
        let ended = count_of(before - tables.sessions.len());
        if ended > 0 {
            tables.record_about(event, user)?;
        }
        Ok(ended)
    }
}

impl Tables {
    /// Ends a session if it belongs to this user. Returns whether it existed.
    fn end_session(&mut self, user: UserId, id: SessionId) -> bool {
        let is_theirs = self.sessions.get(&id).is_some_and(|session| session.user == user);
        is_theirs && self.sessions.remove(&id).is_some()
    }
}
