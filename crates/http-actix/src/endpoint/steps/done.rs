//! What a person just did to what is theirs, as a page says it.

use actix_web::HttpRequest;
use countersign_domain::public_url::PublicUrl;

use crate::extract::origin::require_ours;
use crate::extract::query_value;

/// What was just done; each has a text in `account.json`. It travels in the query of the page, as a name from this list.
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
    AccountDeleted,
}

impl Done {
    /// The parameter of the query.
    pub(crate) const PARAMETER: &str = "done";

    const ALL: [Self; 11] = [
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
        Self::AccountDeleted,
    ];

    /// What the query says, if our own page led here: a link on another site cannot make ours say that something was done.
    pub(crate) fn of(request: &HttpRequest, public_url: &PublicUrl) -> Option<Self> {
        require_ours(request, public_url).ok()?;
        let value = query_value(request, Self::PARAMETER).ok()??;
        Self::ALL.into_iter().find(|done| done.name() == value)
    }

    /// Its name in the query and among the texts.
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
            Self::AccountDeleted => "account_deleted",
        }
    }

    /// The key of its text.
    pub(crate) fn key(self) -> String {
        format!("account.done.{}", self.name())
    }

    /// Can nobody be signed in afterwards?
    pub(crate) const fn may_end_the_session(self) -> bool {
        match self {
            Self::SignedOut | Self::SignedOutEverywhere | Self::WalletUnlinked | Self::AccountDeleted => true,
            Self::AccessRevoked
            | Self::SessionEnded
            | Self::EmailAdded
            | Self::EmailKept
            | Self::LinkSent
            | Self::EmailRemoved
            | Self::WalletLinked => false,
        }
    }

    /// Can somebody be signed in afterwards?
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

    /// what the page says is not for other sites to choose, not even from the list.
    #[test]
    fn a_link_on_another_site_makes_the_page_say_nothing() {
        let path = "/account?done=account_deleted";
        assert_eq!(said(path, &[("sec-fetch-site", "cross-site")]), None);
        assert_eq!(said(path, &[("sec-fetch-site", "same-site")]), None);
        assert_eq!(said(path, &[("sec-fetch-site", "same-origin")]), Some(Done::AccountDeleted));
        assert_eq!(said(path, &[("sec-fetch-site", "none")]), Some(Done::AccountDeleted));
    }
}
