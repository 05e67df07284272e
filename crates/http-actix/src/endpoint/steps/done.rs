//! What a person just did on the account page, as the next page says it.

use actix_web::HttpRequest;
use countersign_domain::public_url::PublicUrl;

use crate::extract::origin::require_ours;
use crate::extract::query_value;

/// What was just done. Each variant has a text in `account.json`. The query of the page carries its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    AccessRevoked,
    SessionEnded,
    SignedOut,
    SignedOutEverywhere,
    EmailAdded,
    EmailKept,
    LinkSent,
    EmailRemoved,
    WalletLinked,
    WalletUnlinked,
    WalletRenamed,
    AccountDeleted,
}

impl Done {
    pub(crate) const PARAMETER: &str = "done";

    const ALL: [Self; 12] = [
        Self::AccessRevoked,
        Self::SessionEnded,
        Self::SignedOut,
        Self::SignedOutEverywhere,
        Self::EmailAdded,
        Self::EmailKept,
        Self::LinkSent,
        Self::EmailRemoved,
        Self::WalletLinked,
        Self::WalletUnlinked,
        Self::WalletRenamed,
        Self::AccountDeleted,
    ];

    /// Reads the query, if our own page led here: a link on another site must not make our page say that
    /// something was done.
    pub(crate) fn of(request: &HttpRequest, public_url: &PublicUrl) -> Option<Self> {
        require_ours(request, public_url).ok()?;
        let value = query_value(request, Self::PARAMETER).ok()??;
        Self::ALL.into_iter().find(|done| done.name() == value)
    }

    /// Its name in the query and in the key of its text.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AccessRevoked => "access_revoked",
            Self::SessionEnded => "session_ended",
            Self::SignedOut => "signed_out",
            Self::SignedOutEverywhere => "signed_out_everywhere",
            Self::EmailAdded => "email_added",
            Self::EmailKept => "email_kept",
            Self::LinkSent => "link_sent",
            Self::EmailRemoved => "email_removed",
            Self::WalletLinked => "wallet_linked",
            Self::WalletUnlinked => "wallet_unlinked",
            Self::WalletRenamed => "wallet_renamed",
            Self::AccountDeleted => "account_deleted",
        }
    }

    /// The key of its text.
    pub(crate) fn key(self) -> String {
        format!("account.done.{}", self.name())
    }

    /// Can this leave no one signed in?
    pub(crate) const fn may_end_the_session(self) -> bool {
        match self {
            Self::SignedOut | Self::SignedOutEverywhere | Self::WalletUnlinked | Self::AccountDeleted => true,
            Self::AccessRevoked
            | Self::SessionEnded
            | Self::EmailAdded
            | Self::EmailKept
            | Self::LinkSent
            | Self::EmailRemoved
            | Self::WalletLinked
            | Self::WalletRenamed => false,
        }
    }

    /// Can someone still be signed in after this?
    pub(crate) const fn may_leave_the_session(self) -> bool {
        !self.may_end_the_session() || matches!(self, Self::WalletUnlinked)
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn said(path: &str, headers: &[(&str, &str)]) -> Option<Done> {
        let public_url = PublicUrl::parse("https://auth.example.com").unwrap();
        let request = headers
            .iter()
            .fold(TestRequest::with_uri(path), |request, header| request.insert_header((header.0, header.1)));
        Done::of(&request.to_http_request(), &public_url)
    }

    #[test]
    fn every_name_is_read_again_and_nothing_else_is() {
        for done in Done::ALL {
            assert_eq!(said(&format!("/account?done={}", done.name()), &[]), Some(done));
        }
        for other in ["", "?done=", "?done=%3Cscript%3E", "?done=Your+account+is+locked", "?Done=signed_out"]
        {
            assert_eq!(said(&format!("/account{other}"), &[]), None);
        }
    }

    /// other sites must not choose what the page says, not even from the list.
    #[test]
    fn a_link_on_another_site_makes_the_page_say_nothing() {
        let path = "/account?done=account_deleted";
        assert_eq!(said(path, &[("sec-fetch-site", "cross-site")]), None);
        assert_eq!(said(path, &[("sec-fetch-site", "same-site")]), None);
        assert_eq!(said(path, &[("sec-fetch-site", "same-origin")]), Some(Done::AccountDeleted));
        assert_eq!(said(path, &[("sec-fetch-site", "none")]), Some(Done::AccountDeleted));
    }
}
