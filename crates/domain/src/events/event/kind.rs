//! The kinds of events.

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// What happened.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventKind {
            $($(#[$doc])* $name,)*
        }

        impl EventKind {
            /// All kinds, in the order in which they are documented.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word in storage, on the command line and on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

kinds! {
    /// A wallet signed, and a client or the account page let its user in.
    SignIn = "sign_in",
    /// A remembered sign-in let its user in to a client, without a new signature.
    SignInContinued = "sign_in_continued",
    /// A person signed out.
    SignOut = "sign_out",
    /// A remembered sign-in was ended from elsewhere.
    SessionEnded = "session_ended",
    /// A person took back what they had agreed to at a client.
    ConsentRevoked = "consent_revoked",
    /// A wallet was linked to a user.
    WalletLinked = "wallet_linked",
    /// A wallet was unlinked from its user.
    WalletUnlinked = "wallet_unlinked",
    /// A person confirmed their e-mail address.
    EmailConfirmed = "email_confirmed",
    /// An account was deleted.
    AccountDeleted = "account_deleted",
    /// A grant ended with all its tokens. `reason` says why.
    GrantRevoked = "grant_revoked",
    /// A client was registered.
    ClientRegistered = "client_registered",
    /// A client was changed.
    ClientChanged = "client_changed",
    /// A client was deleted.
    ClientDeleted = "client_deleted",
    /// A client got a new secret.
    SecretRotated = "secret_rotated",
    /// A user was blocked.
    UserBlocked = "user_blocked",
    /// A user was let in again.
    UserUnblocked = "user_unblocked",
    /// A wallet was blocked.
    WalletBlocked = "wallet_blocked",
    /// A wallet was let in again.
    WalletUnblocked = "wallet_unblocked",
    /// An operator gave a user a name, or took it away.
    UserNamed = "user_named",
    /// An operator gave a wallet a name, or took it away.
    WalletNamed = "wallet_named",
    /// An operator was suspended.
    OperatorSuspended = "operator_suspended",
    /// A suspended operator can act again.
    OperatorRestored = "operator_restored",
    /// An operator signed a user out everywhere.
    UserSignedOut = "user_signed_out",
    /// A group was created.
    GroupCreated = "group_created",
    /// A group got another title.
    GroupChanged = "group_changed",
    /// A group was deleted.
    GroupDeleted = "group_deleted",
    /// A user or a wallet was put into a group.
    GroupMemberAdded = "group_member_added",
    /// A user or a wallet was taken out of a group.
    GroupMemberRemoved = "group_member_removed",
    /// An invitation into a group was created.
    InvitationCreated = "invitation_created",
    /// A wallet came into a group by an invitation.
    InvitationUsed = "invitation_used",
    /// An invitation was revoked.
    InvitationRevoked = "invitation_revoked",
    /// An operator decided who can sign in to a client, or which groups it gets.
    AccessChanged = "access_changed",
    /// A resource was declared.
    ResourceCreated = "resource_created",
    /// A resource was changed.
    ResourceChanged = "resource_changed",
    /// A resource was deleted.
    ResourceDeleted = "resource_deleted",
    /// A key of the admin interface was made.
    AdminKeyCreated = "admin_key_created",
    /// A key of the admin interface was revoked.
    AdminKeyRevoked = "admin_key_revoked",
    /// An operator signed one text for several people. The events of the change name this one.
    ChangeSigned = "change_signed",
    /// An operator proposed a change that a second one must sign.
    ChangeProposed = "change_proposed",
    /// A proposal was taken back, or was no longer possible.
    ChangeWithdrawn = "change_withdrawn",
    /// A signing key was made and published.
    KeyAnnounced = "key_announced",
    /// The server began to sign with a key.
    KeyActivated = "key_activated",
    /// A signing key was withdrawn: everything that it signed is invalid.
    KeyWithdrawn = "key_withdrawn",
    /// A retired signing key was deleted, because everything that it signed had expired.
    KeyRetired = "key_retired",
    /// The server wrote down which host it has.
    HostNoted = "host_noted",
    /// The database was restored from a backup.
    Restored = "restored",
    /// The schema of the database was brought up to date.
    Upgraded = "upgraded",
}

/// A text that is not a kind of event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not a kind of event")]
pub struct EventKindUnknown {
    /// The text.
    pub given: String,
}

impl EventKind {
    /// What a server, or `migrate`, records by itself when it starts on a new database.
    pub const OF_START: &[Self] = &[Self::KeyAnnounced, Self::KeyActivated, Self::KeyRetired, Self::Upgraded];

    /// Those of who is in a group. They can name the event of a text that was signed for several people.
    pub const OF_MEMBERS: [Self; 2] = [Self::GroupMemberAdded, Self::GroupMemberRemoved];

    /// Can its time be long before it was recorded? That a key signs is recorded by the next server that starts, with
    /// the time at which it began.
    pub const fn is_recorded_later(self) -> bool {
        matches!(self, Self::KeyActivated)
    }

    /// Finds a kind by its word.
    pub fn parse(word: &str) -> Result<Self, EventKindUnknown> {
        let found = Self::ALL.iter().find(|kind| kind.name() == word);
        found.copied().ok_or_else(|| EventKindUnknown { given: word.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_found_by_its_word_and_nothing_else_is() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::parse(kind.name()).as_ref(), Ok(kind));
        }
        assert!(EventKind::parse("sign_In").is_err());
        assert!(EventKind::parse("").is_err());
    }
}
