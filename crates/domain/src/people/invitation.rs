//! Invitations: a link that puts the wallets of people who open it, and sign, into a group.
//!
//! The link has 256 random bits, of which only the hash is stored. Anyone who has it may come in, so it ends by its time, by its
//! number of uses, or when it is revoked, and it never lets in anyone who is blocked.

use std::fmt;

use time::{Duration, OffsetDateTime};

use crate::group::GroupName;
use crate::id::{ClientId, InvitationId};
use crate::person_name::PersonName;
use crate::public_url::PublicUrl;
use crate::readable::readable_text;
use crate::secret::{Secret, SecretHash};
use crate::wallet::WalletAccount;

/// The path of the links.
pub const JOIN: &str = "/join";
/// The longest words for who invites, in characters.
pub const MAX_INVITER_LENGTH: usize = 64;

readable_text! {
    /// Who invites, in the words of the operator. The page shows them.
    Inviter, MAX_INVITER_LENGTH
}

impl fmt::Display for Inviter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// For how many people an invitation is, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvitationLimits {
    /// How many people can come in by it.
    pub uses: u32,
    /// How many seconds it is valid for.
    pub lives: u32,
}

/// Why an invitation cannot be created with its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvitationUnfit {
    /// It is for no one, or for too many.
    #[error("an invitation is for 1 to {} people", InvitationLimits::MOST_USES)]
    Uses,
    /// It ends at once, or too late.
    #[error(
        "an invitation is valid for {} seconds to {} days",
        InvitationLimits::SHORTEST,
        InvitationLimits::LONGEST / 86_400
    )]
    Lives,
    /// It gives one name to several people.
    #[error("a name is for one person: leave it out, or make one invitation for each")]
    NameOfSeveral,
}

impl InvitationLimits {
    /// The most people that one invitation can be for.
    pub const MOST_USES: u32 = 10_000;
    /// The longest time that one can be valid for, in seconds.
    pub const LONGEST: u32 = 365 * 86_400;
    /// The shortest.
    pub const SHORTEST: u32 = 60;

    /// For one person, for a week.
    pub const USUAL: Self = Self { uses: 1, lives: 7 * 86_400 };

    /// Are these limits allowed for an invitation with this name, or with none?
    pub const fn judge(self, name: Option<&PersonName>) -> Result<(), InvitationUnfit> {
        if self.uses == 0 || self.uses > Self::MOST_USES {
            Err(InvitationUnfit::Uses)
        } else if self.lives < Self::SHORTEST || self.lives > Self::LONGEST {
            Err(InvitationUnfit::Lives)
        } else if self.uses > 1 && name.is_some() {
            Err(InvitationUnfit::NameOfSeveral)
        } else {
            Ok(())
        }
    }

    /// When an invitation ends that is made now.
    pub fn end(self, now: OffsetDateTime) -> OffsetDateTime {
        now.saturating_add(Duration::seconds(self.lives.into()))
    }
}

/// An invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// Its id, by which operators and signed texts name it. It is no secret.
    pub id: InvitationId,
    /// The hash of what the link contains.
    pub hash: SecretHash,
    /// The group that people come into.
    pub group: GroupName,
    /// The client that they go on to.
    pub client: Option<ClientId>,
    /// Who invites, in the words of the operator.
    pub inviter: Option<Inviter>,
    /// What operators call the one who comes in.
    pub name: Option<PersonName>,
    /// For how many people it is.
    pub uses: u32,
    /// How many came in.
    pub used: u32,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// When it ends.
    pub expires_at: OffsetDateTime,
    /// When it was revoked.
    pub revoked_at: Option<OffsetDateTime>,
}

/// Whether an invitation still lets people in, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationState {
    /// People can come in by it.
    Open,
    /// As many came in as it was for.
    Used,
    /// Its time is over.
    Expired,
    /// An operator revoked it, or the database was restored since.
    Revoked,
}

impl InvitationState {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::Open, Self::Used, Self::Expired, Self::Revoked];

    /// The word in answers and texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Used => "used",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

impl Invitation {
    /// Does it let people in now, or why not?
    pub fn state(&self, now: OffsetDateTime) -> InvitationState {
        if self.revoked_at.is_some() {
            InvitationState::Revoked
        } else if self.used >= self.uses {
            InvitationState::Used
        } else if now >= self.expires_at {
            InvitationState::Expired
        } else {
            InvitationState::Open
        }
    }

    /// Who invites, for people: the operator's words, or the host of this server.
    pub fn inviter_or_host<'a>(&'a self, public_url: &'a PublicUrl) -> &'a str {
        self.inviter.as_ref().map_or_else(|| public_url.authority(), Inviter::as_str)
    }

    /// What a pending request remembers of it.
    pub fn accepted(&self) -> AcceptedInvitation {
        AcceptedInvitation { id: self.id, group: self.group.clone() }
    }
}

/// The link of an invitation, which contains its secret.
pub fn link(public_url: &PublicUrl, secret: &Secret) -> Secret {
    Secret::new(format!("{}/{}", public_url.join(JOIN), secret.expose()))
}

/// An invitation that a person wants to accept: what they sign, and what is spent then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedInvitation {
    /// Which one.
    pub id: InvitationId,
    /// The group that they come into.
    pub group: GroupName,
}

/// A wallet that came in by an invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvitationUse {
    /// Which invitation.
    pub invitation: InvitationId,
    /// The wallet.
    pub wallet: WalletAccount,
    /// When.
    pub used_at: OffsetDateTime,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invitation() -> Invitation {
        let created_at = OffsetDateTime::from_unix_timestamp(1_750_000_000).unwrap();
        Invitation {
            id: InvitationId::from_uuid(uuid::Uuid::from_u128(7)),
            hash: SecretHash::from_bytes([1; 32]),
            group: GroupName::parse("staff").unwrap(),
            client: None,
            inviter: None,
            name: None,
            uses: 2,
            used: 0,
            created_at,
            expires_at: InvitationLimits::USUAL.end(created_at),
            revoked_at: None,
        }
    }

    #[test]
    fn an_invitation_ends_by_its_time_its_uses_or_an_operator() {
        let fresh = invitation();
        let now = fresh.created_at;
        let state = |invitation: &Invitation, now| invitation.state(now).name();
        assert_eq!(state(&fresh, now), "open");
        assert_eq!(state(&fresh, fresh.expires_at - Duration::seconds(1)), "open");
        assert_eq!(state(&fresh, fresh.expires_at), "expired");
        let half = Invitation { used: 1, ..fresh.clone() };
        assert_eq!(state(&half, now), "open");
        let used = Invitation { used: 2, ..fresh.clone() };
        assert_eq!(state(&used, now), "used");
        let revoked = Invitation { revoked_at: Some(now), ..used };
        assert_eq!(state(&revoked, now), "revoked");
    }

    #[test]
    fn its_limits_are_judged() {
        let name = PersonName::parse("Ann").unwrap();
        let judge = |uses, lives, name: Option<&PersonName>| InvitationLimits { uses, lives }.judge(name);
        assert_eq!(InvitationLimits::USUAL.judge(Some(&name)), Ok(()));
        assert_eq!(judge(10_000, 60, None), Ok(()));
        assert_eq!(judge(1, 365 * 86_400, None), Ok(()));
        for uses in [0, 10_001] {
            assert_eq!(judge(uses, 60, None), Err(InvitationUnfit::Uses));
        }
        for lives in [0, 59, 365 * 86_400 + 1, u32::MAX] {
            assert_eq!(judge(1, lives, None), Err(InvitationUnfit::Lives));
        }
        assert_eq!(judge(2, 60, Some(&name)), Err(InvitationUnfit::NameOfSeveral));
    }

    #[test]
    fn a_link_never_prints_itself() {
        let public_url = PublicUrl::parse("https://auth.example/sso").unwrap();
        let link = link(&public_url, &Secret::from_random([3; 32]));
        assert!(link.expose().starts_with("https://auth.example/sso/join/AwMD"), "{}", link.expose());
        assert_eq!(link.expose().rsplit('/').next().map(str::len), Some(43));
        assert_eq!(format!("{link:?}"), "Secret(..)");
    }
}
