//! Reading and changing a user's account.

use std::cmp::Reverse;

use async_trait::async_trait;
use countersign_domain::consent::Consent;
use countersign_domain::email::UserEmail;
use countersign_domain::grant::{Holder, RevocationReason};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    Account, AccountStore, ConfirmEmail, DeleteAccount, EmailConfirmed, EmailPut, PutEmail, RevokeConsent,
    SharedAddress, StoreError,
};

use super::{MemoryStorage, Revocation, Tables};

#[async_trait]
impl AccountStore for MemoryStorage {
    async fn consents_at(&self, user: UserId, client: ClientId) -> Result<Vec<Consent>, StoreError> {
        let tables = self.tables();
        let theirs = tables.consents.iter().filter(|((of, at, _), _)| (*of, *at) == (user, client));
        Ok(theirs.map(|(_, consent)| consent.clone()).collect())
    }

    async fn find_account(&self, user: UserId) -> Result<Option<Account>, StoreError> {
        let tables = self.tables();
        let Some(created_at) = tables.users.get(&user).copied() else { return Ok(None) };
        let (consents, sessions) = (tables.consents_of(user), tables.sessions_of(user));
        let email = tables.emails.get(&user).cloned();
        Ok(Some(Account { created_at, wallets: tables.wallets_of(user), consents, sessions, email }))
    }

    async fn revoke_consent(&self, command: RevokeConsent) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let revocation = Revocation { at: command.now, reason: RevocationReason::ConsentRevoked };
        for row in tables.grants.values_mut() {
            if row.grant.holder.user() == Some(command.user) && row.grant.client == command.client {
                row.revoke(revocation);
            }
        }
        let before = tables.consents.len();
        tables.consents.retain(|(of, at, _), _| (*of, *at) != (command.user, command.client));
        let is_revoked = tables.consents.len() < before;
        if is_revoked {
            tables.record_about(command.event, command.user);
        }
        Ok(is_revoked)
    }

    async fn find_email(&self, user: UserId) -> Result<Option<UserEmail>, StoreError> {
        Ok(self.tables().emails.get(&user).cloned())
    }

    async fn put_email(&self, command: PutEmail) -> Result<EmailPut, StoreError> {
        let mut tables = self.tables();
        if !tables.users.contains_key(&command.user) {
            return Ok(EmailPut::UserUnknown);
        }
        if let Some(email) = tables.emails.get_mut(&command.user) {
            if email.address == command.address {
                if email.verified_at.is_some() {
                    return Ok(EmailPut::AlreadyVerified);
                }
                email.confirmation = command.confirmation;
                return Ok(EmailPut::Stored);
            }
            if !command.replace {
                return Ok(EmailPut::OtherOnFile);
            }
        }
        let email = UserEmail {
            address: command.address,
            added_at: command.now,
            verified_at: None,
            confirmation: command.confirmation,
        };
        tables.emails.insert(command.user, email);
        Ok(EmailPut::Stored)
    }

    async fn confirm_email(&self, command: ConfirmEmail) -> Result<EmailConfirmed, StoreError> {
        let mut tables = self.tables();
        let Some(email) = tables.emails.get(&command.user) else { return Ok(EmailConfirmed::LinkInvalid) };
        let is_good =
            email.confirmation.is_some_and(|link| link.hash == command.hash && command.now < link.expires_at);
        if !is_good {
            return Ok(EmailConfirmed::LinkInvalid);
        }
        let is_theirs = |(user, other): (&UserId, &UserEmail)| {
            *user != command.user
                && other.verified_at.is_some()
                && other.address.as_str().eq_ignore_ascii_case(email.address.as_str())
        };
        if command.shared == SharedAddress::Refused && tables.emails.iter().any(is_theirs) {
            return Ok(EmailConfirmed::SharedAddress);
        }
        if let Some(email) = tables.emails.get_mut(&command.user) {
            email.verified_at = Some(command.now);
            email.confirmation = None;
        }
        tables.record_about(command.event, command.user);
        Ok(EmailConfirmed::Confirmed)
    }

    async fn remove_email(&self, user: UserId) -> Result<bool, StoreError> {
        Ok(self.tables().emails.remove(&user).is_some())
    }

    async fn delete_account(&self, command: DeleteAccount) -> Result<bool, StoreError> {
        let DeleteAccount { user, now, pseudonym, event } = command;
        let mut tables = self.tables_for(event.as_deref())?;
        tables.block_wallets_instead(user);
        let Tables { users, untold, wallets, grants, consents, sessions, emails, group_users, .. } =
            &mut *tables;
        wallets.retain(|_, wallet| wallet.user != user);
        let revocation = Revocation { at: now, reason: RevocationReason::AccountDeleted };
        for row in grants.values_mut().filter(|row| row.grant.holder.user() == Some(user)) {
            if row.revoke(revocation) {
                let [family, chain, address] = [String::new(), String::new(), String::new()];
                row.grant.holder = Holder::Person { user, account: WalletAccount { family, chain, address } };
                row.grant.nonce = None;
            }
        }
        consents.retain(|(of, ..), _| *of != user);
        sessions.retain(|_, session| session.user != user);
        emails.remove(&user);
        group_users.retain(|(_, member), _| *member != user);
        untold.remove(&user);
        let is_deleted = users.remove(&user).is_some();
        tables.forget_proposals_of(user);
        let events = tables.forget_person(user, pseudonym);
        if let Some(event) = event.filter(|_| is_deleted) {
            tables.fulfil(event.signed.as_ref());
            let mut event = Box::new(event.forgetting(pseudonym));
            event.details = event.details.number("events", events);
            tables.record(Some(event));
        }
        Ok(is_deleted)
    }
}

impl Tables {
    /// The consents of a user, most recently used first.
    pub(super) fn consents_of(&self, user: UserId) -> Vec<Consent> {
        let theirs = self.consents.iter().filter(|((of, ..), _)| *of == user);
        let mut consents: Vec<_> = theirs.map(|(_, consent)| consent.clone()).collect();
        consents.sort_by(Consent::last_used_first);
        consents
    }

    /// The sessions of a user, most recently used first.
    pub(super) fn sessions_of(&self, user: UserId) -> Vec<LoginSession> {
        let theirs = self.sessions.values().filter(|session| session.user == user);
        let mut sessions: Vec<_> = theirs.cloned().collect();
        sessions.sort_by_key(|session| (Reverse(session.last_used_at), session.id));
        sessions
    }
}
