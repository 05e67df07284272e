//! Reading and changing a user's account.

use std::cmp::Reverse;

use async_trait::async_trait;
use countersign_domain::consent::Consent;
use countersign_domain::email::UserEmail;
use countersign_domain::grant::{Holder, RevocationReason};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::particulars::Particulars;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    Account, AccountStore, ConfirmEmail, DeleteAccount, EmailConfirmed, EmailPut, ForgetEventsOf,
    LeftToForget, PutEmail, RevokeConsent, SharedAddress, StoreError,
};

use super::wallets::{WalletKey, key_of};
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
            tables.record_about(command.event, command.user)?;
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
        tables.record_about(command.event, command.user)?;
        Ok(EmailConfirmed::Confirmed)
    }

    async fn remove_email(&self, user: UserId) -> Result<bool, StoreError> {
        Ok(self.tables().emails.remove(&user).is_some())
    }

    async fn delete_account(&self, command: DeleteAccount) -> Result<bool, StoreError> {
        let DeleteAccount { user, now, pseudonym, hiding, event } = command;
        let mut tables = self.tables_for(event.as_deref())?;
        let kept_out = tables.block_wallets_instead(user);
        let theirs: Vec<WalletKey> =
            tables.wallets_of(user).iter().map(|linked| key_of(&linked.account)).collect();
        tables.named_users.remove(&user);
        tables.named_wallets.retain(|wallet, _| !theirs.contains(wallet));
        tables.invitation_uses.retain(|(_, wallet), _| !theirs.contains(wallet));
        let Tables { users, seen, untold, wallets, grants, consents, sessions, emails, group_users, .. } =
            &mut *tables;
        wallets.retain(|_, wallet| wallet.user != user);
        let revocation = Revocation { at: now, reason: RevocationReason::AccountDeleted };
        for row in grants.values_mut().filter(|row| row.grant.holder.user() == Some(user)) {
            row.revoke(revocation);
            let [family, chain, address] = [String::new(), String::new(), String::new()];
            let account = WalletAccount { family, chain, address };
            row.grant.holder = Holder::Person { user: pseudonym.in_place_of_user(), account };
            row.grant.nonce = None;
            row.grant.particulars = Particulars::default();
            row.grant.session = None;
        }
        consents.retain(|(of, ..), _| *of != user);
        sessions.retain(|_, session| session.user != user);
        emails.remove(&user);
        group_users.retain(|(_, member), _| *member != user);
        untold.remove(&user);
        seen.remove(&user);
        let is_deleted = users.remove(&user).is_some();
        tables.forget_proposals_of(user);
        if !is_deleted && tables.left_to_forget.contains_key(&user) {
            return Ok(false);
        }
        let events = tables.forget_person(user, &theirs, pseudonym, &hiding);
        if let Some(event) = event.filter(|_| is_deleted) {
            for wallet in kept_out {
                tables.record(Some(Box::new(event.of_wallet_kept_out(wallet))))?;
            }
            tables.fulfil(event.signed.as_ref());
            tables.record(Some(Box::new(event.of_deletion(pseudonym, events))))?;
        }
        Ok(is_deleted)
    }

    async fn forget_events_of(&self, command: ForgetEventsOf) -> Result<bool, StoreError> {
        let ForgetEventsOf { user, pseudonym, hiding } = command;
        let mut tables = self.tables();
        if tables.left_to_forget.get(&user).is_none_or(|left| left.pseudonym != pseudonym) {
            return Ok(true);
        }
        let is_done = tables.forget_some(user, pseudonym, &hiding);
        if is_done {
            tables.left_to_forget.remove(&user);
        }
        Ok(is_done)
    }

    async fn left_to_forget(&self, limit: u32) -> Result<Vec<LeftToForget>, StoreError> {
        Ok(self.tables().left_to_forget.values().take(limit as usize).copied().collect())
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
